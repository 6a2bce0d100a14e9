/* SPDX-License-Identifier: MIT */
/*
 * t2x_diff_form.h - what differs, for programs: JSON or CSV, columns that stay.  An empty cell, null: not known.
 *
 * The rows of both tables, structure and times, have the same columns.  A side has what its runs have of the row: the
 * least, the median, the largest; counts, or nanoseconds.  Rows of times are there whether they differ or not: believed
 * is 1 for those that differ by more than chance explains, and by more than the threshold.
 */
#ifndef T2X_DIFF_FORM_H
#define T2X_DIFF_FORM_H

#include "t2x_diff_rows.h"
#include "t2x_shift.h"

struct t2x_diff_side {
	uint64_t min, median, max;
};

struct t2x_diff_line {
	const struct t2x_row *row;
	const char *of;                   /* which time: total, self, p50; NULL: a row of structure */
	struct t2x_diff_side old, new;
	const struct t2x_shift *shift;    /* of times */
	int is_believed;
};

/* Begin; a line for each row; end.  For the table that people read, begin and end do nothing. */
void t2x_diff_form_begin(const struct t2x_diff *diff, struct t2x_out *out);
void t2x_diff_form_line(const struct t2x_diff *diff, struct t2x_out *out, const struct t2x_diff_line *line);
void t2x_diff_form_end(const struct t2x_diff *diff, struct t2x_out *out);

#endif
