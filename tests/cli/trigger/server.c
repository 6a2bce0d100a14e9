/* SPDX-License-Identifier: MIT */
/*
 * server.c - a program for check_triggers.sh: four threads serve REQUESTS requests, a tenth of a millisecond apart.
 * Every EACH-th of them takes 400 ms more: usage: server REQUESTS EACH
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <trace2.h>

enum { THREADS = 4 };

static atomic_long next;
static long requests, each;

static void pause_for(long ns)
{
	const struct timespec pause = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&pause, NULL);
}

static void serve(long number)
{
	trace2_region_enter("server", "request", NULL);
	trace2_data_intmax("server", NULL, "number", number);
	trace2_region_enter("server", "parse", NULL);
	trace2_region_leave("server", "parse", NULL);
	if (number % each == each / 2)
		trace2_data_intmax("server", NULL, "outlier", number);
	trace2_region_enter("server", "lookup", NULL);
	if (number % each == each / 2)
		pause_for(400000000);
	trace2_region_leave("server", "lookup", NULL);
	trace2_region_leave("server", "request", NULL);
}

static void *work(void *unused)
{
	long number;

	trace2_thread_start("worker");
	while ((number = atomic_fetch_add(&next, 1)) < requests) {
		serve(number);
		if (number % 64 == 0)
			pause_for(1000000);
	}
	trace2_thread_exit();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc < 3)
		return 2;
	requests = atol(argv[1]);
	each = atol(argv[2]);
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 3;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	trace2_cmd_exit(0);
	return 0;
}
