/* SPDX-License-Identifier: MIT */
/* baseline.h - cases of a benchmark (bench.h) that give the least cost of any tracer. */
#ifndef BASELINE_H
#define BASELINE_H

/* Map what baseline_store() stores into.  Ends the program if it cannot. */
void baseline_init(void);

/* An empty loop; dependent additions of one cycle each (ops: a multiple of 8); reading the raw clock. */
void baseline_nothing(unsigned thread, unsigned ops);
void baseline_cycles(unsigned thread, unsigned ops);
void baseline_clock(unsigned thread, unsigned ops);

/*
 * The least work of a tracer with a clock: read the clock and store 24 bytes into 768 KiB of shared memory, like that
 * of the library's rings.  The position is in a register, and nobody reads the memory.
 */
void baseline_store(unsigned thread, unsigned ops);

#endif
