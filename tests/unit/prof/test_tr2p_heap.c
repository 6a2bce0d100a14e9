/* SPDX-License-Identifier: MIT */
/* Which allocations are sampled, what their totals are worth, what becomes of them when they are freed. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_heap.h"
#include "prof/tr2p_leaks.h"
#include "prof/tr2p_live.h"
#include "prof/tr2p_sample.h"

enum { RATE = 4096, SITES = 4, ALLOCATIONS = 1000000 };

static int setup(void **state)
{
	(void)state;
	tr2p_thread_begin();
	return tr2p_bucket_init() || tr2p_live_init();
}

/* All buckets of the heap: as one. */
static struct tr2p_totals totals_of_heap(void)
{
	struct tr2p_totals all = { 0 }, one;

	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_HEAP); b; b = b->next) {
		one = tr2p_bucket_totals(b);
		for (unsigned i = 0; i < sizeof(one) / sizeof(int64_t); i++)
			(&all.count)[i] += (&one.count)[i];
	}
	return all;
}

/* The profile begins again, with this rate. */
static void begin(size_t rate)
{
	trace2_prof_set_heap_rate(0);
	tr2p_bucket_reset(TR2P_HEAP);
	tr2p_g_thread.random = 20240229;
	trace2_prof_set_heap_rate(rate);
}

static int is_near(double value, double truth, double part)
{
	return value > truth * (1 - part) && value < truth * (1 + part);
}

/* ---- mathematics ----------------------------------------------------------------------------------- */

/* 1 - exp(-x) as (exp(x) - 1) / exp(x): a series of terms above 0, slow and exact. */
static double probability(double x)
{
	double sum = 0, term = x;

	if (x > 500)
		return 1;
	for (int i = 2; i < 2000; i++) {
		sum += term;
		term *= x / i;
	}
	return sum / (1 + sum);
}

static void test_scale_is_the_inverse_of_the_probability(void **state)
{
	(void)state;
	for (size_t size = 1; size < SIZE_MAX >> (sizeof(size_t) > 4 ? 24 : 2); size = size * 3 / 2 + 1) {
		double truth = 1 / probability((double)size / (512 * 1024));
		assert_true(is_near(tr2p_heap_scale(size, 512 * 1024), truth, 1e-6));
	}
	assert_true(tr2p_heap_scale(1, 1) == 1);
	assert_true(tr2p_heap_scale(0, 4096) == tr2p_heap_scale(1, 4096));
}

static void test_distances_are_exponential(void **state)
{
	double sum = 0, squares = 0;
	int below = 0;

	(void)state;
	tr2p_g_thread.random = 1;
	for (int i = 0; i < 100000; i++) {
		double distance = (double)tr2p_heap_draw(RATE);
		sum += distance;
		squares += distance * distance;
		below += distance < 0.69314718 * RATE;
	}
	assert_true(is_near(sum / 1e5, RATE, 0.01));
	assert_true(is_near(squares / 1e5, 2.0 * RATE * RATE, 0.03));
	assert_true(is_near(below / 1e5, 0.5, 0.01));
	assert_int_equal(tr2p_heap_draw(1), 1);
	assert_true(tr2p_heap_draw(SIZE_MAX) <= SIZE_MAX / 2);
}

/* Allocations that there are not, at sites that there are not: the heap does not know. */
struct site {
	size_t min, max;
	double count, value, all_count, all_value, in_use;
};

static uint32_t next_size(uint32_t *seed)
{
	return *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
}

static void test_estimates_of_mixed_sizes_are_within_5_percent(void **state)
{
	struct site sites[SITES] = { { .min = 8, .max = 64 }, { .min = 100, .max = 5000 }, { .min = 24, .max = 24 },
				     { .min = 1, .max = 40000 } };
	uint32_t seed = 7;

	(void)state;
	tr2p_g_thread.random = 99;
	tr2p_g_thread.heap_left = tr2p_heap_draw(RATE);
	for (int i = 0; i < ALLOCATIONS; i++) {
		struct site *site = &sites[(next_size(&seed) >> 8) % SITES];
		size_t size = site->min + (next_size(&seed) >> 4) % (site->max - site->min + 1);
		site->count++;
		site->value += (double)size;
		if (tr2p_heap_passes(size))
			continue;
		site->all_count += tr2p_heap_scale(size, RATE);
		site->all_value += tr2p_heap_scale(size, RATE) * (double)size;
		tr2p_g_thread.heap_left = tr2p_heap_draw(RATE);
	}
	for (int i = 0; i < SITES; i++) {
		assert_true(is_near(sites[i].all_count, sites[i].count, 0.05));
		assert_true(is_near(sites[i].all_value, sites[i].value, 0.05));
	}
}

/* ---- the table ------------------------------------------------------------------------------------- */

static struct tr2p_bucket *any_bucket(void)
{
	static const struct tr2p_module *const none[1];
	const struct tr2p_stack stack = { .n = 1, .at = { 1 } };

	return tr2p_bucket_of(TR2P_OWN, NULL, &stack, none);
}

static void test_table_gives_back_what_was_put_in(void **state)
{
	struct tr2p_live live = { any_bucket(), 100, 1000 }, found;
	char block[64];

	(void)state;
	assert_false(tr2p_live_take(NULL, &found));
	assert_false(tr2p_live_take(block, &found));
	assert_true(tr2p_live_put(block, &live));
	assert_true(tr2p_live_may_have(block));
	assert_false(tr2p_live_may_have(block + 32));
	assert_false(tr2p_live_take(block + 32, &found));
	assert_true(tr2p_live_take(block, &found));
	assert_ptr_equal(found.bucket, live.bucket);
	assert_int_equal(found.size, 100);
	assert_int_equal(found.rate, 1000);
	assert_false(tr2p_live_may_have(block));
	assert_false(tr2p_live_take(block, &found));
}

/* Addresses 1 MiB apart have the same byte in the filter, or nearly so: it counts to 255, and is asked no more. */
static void test_table_that_is_full_says_so(void **state)
{
	struct tr2p_live live = { any_bucket(), 1, 1 }, found;
	uint64_t lost = tr2p_live_lost();
	uintptr_t n = 0, taken = 0;

	(void)state;
	while (n <= TR2P_LIVE_MAX && tr2p_live_put((void *)((n + 1) << 12), &live))
		n++;
	assert_in_range(n, TR2P_LIVE_MAX / 2, TR2P_LIVE_MAX);
	assert_int_equal(tr2p_live_lost(), lost + 1);
	for (uintptr_t i = 0; i < n; i++)
		taken += (uintptr_t)tr2p_live_take((void *)((i + 1) << 12), &found);
	assert_int_equal(taken, n);
	assert_true(tr2p_live_put((void *)((n + 1) << 12), &live));
	assert_true(tr2p_live_take((void *)((n + 1) << 12), &found));
}

enum { THREADS = 4, ADDRESSES = 500, ROUNDS = 40 };

/* Each has addresses of its own, as the program's threads have. */
static void *put_and_take(void *data)
{
	uintptr_t base = (uintptr_t)data << 4 * sizeof(uintptr_t), wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct tr2p_live live = { any_bucket(), 0, 1 }, found;
		for (uintptr_t i = 1; i <= ADDRESSES; i++) {
			live.size = i;
			wrong += !tr2p_live_put((void *)(base + i * 16), &live);
		}
		for (uintptr_t i = 1; i <= ADDRESSES; i++)
			wrong += !tr2p_live_take((void *)(base + i * 16), &found) || found.size != i;
	}
	return (void *)wrong;
}

static void test_table_of_many_threads_mixes_nothing_up(void **state)
{
	pthread_t threads[THREADS];
	void *wrong;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_and_take, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

/* ---- samples --------------------------------------------------------------------------------------- */

static const void *here(void)
{
	return __builtin_return_address(0);
}

static void test_sample_of_memory_that_is_freed_is_not_in_use(void **state)
{
	struct tr2p_totals totals;
	char one[64], two[64];

	(void)state;
	begin(1);
	tr2p_heap_allocated(one, 48, here());
	errno = 12345;
	tr2p_heap_allocated(two, 0, here());
	assert_int_equal(errno, 12345);
	tr2p_heap_allocated(NULL, 100, here());
	tr2p_heap_freed(one);
	tr2p_heap_freed(one);
	trace2_prof_set_heap_rate(0);
	tr2p_heap_allocated(one, 48, here());
	totals = totals_of_heap();
	assert_int_equal(totals.count, 2);
	assert_int_equal(totals.value, 49);
	assert_int_equal(totals.freed_count, 1);
	assert_int_equal(totals.freed_value, 48);
	tr2p_heap_freed(two);
	assert_int_equal(totals_of_heap().freed_count, 2);
}

static void test_sample_at_the_address_of_another_frees_that(void **state)
{
	struct tr2p_totals totals;
	char one[64];

	(void)state;
	begin(1);
	tr2p_heap_allocated(one, 10, here());
	tr2p_heap_allocated(one, 20, here());
	tr2p_heap_freed(one);
	trace2_prof_set_heap_rate(0);
	totals = totals_of_heap();
	assert_int_equal(totals.value, 30);
	assert_int_equal(totals.freed_value, 30);
}

static void test_sample_inside_the_profiler_is_none(void **state)
{
	char one[64];

	(void)state;
	begin(1);
	tr2p_enter();
	tr2p_heap_allocated(one, 10, here());
	tr2p_leave();
	trace2_prof_set_heap_rate(0);
	assert_int_equal(totals_of_heap().count, 0);
	assert_false(tr2p_live_may_have(one));
}

static void test_sample_has_the_labels_of_its_allocation_when_freed(void **state)
{
	const char *const pairs[] = { "who", "me", NULL };
	const struct trace2_labels *labels;
	char one[64];

	(void)state;
	assert_int_equal(trace2_prof_labels_with(NULL, pairs, &labels), 0);
	begin(1);
	trace2_prof_set_labels(labels);
	tr2p_heap_allocated(one, 10, here());
	trace2_prof_set_labels(NULL);
	tr2p_heap_freed(one);
	trace2_prof_set_heap_rate(0);
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_HEAP); b; b = b->next)
		if (tr2p_bucket_totals(b).count) {
			assert_ptr_equal(b->labels, labels);
			assert_int_equal(tr2p_bucket_totals(b).freed_count, 1);
		}
}

static void test_leaks_are_the_largest_first(void **state)
{
	char blocks[3][64], text[8192] = "";
	char *small, *large;
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	begin(1);
	tr2p_heap_allocated(blocks[0], 100, (const void *)((uintptr_t)setup + 1));
	tr2p_heap_allocated(blocks[1], 3000, (const void *)((uintptr_t)here + 1));
	tr2p_heap_allocated(blocks[2], 77, here());
	tr2p_heap_freed(blocks[2]);
	trace2_prof_set_heap_rate(0);
	tr2p_leaks_write(fileno(file));
	rewind(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_non_null(strstr(text, ": in use at exit: 3100 bytes in 2 objects, 2 samples\n"));
	large = strstr(text, "\n3000 bytes in 1 object, 1 sample\n    0x");
	small = strstr(text, "\n100 bytes in 1 object, 1 sample\n    0x");
	assert_non_null(large);
	assert_non_null(small);
	assert_true(large < small);
	assert_null(strstr(text, "\n77 bytes"));
	assert_non_null(strstr(large, "test_tr2p_heap+0x"));
	tr2p_heap_freed(blocks[0]);
	tr2p_heap_freed(blocks[1]);
}

static void test_leaks_without_reader_raise_no_signal(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	tr2p_leaks_write(ends[1]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale_is_the_inverse_of_the_probability),
		cmocka_unit_test(test_distances_are_exponential),
		cmocka_unit_test(test_estimates_of_mixed_sizes_are_within_5_percent),
		cmocka_unit_test(test_table_gives_back_what_was_put_in),
		cmocka_unit_test(test_table_that_is_full_says_so),
		cmocka_unit_test(test_table_of_many_threads_mixes_nothing_up),
		cmocka_unit_test(test_sample_of_memory_that_is_freed_is_not_in_use),
		cmocka_unit_test(test_sample_at_the_address_of_another_frees_that),
		cmocka_unit_test(test_sample_inside_the_profiler_is_none),
		cmocka_unit_test(test_sample_has_the_labels_of_its_allocation_when_freed),
		cmocka_unit_test(test_leaks_are_the_largest_first),
		cmocka_unit_test(test_leaks_without_reader_raise_no_signal),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
