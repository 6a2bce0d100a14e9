/* SPDX-License-Identifier: MIT */
/*
 * tr2p_seen.h - the threads that the wall clock looks at, and what is counted for each: see tr2p_wall.h.
 *
 * Functions need the lock of tr2p_timers, unless their comments say otherwise.
 */
#ifndef TR2P_SEEN_H
#define TR2P_SEEN_H

#include <stdint.h>
#include <sys/types.h>

#include "tr2p_look.h"

/* The clock's; 0: it does not run. */
void tr2p_seen_set_period(uint64_t period_ns);

/* tr2p_wall_add(), from this moment on. */
void *tr2p_seen_add(pid_t tid, uint64_t now_ns);

/* 1: there is a thread that has begun and not ended, or is looked at. */
int tr2p_seen_any(void);

/* Count all that is not counted yet. */
void tr2p_seen_flush(void);

void tr2p_seen_begin_child(void);

/*
 * Look at the CPU time of threads, from number *next on, until max of them have run since the last time.
 * now_ns  the point of the grid on which this look is
 * *next   then, to go on with; UINT32_MAX: these were all
 * alive   is increased by those that are there
 * Return  how many have run; whose: their numbers
 */
unsigned tr2p_seen_collect(unsigned *next, uint64_t now_ns, struct tr2p_look *looks, unsigned *whose, unsigned max,
			   unsigned *alive);

/* After a look at such a thread, unless it has ended. */
void tr2p_seen_take(unsigned whose, const struct tr2p_look *look);

/* tr2p_wall_claim().  No lock    Signal safe */
int64_t tr2p_seen_claim(const void *cookie, int is_on);

#endif
