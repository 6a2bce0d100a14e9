/* SPDX-License-Identifier: MIT */
/*
 * tr2p_arena.h - memory that is never released, for tables that only grow.
 *
 * It has up to 126 MiB of addresses: 2 at first, and more when they are needed, for the program may be under a limit
 * (RLIMIT_AS).  Pages take memory when they are used.  A forked child has its own copy.
 */
#ifndef TR2P_ARENA_H
#define TR2P_ARENA_H

#include <stddef.h>

/* Map the first part.  Idempotent.  Return  0 or an error number */
int tr2p_arena_init(void);

/* Zeroed memory, aligned for anything; NULL: there is no more.  Thread  any, no lock    Signal safe    Errno kept */
void *tr2p_arena_acquire(size_t bytes);

#endif
