/* SPDX-License-Identifier: MIT */
/*
 * numbered.h - for tests: programs record numbered checkpoints, and what a program has left has each number once.
 *
 * All is in t.dir of traced.h: numbered_setup() makes it the directory of ring files, too.
 */
#ifndef NUMBERED_H
#define NUMBERED_H

#include <stddef.h>

int numbered_setup(void **state);

/* Record the next n numbers; numbered_next is the first of them. */
extern int numbered_next;
void numbered_record(int n);

/* Ring files in t.dir. */
size_t numbered_ring_files(void);

/* No ring file is left: the trace has the numbers 0..n-1, each once, and no other. */
void numbered_assert_written(unsigned n);

/*
 * The process was killed, and has left one ring file, which is removed.  It and the trace together have the numbers
 * 0..n-1, each once, and no other.
 */
void numbered_assert_recovered(unsigned n);

/* Whether there is a ring file or not: as one of these two.  Of the numbers n..max-1 some may be there, too. */
void numbered_assert_left(unsigned n, unsigned max);

#endif
