/* SPDX-License-Identifier: MIT */
/*
 * tr2p_mutex.h - the profiler's locks: of what starts, stops and makes things, never of samples.
 *
 * While a thread has one, no handler of a signal runs in it, for that could fork and wait for the lock for ever; nor
 * is it cancelled, by what it calls, before it has unlocked it; nor is it profiled.  All are held over a fork, see
 * tr2p_init.c.
 */
#ifndef TR2P_MUTEX_H
#define TR2P_MUTEX_H

#include <pthread.h>
#include <signal.h>

struct tr2p_mutex {
	pthread_mutex_t lock;
	/* Of who has it, before: what it blocked, whether it could be cancelled. */
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
 * The signal by which threads are asked where they are is not kept off: its handler is ours, unless the program has one
 * of its own by now.
 */
void tr2p_mutex_let_in(int signal);

#endif
