/* SPDX-License-Identifier: MIT */
/*
 * tr2_reg.h - the set of rings of the process.
 *
 * A lock-free stack (liburcu) that only grows: a new thread, even in a signal handler, adds itself with one
 * compare-and-exchange; the drain walks it without a lock.  Nothing is ever taken out, because a ring whose
 * thread is gone serves the next thread; so no reader needs protection against reclamation.
 */
#ifndef TR2_REG_H
#define TR2_REG_H

#include "tr2_thread.h"

/* Forget all: a forked child begins with none of its parent's.  Thread  alone */
void tr2_reg_reset(void);

/* Add a thread's ring.  Once for each ring.  Thread any, signals masked. */
void tr2_reg_add(struct tr2_thread *thread);

/* All rings: for (t = tr2_reg_first(); t; t = tr2_reg_next(t)).  Those added meanwhile are seen the next time. */
struct tr2_thread *tr2_reg_first(void);
struct tr2_thread *tr2_reg_next(struct tr2_thread *thread);

#endif
