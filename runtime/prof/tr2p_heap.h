/* SPDX-License-Identifier: MIT */
/*
 * tr2p_heap.h - which allocations are sampled, and what is recorded of them.
 *
 * Of the bytes that a thread allocates one in `rate` is chosen, on the average and at random: the distances between
 * chosen bytes are exponential, so that nothing in the program can be in step with them.  An allocation with a chosen
 * byte in it is sampled, which of one of s bytes happens with the probability 1 - exp(-s / rate): so it stands for as
 * many as the inverse of that, and totals are unbiased for all sizes.  One of 0 bytes counts as one of 1.  A rate of 1
 * means each allocation.
 *
 * Who allocates counts down to the next chosen byte, tr2p_heap_passes(); nothing else is done for most.  tr2p_malloc.c
 * calls it, in front of malloc().  What is sampled is in tr2p_live.h until it is freed.
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

/* Memory is going to be freed that tr2p_live_may_have().  Thread any, no lock    Signal safe    Errno kept */
void tr2p_heap_freed(const void *address);

/* A sample that was taken is freed: realloc() has to know first whether it succeeds.  Errno kept */
void tr2p_heap_freed_sample(const struct tr2p_live *live);

/* How far it is to the next sample; how many allocations one stands for that was sampled. */
size_t tr2p_heap_draw(size_t rate);
double tr2p_heap_scale(size_t size, size_t rate);

#endif
