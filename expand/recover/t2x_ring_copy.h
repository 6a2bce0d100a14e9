/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_copy.h - a consistent copy of the ring file of a living process, which keeps writing.
 *
 * It is outside of the address space, and has what is committed in chunks that are in use, and the tables: never more
 * than the ring file itself, and little if the process's drain keeps up.
 */
#ifndef T2X_RING_COPY_H
#define T2X_RING_COPY_H

/*
 * Replace fd, the ring file, by an unnamed copy.
 * Return  NULL, or why that is not possible, in words; fd is not changed then
 */
const char *t2x_ring_copy(int *fd);

/* Of the ring file itself: how far questions are answered.  What is copied later has the answers.  Return  0: no */
struct tlg_ring_stacks;
int t2x_ring_copy_stacks(int fd, struct tlg_ring_stacks *stacks);

#endif
