/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_copy.h - makes a consistent copy of the ring file of a living process, which keeps writing.
 *
 * The copy is an unnamed file, not memory of ours.  It has the tables and the committed events of chunks that are in
 * use.  It is never larger than the ring file, and small if the process's drain keeps up.
 */
#ifndef T2X_RING_COPY_H
#define T2X_RING_COPY_H

/*
 * Replace *fd, the ring file, by an unnamed copy.
 * Return  NULL, or why that is not possible, in words; *fd is unchanged then
 */
const char *t2x_ring_copy(int *fd);

/*
 * Read from the ring file itself how far the process has answered requests for stacks.  A copy that is made later has
 * these answers.  Return  0: the file cannot be read
 */
struct tlg_ring_stacks;
int t2x_ring_copy_stacks(int fd, struct tlg_ring_stacks *stacks);

#endif
