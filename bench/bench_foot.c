/* SPDX-License-Identifier: MIT */
/*
 * bench_foot - the memory that tracing takes.
 *
 * usage: bench_foot DIRECTORY ROUNDS
 *
 * Counts this process's private pages and the pages of the file of its rings: before and after initialization;
 * with THREADS threads, before and after each has recorded one event, and after each has recorded far more than a
 * ring holds.  ROUNDS is not used: pages do not vary.  Measurements: bench.h, in KiB.  Traces into DIRECTORY/trace.tlg.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "trace2.h"

enum { THREADS = 8, FLOOD = 400000, LINE_BYTES = 4096 };

static pthread_barrier_t barrier;

/* Private memory, from "Anonymous: N kB" */
static double private_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[LINE_BYTES];
	unsigned long kib = 0;

	if (!file)
		bench_fail("smaps_rollup");
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "Anonymous:", 10))
			kib = strtoul(line + 10, NULL, 10);
	fclose(file);
	return (double)kib;
}

/* Return  the memory of the ring file; 0: there is none yet */
static double ring_kib(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[LINE_BYTES];
	struct stat status = { 0 };

	if (!file)
		bench_fail("maps");
	while (fgets(line, sizeof(line), file)) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path && strstr(path, "/trace2-") && stat(path, &status))
			bench_fail(path);
	}
	fclose(file);
	return (double)status.st_blocks / 2;
}

static double all_kib(void)
{
	return private_kib() + ring_kib();
}

static void *run_thread(void *unused)
{
	pthread_barrier_wait(&barrier);        /* started */
	pthread_barrier_wait(&barrier);        /* measured */
	trace2_region_enter("bench", "foot", NULL);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < FLOOD; i++)
		trace2_region_leave("bench", "foot", NULL);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

/* Let all threads do the next step.  Return  the KiB for each thread that this added to *before */
static double next_stage(double *before)
{
	double now;

	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	now = all_kib();
	now -= *before;
	*before += now;
	return now / THREADS;
}

static void print_kib(const char *name, double kib)
{
	bench_print_values(name, 1, "KiB", &kib, 1);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	double before, now;

	if (argc != 3) {
		fputs("usage: bench_foot DIRECTORY ROUNDS\n", stderr);
		return 2;
	}
	bench_trace_into(argv[1]);
	before = all_kib();
	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	now = all_kib();
	print_kib("memory of the process, initialized", now - before);
	trace2_region_enter("bench", "foot", NULL);
	print_kib("the same, first event recorded", all_kib() - before);
	if ((errno = pthread_barrier_init(&barrier, NULL, THREADS + 1)) != 0)
		bench_fail("barrier");
	for (unsigned i = 0; i < THREADS; i++)
		if ((errno = pthread_create(&threads[i], NULL, run_thread, NULL)) != 0)
			bench_fail("thread");
	pthread_barrier_wait(&barrier);
	before = all_kib();
	print_kib("each thread, one event", next_stage(&before));
	print_kib("each thread, ring full, more", next_stage(&before));
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("recorded %u\n", 1 + THREADS * (1 + FLOOD));
	return 0;
}
