/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "trace2.h"

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
	uint64_t elapsed_ns[BENCH_THREADS];
} team;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static uint64_t used_by_thread_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t used_by_children_ns(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used))
		bench_fail("getrusage");
	return ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * 1000000000U +
	       ((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * 1000U;
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

void bench_trace_into(const char *directory)
{
	char path[4096];

	if (directory[0] != '/' || snprintf(path, sizeof(path), "%s/trace.tlg", directory) >= (int)sizeof(path) ||
	    setenv("TRACE2_RAW", path, 1))
		bench_fail(directory);
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
			uint64_t (*used_ns)(void) = team.now->children ? used_by_children_ns : used_by_thread_ns;
			uint64_t start_ns;

			meet_others();
			start_ns = used_ns();
			team.now->run(index, team.now->ops);
			team.elapsed_ns[index] = used_ns() - start_ns;
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
	uint64_t elapsed_ns = 0;

	team.now = now;
	team.wanted = threads;
	team.arrived = 0;
	pthread_barrier_wait(&team.barrier);
	pthread_barrier_wait(&team.barrier);
	for (unsigned i = 0; i < threads; i++)
		elapsed_ns += team.elapsed_ns[i];
	now->done += (uint64_t)now->ops * threads;
	return (double)elapsed_ns / threads / now->ops;
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

/* A new order, the same in every run: what a case finds in the caches must not always be the same other's. */
static void shuffle(unsigned *order, unsigned count)
{
	static uint64_t random = 1;

	for (unsigned i = 0; i < count; i++)
		order[i] = i;
	for (unsigned i = count - 1; i > 0; i--) {
		unsigned other, kept = order[i];

		random = random * UINT64_C(6364136223846793005) + 1;
		other = (unsigned)((random >> 33) % (i + 1));
		order[i] = order[other];
		order[other] = kept;
	}
}

void bench_measure(struct bench_case *cases, unsigned count, unsigned rounds, void (*after)(void))
{
	unsigned order[BENCH_CASES_MAX];

	if (!count || count > BENCH_CASES_MAX)
		bench_fail("number of cases");
	for (unsigned round = 0; round <= rounds; round++) {
		shuffle(order, count);
		for (unsigned i = 0; i < count; i++)
			run_case(&cases[order[i]], round, after);
	}
}

void bench_print_recorded(const struct bench_case *cases, unsigned count, uint64_t others)
{
	uint64_t recorded = others;

	for (unsigned i = 0; i < count; i++)
		recorded += cases[i].recorded ? cases[i].done : 0;
	printf("recorded %" PRIu64 "\n", recorded);
}

void bench_traced(struct bench_case *cases, unsigned count, unsigned rounds)
{
	bench_start();
	bench_measure(cases, count, rounds, trace2_flush);
	bench_print(cases, count, rounds);
	bench_stop();
	bench_print_recorded(cases, count, 0);
}

void bench_print_values(const char *name, unsigned threads, const char *unit, const double *values, unsigned count)
{
	printf("%s\t%u\t%s\t", name, threads, unit);
	for (unsigned i = 0; i < count; i++)
		printf("%s%.4g", i ? " " : "", values[i]);
	putchar('\n');
}

void bench_print(const struct bench_case *cases, unsigned count, unsigned rounds)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned threads = 1; threads <= (cases[i].alone ? 1 : BENCH_THREADS); threads++)
			bench_print_values(cases[i].name, threads, "ns", cases[i].ns[threads - 1], rounds);
	fflush(stdout);
}
