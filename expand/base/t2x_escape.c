/* SPDX-License-Identifier: MIT */
/* t2x_escape.c - see t2x_escape.h. */
#include "t2x_escape.h"

#include <stdint.h>
#include <string.h>

enum { MAX_CHARACTER = 4 };    /* bytes of UTF-8 */

/* What lies at some byte of the text. */
struct character {
	unsigned length;           /* 1 if it is no character at all */
	int is_good;               /* a character, and one that does no harm */
	int is_partial;                /* the text ends inside of it, and it is valid so far */
};

static int is_harmless(const struct t2x_escape *escape, uint32_t code)
{
	if (code < 0x20)
		return code == '\n' && !escape->is_line;
	if (code >= 0x7f && code < 0xa0)
		return 0;
	/* ALM; LRM, RLM; line and paragraph separator, LRE to RLO; LRI to PDI */
	return code != 0x61c && code != 0x200e && code != 0x200f && !(code >= 0x2028 && code <= 0x202e) &&
	       !(code >= 0x2066 && code <= 0x2069);
}

/* Return  the length that the first byte of a longer character announces, *bits: its bits of the code; 0: it is none */
static unsigned announced_length(unsigned char first, uint32_t *bits)
{
	if (first >= 0xc2 && first < 0xe0) {
		*bits = first & 0x1fU;
		return 2;
	}
	if (first >= 0xe0 && first < 0xf0) {
		*bits = first & 0x0fU;
		return 3;
	}
	*bits = first & 0x07U;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Return  0: the second byte shows an overlong form, half of a surrogate pair, or a code beyond Unicode */
static int is_allowed_second(unsigned char first, unsigned char second)
{
	return !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f) &&
	       !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
}

static struct character look(const struct t2x_escape *escape, const unsigned char *p, size_t n)
{
	struct character is = { .length = 1 };
	uint32_t code;
	unsigned length;

	if (p[0] < 0x80) {
		is.is_good = is_harmless(escape, p[0]);
		return is;
	}
	length = announced_length(p[0], &code);
	for (unsigned i = 1; i < length; i++) {
		if (i == n) {
			is.is_partial = 1;
			return is;
		}
		if ((p[i] & 0xc0) != 0x80 || (i == 1 && !is_allowed_second(p[0], p[1])))
			return is;
		code = code << 6 | (p[i] & 0x3fU);
	}
	if (length) {
		is.length = length;
		is.is_good = is_harmless(escape, code);
	}
	return is;
}

static void put_escaped(struct t2x_escape *escape, const unsigned char *p, unsigned n)
{
	static const char hex[] = "0123456789abcdef";

	for (unsigned i = 0; i < n; i++) {
		const char text[] = { '\\', '\\', 'x', hex[p[i] >> 4], hex[p[i] & 15] };

		escape->put(escape->to, escape->is_json ? text : text + 1, sizeof(text) - !escape->is_json);
	}
}

/* Put the characters that begin among the first stop of n bytes.  Return  where the next, or a partial one, begins */
static size_t put_characters(struct t2x_escape *escape, const unsigned char *p, size_t n, size_t stop)
{
	size_t at = 0, from = 0;

	while (at < stop) {
		struct character is = look(escape, p + at, n - at);

		if (!is.is_good && at > from)
			escape->put(escape->to, (const char *)p + from, at - from);
		if (is.is_partial)
			return at;
		if (!is.is_good) {
			put_escaped(escape, p + at, is.length);
			from = at + is.length;
		}
		at += is.length;
	}
	if (at > from)
		escape->put(escape->to, (const char *)p + from, at - from);
	return at;
}

/* Complete the partial character with the first bytes of the text.  Return  how many of these are used */
static size_t put_partial(struct t2x_escape *escape, const unsigned char *text, size_t n)
{
	unsigned char joint[2 * MAX_CHARACTER];
	size_t partial = escape->npartial, more = n < MAX_CHARACTER ? n : MAX_CHARACTER, at;

	memcpy(joint, escape->partial, partial);
	memcpy(joint + partial, text, more);
	at = put_characters(escape, joint, partial + more, partial);
	if (at >= partial) {
		escape->npartial = 0;
		return at - partial;
	}
	/* It is still partial, so this piece ended inside of it, too. */
	escape->npartial = (unsigned)(partial + more - at);
	memcpy(escape->partial, joint + at, escape->npartial);
	return more;
}

void t2x_escape_text(struct t2x_escape *escape, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t at = 0;

	if (escape->npartial && n)
		at = put_partial(escape, p, n);
	at += put_characters(escape, p + at, n - at, n - at);
	if (at < n) {
		escape->npartial = (unsigned)(n - at);
		memcpy(escape->partial, p + at, n - at);
	}
}

void t2x_escape_end(struct t2x_escape *escape)
{
	put_escaped(escape, escape->partial, escape->npartial);
	escape->npartial = 0;
}
