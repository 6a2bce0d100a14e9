/* SPDX-License-Identifier: MIT */
/*
 * threads.c - ten thousands of threads begin and end, in every way a thread can end: by returning, by pthread_exit(),
 * by cancellation, by the system call that no library sees.
 *
 * The harness checks that nothing is lost without being counted, that rings pass from thread to thread, and that memory
 * does not grow.  With "overwrite" a ring keeps the events of its threads until it is full.  So RING must be so small
 * that a fifth of the threads fill their rings.
 *
 * usage: threads POLICY RING THREADS SEED
 * Prints its counts and "N passed, N failed".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rawread.h"
#include "trace2.h"
#include "traced.h"
#include "ring/tr2_shm.h"

enum { AT_ONCE = 16, MOST_EVENTS = 20, GROWTH_KIB = 4096 };

/* Reported by the program, in memory that outlives it. */
static struct report {
	uint64_t emitted, threads, early_kib, late_kib, rings, ns;
	uint64_t ended[4];
} *report;

static uint64_t seed;

static unsigned random_below(uint64_t *state, unsigned n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((*state >> 33) % n);
}

static void emitted(unsigned n)
{
	__atomic_fetch_add(&report->emitted, n, __ATOMIC_RELAXED);
}

static void *come_and_go(void *data)
{
	uint64_t state = (uint64_t)(uintptr_t)data;
	unsigned n = random_below(&state, MOST_EVENTS), way = random_below(&state, 4);
	int is_named = random_below(&state, 2) != 0;

	if (is_named)
		trace2_thread_start("short");
	for (unsigned i = 0; i < n; i++)
		trace2_data_intmax("threads", NULL, "i", i);
	if (is_named && random_below(&state, 2)) {
		trace2_thread_exit();
		n++;
	}
	emitted(n + (is_named ? 1 : 0));
	__atomic_fetch_add(&report->ended[way], 1, __ATOMIC_RELAXED);
	switch (way) {
	case 1:
		pthread_exit(NULL);
	case 2:
		pthread_cancel(pthread_self());
		for (;;)
			pthread_testcancel();
	case 3:
		syscall(SYS_exit, 0);   /* no handler, no destructor, no library sees it */
		break;
	default:
		break;
	}
	return NULL;
}

static uint64_t resident_kib(void)
{
	unsigned long all, resident = 0;
	FILE *in = fopen("/proc/self/statm", "r");

	if (in && fscanf(in, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	if (in)
		fclose(in);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *random_argument(void)
{
	return (void *)(uintptr_t)random_below(&seed, 1u << 31);
}

static int run_storm(void *data)
{
	long threads = (long)data;
	uint64_t begun;

	trace2_initialize();
	begun = now_ns();
	for (long i = 0; i < threads; i += AT_ONCE) {
		pthread_t thread[AT_ONCE];

		for (int k = 0; k < AT_ONCE; k++)
			if (pthread_create(&thread[k], NULL, come_and_go, random_argument()))
				abort();
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(thread[k], NULL);
		report->threads += AT_ONCE;
		if (i / AT_ONCE == threads / AT_ONCE / 5)
			report->early_kib = resident_kib();
	}
	report->ns = now_ns() - begun;
	report->late_kib = resident_kib();
	report->rings = tr2_g_shm.head->rings_used;
	emitted(2);   /* version, atexit */
	return 0;
}

static unsigned passed, failed;

static void check(int good, const char *what)
{
	passed += good != 0;
	failed += !good;
	if (!good)
		printf("FAIL %s\n", what);
}

static unsigned long long number(uint64_t n)
{
	return n;
}

static void print_counts(const char *policy, long long unaccounted)
{
	double s = (double)report->ns / 1e9;

	printf("%s: %llu threads in %.1f s, %.0f us each (%llu returned, %llu pthread_exit, %llu cancelled, "
	       "%llu SYS_exit)\n", policy, number(report->threads), s, s * 1e6 / (double)report->threads,
	       number(report->ended[0]), number(report->ended[1]), number(report->ended[2]), number(report->ended[3]));
	printf("%s: %llu checkpoints, %llu stored, %llu lost, %lld unaccounted; %llu rings; resident %llu KiB after "
	       "a fifth, %llu KiB at the end\n", policy, number(report->emitted), number(file.hits), number(file.lost),
	       unaccounted, number(report->rings), number(report->early_kib), number(report->late_kib));
}

int main(int argc, char **argv)
{
	char policy[64], ring[64];
	long long unaccounted;

	if (argc != 5) {
		fprintf(stderr, "usage: threads POLICY RING THREADS SEED\n");
		return 2;
	}
	seed = strtoull(argv[4], NULL, 10);
	report = traced_shared(sizeof(*report));
	snprintf(policy, sizeof(policy), "TRACE2_RAW_POLICY=%s", argv[1]);
	snprintf(ring, sizeof(ring), "TRACE2_RAW_RING=%s", argv[2]);
	traced_init(&t);
	traced_run(&t, run_storm, (void *)atol(argv[3]), (const char *const[]){ policy, ring, NULL });
	check(!t.status, "status of the program");
	check(!raw_read(t.raw, &file) && !file.bad_blocks, "bad blocks");
	check(file.hits == file.end_stored, "END.stored");
	unaccounted = (long long)(report->emitted - file.hits - file.lost);
	check(!unaccounted, "unaccounted checkpoints");
	check(report->late_kib <= report->early_kib + GROWTH_KIB, "memory grows");
	check(report->rings <= 4 * AT_ONCE, "rings are not used again");
	print_counts(argv[1], unaccounted);
	traced_done(&t);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
