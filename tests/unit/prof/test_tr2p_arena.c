/* SPDX-License-Identifier: MIT */
/* The profiler's memory: parts that are mapped when they are needed. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prof/tr2p_arena.h"

enum { THREADS = 4, PIECE = 100 << 10, PIECES = 126 * 1024 / 100 };

/* /proc tells of qemu-user's own addresses, and it ignores RLIMIT_AS. */
static int is_emulated(void)
{
	return getenv("T2_EMULATED") != NULL;
}

/* The addresses of this process, in bytes. */
static size_t count_addresses(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%lu", &pages), 1);
	fclose(statm);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_arena_takes_two_mebibytes_at_first(void **state)
{
	const size_t before = count_addresses();

	(void)state;
	if (is_emulated())
		skip();
	assert_int_equal(tr2p_arena_init(), 0);
	assert_int_equal(tr2p_arena_init(), 0);
	assert_in_range(count_addresses() - before, 1, 2 << 20);
}

static void test_arena_under_a_limit_has_no_more(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	if (is_emulated())
		skip();
	pid = fork();
	if (!pid) {
		const size_t now = count_addresses();
		setrlimit(RLIMIT_AS, &(const struct rlimit){ now, now });
		errno = 7;
		_exit(!tr2p_arena_acquire(1 << 20) || tr2p_arena_acquire(3 << 20) || errno != 7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Each writes its own number into what it gets.  Return  how many pieces still had it in the end, or -1 */
static void *acquire_all(void *number)
{
	static unsigned char *all[THREADS][PIECES];
	unsigned char **mine = all[(uintptr_t)number];
	intptr_t n = 0;

	while (n < PIECES && (mine[n] = tr2p_arena_acquire(PIECE - 1))) {
		for (int i = 0; i < PIECE - 1; i += 512)
			if (mine[n][i])
				return (void *)-1;
		memset(mine[n++], (int)(uintptr_t)number + 1, PIECE - 1);
	}
	for (intptr_t i = 0; i < n; i++)
		for (int at = 0; at < PIECE - 1; at += 512)
			if (mine[i][at] != (uintptr_t)number + 1)
				return (void *)-1;
	return (void *)n;
}

/* At the end of each part less than a piece is left for each thread. */
static void test_arena_gives_each_thread_memory_of_its_own_until_there_is_no_more(void **state)
{
	pthread_t threads[THREADS];
	intptr_t total = 0;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, acquire_all, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		void *n;
		pthread_join(threads[i], &n);
		assert_true((intptr_t)n >= 0);
		total += (intptr_t)n;
	}
	assert_in_range(total, PIECES - 6 * (THREADS + 1), PIECES);
	assert_null(tr2p_arena_acquire(PIECE));
	assert_null(tr2p_arena_acquire(SIZE_MAX));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_takes_two_mebibytes_at_first),
		cmocka_unit_test(test_arena_under_a_limit_has_no_more),
		cmocka_unit_test(test_arena_gives_each_thread_memory_of_its_own_until_there_is_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
