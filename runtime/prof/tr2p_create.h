/* SPDX-License-Identifier: MIT */
/*
 * tr2p_create.h - threads begin and end: the profiler intercepts pthread_create() and thrd_create().
 *
 * A thread begins with the labels of the thread that created it.  Once a profile was started, all parts of the profiler
 * that need it are notified of each new thread.  tr2p_timers finds the threads that were there earlier.
 */
#ifndef TR2P_CREATE_H
#define TR2P_CREATE_H

#include <pthread.h>

/* Once, before other threads: the key whose destructor sees threads end. */
void tr2p_create_init(void);

/* The profiler, if it is ready, knows the calling thread from now on, and is notified of its end. */
void tr2p_create_begin(void);

/* Create a thread of the library, which the profiler ignores.  Return  0 or an error number */
int tr2p_create_own(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data);

/* 1: the profile is on. */
int tr2p_create_is_on(void);

#endif
