/* SPDX-License-Identifier: MIT */
/* A mapping that grows where it is. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tr2_sys.h"
#include "ring/tr2_extent.h"

enum { PAGE = 4096, STEP = 4 * PAGE, STEPS = 64, BYTES = STEPS * STEP - PAGE, THREADS = 8 };

static struct tr2_extent g_extent;

/* qemu-user holds all addresses of a 32-bit program, so a mapping of it cannot grow. */
static int can_grow(void)
{
	return sizeof(void *) == 8 || !getenv("T2_EMULATED");
}

/* As in tr2_map.c: far from where the kernel puts the mappings of other threads, and of sanitizers. */
static void *find_place(void)
{
	const uint64_t away = sizeof(void *) < 8 ? 0 : UINT64_C(32) << 30;
	unsigned char *near = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(near != MAP_FAILED);
	munmap(near, PAGE);
	return away ? near - away : NULL;
}

/* One step of a file is mapped, and nothing lies behind it up to the extent's limit. */
static void map(int is_mapped)
{
	const int fd = memfd_create("extent", 0), last = is_mapped ? BYTES : STEP;
	unsigned char *begin;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	begin = mmap(find_place(), BYTES + PAGE, PROT_NONE, MAP_SHARED, fd, 0);
	assert_true(begin != MAP_FAILED);
	close(fd);
	assert_int_equal(munmap(begin + last, (size_t)(BYTES + PAGE - last)), 0);
	assert_int_equal(mprotect(begin, STEP, PROT_READ | PROT_WRITE), 0);
	g_extent = (struct tr2_extent){
		.begin = begin, .end = begin + STEP, .limit = begin + BYTES, .step = STEP, .is_mapped = is_mapped,
	};
}

static void unmap(void)
{
	munmap(g_extent.begin, BYTES);
}

/* 1: the page at that place is accessible */
static int is_accessible(size_t at)
{
	int pipe_fds[2], written;

	assert_int_equal(pipe(pipe_fds), 0);
	written = write(pipe_fds[1], g_extent.begin + at, 1) == 1;
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return written;
}

static void test_extent_grows_by_steps_up_to_its_limit(void **state)
{
	(void)state;
	for (int is_mapped = !can_grow(); is_mapped < 2; is_mapped++) {
		map(is_mapped);
		g_extent.begin[0] = 1;
		assert_int_equal(tr2_extent_reach(&g_extent, g_extent.begin + STEP), 0);
		assert_int_equal(tr2_extent_bytes(&g_extent), STEP);
		assert_int_equal(tr2_extent_reach(&g_extent, g_extent.begin + STEP + 1), 0);
		assert_int_equal(tr2_extent_bytes(&g_extent), 2 * STEP);
		assert_true(is_accessible(2 * STEP - 1));
		assert_false(is_accessible(2 * STEP));
		errno = 7;
		assert_int_equal(tr2_extent_reach(&g_extent, g_extent.limit), 0);
		assert_int_equal(errno, 7);
		assert_int_equal(tr2_extent_bytes(&g_extent), BYTES);
		memset(g_extent.begin + 1, 2, BYTES - 1);
		assert_int_equal(g_extent.begin[0], 1);
		unmap();
	}
}

static void test_extent_leaves_a_place_that_is_taken(void **state)
{
	unsigned char *taken;

	(void)state;
	if (!can_grow())
		skip();
	map(0);
	taken = mmap(g_extent.begin + 2 * STEP, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(taken, g_extent.begin + 2 * STEP);
	taken[0] = 3;
	errno = 7;
	assert_int_equal(tr2_extent_reach(&g_extent, g_extent.begin + 3 * STEP), -ENOMEM);
	assert_int_equal(errno, 7);
	assert_int_equal(tr2_extent_bytes(&g_extent), STEP);
	assert_int_equal(tr2_extent_reach(&g_extent, g_extent.begin + 2 * STEP), 0);
	assert_int_equal(taken[0], 3);
	unmap();
}

static pthread_barrier_t g_barrier;

static void *reach_all(void *failed)
{
	pthread_barrier_wait(&g_barrier);
	for (size_t to = STEP; to <= BYTES; to += PAGE) {
		if (tr2_extent_reach(&g_extent, g_extent.begin + to))
			__atomic_add_fetch((int *)failed, 1, __ATOMIC_RELAXED);
		else
			__atomic_store_n(g_extent.begin + to - 1, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The threads are there first: with few addresses, a new one's stack may get the place behind the extent. */
static void test_extent_serves_threads_that_need_the_same_step(void **state)
{
	pthread_t threads[THREADS];
	int failed = 0;

	(void)state;
	pthread_barrier_init(&g_barrier, NULL, THREADS + 1);
	for (int turn = 0; turn < 20; turn++) {
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, reach_all, &failed), 0);
		map(!can_grow() || turn % 2);
		pthread_barrier_wait(&g_barrier);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(failed, 0);
		assert_int_equal(tr2_extent_bytes(&g_extent), BYTES);
		unmap();
	}
	pthread_barrier_destroy(&g_barrier);
}

/* Where a limit allows no more locked memory, the extent is locked no longer. */
static int grow_locked(void)
{
	const struct rlimit limit = { STEP, STEP };

	map(0);
	if (mlock(g_extent.begin, STEP) || setrlimit(RLIMIT_MEMLOCK, &limit))
		return 77;
	if (!geteuid() && setuid(65534))
		return 77;
	return tr2_extent_reach(&g_extent, g_extent.limit) || tr2_extent_bytes(&g_extent) != BYTES;
}

static void test_extent_grows_where_no_more_may_be_locked(void **state)
{
	const pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(can_grow() ? grow_locked() : 77);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extent_grows_by_steps_up_to_its_limit),
		cmocka_unit_test(test_extent_leaves_a_place_that_is_taken),
		cmocka_unit_test(test_extent_serves_threads_that_need_the_same_step),
		cmocka_unit_test(test_extent_grows_where_no_more_may_be_locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
