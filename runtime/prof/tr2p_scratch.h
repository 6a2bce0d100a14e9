/* SPDX-License-Identifier: MIT */
/*
 * tr2p_scratch.h - memory for what is large, while a sample is taken: a handler may have a small stack.
 *
 * The process has a pool of entries, and each user acquires one by compare and swap.  So threads, and handlers that
 * interrupt each other, have different entries.  An entry is lost if a handler of the program leaves an allocation by
 * longjmp(), or in a forked child, if another thread of the parent had it.  Once none is left, buffers lie on the
 * stack.
 */
#ifndef TR2P_SCRATCH_H
#define TR2P_SCRATCH_H

/* Of one entry: a stack (tr2p_unwind.h), the modules of one, the state of a walk. */
enum { TR2P_SCRATCH_BYTES = 1152 };

/* Return  aligned as any type needs, contents as they are; NULL: none is left    Thread  any, no lock    Signal safe */
void *tr2p_scratch_acquire(void);

/* Release an entry; NULL is none. */
void tr2p_scratch_release(void *scratch);

#endif
