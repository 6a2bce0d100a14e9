/* SPDX-License-Identifier: MIT */
/* tr2_tsan.c - see tr2_tsan.h. */
#include "tr2_tsan.h"

#ifdef TRACE2_HAS_TSAN_

#include <limits.h>
#include <pthread.h>
#include <sanitizer/tsan_interface.h>

static pthread_key_t g_key;

/* Other destructors may record, too: so each time but the last, in which the sanitizer leaves the thread. */
static void end(void *what)
{
	static __thread int times;

	__tsan_release(what);
	if (++times < PTHREAD_DESTRUCTOR_ITERATIONS - 1)
		pthread_setspecific(g_key, what);
}

__attribute__((constructor)) static void make_key(void)
{
	pthread_key_create(&g_key, end);
}

void tr2_tsan_end_with(void *what)
{
	pthread_setspecific(g_key, what);
}

void tr2_tsan_follow(void *what)
{
	__tsan_acquire(what);
}

#else
extern int tr2_tsan_is_not_asked;
#endif
