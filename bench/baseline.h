/* SPDX-License-Identifier: MIT */
/* baseline.h - what no tracer can be cheaper than, as cases of a benchmark (bench.h). */
#ifndef BASELINE_H
#define BASELINE_H

/* Map what baseline_store() stores into.  Ends the program if it cannot. */
void baseline_init(void);

/* An empty loop; additions that wait for each other, one cycle each (ops: a multiple of 8); reading the raw clock. */
void baseline_nothing(unsigned thread, unsigned ops);
void baseline_cycles(unsigned thread, unsigned ops);
void baseline_clock(unsigned thread, unsigned ops);

/*
 * The least that a tracer with a clock can do: read it and store 24 bytes into 768 KiB of shared memory, as the
 * library's rings are; the position is in a register, nobody reads.
 */
void baseline_store(unsigned thread, unsigned ops);

#endif
