/* SPDX-License-Identifier: MIT */
/*
 * t2x_pool.h - threads that help the main one, a thread pool: --jobs.
 *
 * Work is divided into tasks: read an input ahead, format what the merge has put in order.  A task is done in
 * pieces, by one thread at a time, whichever is free: a helper, or the main thread when it would have to wait.
 * So two threads share the work evenly, whether reading or formatting and writing is the longer part of it,
 * and a pool without helpers works, too.  One lock guards the state of all tasks; a piece is much work and
 * little state.
 */
#ifndef T2X_POOL_H
#define T2X_POOL_H

struct t2x_pool;

struct t2x_task {
	struct t2x_task *next;
	/* Whether there is a piece to do.  The lock is held */
	int (*is_ready)(const struct t2x_task *task);
	/* Do one.  The lock is held at the beginning and at the end, but not while the work is done */
	void (*work)(struct t2x_task *task);
	int is_busy;                      /* somebody is at it; guarded by the lock */
};

enum { T2X_POOL_MAX = 63 };               /* helpers */

/* As many of the helpers as can be had.  Return  NULL: no memory */
struct t2x_pool *t2x_pool_new(unsigned helpers);

/* All tasks have been removed.  Waits for the threads. */
void t2x_pool_free(struct t2x_pool *pool);

/* The main thread's lock, and how others learn that a task may have become ready. */
void t2x_pool_lock(struct t2x_pool *pool);
void t2x_pool_unlock(struct t2x_pool *pool);
void t2x_pool_changed(struct t2x_pool *pool);

/* Those added first are done first.  Removing waits until nobody is at it.  The lock is held */
void t2x_pool_add(struct t2x_pool *pool, struct t2x_task *task);
void t2x_pool_remove(struct t2x_pool *pool, struct t2x_task *task);

/* Do a piece of some task, or wait until something has changed.  The lock is held before and behind */
void t2x_pool_wait(struct t2x_pool *pool);

#endif
