/* SPDX-License-Identifier: MIT */
/* flood.c - see flood.h. */
#include "flood.h"

#include <stdlib.h>

#include "trace2.h"

void flood(long from, long to)
{
	for (long i = from; i < to; i++)
		trace2_data_intmax("test", NULL, "i", i);
}

void *flood_thread(void *n)
{
	trace2_thread_start("flood");
	flood(0, (long)n);
	trace2_thread_exit();
	return NULL;
}

void flood_begin(pthread_t *threads, int count, long n)
{
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, flood_thread, (void *)n))
			abort();
}

void flood_join(const pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int flood_program(void *n)
{
	pthread_t threads[FLOOD_THREADS];

	trace2_initialize();
	flood_begin(threads, FLOOD_THREADS, (long)n);
	flood_join(threads, FLOOD_THREADS);
	return 0;
}
