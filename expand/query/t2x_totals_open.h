/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_open.h - the regions that are never left, counted where they were entered.
 *
 * The model reports them where it has the last event of a thread.  There the thread may go on all the same: in the next
 * file of a process that has rotated, or in a later part of the trace.  So a thread keeps their rows until its regions
 * are all left at once, or the trace ends, and drops them when another file goes on with it: that one repeats them.
 */
#ifndef T2X_TOTALS_OPEN_H
#define T2X_TOTALS_OPEN_H

#include "t2x_totals.h"

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
