/* SPDX-License-Identifier: MIT */
/*
 * t2x_pool.h - a thread pool for --jobs, whose threads help the main thread.
 *
 * Work is divided into tasks: one reads an input ahead, one formats what the merge has put in order.  A task consists
 * of pieces.  One thread at a time does a piece: a helper that is free, or the main thread when it would have to wait.
 * So two threads share the work evenly, whether reading or formatting takes longer, and a pool without helpers works,
 * too.  One lock guards the state of all tasks; that suffices, because a piece is much work and changes little state.
 */
#ifndef T2X_POOL_H
#define T2X_POOL_H

struct t2x_pool;

struct t2x_task {
	struct t2x_task *next;
	/* Whether there is a piece to do.  The pool has the lock */
	int (*is_ready)(const struct t2x_task *task);
	/* Do a piece.  It is called with the lock, releases it for the work, and returns with the lock */
	void (*work)(struct t2x_task *task);
	int is_busy;                      /* a thread does a piece of it; guarded by the lock */
};

enum { T2X_POOL_MAX = 63 };               /* helpers */

/* Start so many helpers, or as many as the system allows.  Return  NULL: no memory */
struct t2x_pool *t2x_pool_new(unsigned helpers);

/* Wait for the threads to end.  The caller has removed all tasks. */
void t2x_pool_free(struct t2x_pool *pool);

/* Acquire and release the lock; wake the threads, because a task may have become ready. */
void t2x_pool_lock(struct t2x_pool *pool);
void t2x_pool_unlock(struct t2x_pool *pool);
void t2x_pool_changed(struct t2x_pool *pool);

/* Tasks that were added first go first.  Removing waits until no thread does a piece.  The caller has the lock */
void t2x_pool_add(struct t2x_pool *pool, struct t2x_task *task);
void t2x_pool_remove(struct t2x_pool *pool, struct t2x_task *task);

/* Do a piece of a task, or wait until something has changed.  It is called with the lock and returns with it */
void t2x_pool_wait(struct t2x_pool *pool);

#endif
