/* SPDX-License-Identifier: MIT */
/* floor.h - what no tracer can be cheaper than, as cases of a benchmark (bench.h). */
#ifndef FLOOR_H
#define FLOOR_H

/* Map what floor_store() stores into.  Ends the program if it cannot. */
void floor_init(void);

/* An empty loop; additions that wait for each other, one cycle each (ops: a multiple of 8); reading the raw clock. */
void floor_nothing(unsigned thread, unsigned ops);
void floor_cycles(unsigned thread, unsigned ops);
void floor_clock(unsigned thread, unsigned ops);

/*
 * The least that a tracer with a clock can do: read it and store 24 bytes into 768 KiB of shared memory, as the
 * library's rings are; the position is in a register, nobody reads.
 */
void floor_store(unsigned thread, unsigned ops);

#endif
