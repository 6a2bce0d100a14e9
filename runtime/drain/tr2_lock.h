/* SPDX-License-Identifier: MIT */
/*
 * tr2_lock.h - the drain's lock: its holder reads the rings and writes.
 *
 * Whoever waits for it times out when the holder makes no progress (tr2_progress.h).  A holder that is stopped, by a
 * debugger or a scheduler that never runs it, costs one timeout: those who come later do not wait for it again.
 *
 * Thread  any; all signals blocked from before it is taken until after it is released
 */
#ifndef TR2_LOCK_H
#define TR2_LOCK_H

/* 1: it is ours now; 0: somebody else has it. */
int tr2_lock_try(void);

/* The same, after waiting; 0: timed out, or the calling thread has it. */
int tr2_lock_wait(void);

/* The same, after at most 10 ms. */
int tr2_lock_briefly(void);

void tr2_lock_release(void);

/* 1: the calling thread has it.  What it calls to write may be the program's, and traced. */
int tr2_lock_is_ours(void);

/* 1: somebody waits in tr2_lock_wait(). */
int tr2_lock_is_awaited(void);

/* In a forked child: nobody has it; the thread that forked does not, though it had it as its parent's. */
void tr2_lock_reset(void);
void tr2_lock_leave(void);

#endif
