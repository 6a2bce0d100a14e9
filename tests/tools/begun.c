/* SPDX-License-Identifier: MIT */
/* begun.c - see begun.h. */
#include "begun.h"

#ifdef __SANITIZE_ADDRESS__

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

typedef void *thread_fn(void *);

struct start {
	thread_fn *run;
	void *data;
};

/* pthread_create() of the sanitizer, in front of which the one below stands. */
int __interceptor_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data);

static _Atomic unsigned g_beginning;    /* threads that were created and do not run yet */

static void *run(void *data)
{
	const struct start start = *(const struct start *)data;

	free(data);
	g_beginning--;
	return start.run(start.data);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_fn *fn, void *data)
{
	struct start *start = malloc(sizeof(*start));
	int error;

	if (!start)
		abort();
	*start = (struct start){ fn, data };
	g_beginning++;
	error = __interceptor_pthread_create(thread, attributes, run, start);
	if (error) {
		g_beginning--;
		free(start);
	}
	return error;
}

static void wait_for_all(void)
{
	while (g_beginning)
		sched_yield();
}

/* After the wait another thread may have created one, which the child does not have. */
static void forget_all(void)
{
	g_beginning = 0;
}

void begun_before_forks(void)
{
	static int is_known;

	if (!is_known && pthread_atfork(wait_for_all, NULL, forget_all))
		abort();
	is_known = 1;
}

#else

void begun_before_forks(void)
{
}

#endif
