/* SPDX-License-Identifier: MIT */
/*
 * tr2p_thread.h - what the profiler knows of the calling thread.
 *
 * In the thread's static TLS (initial-exec), so that a signal handler and malloc() can use it: no allocation, no
 * lock. All zero is the state of a thread that the profiler has not seen yet.
 */
#ifndef TR2P_THREAD_H
#define TR2P_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/tr2_atomic.h"

struct trace2_labels;

struct tr2p_thread {
	/* Above 0: the thread is in the profiler, and is not sampled.  The thread and its handlers write it. */
	unsigned inside;
	uint32_t random;                      /* state of tr2p_random(); 0: not seeded */
	const struct trace2_labels *labels;
	size_t heap_left;                     /* that many bytes allocated from here make the next heap sample */
	size_t heap_rate;                     /* at which that was drawn; 0: it was not */
	uintptr_t stack_low, stack_high;      /* of its stack; 0: not known */
	void *unwinding;                      /* tr2p_unwind.c's: where it goes on if it gives up; or NULL */
	void *wait;                           /* tr2p_lock.c's: the wait that it is in */
	/* tr2p_wait.c's: the thread is counted among these waiters, and where on its stack that wait is; or NULL */
	struct tr2p_waiters *among;
	uintptr_t among_at;
	int is_forking;                       /* it is in fork(), and so is its copy in the child */
	struct tr2p_wall_reported *reported;          /* tr2p_wall.c's: what others are to know of it; or NULL */
	uint32_t answered;                    /* the last question from outside that it has answered; 0: none */
};

extern __thread struct tr2p_thread tr2p_g_thread __attribute__((tls_model("initial-exec")));

/*
 * The thread enters the profiler, and leaves it.  In between its calls of malloc() and of locks are not profiled, and
 * timers do not sample it, but count missed ticks.  Nests.  Signal safe
 */
static inline void tr2p_enter(void)
{
	tr2p_g_thread.inside++;
	tr2_fence_compiler();
}

static inline void tr2p_leave(void)
{
	tr2_fence_compiler();
	tr2p_g_thread.inside--;
}

static inline int tr2p_is_inside(void)
{
	return tr2p_g_thread.inside != 0;
}

/* A random number of this thread's, 32 bits. */
uint32_t tr2p_random(void);

/*
 * tr2p_thread_begin() fills in stack_low and stack_high.  A thread calls it in its first function, if pthread_create()
 * has made it, or when it starts a profile.  Other threads that were there before the first profile do not: their
 * stacks have no known bounds, and along frame pointers only their innermost function is found.
 */
void tr2p_thread_begin(void);

#endif
