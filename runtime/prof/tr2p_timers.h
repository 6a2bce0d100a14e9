/* SPDX-License-Identifier: MIT */
/*
 * tr2p_timers.h - a timer for each thread and each clock that runs: SIGPROF to that very thread.
 *
 * Both timers count CPU time.  That of the wall clock may count only the time in user mode, see tr2p_wall.h.
 *
 * Starting a clock finds the threads in /proc.  A thread that begins later asks for its timers, and releases them when
 * it ends.  A thread made by a bare clone(2) does neither: its timers are deleted when the clock stops.
 */
#ifndef TR2P_TIMERS_H
#define TR2P_TIMERS_H

#include <stdint.h>

enum tr2p_clock { TR2P_CLOCK_CPU, TR2P_CLOCK_WALL, TR2P_CLOCKS };

/*
 * Start a clock, which does not run, in each thread.
 * cookie  the si_value of signals of CPU time; those of the wall clock have the cookie of tr2p_wall_add()
 * Return  0 or an error number: no thread has a timer then    Thread any, with a lock
 */
int tr2p_timers_start(enum tr2p_clock clock, uint64_t period_ns, void *cookie);
void tr2p_timers_stop(enum tr2p_clock clock);

/* The calling thread begins; it ends, and has no timer from here on. */
void tr2p_timers_begin_thread(void);
void tr2p_timers_end_thread(void);

/* 1: a clock runs.  No lock    Signal safe */
int tr2p_timers_are_on(void);

/*
 * Unblock ticks in the calling thread, if a clock runs.  Libraries such as liblzma block all signals in their threads,
 * so that none of the program's handlers runs there.
 */
void tr2p_timers_unblock_ticks(void);

/* Around a fork.  The kernel gives a child no timers: its one thread gets new ones. */
void tr2p_timers_lock(void);
int tr2p_timers_try_lock(void);       /* Return  0: another thread has it */
void tr2p_timers_unlock(void);
void tr2p_timers_begin_child(void);

#endif
