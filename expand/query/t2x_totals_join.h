/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_join.h - totals of consecutive parts of a trace, each read by itself, become those of the whole.
 *
 * A part does not know what lies in front of it: when a region was entered that it only leaves, how much of it was
 * spent inside of others before; of which program a child is that it only ends.  So it makes a note of such an event
 * instead of counting it, and the join does what the event would have done.  What is certain there:
 * the front end has checked that every event of a thread is in one of the parts, and that the regions which a part
 * takes for open are as many as those that were left open in front of it.
 */
#ifndef T2X_TOTALS_JOIN_H
#define T2X_TOTALS_JOIN_H

#include "t2x_totals.h"

/*
 * Add the totals of the part behind what has been joined.  Both are of t2x_totals_new_part(); from stays the caller's,
 * for nothing but t2x_totals_free().  Return  0: they cannot be joined, and to is of no use any more
 */
int t2x_totals_join(struct t2x_totals *to, struct t2x_totals *from);

/*
 * All have been joined.  *needs_order: one thread has ended a child of another one, so that the result holds only if
 * the two come in the order of time.  Return  0: what was noted of children is contradictory, or it is too much
 */
int t2x_totals_join_end(struct t2x_totals *totals, int *needs_order);

#endif
