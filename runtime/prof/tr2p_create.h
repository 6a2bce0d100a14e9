/* SPDX-License-Identifier: MIT */
/*
 * tr2p_create.h - threads begin and end: the profiler stands in front of pthread_create() and thrd_create().
 *
 * A thread begins with the labels of the one that created it.  If a profile was started before, it is told to all parts
 * that want to know; a thread that was there earlier is found by tr2p_timers.
 */
#ifndef TR2P_CREATE_H
#define TR2P_CREATE_H

#include <pthread.h>

/* Once, before other threads: the key whose destructor sees threads end. */
void tr2p_create_init(void);

/* The calling thread is one that the profiler, if it is ready, knows from now on: its end will be seen. */
void tr2p_create_begin(void);

/* Create a thread of ours, of which the profiler takes no notice.  Return  0 or an error number */
int tr2p_create_own(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data);

#endif
