/* SPDX-License-Identifier: MIT */
/*
 * tr2_lock.h - the drain's lock: its holder reads the rings and writes.
 *
 * A thread that waits for it times out when the holder makes no progress (tr2_progress.h).  A holder may be stopped, by
 * a debugger or a scheduler that never runs it.  That costs one timeout: later threads do not wait for the same holder.
 *
 * Thread  any; all signals blocked from before the lock is acquired until after it is released
 */
#ifndef TR2_LOCK_H
#define TR2_LOCK_H

/* 1: acquired; 0: another thread has it. */
int tr2_lock_try(void);

/* The same, after waiting; 0: timed out, or the calling thread has it. */
int tr2_lock_wait(void);

/* The same, after at most 10 ms. */
int tr2_lock_briefly(void);

void tr2_lock_release(void);

/* 1: the calling thread has it.  A function that it calls to write may be the program's, and record. */
int tr2_lock_is_ours(void);

/* 1: a thread waits in tr2_lock_wait(). */
int tr2_lock_is_awaited(void);

/*
 * In a forked child:
 * tr2_lock_reset()  no thread has the lock
 * tr2_lock_leave()  the thread that forked no longer has its parent's
 */
void tr2_lock_reset(void);
void tr2_lock_leave(void);

#endif
