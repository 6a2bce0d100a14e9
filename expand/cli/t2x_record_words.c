/* SPDX-License-Identifier: MIT */
/* t2x_record_words.c - see t2x_record_words.h. */
#include "t2x_record_words.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
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
	{ "leaks", no_argument, NULL, T2X_RECORD_WORD }, { "unwind", required_argument, NULL, T2X_RECORD_WORD },
	{ "frames", required_argument, NULL, T2X_RECORD_WORD },
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

static const struct unit onoff[] = { { "", 1 }, { "", 0 } };
/* Words, not numbers */
static const struct unit signals[] = { { "", 0 } }, ways[] = { { "", 0 } };

static const struct word {
	char name[16];
	const struct unit *units;
	uint64_t min, max;
	int samples;                      /* it is a profile, not a way to take one */
} words[] = {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) { #name, rate, min, max, 1 },
#include "prof_kinds.def"
	{ "leaks", onoff, 0, 1, 0 }, { "unwind", ways, 0, 0, 0 }, { "frames", count, 1, 128, 0 },
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
			return number >= word->min && number <= word->max / unit->factor;
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

static int may_be(const struct word *word, const char *value)
{
	if (word->units == ways)
		return is_way(value);
	return word->units == signals ? is_signal(value) : is_number(word, value);
}

static const char *what_of(const struct unit *units)
{
	return units == hertz ? " a second" : units == bytes ? " bytes" : units == times ? " nanoseconds" : "";
}

int t2x_record_may_be(const char *name, const char *value, char *needs, size_t size)
{
	const struct word *word = words;

	while (word < words + WORDS && strcmp(word->name, name) != 0)
		word++;
	if (!value || word == words + WORDS)
		return !value;
	if (word->units == ways)
		snprintf(needs, size, "auto, tables or fp");
	else if (word->units == signals)
		snprintf(needs, size, "USR1, USR2, QUIT, URG, IO or a signal of real time such as RTMIN+1");
	else
		snprintf(needs, size, "%" PRIu64 " to %" PRIu64 "%s", word->min, word->max, what_of(word->units));
	return may_be(word, value);
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
