/* SPDX-License-Identifier: MIT */
/* malloc() and its kin, each allocation sampled: what the heap profile says of calls that this test counts itself. */
#include "t2test.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_live.h"
#include "prof/tr2p_thread.h"

#ifdef TR2_IS_SANITIZED

static void test_malloc_of_a_sanitizer_is_not_profiled(void **state)
{
	void *block;

	(void)state;
	trace2_prof_set_heap_rate(1);
	block = malloc(100);
	trace2_prof_set_heap_rate(0);
	assert_int_equal(tr2p_bucket_count(TR2P_HEAP), 0);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_malloc_of_a_sanitizer_is_not_profiled) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* What was allocated, and how much of it is in use. */
static struct counts {
	int64_t count, value, left_count, left_value;
} counts_of_heap(void)
{
	struct counts all = { 0, 0, 0, 0 };

	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_HEAP); b; b = b->next) {
		struct tr2p_totals totals = tr2p_bucket_totals(b);
		all.count += totals.count;
		all.value += totals.value;
		all.left_count += totals.count - totals.freed_count;
		all.left_value += totals.value - totals.freed_value;
	}
	return all;
}

static void begin(void)
{
	trace2_prof_set_heap_rate(0);
	tr2p_bucket_reset(TR2P_HEAP);
	trace2_prof_set_heap_rate(1);
}

/* The profile stops; what it says is this. */
#define END(count_, value_, left_count_, left_value_) \
	do { \
		struct counts now_; \
		trace2_prof_set_heap_rate(0); \
		now_ = counts_of_heap(); \
		assert_int_equal(now_.count, count_); \
		assert_int_equal(now_.value, value_); \
		assert_int_equal(now_.left_count, left_count_); \
		assert_int_equal(now_.left_value, left_value_); \
	} while (0)

/* A block that no compiler can do without. */
static void *seen(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static size_t hidden(size_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static void test_malloc_of_all_kinds_is_counted(void **state)
{
	void *blocks[9], *aligned = NULL;

	(void)state;
	begin();
	blocks[0] = seen(malloc(10));
	blocks[1] = seen(calloc(3, 7));
	blocks[2] = seen(aligned_alloc(64, 128));
	blocks[3] = seen(memalign(256, 100));
	blocks[4] = seen(valloc(11));
	blocks[5] = seen(pvalloc(12));
	blocks[6] = seen(realloc(NULL, 13));
	blocks[7] = seen(reallocarray(NULL, 2, 15));
	assert_int_equal(posix_memalign(&aligned, 512, 33), 0);
	blocks[8] = aligned;
	END(9, 10 + 21 + 128 + 100 + 11 + 12 + 13 + 30 + 33, 9, 358);
	for (int i = 0; i < 9; i++)
		free(blocks[i]);
	assert_int_equal(counts_of_heap().left_count, 0);
}

static void test_malloc_by_functions_of_libc_is_counted(void **state)
{
	char *copy, *printed = NULL;

	(void)state;
	begin();
	copy = seen(strdup("fifteen letters"));
	assert_int_equal(asprintf(&printed, "%d", 100), 3);
	trace2_prof_set_heap_rate(0);
	assert_in_range(counts_of_heap().left_value, 16 + 4, 16 + 200);
	free(copy);
	free(printed);
	assert_int_equal(counts_of_heap().left_count, 0);
}

static void test_malloc_that_fails_counts_nothing(void **state)
{
	void *block = malloc(100), *aligned = NULL;

	(void)state;
	begin();
	errno = 0;
	assert_null(seen(malloc(hidden((size_t)PTRDIFF_MAX + 1))));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(seen(calloc(hidden(SIZE_MAX / 2), 3)));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(seen(reallocarray(seen(block), hidden(SIZE_MAX / 2), 3)));
	assert_int_equal(errno, ENOMEM);
	assert_null(seen(realloc(seen(block), hidden((size_t)PTRDIFF_MAX + 1))));
	assert_int_equal(posix_memalign(&aligned, 3, 100), EINVAL);
	assert_null(seen(aligned_alloc(64, hidden((size_t)PTRDIFF_MAX + 1))));
	END(0, 0, 0, 0);
	free(block);
}

static void test_malloc_of_nothing_counts_one_byte(void **state)
{
	void *block;

	(void)state;
	begin();
	block = seen(malloc(hidden(0)));
	END(1, 1, 1, 1);
	free(block);
	free(NULL);
	assert_int_equal(counts_of_heap().left_count, 0);
}

static void test_realloc_is_free_and_malloc(void **state)
{
	char *block, *big;

	(void)state;
	begin();
	block = seen(malloc(hidden(1000)));
	block = seen(realloc(block, hidden(900)));   /* in place */
	big = seen(realloc(block, hidden(1000000))); /* elsewhere */
	END(3, 1001900, 1, 1000000);
	big = seen(realloc(big, 500));               /* no profile: but what was sampled is gone */
	assert_int_equal(counts_of_heap().left_count, 0);
	free(big);
}

static void test_realloc_that_fails_leaves_the_sample(void **state)
{
	char *block;

	(void)state;
	begin();
	block = seen(malloc(1000));
	assert_null(realloc(seen(block), hidden(PTRDIFF_MAX)));
	END(1, 1000, 1, 1000);
	free(block);
	assert_int_equal(counts_of_heap().left_count, 0);
}

static void test_realloc_to_nothing_is_free(void **state)
{
	char *block;

	(void)state;
	begin();
	block = seen(malloc(1000));
	block = realloc(block, hidden(0));
	assert_int_equal(counts_of_heap().left_value, block ? 1 : 0);
	trace2_prof_set_heap_rate(0);
	free(block);
	assert_int_equal(counts_of_heap().left_count, 0);
}

static __attribute__((noinline)) void *allocate(void)
{
	return seen(malloc(77));
}

static void test_malloc_has_the_stack_of_its_caller(void **state)
{
	struct tr2p_bucket *b;
	void *block;

	(void)state;
	begin();
	block = allocate();
	trace2_prof_set_heap_rate(0);
	for (b = tr2p_bucket_first(TR2P_HEAP); b && !tr2p_bucket_totals(b).count; b = b->next)
		;
	assert_non_null(b);
	assert_in_range(b->at[0], (uintptr_t)allocate, (uintptr_t)allocate + 64);
	assert_in_range(b->at[1], (uintptr_t)test_malloc_has_the_stack_of_its_caller,
			(uintptr_t)test_malloc_has_the_stack_of_its_caller + 512);
	free(block);
}

static void *allocate_here(void *data)
{
	(void)data;
	return seen(malloc(500));
}

static void test_free_in_another_thread_is_counted(void **state)
{
	struct tr2p_live live;
	pthread_t thread;
	void *block;

	(void)state;
	begin();
	assert_int_equal(pthread_create(&thread, NULL, allocate_here, NULL), 0);
	pthread_join(thread, &block);
	assert_true(tr2p_live_may_have(block));
	trace2_prof_set_heap_rate(0);
	free(block);
	assert_false(tr2p_live_take(block, &live));   /* the filter may have another's byte there */
}

static void test_child_frees_what_its_parent_has_allocated(void **state)
{
	int status;
	pid_t child;
	void *block;

	(void)state;
	begin();
	block = seen(malloc(400));
	child = fork();
	if (!child) {
		struct counts before = counts_of_heap();
		free(block);
		_exit(before.left_value == 400 && counts_of_heap().left_value == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	END(1, 400, 1, 400);
	free(block);
}

static int is_near(double value, double truth)
{
	return value > 0.95 * truth && value < 1.05 * truth;
}

/* A site that allocates a million blocks of many sizes, and keeps some. */
static void test_malloc_a_million_times_is_estimated_within_5_percent(void **state)
{
	enum { N = 1000000, KEPT = 1000 };
	static void *kept[KEPT];
	double count = 0, value = 0, left = 0, true_value = 0;
	uint32_t seed = 3;

	(void)state;
	trace2_prof_set_heap_rate(0);
	tr2p_bucket_reset(TR2P_HEAP);
	tr2p_g_thread.random = 11;
	trace2_prof_set_heap_rate(16384);
	for (int i = 0; i < N; i++) {
		size_t size = (seed = seed * UINT32_C(1664525) + UINT32_C(1013904223)) >> 8;
		void *block = seen(malloc(size = size % 8 ? 16 + size % 64 : size % 4096));
		true_value += (double)size;
		if (i % (N / KEPT)) {
			free(block);
			continue;
		}
		kept[i / (N / KEPT)] = seen(realloc(block, 20000));
		true_value += 20000;
	}
	trace2_prof_set_heap_rate(0);
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_HEAP); b; b = b->next) {
		struct tr2p_totals totals = tr2p_bucket_totals(b);
		count += (double)totals.all_count / TR2P_COUNT_PARTS;
		left += (double)(totals.all_value - totals.freed_all_value) / TR2P_BYTE_PARTS;
		value += (double)totals.all_value / TR2P_BYTE_PARTS;
	}
	assert_true(is_near(count, N + KEPT));
	assert_true(is_near(value, true_value));
	assert_true(is_near(left, KEPT * 20000.0));
	for (int i = 0; i < KEPT; i++)
		free(kept[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_malloc_of_all_kinds_is_counted),
		cmocka_unit_test(test_malloc_by_functions_of_libc_is_counted),
		cmocka_unit_test(test_malloc_that_fails_counts_nothing),
		cmocka_unit_test(test_malloc_of_nothing_counts_one_byte),
		cmocka_unit_test(test_realloc_is_free_and_malloc),
		cmocka_unit_test(test_realloc_that_fails_leaves_the_sample),
		cmocka_unit_test(test_realloc_to_nothing_is_free),
		cmocka_unit_test(test_malloc_has_the_stack_of_its_caller),
		cmocka_unit_test(test_free_in_another_thread_is_counted),
		cmocka_unit_test(test_child_frees_what_its_parent_has_allocated),
		cmocka_unit_test(test_malloc_a_million_times_is_estimated_within_5_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
