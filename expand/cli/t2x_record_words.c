/* SPDX-License-Identifier: MIT */
/* t2x_record_words.c - see t2x_record_words.h. */
#include "t2x_record_words.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tlg_signal.h"
#include "tlg_units.h"

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
	{ "frames", required_argument, NULL, T2X_RECORD_WORD }, { "kernel", no_argument, NULL, T2X_RECORD_WORD },
	{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' },
	{ "dormant", no_argument, NULL, T2X_RECORD_DORMANT }, { "pid", required_argument, NULL, T2X_RECORD_PID },
	{ "delay", required_argument, NULL, T2X_RECORD_DELAY },
	{ "seconds", required_argument, NULL, T2X_RECORD_SECONDS },
	{ "compare", no_argument, NULL, T2X_RECORD_COMPARE }, { "runs", required_argument, NULL, T2X_RECORD_RUNS },
	{ NULL, 0, NULL, 0 }
};

/* Words, not numbers */
static const struct tlg_unit ways[] = { { "", 0 } };

static const struct word {
	char name[16];
	const struct tlg_unit *units;
	uint64_t min, max;
	int samples;                      /* it is a profile, not a way to take one */
} words[] = {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) { #name, tlg_units_##rate, min, max, 1 },
#include "prof_kinds.def"
	{ "leaks", tlg_units_onoff, 0, 1, 0 }, { "unwind", ways, 0, 0, 0 }, { "frames", tlg_units_count, 1, 128, 0 },
	{ "kernel", tlg_units_onoff, 0, 1, 0 },
};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

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
	uint64_t number;

	if (word->units == ways)
		return is_way(value);
	if (word->units == tlg_units_signals)
		return is_signal(value);
	return tlg_units_parse(word->units, value, word->min, word->max, &number);
}

static const char *what_of(const struct tlg_unit *units)
{
	if (units == tlg_units_hertz)
		return " a second";
	if (units == tlg_units_bytes)
		return " bytes";
	return units == tlg_units_times ? " nanoseconds" : "";
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
	else if (word->units == tlg_units_signals)
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

/* ---- at the start, and later -------------------------------------------------------------------- */

/* The signal that asks for stacks, and how stacks are taken, is for the start of a program. */
static const struct word *find_later(const char *list, size_t name)
{
	for (unsigned i = 0; i < WORDS; i++)
		if (strlen(words[i].name) == name && !strncmp(words[i].name, list, name))
			return words[i].samples && words[i].units != tlg_units_signals ? &words[i] : NULL;
	return NULL;
}

static void append(char *to, size_t size, const char *text, size_t length)
{
	size_t n = strlen(to);

	if (length && n + (n != 0) + length < size)
		snprintf(to + n, size - n, "%s%.*s", n ? "," : "", (int)length, text);
}

void t2x_record_split(const char *list, char *start, char *later, size_t size)
{
	*start = *later = '\0';
	for (size_t length; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		append(find_later(list, strcspn(list, "=,")) ? later : start, size, list, length);
	}
}

void t2x_record_stops(const char *list, char *stops, size_t size)
{
	char word[32];

	*stops = '\0';
	for (size_t length; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s=off", (int)strcspn(list, "=,"), list);
		append(stops, size, word, strlen(word));
	}
}

/* ---- times -------------------------------------------------------------------------------------- */

int t2x_record_ms(const char *text, uint64_t *ms)
{
	const char *at = text;
	uint64_t value = 0, part = 100;

	for (; *at >= '0' && *at <= '9' && value < 1000000000; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	value *= 1000;
	if (at > text && *at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++, part /= 10)
			value += part * (uint64_t)(*at - '0');
	*ms = value;
	return at > text && !*at && at[-1] != '.' && value <= UINT64_C(1000000000) * 1000;
}
