/* SPDX-License-Identifier: MIT */
/*
 * tr2p_heap.h - which allocations are sampled, and what is recorded of them.
 *
 * The profiler chooses at random one of `rate` bytes that a thread allocates, on the average.  The distances between
 * chosen bytes are exponential, so that no pattern of the program can be in step with them.  An allocation with a
 * chosen byte is sampled.  For one of s bytes the probability is 1 - exp(-s / rate); so a sample stands for the inverse
 * of that many allocations, and totals are unbiased for all sizes.  One of 0 bytes counts as one of 1.  A rate of 1
 * means each allocation.
 *
 * Each allocation counts down to the next chosen byte, tr2p_heap_passes(); most do nothing else.  tr2p_malloc.c, which
 * intercepts malloc(), calls it.  tr2p_live.h keeps what is sampled until it is freed.
 */
#ifndef TR2P_HEAP_H
#define TR2P_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "tr2p_live.h"
#include "tr2p_thread.h"

static inline size_t tr2p_heap_weight(size_t size)
{
	return size + !size;
}

/*
 * 1: an allocation of so many bytes is not sampled, and is counted down; 0: call tr2p_heap_allocated() behind it.  A
 * handler that interrupts it may change the distance to the next sample, which is random anyway.
 */
static inline int tr2p_heap_passes(size_t size)
{
	struct tr2p_thread *thread = &tr2p_g_thread;
	size_t weight = tr2p_heap_weight(size), left = thread->heap_left;

	if (weight >= left)
		return 0;
	thread->heap_left = left - weight;
	return 1;
}

/*
 * Memory was allocated: sample it, unless the thread is in the profiler.
 * address  NULL: it failed, and counts nothing
 * caller   where the function returns to that the program has called
 * Thread   any, no lock    Signal safe    Errno kept
 */
void tr2p_heap_allocated(void *address, size_t size, const void *caller);

/* The caller frees memory that tr2p_live_may_have().  Thread any, no lock    Signal safe    Errno kept */
void tr2p_heap_freed(const void *address);

/* A sample that was taken is freed: realloc() has to know first whether it succeeds.  Errno kept */
void tr2p_heap_freed_sample(const struct tr2p_live *live);

/* How far it is to the next sample; how many allocations one stands for that was sampled. */
size_t tr2p_heap_draw(size_t rate);
double tr2p_heap_scale(size_t size, size_t rate);

/* 1: allocations are sampled. */
int tr2p_heap_is_on(void);

#endif
