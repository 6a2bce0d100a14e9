/* SPDX-License-Identifier: MIT */
/*
 * tr2_timer.h - stopwatch timers and counters: each thread adds up its own, and records them when it ends.
 *
 * Totals live in struct tr2_thread, in ticks of the raw clock.  A thread that ends without trace2_thread_exit()
 * loses its totals, as in git.
 */
#ifndef TR2_TIMER_H
#define TR2_TIMER_H

#include "ring/tr2_thread.h"

/* Record self's per-thread totals and add all its totals to the process's.  when: raw clock for the events */
void tr2_timer_end_thread(struct tr2_thread *self, uint64_t when);

/* Record the totals of the process that are not zero. */
void tr2_timer_end_process(uint64_t when);

#endif
