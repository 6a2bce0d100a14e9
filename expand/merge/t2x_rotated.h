/* SPDX-License-Identifier: MIT */
/*
 * t2x_rotated.h - the processes of a run, by which the later files of one are known.
 *
 * A process that rotates its trace writes each file as a stream with an id of its own, which goes on with the cycles of
 * the file before.  The back end gets all of them as one stream, under the id of the one that was read first: so a
 * thread, and the regions that are open in it, go on from one file to the next.
 *
 * Memory: T2X_MAX_SEEN processes.  One more takes the place of one that had no new file for long.  If that one has
 * another file after all, it is taken for another process.
 */
#ifndef T2X_ROTATED_H
#define T2X_ROTATED_H

#include <stdint.h>

enum { T2X_MAX_SEEN = 1024 };

/* A process. */
struct t2x_rotated {
	uint64_t identity;                      /* the same in all its files */
	uint32_t stream;                        /* the id of the file that was read first */
	uint32_t first_cycle;                   /* the lowest number with which one of them begins */
	uint32_t latest;                        /* the number of files in the run when its latest was read; 0: free */
};

/* All zero: none. */
struct t2x_rotated_table {
	struct t2x_rotated seen[T2X_MAX_SEEN];
	uint32_t files;
};

/* A file of a process begins with this cycle.  Return  the id of its stream for the back end */
uint32_t t2x_rotated_add(struct t2x_rotated_table *table, uint64_t identity, uint32_t stream, uint32_t first_cycle);

/* Whether the run has had a file that its process wrote before the one that begins with this cycle. */
int t2x_rotated_has_earlier(const struct t2x_rotated_table *table, uint64_t identity, uint32_t first_cycle);

#endif
