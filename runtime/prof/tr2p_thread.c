/* SPDX-License-Identifier: MIT */
/* tr2p_thread.c - the calling thread: its stack, its random numbers. */
#include "tr2p_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

__thread struct tr2p_thread tr2p_g_thread __attribute__((tls_model("initial-exec")));

/* xorshift32: enough for sampling, and 1 ns. */
uint32_t tr2p_random(void)
{
	struct tr2p_thread *thread = &tr2p_g_thread;
	struct timespec now;
	uint32_t x = thread->random;

	if (!x) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		x = ((uint32_t)now.tv_nsec ^ (uint32_t)((uintptr_t)thread >> 4)) * UINT32_C(0x9e3779b9) | 1;
	}
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	thread->random = x;
	return x;
}

void tr2p_thread_begin(void)
{
	struct tr2p_thread *thread = &tr2p_g_thread;
	pthread_attr_t attr;
	void *low = NULL;
	size_t bytes = 0;
	int saved = errno;

	tr2p_enter();
	if (!thread->stack_high && !pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &low, &bytes)) {
			thread->stack_low = (uintptr_t)low;
			thread->stack_high = (uintptr_t)low + bytes;
		}
		pthread_attr_destroy(&attr);
	}
	tr2p_leave();
	errno = saved;
}
