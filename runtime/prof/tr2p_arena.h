/* SPDX-License-Identifier: MIT */
/*
 * tr2p_arena.h - memory that is never released, for tables that only grow.
 *
 * The arena reserves address space once, and pages take memory when they are used.  A forked child has its own copy.
 */
#ifndef TR2P_ARENA_H
#define TR2P_ARENA_H

#include <stddef.h>

/* Reserve 64 MiB, or less under a limit on address space.  Once.  Return  0 or an error number */
int tr2p_arena_init(void);

/* Zeroed memory, aligned for anything; NULL: there is no more.  Thread any, no lock    Signal safe */
void *tr2p_arena_acquire(size_t bytes);

#endif
