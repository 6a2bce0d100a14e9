/* SPDX-License-Identifier: MIT */
/* fill.h - for harnesses: a call that finds no room in its chunk, without the 2,700 calls before it. */
#ifndef FILL_H
#define FILL_H

/*
 * The calling thread's chunk is as if events had filled it.  Waits until the drain has freed half of the ring, but not
 * longer than 0.2 s: what is dropped then is counted.
 */
void fill_chunk(void);

#endif
