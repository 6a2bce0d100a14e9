/* SPDX-License-Identifier: MIT */
/*
 * tr2_progress.h - waiting for the drain, with a timeout that progress resets.
 *
 * The holder of the drain's lock reports each step: a ring, a write, a slice of waiting for a peer, which has its own
 * bound.  Who waits for the lock waits while there are steps, however long they take in all: on a machine with a
 * hundred busy processes that may be many seconds.  Only without a step the wait times out.  The timeout is counted in
 * turns: each sleeps a little and then yields the processor, so that a thread which is not stopped, but never
 * scheduled, gets its chance a hundred times.
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
	unsigned turns, max;               /* without a step, so far; until the timeout ends */
};

/* One more step is done.  Thread  any    Signal safe    Cost  5 ns */
void tr2_progress_made(void);

/* Begin to wait, for at most so many turns in a row without a step. */
struct tr2_timeout tr2_timeout_begin(unsigned turns);

/*
 * Wait for a turn, or until somebody changes *word from value and wakes who waits for it.
 * Return  1: it is worth looking again; 0: the timeout is at its end
 * Signal safe    Changes errno
 */
int tr2_timeout_wait(struct tr2_timeout *timeout, const uint32_t *word, uint32_t value);

#endif
