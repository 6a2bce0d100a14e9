/* SPDX-License-Identifier: MIT */
/*
 * t2x_crew.h - threads that help the main one, a thread pool: --jobs.
 *
 * Work is divided into duties: read an input ahead, format what the merge has put in order.  A duty is done in
 * pieces, by one thread at a time, whichever is free: a helper, or the main thread when it would have to wait.
 * So two threads share the work evenly, whether reading or formatting and writing is the longer part of it,
 * and a crew without helpers works, too.  One lock guards the state of all duties; a piece is much work and
 * little state.
 */
#ifndef T2X_CREW_H
#define T2X_CREW_H

struct t2x_crew;

struct t2x_duty {
	struct t2x_duty *next;
	/* Whether there is a piece to do.  The lock is held */
	int (*is_ready)(const struct t2x_duty *duty);
	/* Do one.  The lock is held at the beginning and at the end, but not while the work is done */
	void (*work)(struct t2x_duty *duty);
	int is_busy;                      /* somebody is at it; guarded by the lock */
};

enum { T2X_CREW_MAX = 15 };               /* helpers */

/* As many of the helpers as can be had.  Return  NULL: no memory */
struct t2x_crew *t2x_crew_new(unsigned helpers);

/* All duties have been removed.  Waits for the threads. */
void t2x_crew_free(struct t2x_crew *crew);

/* The main thread's lock, and how others learn that a duty may have become ready. */
void t2x_crew_lock(struct t2x_crew *crew);
void t2x_crew_unlock(struct t2x_crew *crew);
void t2x_crew_changed(struct t2x_crew *crew);

/* Those added first are done first.  Removing waits until nobody is at it.  The lock is held */
void t2x_crew_add(struct t2x_crew *crew, struct t2x_duty *duty);
void t2x_crew_remove(struct t2x_crew *crew, struct t2x_duty *duty);

/* Do a piece of some duty, or wait until something has changed.  The lock is held before and behind */
void t2x_crew_wait(struct t2x_crew *crew);

#endif
