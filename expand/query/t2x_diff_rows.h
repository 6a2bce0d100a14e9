/* SPDX-License-Identifier: MIT */
/* t2x_diff_rows.h - the rows that are compared, of all runs. */
#ifndef T2X_DIFF_ROWS_H
#define T2X_DIFF_ROWS_H

#include "t2x_totals.h"

enum t2x_diff_form { T2X_DIFF_TABLE, T2X_DIFF_JSON, T2X_DIFF_CSV };

struct t2x_diff {
	struct t2x_totals **runs;     /* the old ones first */
	unsigned nold, nnew;
	double threshold;             /* per cent; below 0: none, and no times without has_times */
	int has_times;                /* show times as in t2x_diff_times.h, instead of by threshold */
	int has_durations;            /* show how the totals, means and percentiles of durations differ, too */
	enum t2x_diff_form form;      /* what it looks like: for people, or for programs */
	unsigned *lines;              /* of JSON, so far: set by t2x_diff_show() */
};

/* A row of a run. */
struct t2x_diff_item {
	struct t2x_row *row;
	unsigned run;             /* the old ones first */
};

/* The items of all runs, sorted: those of one row are adjacent.  *n: how many.  Return  NULL: no memory */
struct t2x_diff_item *t2x_diff_list(const struct t2x_diff *diff, unsigned *n);

/* How many of the items, from the first on, are of one row. */
unsigned t2x_diff_count(const struct t2x_diff_item *items, unsigned n);

/* "region", "child", ... */
const char *t2x_diff_kind(const struct t2x_row *row);

/* The end of a line: what the row is. */
void t2x_diff_put_names(struct t2x_out *out, const struct t2x_row *row);

#endif
