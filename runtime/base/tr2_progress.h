/* SPDX-License-Identifier: MIT */
/*
 * tr2_progress.h - waiting for the drain, with a timeout that progress resets.
 *
 * The holder of the drain's lock reports each step: a ring, a write, a part of a wait for a peer, which has its own
 * bound.  A thread that waits for the lock goes on waiting as long as the holder makes steps: on a machine with a
 * hundred busy processes that may take many seconds.  The wait times out only when no step is made.  It counts the
 * timeout in turns.  In each turn it sleeps a little and then yields the processor, so that a holder which is runnable
 * but not scheduled gets a hundred chances.
 */
#ifndef TR2_PROGRESS_H
#define TR2_PROGRESS_H

#include <stdint.h>

enum {
	TR2_TIMEOUT_TURN_MS = 10,
	TR2_TIMEOUT_TURNS = 100,          /* a second, if nobody else wants the processor */
};

struct tr2_timeout {
	uint32_t seen;                     /* the steps when the last turn began */
	unsigned turns, max;               /* turns without a step: so far, at most */
};

/* One more step is done.  Thread  any    Signal safe    Cost  5 ns */
void tr2_progress_made(void);

/* Begin to wait, for at most so many turns in a row without a step. */
struct tr2_timeout tr2_timeout_begin(unsigned turns);

/*
 * Wait for a turn, or until somebody changes *word from value and wakes the threads that wait for it.
 * Return  1: it is worth looking again; 0: the timeout is at its end
 * Signal safe    Changes errno
 */
int tr2_timeout_wait(struct tr2_timeout *timeout, const uint32_t *word, uint32_t value);

#endif
