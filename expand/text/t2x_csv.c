/* SPDX-License-Identifier: MIT */
/* t2x_csv.c - see t2x_csv.h. */
#include "t2x_csv.h"

#include <string.h>

#include "t2x_utf8.h"

/* = + - @ as wide as an ideograph: U+FF1D, U+FF0B, U+FF0D, U+FF20. */
static int is_wide_special(const char *text, size_t n)
{
	return n >= 3 && !memcmp(text, "\xef\xbc", 2) && memchr("\x9d\x8b\x8d\xa0", text[2], 4);
}

/* What is in the quotation marks, those in it doubled. */
static void put_inner(struct t2x_out *out, const char *text, size_t n)
{
	const char *end = text + n, *quote;

	if (n && (t2x_csv_is_special(text[0]) || is_wide_special(text, n)))
		t2x_out_char(out, '\'');
	while ((quote = memchr(text, '"', (size_t)(end - text)))) {
		t2x_utf8_text(out, text, (size_t)(quote + 1 - text));
		t2x_out_char(out, '"');
		text = quote + 1;
	}
	t2x_utf8_text(out, text, (size_t)(end - text));
}

void t2x_csv_quoted(struct t2x_out *out, const char *text, size_t n)
{
	t2x_out_char(out, '"');
	put_inner(out, text, n);
	t2x_out_char(out, '"');
}

void t2x_csv_text(struct t2x_out *out, const char *text, size_t n)
{
	if (!n || memchr(text, '"', n) || memchr(text, ',', n) || memchr(text, '\n', n) || memchr(text, '\r', n))
		t2x_csv_quoted(out, text, n);
	else
		put_inner(out, text, n);
}
