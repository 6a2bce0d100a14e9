/* SPDX-License-Identifier: MIT */
/*
 * arch.c - a producer for other machines.  It records messages, threads and a fork, and prints on standard output the
 * texts that readers must print for the messages, as its own C library formats them.
 *
 * The values are the extremes of each type of this machine, so that a width or a sign that is lost on the way to
 * another machine shows.
 */
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"

enum { THREADS = 4, ROUNDS = 5000 };

#define SAY(...) \
	do { \
		printf("arch: " __VA_ARGS__); \
		putchar('\n'); \
		trace2_printf("arch: " __VA_ARGS__); \
	} while (0)

static void say_integers(void)
{
	SAY("%d %d %i", INT_MIN, INT_MAX, -1);
	SAY("%u %x %o %X", UINT_MAX, UINT_MAX, UINT_MAX, 0xabcdefu);
	SAY("%ld %ld %lu %lx", LONG_MIN, LONG_MAX, ULONG_MAX, -1L);
	SAY("%lld %lld %llu %llx", LLONG_MIN, LLONG_MAX, ULLONG_MAX, -1LL);
	SAY("%zd %zu %zx", (ssize_t)-1, SIZE_MAX, SIZE_MAX);
	SAY("%td %td", PTRDIFF_MIN, PTRDIFF_MAX);
	SAY("%jd %ju", INTMAX_MIN, UINTMAX_MAX);
	SAY("%hd %hu %hhd %hhu", -1, 0xffff, -1, 0xff);
	SAY("[%12ld] [%-12d] [%+d] [%08x] [%#o] [%.3d] [%*d]", -5L, 5, 5, 0xbeefu, 8u, 5, 6, -7);
	SAY("%d %lld %d %ld %c %jd %zu", 1, -2LL, 3, -4L, 'c', (intmax_t)-5, (size_t)6);   /* padding between */
}

static void say_others(void)
{
	int here = 0;

	SAY("%f %e %g %a", 1.0 / 3, -1e300, 1e-5, 0.1);
	SAY("%d %.2f %lld %g %s", 1, 2.5, 3LL, -0.0, "texts");
	SAY("%s %.3s %10s %-10s| %c", "all", "three", "right", "left", 'x');
	SAY("%p %p %p", (void *)NULL, (void *)(uintptr_t)0x1234, (void *)UINTPTR_MAX);
	SAY("%s %%", here ? "here" : "a longer text, of more than one event of sixteen bytes");
}

static void *work(void *number)
{
	trace2_thread_start("worker");
	for (intmax_t i = 0; i < ROUNDS; i++) {
		trace2_region_enter("arch", "round", NULL);
		trace2_data_intmax("arch", NULL, "i", (intptr_t)number * INT64_C(1000000000000) - i);
		trace2_region_leave("arch", "round", NULL);
	}
	trace2_counter_add(TRACE2_COUNTER_ID_TEST2, UINT64_C(1) << 40);
	trace2_thread_exit();
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int run_fork(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		trace2_data_string("arch", NULL, "child", "of a fork");
		exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	(void)argc;
	trace2_initialize();
	trace2_cmd_start(argv);
	say_integers();
	say_others();
	fflush(stdout);
	run_threads();
	trace2_cmd_exit(0);
	return run_fork();
}
