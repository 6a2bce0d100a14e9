/* SPDX-License-Identifier: MIT */
/*
 * orders.c - a program for ThreadSanitizer: it fills, drains and overwrites rings, and passes them from thread to
 * thread, as fast as possible.  In that build events' payloads are plain memory, so each missing ordering is a data
 * race.
 *
 * A thread acquires a ring only from a thread that has released it or was joined.  The kernel's report of an owner's
 * death also orders all that the owner did, but the sanitizer does not know that.
 *
 * usage: orders POLICY EVENTS          exit status: that of the sanitizer
 */
#include <pthread.h>
#include <stdlib.h>

#include "trace2.h"

enum { THREADS = 2, SHORT_THREADS = 40 };

static long events;
static pthread_barrier_t has_rings;       /* all threads that stay have acquired their rings */

static void emit(long n)
{
	for (long i = 0; i < n; i++) {
		trace2_region_enter("orders", "region", NULL);
		trace2_data_intmax("orders", NULL, "i", i);
		trace2_region_leave("orders", "region", NULL);
	}
}

static void *flood(void *unused)
{
	trace2_thread_start("flood");
	pthread_barrier_wait(&has_rings);
	emit(events);
	trace2_thread_exit();
	return unused;
}

static void *visit(void *unused)
{
	emit(100);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS], visitor;

	if (argc != 3)
		return 2;
	events = atol(argv[2]) / 3;
	setenv("TRACE2_RAW_POLICY", argv[1], 1);
	trace2_initialize();
	if (pthread_barrier_init(&has_rings, NULL, THREADS + 1))
		abort();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, flood, NULL))
			abort();
	pthread_barrier_wait(&has_rings);
	for (int i = 0; i < SHORT_THREADS; i++) {
		if (pthread_create(&visitor, NULL, visit, NULL))
			abort();
		pthread_join(visitor, NULL);
		trace2_snapshot("orders");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
