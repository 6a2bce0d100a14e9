/* SPDX-License-Identifier: MIT */
/*
 * t2x_diff_times.h - what got slower or faster: the rows by the time that they cost or save.
 *
 * Of regions it is the time of their own, so that a region that got slower does not show in those around it, too; of
 * children, timers and sampled functions the total.  Regions with none in them, and children, are compared by their
 * median call, too: another program on the same processor changes that least.  With several runs on each
 * side only rows are shown that differ by more than chance explains (t2x_shift.h): on average at most one in twenty of
 * them is there by chance.  If there are too few runs to tell, the largest differences are shown, and none counts.
 */
#ifndef T2X_DIFF_TIMES_H
#define T2X_DIFF_TIMES_H

#include "t2x_diff_rows.h"

/* Return  how many rows have changed: none, if there are too few runs to tell; -ENOMEM */
int t2x_diff_times_show(const struct t2x_diff *diff, struct t2x_out *out, const struct t2x_diff_item *items,
			unsigned n);

#endif
