/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * A burst: main sets case and threads, everyone passes the barrier, those wanted meet once more without
 * sleeping, run, and everyone passes the barrier again.
 */
static struct {
	pthread_t threads[BENCH_THREADS];
	pthread_barrier_t barrier;
	const struct bench_case *now;          /* NULL: end */
	unsigned wanted;                       /* threads that run it */
	unsigned arrived;                      /* of them, atomic */
	uint64_t took_ns[BENCH_THREADS];
} team;

uint64_t bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void bench_fail(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

unsigned bench_rounds(const char *text)
{
	char *end;
	unsigned long rounds;

	errno = 0;
	rounds = strtoul(text, &end, 10);
	return errno || *end || rounds > BENCH_ROUNDS_MAX ? 0 : (unsigned)rounds;
}

/* Bind the calling thread to the index-th of the processors it may use.  Where that fails it floats. */
static void bind_thread(unsigned index)
{
	cpu_set_t allowed, one;
	unsigned seen = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || seen++ != index)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static void meet_others(void)
{
	__atomic_add_fetch(&team.arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&team.arrived, __ATOMIC_ACQUIRE) < team.wanted)
		bench_barrier();
}

static void *run_thread(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;

	bind_thread(index);
	for (;;) {
		pthread_barrier_wait(&team.barrier);
		if (!team.now)
			return NULL;
		if (index < team.wanted) {
			uint64_t start_ns;

			meet_others();
			start_ns = bench_now_ns();
			team.now->run(index, team.now->ops);
			team.took_ns[index] = bench_now_ns() - start_ns;
		}
		pthread_barrier_wait(&team.barrier);
	}
}

void bench_start(void)
{
	if ((errno = pthread_barrier_init(&team.barrier, NULL, BENCH_THREADS + 1)) != 0)
		bench_fail("barrier");
	for (unsigned i = 0; i < BENCH_THREADS; i++)
		if ((errno = pthread_create(&team.threads[i], NULL, run_thread, (void *)(uintptr_t)i)) != 0)
			bench_fail("thread");
}

void bench_stop(void)
{
	team.now = NULL;
	pthread_barrier_wait(&team.barrier);
	for (unsigned i = 0; i < BENCH_THREADS; i++)
		pthread_join(team.threads[i], NULL);
	pthread_barrier_destroy(&team.barrier);
}

/* One burst.  Return ns per operation, the mean of the threads. */
static double run_burst(struct bench_case *now, unsigned threads)
{
	uint64_t took_ns = 0;

	team.now = now;
	team.wanted = threads;
	team.arrived = 0;
	pthread_barrier_wait(&team.barrier);
	pthread_barrier_wait(&team.barrier);
	for (unsigned i = 0; i < threads; i++)
		took_ns += team.took_ns[i];
	now->done += (uint64_t)now->ops * threads;
	return (double)took_ns / threads / now->ops;
}

/* The bursts of one case in one round; round 0 does not count. */
static void run_case(struct bench_case *now, unsigned round, void (*after)(void))
{
	for (unsigned threads = 1; threads <= (now->alone ? 1 : BENCH_THREADS); threads++) {
		double ns = run_burst(now, threads);

		if (round > 0)
			now->ns[threads - 1][round - 1] = ns;
		if (after)
			after();
	}
}

void bench_measure(struct bench_case *cases, unsigned count, unsigned rounds, void (*after)(void))
{
	for (unsigned round = 0; round <= rounds; round++)
		for (unsigned i = 0; i < count; i++)
			run_case(&cases[i], round, after);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_figures(const double *ns, const double *reference_ns, unsigned rounds)
{
	double sorted[BENCH_ROUNDS_MAX], ratios[BENCH_ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++) {
		sorted[i] = ns[i];
		ratios[i] = ns[i] / reference_ns[i];
	}
	qsort(sorted, rounds, sizeof(*sorted), compare_doubles);
	qsort(ratios, rounds, sizeof(*ratios), compare_doubles);
	printf(" | %8.2f %8.2f %7.2f", sorted[0], sorted[rounds / 2], ratios[rounds / 2]);
}

void bench_print(const char *title, const struct bench_case *cases, unsigned count, unsigned rounds,
		 unsigned reference)
{
	printf("%s\nns per operation, %u rounds; ratio: to '%s'\n", title, rounds, cases[reference].name);
	printf("%-44s | %8s %8s %7s | %8s %8s %7s\n", "", "1 thread", "median", "ratio", "2 thr.", "median",
	       "ratio");
	for (unsigned i = 0; i < count; i++) {
		printf("%-44s", cases[i].name);
		print_figures(cases[i].ns[0], cases[reference].ns[0], rounds);
		if (!cases[i].alone)
			print_figures(cases[i].ns[1], cases[reference].ns[1], rounds);
		putchar('\n');
	}
	fflush(stdout);
}
