/* SPDX-License-Identifier: MIT */
/* t2x_punycode.c - see t2x_punycode.h; names and numbers are those of RFC 3492. */
#include "t2x_punycode.h"

enum { BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700, INITIAL_BIAS = 72, INITIAL_N = 0x80, MAX_LETTERS = 256 };

struct letters {
	uint32_t at[MAX_LETTERS];
	size_t n;
};

static uint32_t adapt(uint32_t delta, size_t n, int is_first)
{
	uint32_t k = 0;

	delta = is_first ? delta / DAMP : delta / 2;
	delta += delta / (uint32_t)n;
	for (; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
		delta /= BASE - TMIN;
	return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

/* A number of variable length, added to *i.  Return  0: it is none */
static int take_number(const char **text, const char *end, uint32_t bias, uint32_t *i)
{
	uint32_t weight = 1;

	for (uint32_t k = BASE; *text < end; k += BASE) {
		char c = *(*text)++;
		uint32_t digit = c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') : c >= '0' && c <= '9' ?
				 (uint32_t)(c - '0') + 26 : BASE;
		uint32_t t = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;

		if (digit == BASE || digit > (UINT32_MAX / 2 - *i) / weight)
			return 0;
		*i += digit * weight;
		if (digit < t)
			return 1;
		if (weight > UINT32_MAX / 2 / (BASE - t))
			return 0;
		weight *= BASE - t;
	}
	return 0;
}

static void insert(struct letters *letters, size_t at, uint32_t letter)
{
	for (size_t i = letters->n++; i > at; i--)
		letters->at[i] = letters->at[i - 1];
	letters->at[at] = letter;
}

/* Return  0: they are no punycode, or too many */
static int take_letters(struct letters *letters, const char *text, size_t n)
{
	const char *end = text + n, *rest = text;
	uint32_t letter = INITIAL_N, bias = INITIAL_BIAS, i = 0;

	for (size_t at = 0; at < n; at++)
		if (text[at] == '_')
			rest = text + at + 1;          /* the last one */
	if (rest - text > MAX_LETTERS)
		return 0;
	while (text + 1 < rest)
		letters->at[letters->n++] = (unsigned char)*text++;
	while (rest < end) {
		uint32_t before = i;

		if (letters->n == MAX_LETTERS || !take_number(&rest, end, bias, &i))
			return 0;
		bias = adapt(i - before, letters->n + 1, !before);
		letter += i / (uint32_t)(letters->n + 1);
		i %= (uint32_t)(letters->n + 1);
		if (letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000))
			return 0;
		insert(letters, i++, letter);
	}
	return letters->n != 0;
}

char *t2x_punycode_put(char *to, uint32_t letter)
{
	if (letter < 0x80) {
		*to++ = (char)letter;
		return to;
	}
	if (letter < 0x800) {
		*to++ = (char)(0xc0 | letter >> 6);
	} else {
		if (letter < 0x10000) {
			*to++ = (char)(0xe0 | letter >> 12);
		} else {
			*to++ = (char)(0xf0 | letter >> 18);
			*to++ = (char)(0x80 | (letter >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (letter >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (letter & 0x3f));
	return to;
}

size_t t2x_punycode_decode(const char *text, size_t n, char *to, size_t size)
{
	struct letters letters = { .n = 0 };
	char *end = to;

	if (!take_letters(&letters, text, n) || 4 * letters.n > size)
		return 0;
	for (size_t i = 0; i < letters.n; i++)
		end = t2x_punycode_put(end, letters.at[i]);
	return (size_t)(end - to);
}
