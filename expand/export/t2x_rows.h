/* SPDX-License-Identifier: MIT */
/*
 * t2x_rows.h - the rows of csv and ndjson: what is in them (t2x_rows.c), how they look (t2x_rows_print.c).
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
	enum { T2X_CELL_EMPTY, T2X_CELL_NUMBER, T2X_CELL_TEXT } kind;
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

/* What printing remembers, at the address of printer->own. */
struct t2x_rows {
	struct t2x_leading_digits time, abs;
};

/* The T2X_COLUMNS cells of the event's row. */
void t2x_rows_fill(struct t2x_cell *cells, const struct t2x_printer *printer, const struct t2x_event *ev);

/* The names of the columns in a line of CSV. */
void t2x_rows_print_names(struct t2x_out *out);

/* The event's row.  CSV is that of RFC 4180, but for the line ends. */
void t2x_rows_print_csv(struct t2x_printer *printer, const struct t2x_event *ev);
void t2x_rows_print_json(struct t2x_printer *printer, const struct t2x_event *ev);

#endif
