/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_copy.h - a copy of a ring file that its process goes on writing, as good as that of a dead one.
 *
 * It is outside of the address space, and holds what is committed in chunks that are in use, and the tables: never more
 * than the ring file itself takes, and little of a process whose drain keeps up.
 */
#ifndef T2X_RING_COPY_H
#define T2X_RING_COPY_H

/*
 * Replace fd, the ring file, by an unnamed copy.
 * Return  NULL, or why that is not possible, in words; fd then is what it was
 */
const char *t2x_ring_copy(int *fd);

#endif
