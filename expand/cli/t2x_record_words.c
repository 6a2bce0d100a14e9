/* SPDX-License-Identifier: MIT */
/* t2x_record_words.c - see t2x_record_words.h. */
#include "t2x_record_words.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "tlg_signal.h"

/* What an option takes, by the rate of its kind of profile.  A rate may be left out, the signal may not. */
enum {
	TAKES_hertz = optional_argument, TAKES_bytes = optional_argument, TAKES_times = optional_argument,
	TAKES_count = optional_argument, TAKES_onoff = no_argument, TAKES_signals = required_argument,
};

const struct option t2x_record_options[] = {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) \
	{ #name, TAKES_##rate, NULL, T2X_RECORD_WORD },
#include "prof_kinds.def"
	{ "leaks", no_argument, NULL, T2X_RECORD_WORD },
	{ "unwind", required_argument, NULL, T2X_RECORD_WORD }, { "frames", required_argument, NULL, T2X_RECORD_WORD },
	{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

/* A number with one of these behind it. */
struct unit {
	char name[4];
	uint64_t factor;
};

static const struct unit hertz[] = { { "hz", 1 }, { "", 1 }, { "khz", 1000 }, { "", 0 } };
static const struct unit bytes[] = { { "k", 1 << 10 }, { "m", 1 << 20 }, { "g", 1 << 30 }, { "", 1 }, { "", 0 } };
static const struct unit times[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "", 1 },
				     { "", 0 } };
static const struct unit count[] = { { "", 1 }, { "", 0 } };
#define UNITS_hertz hertz
#define UNITS_bytes bytes
#define UNITS_times times
#define UNITS_count count
#define UNITS_onoff NULL
#define UNITS_signals NULL

/* What a word needs, by the rate of its kind. */
#define NEEDS_hertz "1 to 10000 samples a second"
#define NEEDS_bytes "1 byte to 1g"
#define NEEDS_times "1ns to 1000s"
#define NEEDS_count "a number from 1 up"
#define NEEDS_onoff "no value"
#define NEEDS_signals "a signal: USR1, USR2, QUIT, URG, IO or RTMIN+N"

static const struct word {
	char name[16];
	const struct unit *units;         /* NULL: it has no number */
	uint64_t max;                     /* the least is 1 */
	int samples;                      /* it is a profile, not a way to take one */
	const char *needs;
} words[] = {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) \
	{ #name, UNITS_##rate, max, 1, NEEDS_##rate },
#include "prof_kinds.def"
	{ "leaks", NULL, 0, 0, "no value" },
	{ "unwind", NULL, 0, 0, "auto, tables or fp" },
	{ "frames", count, 128, 0, "1 to 128" },
};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static int is_number(const struct word *word, const char *text)
{
	uint64_t number = 0;

	if (*text < '0' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (number <= word->max)
			number = number * 10 + (uint64_t)(*text - '0');
	for (const struct unit *unit = word->units; *unit->name || unit->factor; unit++)
		if (!strcasecmp(unit->name, text))
			return number && number <= word->max / unit->factor;
	return 0;
}

static int is_way(const char *text)
{
	return !strcmp(text, "auto") || !strcmp(text, "tables") || !strcmp(text, "fp");
}

/* As the library has it: in capitals. */
static int is_signal(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at >= 'a' && *at <= 'z')
			return 0;
	return tlg_signal_may_ask(tlg_signal_parse(text));
}

int t2x_record_may_be(const char *word, const char *value, const char **needs)
{
	for (unsigned i = 0; value && i < WORDS; i++) {
		if (strcmp(words[i].name, word) != 0)
			continue;
		*needs = words[i].needs;
		if (words[i].units)
			return is_number(&words[i], value);
		return !strcmp(word, "unwind") ? is_way(value) : is_signal(value);
	}
	return !value;
}

int t2x_record_has(const char *list, const char *word)
{
	for (size_t length; *list; list += length + (list[length] == ',')) {
		size_t name = strcspn(list, "=,");

		length = strcspn(list, ",");
		for (unsigned i = 0; i < WORDS; i++)
			if (strlen(words[i].name) == name && !strncmp(words[i].name, list, name) &&
			    (word ? !strcmp(words[i].name, word) : words[i].samples))
				return 1;
	}
	return 0;
}
