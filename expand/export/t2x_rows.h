/* SPDX-License-Identifier: MIT */
/*
 * t2x_rows.h - the cells of a row of csv and ndjson, which t2x_rows_print.c prints.
 */
#ifndef T2X_ROWS_H
#define T2X_ROWS_H

#include "model/t2x_writer.h"

enum t2x_column {
#define T2X_ROWS_COLUMN(name) T2X_COLUMN_##name,
#include "t2x_rows.def"
#undef T2X_ROWS_COLUMN
	T2X_COLUMNS
};

struct t2x_cell {
	enum { T2X_CELL_EMPTY, T2X_CELL_NUMBER, T2X_CELL_UNSIGNED, T2X_CELL_TEXT } kind;
	int64_t number;
	const char *text;
	size_t n;
};

/* The digits of a number in front of its last six, for as long as numbers have the same there, as times do. */
struct t2x_leading_digits {
	uint64_t base, span;              /* they are those of so many numbers from base on; 0: nothing is cached */
	char text[16];
	unsigned length;                  /* of text */
};

/* Command lines and stacks of an event are put together there. */
struct t2x_rows_words {
	struct t2x_out quote;
	char *text;
	size_t n, capacity;
	const struct t2x_options *options;
};

/* What a writer of rows has as printer->own. */
struct t2x_rows {
	struct t2x_leading_digits time, abs;
	struct t2x_rows_words words;
};

/* Return  0, or -ENOMEM */
int t2x_rows_begin_words(struct t2x_rows_words *words, const struct t2x_options *options);
void t2x_rows_free_words(struct t2x_rows_words *words);

/*
 * Whether a reader can represent the time: databases have 63 bits for nanoseconds since 1970, which is until 2262.  The
 * clock returns 0 for a time before 1970.
 */
static inline int t2x_rows_is_known(uint64_t ns)
{
	return ns - 1 < INT64_MAX;
}

/* Whether it is known how long that lasted which an event ends: it did not begin at one of the clock's bounds. */
static inline int t2x_rows_has_rel(const struct t2x_event *ev)
{
	return ev->rel_ns != T2X_NO_TIME && ev->rel_ns - ev->ns > 1;
}

/* The T2X_COLUMNS cells of the event's row. */
void t2x_rows_fill(struct t2x_cell *cells, const struct t2x_printer *printer, const struct t2x_event *ev);

#endif
