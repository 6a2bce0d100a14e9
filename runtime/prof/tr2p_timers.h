/* SPDX-License-Identifier: MIT */
/*
 * tr2p_timers.h - a timer for each thread and each clock that runs: SIGPROF to that very thread.
 *
 * Both are of CPU time: that of the wall clock maybe only of what the thread uses in user mode, see tr2p_wall.h.
 *
 * Threads are found in /proc when a clock is started; one that begins later asks for its timers, one that ends gives
 * them back.  Of a thread that neither does - by a bare clone(2), say - the timers go when the clock is stopped.
 */
#ifndef TR2P_TIMERS_H
#define TR2P_TIMERS_H

#include <stdint.h>

enum tr2p_clock { TR2P_CLOCK_CPU, TR2P_CLOCK_WALL, TR2P_CLOCKS };

/*
 * Start a clock, that does not run, in each thread.
 * cookie  what signals of CPU time have as si_value; those of the wall clock have tr2p_wall_add()'s
 * Return  0 or an error number: no thread has a timer then    Thread any, with a lock
 */
int tr2p_timers_start(enum tr2p_clock clock, uint64_t period_ns, void *cookie);
void tr2p_timers_stop(enum tr2p_clock clock);

/* The calling thread begins; ends: from here on no timer is its. */
void tr2p_timers_begin_thread(void);
void tr2p_timers_end_thread(void);

/* 1: a clock runs.  No lock    Signal safe */
int tr2p_timers_are_on(void);

/*
 * The calling thread does not block ticks, if a clock runs: libraries, liblzma for one, block all signals in threads of
 * theirs, for the sake of the program's handlers.
 */
void tr2p_timers_unblock_ticks(void);

/* Around a fork.  The kernel gives a child no timers: its one thread gets new ones. */
void tr2p_timers_lock(void);
int tr2p_timers_try_lock(void);       /* Return  0: another thread has it */
void tr2p_timers_unlock(void);
void tr2p_timers_begin_child(void);

#endif
