/* SPDX-License-Identifier: MIT */
/*
 * t2x_diff.h - two versions of a program compared, by the totals of one or more runs of each.
 *
 * Structure is how often things happen: regions, children, intervals of timers, data, steps, modes of commands, and the
 * values of counters.  It is compared exactly: a row has changed if a new run has a count that lies outside of what the
 * old runs have.  Time is compared with a threshold only, and a row counts only if its change is no noise: if every new
 * run took longer, or every one less long, than each of the old ones, and by more than half of what the runs of a side
 * differ by.
 */
#ifndef T2X_DIFF_H
#define T2X_DIFF_H

#include "t2x_diff_rows.h"

/*
 * Print what has changed, nothing if nothing has.  Figures of durations differ by chance, so they do not count.
 * Return  how many rows have changed; -ENOMEM
 */
int t2x_diff_show(const struct t2x_diff *diff, struct t2x_out *out);

/* The writer that adds to the totals of options->filter. */
extern const struct t2x_writer t2x_writer_totals;

#endif
