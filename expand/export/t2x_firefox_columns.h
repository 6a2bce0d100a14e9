/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox_columns.h - what the two files that print a profile share: columns, and what is made for printing.
 *
 * Tables are columns of one length.  Strings are referred to by index: of a frame that is its number - 1.
 */
#ifndef T2X_FIREFOX_COLUMNS_H
#define T2X_FIREFOX_COLUMNS_H

#include "t2x_firefox_gathered.h"
#include "text/t2x_json.h"
#include "text/t2x_utf8.h"

enum { T2X_FIREFOX_CATEGORIES = 255 };    /* that readers have room for */

struct t2x_firefox_print {
	struct t2x_out *out;
	struct t2x_firefox *firefox;
	const struct t2x_frames *frames;
	unsigned char *category_of;     /* by frame number - 1 */
	uint32_t *source_of;            /* likewise; number of its file, 0: none */
	const char *category[T2X_FIREFOX_CATEGORIES];
	unsigned categories;
	uint32_t sources;
};

/* In front of an element.  Lines end now and then: their length is bounded. */
static inline void t2x_firefox_next(struct t2x_out *out, uint64_t i)
{
	if (i)
		t2x_out_char(out, ',');
	if (i && i % 64 == 0)
		t2x_out_end_line(out);
}

/* "name":[ */
static inline void t2x_firefox_column(struct t2x_out *out, const char *name)
{
	t2x_out_char(out, '"');
	t2x_out_string(out, name);
	t2x_out_literal(out, "\":[");
}

static inline void t2x_firefox_end_column(struct t2x_out *out)
{
	t2x_out_literal(out, "],");
	t2x_out_end_line(out);
}

/* The last member of a table. */
static inline void t2x_firefox_length(struct t2x_out *out, uint64_t rows)
{
	t2x_out_literal(out, "\"length\":");
	t2x_out_uint(out, rows);
}

/* Nanoseconds, which may be below zero, as milliseconds with six decimals. */
static inline void t2x_firefox_ms(struct t2x_out *out, uint64_t ns)
{
	char *p = t2x_out_room(out, 2 * T2X_MAX_DIGITS);

	if (ns >> 63) {
		*p++ = '-';
		ns = 0 - ns;
	}
	p = t2x_put_uint(p, ns / 1000000);
	*p++ = '.';
	out->pos = t2x_put_6(p, (unsigned)(ns % 1000000));
}

static inline void t2x_firefox_string(struct t2x_out *out, const char *text)
{
	t2x_utf8_json(out, text, strlen(text));
}

#endif
