/* SPDX-License-Identifier: MIT */
/* fill.h - for harnesses: a call that finds no room in its chunk, without the 2,700 calls before it. */
#ifndef FILL_H
#define FILL_H

/*
 * The calling thread's chunk is as if events had filled it.  Waits until the drain has freed half of the ring, but not
 * longer than 2,000 pauses of 0.1 ms: what is dropped then is counted.  A ring that is used up stays so: behind so many
 * timeouts it waits no more.  Return  1: the ring is still more than half full
 */
enum { FILL_TIMEOUTS = 20 };
int fill_chunk(void);

#endif
