/* SPDX-License-Identifier: MIT */
/* t2x_utf8.c - see t2x_utf8.h. */
#include "t2x_utf8.h"

#include <string.h>

#include "t2x_json.h"

/* Return  the length of the character that begins here; 0: none does */
static size_t character(const unsigned char *p, size_t n)
{
	unsigned char first = p[0], least = 0x80, most = 0xbf;
	size_t length = first < 0x80 ? 1 : first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if (length > n || length < 2)
		return length > n ? 0 : length;
	/* Refuse overlong forms, surrogates, and codes beyond U+10FFFF. */
	if (first == 0xe0)
		least = 0xa0;
	else if (first == 0xed)
		most = 0x9f;
	else if (first == 0xf0)
		least = 0x90;
	else if (first == 0xf4)
		most = 0x8f;
	if (p[1] < least || p[1] > most)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Return  1: each of the eight bytes is a character */
static int are_ascii(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return !(bytes & UINT64_C(0x8080808080808080));
}

size_t t2x_utf8_valid(const char *text, size_t n)
{
	size_t done = 0, length;

	while (n - done >= 8 && are_ascii(text + done))
		done += 8;
	if (n >= 8 && n - done < 8 && are_ascii(text + n - 8))
		return n;
	while (done < n && (length = character((const unsigned char *)text + done, n - done)))
		done += length;
	return done;
}

void t2x_utf8_json(struct t2x_out *out, const char *text, size_t n)
{
	t2x_out_char(out, '"');
	while (n) {
		size_t valid = t2x_utf8_valid(text, n);

		t2x_json_escaped(out, text, valid);
		if (valid < n) {
			t2x_out_literal(out, "\\ufffd");
			valid++;
		}
		text += valid;
		n -= valid;
	}
	t2x_out_char(out, '"');
}

void t2x_utf8_text(struct t2x_out *out, const char *text, size_t n)
{
	while (n) {
		size_t valid = t2x_utf8_valid(text, n);

		t2x_out_bytes(out, text, valid);
		if (valid < n) {
			t2x_out_literal(out, "\xef\xbf\xbd");
			valid++;
		}
		text += valid;
		n -= valid;
	}
}
