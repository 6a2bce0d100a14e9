/* SPDX-License-Identifier: MIT */
/*
 * tr2p_scratch.h - memory for what is large, while a sample is taken: a handler may have a small stack.
 *
 * A pool of the process, in which each user claims an entry by compare and swap: threads, and handlers that interrupt
 * each other, get different ones.  A handler of the program's that leaves an allocation by longjmp() takes its entries
 * along for good, as do threads that a forked child has not: once none is left, buffers lie on the stack again.
 */
#ifndef TR2P_SCRATCH_H
#define TR2P_SCRATCH_H

/* Of one entry: a stack (tr2p_unwind.h), the modules of one, the state of a walk. */
enum { TR2P_SCRATCH_BYTES = 1152 };

/* Return  aligned as any type needs, contents as they are; NULL: none is left    Thread  any, no lock    Signal safe */
void *tr2p_scratch_acquire(void);

/* Back; NULL is none. */
void tr2p_scratch_release(void *scratch);

#endif
