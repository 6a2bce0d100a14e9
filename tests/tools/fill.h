/* SPDX-License-Identifier: MIT */
/* fill.h - for harnesses: makes the next call find its chunk full, without the 2,700 calls that would fill it. */
#ifndef FILL_H
#define FILL_H

/*
 * Make the calling thread's chunk look as if events had filled it.  Then wait until the drain has freed half of the
 * ring, but not longer than 2,000 pauses of 0.1 ms; events that are dropped later are counted.  If abandoned
 * reservations use up the ring, it stays full: after FILL_TIMEOUTS timeouts the call does not wait any more.
 * Return  1: the ring is still more than half full
 */
enum { FILL_TIMEOUTS = 20 };
int fill_chunk(void);

#endif
