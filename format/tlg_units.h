/* SPDX-License-Identifier: MIT */
/*
 * tlg_units.h - the rates of profiles as people write them: a number with a unit behind it, "100hz", "512k", "10us".
 *
 * The profiler reads them in TRACE2_PROF, `t2 record' in its options.  prof_kinds.def names one of these tables for
 * each kind.  The last line of a table has the factor 0.
 */
#ifndef TLG_UNITS_H
#define TLG_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include <strings.h>

struct tlg_unit {
	char name[8];
	uint64_t factor;
};

static const struct tlg_unit tlg_units_hertz[] = { { "hz", 1 }, { "", 1 }, { "khz", 1000 }, { "", 0 } };
static const struct tlg_unit tlg_units_bytes[] = { { "k", 1 << 10 }, { "m", 1 << 20 }, { "g", 1 << 30 }, { "", 1 },
						   { "", 0 } };
static const struct tlg_unit tlg_units_times[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
						   { "", 1 }, { "", 0 } };
static const struct tlg_unit tlg_units_count[] = { { "", 1 }, { "", 0 } };
static const struct tlg_unit tlg_units_onoff[] = { { "", 1 }, { "", 0 } };
/* A signal is a name, and no number fits. */
static const struct tlg_unit tlg_units_signals[] = { { "", 0 } };

/* Return  NULL: the table has no such unit */
static inline const struct tlg_unit *tlg_units_find(const struct tlg_unit *units, const char *name)
{
	for (; *units->name || units->factor; units++)
		if (!strcasecmp(units->name, name))
			return units;
	return NULL;
}

/*
 * value   in the smallest unit
 * Return  0: the text is no number with one of the units, or the number is not within the bounds
 */
static inline int tlg_units_parse(const struct tlg_unit *units, const char *text, uint64_t min, uint64_t max,
				  uint64_t *value)
{
	const struct tlg_unit *unit;
	uint64_t number = 0;

	if (*text < '0' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (number <= max)
			number = number * 10 + (uint64_t)(*text - '0');
	unit = tlg_units_find(units, text);
	if (!unit || number < min || number > max / unit->factor)
		return 0;
	*value = number * unit->factor;
	return 1;
}

#endif
