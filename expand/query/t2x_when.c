/* SPDX-License-Identifier: MIT */
/* t2x_when.c - see t2x_when.h. */
#include "t2x_when.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_DAY (86400 * NS_PER_S)

enum { MAX_YEAR = 2200 };              /* nanoseconds since 1970 fit into 63 bits */

/* Digits, of which there must be between least and most; NULL stays NULL.  Return  the byte behind */
static const char *take_digits(const char *text, unsigned least, unsigned most, uint64_t *value)
{
	unsigned n = 0;

	*value = 0;
	for (; text && n < most && *text >= '0' && *text <= '9'; n++)
		*value = 10 * *value + (uint64_t)(*text++ - '0');
	return n >= least ? text : NULL;
}

/* ".5" as a part of unit; digits behind the nanosecond do not count. */
static const char *take_fraction(const char *text, uint64_t unit, uint64_t *ns)
{
	if (!text || *text != '.')
		return text;
	if (text[1] < '0' || text[1] > '9')
		return NULL;
	for (text++; *text >= '0' && *text <= '9'; text++) {
		*ns += (uint64_t)(*text - '0') * (unit / 10);
		unit /= 10;
	}
	return text;
}

static const char *take_char(const char *text, const char *set)
{
	return text && *text && strchr(set, *text) ? text + 1 : NULL;
}

/* ---- durations ---------------------------------------------------------------------------------- */

int t2x_when_parse_duration(uint64_t *ns, const char *text)
{
	static const struct {
		char name[3];
		uint64_t ns;
	} units[] = {
		{ "s", NS_PER_S }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
		{ "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S }, { "d", NS_PER_DAY }, { "", NS_PER_S },
	};
	enum { UNITS = sizeof(units) / sizeof(units[0]) };
	uint64_t whole, part = 0;
	const char *number = text, *unit;
	unsigned i = 0;

	text = take_digits(text, 1, 18, &whole);
	if (!text)
		return -EINVAL;
	unit = text + (*text == '.') + (*text == '.' ? strspn(text + 1, "0123456789") : 0);
	while (i < UNITS && strcmp(unit, units[i].name))
		i++;
	if (i == UNITS || whole > INT64_MAX / units[i].ns || !take_fraction(text, units[i].ns, &part) || text == number)
		return -EINVAL;
	*ns = whole * units[i].ns + part;
	return 0;
}

/* ---- points in time ----------------------------------------------------------------------------- */

/* Days since 1970-01-01 of the proleptic Gregorian calendar. */
static uint64_t count_days(unsigned year, unsigned month, unsigned day)
{
	unsigned y = year - (month <= 2), century = y / 100, of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return (uint64_t)365 * y + y / 4 - century + century / 4 + of_year - 719468;
}

static uint64_t days_of_month(unsigned year, unsigned month)
{
	return count_days(year + (month == 12), month % 12 + 1, 1) - count_days(year, month, 1);
}

/* "12:34", "12:34:56.5" */
static const char *take_clock(const char *text, uint64_t *ns)
{
	uint64_t hour, minute, second = 0, part = 0;

	text = take_digits(text, 1, 2, &hour);
	text = take_digits(take_char(text, ":"), 2, 2, &minute);
	if (text && *text == ':')
		text = take_fraction(take_digits(text + 1, 2, 2, &second), NS_PER_S, &part);
	if (!text || hour > 23 || minute > 59 || second > 60)
		return NULL;
	*ns = ((hour * 60 + minute) * 60 + second) * NS_PER_S + part;
	return text;
}

static const char *take_date(const char *text, uint64_t *ns)
{
	uint64_t year, month, day;

	text = take_digits(text, 4, 4, &year);
	text = take_digits(take_char(text, "-"), 2, 2, &month);
	text = take_digits(take_char(text, "-"), 2, 2, &day);
	if (!text || year < 1970 || year > MAX_YEAR || month - 1 > 11 ||
	    day - 1 >= days_of_month((unsigned)year, (unsigned)month))
		return NULL;
	*ns = count_days((unsigned)year, (unsigned)month, (unsigned)day) * NS_PER_DAY;
	return text;
}

/* "Z", "+01:00", "-0530" or nothing. */
static const char *take_zone(const char *text, struct t2x_instant *when)
{
	uint64_t hours, minutes = 0, ns;
	int is_west = *text == '-';

	if (!*text)
		return text;
	if (*text == 'Z') {
		when->kind = T2X_WHEN_UTC;
		return text + 1;
	}
	text = take_digits(take_char(text, "+-"), 2, 2, &hours);
	if (text && *text)
		text = take_digits(text + (*text == ':'), 2, 2, &minutes);
	ns = (hours * 60 + minutes) * 60 * NS_PER_S;
	if (!text || hours > 23 || minutes > 59 || (!is_west && ns > when->ns))
		return NULL;
	when->kind = T2X_WHEN_UTC;
	when->ns = is_west ? when->ns + ns : when->ns - ns;
	return text;
}

/*
 * "1795425779.5", "1795425779500000000".  Nine digits of seconds are of 1973; less may be meant as something else.
 * Return  NULL: neither
 */
static const char *take_epoch(const char *text, uint64_t *ns)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t part = 0;

	if (digits >= 17)
		return take_digits(text, 17, 19, ns);
	text = take_fraction(take_digits(text, 9, 10, ns), NS_PER_S, &part);
	*ns = *ns * NS_PER_S + part;
	return text;
}

int t2x_when_parse(struct t2x_instant *when, const char *text)
{
	uint64_t of_day = 0;
	const char *end;

	if (*text == '+' || *text == '-') {
		when->kind = *text == '+' ? T2X_WHEN_FROM_START : T2X_WHEN_FROM_END;
		return t2x_when_parse_duration(&when->ns, text + 1);
	}
	end = take_clock(text, &when->ns);
	if (end) {
		when->kind = T2X_WHEN_OF_DAY;
		return *end ? -EINVAL : 0;
	}
	end = take_epoch(text, &when->ns);
	if (end) {
		when->kind = T2X_WHEN_UTC;
		return *end ? -EINVAL : 0;
	}
	when->kind = T2X_WHEN_LOCAL;
	end = take_date(text, &when->ns);
	if (end && *end) {
		end = take_clock(take_char(end, "T "), &of_day);
		when->ns += of_day;
		end = end ? take_zone(end, when) : NULL;
	}
	return end && !*end ? 0 : -EINVAL;
}

/* The time of day nearest to the first event. */
static uint64_t resolve_of_day(uint64_t of_day, uint64_t local_ns)
{
	uint64_t ns = local_ns - local_ns % NS_PER_DAY + of_day;

	if (ns > local_ns + NS_PER_DAY / 2)
		return ns - NS_PER_DAY;
	return local_ns > ns + NS_PER_DAY / 2 ? ns + NS_PER_DAY : ns;
}

uint64_t t2x_when_resolve(const struct t2x_instant *when, uint64_t first_ns, int32_t utcoff, uint64_t end_ns)
{
	uint64_t east_ns = (uint64_t)((int64_t)utcoff * (int64_t)NS_PER_S);

	switch (when->kind) {
	case T2X_WHEN_FROM_START:
		return first_ns + when->ns;
	case T2X_WHEN_FROM_END:
		return end_ns > when->ns ? end_ns - when->ns : 0;
	case T2X_WHEN_OF_DAY:
		return resolve_of_day(when->ns, first_ns + east_ns) - east_ns;
	case T2X_WHEN_LOCAL:
		return when->ns - east_ns;
	case T2X_WHEN_UTC:
	case T2X_WHEN_NOT_GIVEN:
		break;
	}
	return when->ns;
}
