/* SPDX-License-Identifier: MIT */
/*
 * tr2_timer.h - stopwatch timers and counters: summed up in the thread, recorded when it ends.
 *
 * Sums live in struct tr2_thread, in ticks of the raw clock.  A thread that ends without trace2_thread_exit()
 * loses its sums, as in git.
 */
#ifndef TR2_TIMER_H
#define TR2_TIMER_H

#include "ring/tr2_thread.h"

/* Record self's per-thread sums and add all its sums to the process's.  when: raw clock for the events. */
void tr2_timer_end_thread(struct tr2_thread *self, uint64_t when);

/* Record the process's sums, those that are not zero. */
void tr2_timer_end_process(uint64_t when);

#endif
