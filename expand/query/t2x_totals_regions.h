/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_regions.h - regions in regions of the same row, and regions that are never left.
 *
 * Recursion.  A region of which another one of its row is open around it, in its thread, is nested: its time is in
 * that of the outer region, so that it counts once in the total.  The span of the outer one adds up the time of what
 * is nested in it (nested_ns).  If the outer region ends without a duration, since it was never left or where it was
 * left is lost, this time counts after all, or for the next one of the row around it.
 *
 * Most regions are not nested, and that has to cost next to nothing: each row of regions has one of 31 bits, and each
 * span, in its node, the bits of all rows from the outermost to its own.  Where the bit of a row is not set around a
 * region, the region is not nested.  Where it is, it may be that of another row, and the spans around are compared one
 * by one.  The row remembers the result, which is the same for as long as no other region is directly around.
 *
 * A part of a trace does not see the enters of the regions that it finds open.  The front end has told the model which
 * these are, and the thread looks for their rows at its first event.  The join checks them: see t2x_totals_join.h.
 *
 * Never left.  The model reports such a region where it has the last event of a thread.  The thread may go on all the
 * same: in the next file of a process that has rotated, or in a later part of the trace.  So a thread keeps the rows
 * until its regions are all left at once, or the trace ends, and drops them when another file, which repeats them,
 * goes on with it.  They are counted where they were entered.
 */
#ifndef T2X_TOTALS_REGIONS_H
#define T2X_TOTALS_REGIONS_H

#include "t2x_totals.h"

/* In a span's node: the bits of an unseen region are right, too. */
#define T2X_TOTALS_KNOWN (UINT32_C(1) << 31)

/* At the first event of a thread of a later part: find the rows of the regions around.  Return  0: no memory */
int t2x_totals_learn_around(struct t2x_totals *totals, struct t2x_totals_thread *thread, const struct t2x_event *ev);
void t2x_totals_forget_around(struct t2x_totals *totals, struct t2x_totals_thread *thread);

/* Set the bits of unseen regions: the innermost ones, in which a region is entered. */
void t2x_totals_set_unseen_bits(struct t2x_spans *spans, struct t2x_span *innermost);

/*
 * The innermost region of the row around span.  span  one that was seen, or its place.  Return  NULL: there is none
 * compare: look at each; for totals that are joined, which come in no order.  find: ask first what the row remembers
 */
struct t2x_span *
t2x_totals_compare_around(const struct t2x_spans *spans, const struct t2x_span *span, const struct t2x_row *row);
struct t2x_span *
t2x_totals_find_around(const struct t2x_spans *spans, const struct t2x_span *span, struct t2x_row *row);

/* A region that lasted ns is nested in outer, of the same row. */
static inline void t2x_totals_nest(struct t2x_row *row, struct t2x_span *outer, uint64_t ns)
{
	row->nested += ns;
	outer->nested_ns += ns;
}

/* The span ends without a duration, or its duration is of another row: what was nested in it is so no longer. */
void t2x_totals_unnest(const struct t2x_spans *spans, struct t2x_span *span);

/* For the table of spans: end_span, end_unseen. */
void t2x_totals_end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
			 enum t2x_span_end end);

/* At the end of the trace, before rows are read: the regions that are still open have no durations. */
void t2x_totals_unnest_open(struct t2x_totals *totals);

/* The innermost region: of the enters that come its bits are asked for. */
static inline void t2x_totals_expect_enters(struct t2x_spans *spans, struct t2x_span *innermost)
{
	if (__builtin_expect(!innermost->is_seen && !(innermost->node & T2X_TOTALS_KNOWN), 0))
		t2x_totals_set_unseen_bits(spans, innermost);
}

/* The region in which the one that is left is nested.  span  not the outermost in the table.  Return  NULL: in none */
static inline struct t2x_span *
t2x_totals_find_outer(const struct t2x_spans *spans, const struct t2x_span *span, struct t2x_row *row)
{
	return __builtin_expect((span[-1].node & row->bit) != 0, 0) ? t2x_totals_find_around(spans, span, row) : NULL;
}

/* The thread's regions that are open are never left: nothing comes that could. */
void t2x_totals_count_open(struct t2x_totals_thread *thread);

/* The trace ends: the same of all threads. */
void t2x_totals_count_all_open(const struct t2x_totals *totals);

/* An event of the thread comes from this file: if that is another one than before, the thread goes on there. */
static inline void t2x_totals_go_on(struct t2x_totals_thread *thread, uint32_t file)
{
	if (thread->file != file)
		thread->nopen = 0;
	thread->file = file;
}

#endif
