/* SPDX-License-Identifier: MIT */
/* tr2_value.c - see tr2_value.h. */
#include "tr2_value.h"

#include <limits.h>
#include <stddef.h>

#include "base/tr2_text.h"

/*
 * All by hand: these run at the start of every traced program, where the first call of each function of another library
 * costs 1 us.
 */

/* What a digit stands for; 99: it is none. */
static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

/*
 * The number at the beginning of a text, as strtoll() has it: blanks and a sign may come first, base 0 is that of a
 * number in C.
 * value   one that is too large is the largest
 * Return  what follows it; NULL: there is none
 */
static const char *begin_number(const char *text, unsigned base, long long *value)
{
	long long number = 0, sign = 1;
	const char *digits;

	while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
		text++;
	if (*text == '-' || *text == '+')
		sign = *text++ == '-' ? -1 : 1;
	if (!base && *text == '0' && (text[1] | 0x20) == 'x' && digit_of(text[2]) < 16) {
		text += 2;
		base = 16;
	}
	if (!base)
		base = *text == '0' ? 8 : 10;
	for (digits = text; digit_of(*text) < base; text++)
		if (__builtin_mul_overflow(number, (long long)base, &number) ||
		    __builtin_add_overflow(number, sign * (long long)digit_of(*text), &number))
			number = sign < 0 ? LLONG_MIN : LLONG_MAX;
	*value = number;
	return text == digits ? NULL : text;
}

static int is_too_large(long long number)
{
	return number == LLONG_MIN || number == LLONG_MAX;
}

int tr2_value_number(const char *text, long long *value)
{
	static const struct { char suffix; int shift; } units[] = { { 'k', 10 }, { 'm', 20 }, { 'g', 30 } };
	const char *rest;
	long long number;
	int shift = 0;

	rest = begin_number(text, 0, &number);
	if (!rest || is_too_large(number))
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

	if (!unit || is_too_large(number) || (*unit && !is_seconds && !tr2_text_is(unit, "ms")))
		return 0;
	if (__builtin_mul_overflow(number, is_seconds ? 1000 : 1, &number))
		return 0;
	*value = number;
	return 1;
}

int tr2_value_count(const char *text, long long *value)
{
	long long number;

	if (!begin_number(text, 10, &number))
		return 0;
	*value = number;
	return 1;
}

int tr2_value_word(const char *text, const char *words, long long *value)
{
	for (long long at = 0; *words; at++) {
		char word[16];
		size_t n = 0;

		for (; *words && *words != ' '; words++)
			if (n < sizeof(word) - 1)
				word[n++] = *words;
		words += *words == ' ';
		word[n] = '\0';
		if (tr2_text_is(text, word)) {
			*value = at;
			return 1;
		}
	}
	return 0;
}
