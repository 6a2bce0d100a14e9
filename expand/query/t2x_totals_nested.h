/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_nested.h - regions in regions of the same row: recursion, whose time counts once in the total.
 *
 * A region of which another one of its row is open around it, in its thread, is nested.  Most are not, and that has to
 * cost next to nothing: each row of regions has one of 31 bits, and each span, in its node, the bits of all rows from
 * the outermost to its own.  Where the bit of a row is not set around a region, the region is not nested.  Where it is,
 * it may be that of another row, and the spans around are compared one by one.  The row remembers the result, which is
 * the same for as long as no other region is directly around.
 *
 * A part of a trace does not see the enters of the regions that it finds open.  The front end has told the model which
 * these are, and the thread looks for their rows at its first event.  The join checks them: see t2x_totals_join.h.
 */
#ifndef T2X_TOTALS_NESTED_H
#define T2X_TOTALS_NESTED_H

#include "t2x_totals.h"

/* In a span's node: the bits of an unseen region are right, too. */
#define T2X_TOTALS_KNOWN (UINT32_C(1) << 31)

/* At the first event of a thread of a later part: find the rows of the regions around.  Return  0: no memory */
int t2x_totals_learn_around(struct t2x_totals *totals, struct t2x_totals_thread *thread, const struct t2x_event *ev);
void t2x_totals_forget_around(struct t2x_totals *totals, struct t2x_totals_thread *thread);

/* Set the bits of unseen regions: the innermost ones, in which a region is entered. */
void t2x_totals_set_unseen_bits(struct t2x_spans *spans, struct t2x_span *innermost);

/*
 * Compare the regions around.  span  one that was seen, or its place
 * find: ask the row first, and have it remember.  For totals that events are added to; what is joined is in no order
 */
int t2x_totals_compare_around(const struct t2x_spans *spans, const struct t2x_span *span, const struct t2x_row *row);
int t2x_totals_find_around(const struct t2x_spans *spans, const struct t2x_span *span, struct t2x_row *row);

/* The innermost region: of the enters that come its bits are asked for. */
static inline void t2x_totals_expect_enters(struct t2x_spans *spans, struct t2x_span *innermost)
{
	if (__builtin_expect(!innermost->is_seen && !(innermost->node & T2X_TOTALS_KNOWN), 0))
		t2x_totals_set_unseen_bits(spans, innermost);
}

/* Whether the region, which was entered and is left, is nested.  span  not the outermost in the table */
static inline int
t2x_totals_is_nested(const struct t2x_spans *spans, const struct t2x_span *span, struct t2x_row *row)
{
	return __builtin_expect((span[-1].node & row->bit) != 0, 0) && t2x_totals_find_around(spans, span, row);
}

#endif
