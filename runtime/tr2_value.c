/* SPDX-License-Identifier: MIT */
/* tr2_value.c - see tr2_value.h. */
#include "tr2_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tr2_text.h"

/* The number at the beginning of a text.  Return  what follows it; NULL: there is none */
static const char *begin_number(const char *text, int base, long long *value)
{
	int saved = errno, is_wrong;
	char *end;

	errno = 0;
	*value = strtoll(text, &end, base);
	is_wrong = errno || end == text;
	errno = saved;
	return is_wrong ? NULL : end;
}

int tr2_value_number(const char *text, long long *value)
{
	static const struct { char suffix; int shift; } units[] = { { 'k', 10 }, { 'm', 20 }, { 'g', 30 } };
	const char *rest;
	long long number;
	int shift = 0;

	rest = begin_number(text, 0, &number);
	if (!rest)
		return 0;
	for (size_t i = 0; *rest && !shift && i < sizeof(units) / sizeof(units[0]); i++)
		if ((*rest | 0x20) == units[i].suffix)
			shift = units[i].shift;
	if (rest[shift != 0] || __builtin_mul_overflow(number, 1LL << shift, &number))
		return 0;
	*value = number;
	return 1;
}

int tr2_value_bool(const char *text, long long *value)
{
	static const char yes[][5] = { "true", "yes", "on" }, no[][6] = { "false", "no", "off", "" };
	long long number;

	for (int i = 0; i < 3; i++)
		if (tr2_text_is(text, yes[i])) {
			*value = 1;
			return 1;
		}
	for (int i = 0; i < 4; i++)
		if (tr2_text_is(text, no[i])) {
			*value = 0;
			return 1;
		}
	if (!tr2_value_number(text, &number))
		return 0;
	*value = number != 0;
	return 1;
}

int tr2_value_time(const char *text, long long *value)
{
	long long number;
	const char *unit = begin_number(text, 10, &number);
	int is_seconds = unit && tr2_text_is(unit, "s");

	if (!unit || (*unit && !is_seconds && !tr2_text_is(unit, "ms")))
		return 0;
	if (__builtin_mul_overflow(number, is_seconds ? 1000 : 1, &number))
		return 0;
	*value = number;
	return 1;
}

int tr2_value_count(const char *text, long long *value)
{
	int saved = errno;
	long number;
	char *end;

	number = strtol(text, &end, 10);
	errno = saved;
	if (end == text)
		return 0;
	*value = number;
	return 1;
}

int tr2_value_word(const char *text, const char *words, long long *value)
{
	long long at = 0;
	char word[16];

	for (; *words; at++) {
		size_t length = strcspn(words, " ");

		if (length < sizeof(word)) {
			memcpy(word, words, length);
			word[length] = '\0';
			if (tr2_text_is(text, word)) {
				*value = at;
				return 1;
			}
		}
		words += length + (words[length] == ' ');
	}
	return 0;
}
