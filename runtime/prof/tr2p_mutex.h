/* SPDX-License-Identifier: MIT */
/*
 * tr2p_mutex.h - the profiler's locks.  What starts, stops and makes things uses them; samples never do.
 *
 * While a thread has one, no signal handler runs in it, for a handler could fork and wait for the lock for ever.  The
 * thread cannot be cancelled before it has released the lock, and is not profiled.  fork() acquires all of them, see
 * tr2p_init.c.
 */
#ifndef TR2P_MUTEX_H
#define TR2P_MUTEX_H

#include <pthread.h>
#include <signal.h>

struct tr2p_mutex {
	pthread_mutex_t lock;
	/* The holder's state before: the signals that it blocked, and whether it could be cancelled. */
	struct tr2p_mutex_before {
		sigset_t mask;
		int cancel;
	} before;
};

#define TR2P_MUTEX_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

/* The last one locked is unlocked first.  Errno may change */
void tr2p_mutex_lock(struct tr2p_mutex *mutex);
int tr2p_mutex_try_lock(struct tr2p_mutex *mutex);    /* Return  0: another thread has it */
void tr2p_mutex_unlock(struct tr2p_mutex *mutex);

/*
 * Do not block the signal that asks threads where they are: its handler is the profiler's, unless the program has set
 * one.
 */
void tr2p_mutex_let_in(int signal);

#endif
