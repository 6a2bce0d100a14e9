/* SPDX-License-Identifier: MIT */
/*
 * tr2_lock.h - the drain's lock: who has it reads the rings and writes.
 *
 * Whoever wants it waits for as long as the holder gets on, see tr2_progress.h.  A drain that is stopped where it holds
 * it, by a debugger or a machine that never schedules it, is waited for once: not again by each of those who come
 * behind.
 *
 * Thread  any; all signals blocked from before it is taken until after it is let go
 */
#ifndef TR2_LOCK_H
#define TR2_LOCK_H

/* 1: it is ours now; 0: somebody else has it. */
int tr2_lock_try(void);

/* The same, after waiting; 0: the holder does not move, or is the calling thread. */
int tr2_lock_wait(void);

/* The same, after at most 10 ms. */
int tr2_lock_briefly(void);

void tr2_lock_release(void);

/* 1: the calling thread has it.  What it calls to write may be the program's, and traced. */
int tr2_lock_is_ours(void);

/* 1: somebody waits patiently. */
int tr2_lock_is_awaited(void);

/* In a forked child: nobody has it; the thread that forked does not, though it had it as its parent's. */
void tr2_lock_reset(void);
void tr2_lock_leave(void);

#endif
