/* SPDX-License-Identifier: MIT */
/* Stacks, modules, totals: what a sample is made of in the process. */
#include "t2test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/tr2p_bucket.h"
#include "prof/tr2p_module.h"
#include "prof/tr2p_sample.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"

enum { THREADS = 4, STACKS = 300, ROUNDS = 20 };

static int setup(void **state)
{
	(void)state;
	tr2p_unwind_init(0, 0);
	return tr2p_bucket_init();
}

static struct tr2p_stack stack_of(uintptr_t one, uintptr_t two)
{
	return (struct tr2p_stack){ .n = 2, .at = { one, two } };
}

static struct tr2p_bucket *bucket_of(unsigned profile, uintptr_t one, uintptr_t two)
{
	static const struct tr2p_module *const none[2];
	const struct tr2p_stack stack = stack_of(one, two);

	return tr2p_bucket_of(profile, NULL, &stack, none);
}

static void test_bucket_of_the_same_stack_is_the_same(void **state)
{
	(void)state;
	assert_non_null(bucket_of(TR2P_CPU, 1, 2));
	assert_ptr_equal(bucket_of(TR2P_CPU, 1, 2), bucket_of(TR2P_CPU, 1, 2));
	assert_ptr_not_equal(bucket_of(TR2P_CPU, 1, 2), bucket_of(TR2P_CPU, 2, 1));
	assert_ptr_not_equal(bucket_of(TR2P_CPU, 1, 2), bucket_of(TR2P_WALL, 1, 2));
	assert_string_equal(bucket_of(TR2P_CPU, 0x1a, 0x2b)->stack_text, "1a 2b");
	assert_string_equal(bucket_of(TR2P_CPU, 0x1a, 0x2b)->module_text, "");
}

static void *add_all(void *data)
{
	const struct tr2p_totals one = { .count = 1, .value = 10 };

	(void)data;
	for (unsigned round = 0; round < ROUNDS; round++)
		for (uintptr_t i = 1; i <= STACKS; i++)
			tr2p_bucket_add(bucket_of(TR2P_BLOCK, i, i), &one);
	return NULL;
}

static void test_buckets_added_to_by_threads_have_all(void **state)
{
	pthread_t threads[THREADS];
	size_t n = 0;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_all, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (struct tr2p_bucket *b = tr2p_bucket_first(TR2P_BLOCK); b; b = b->next, n++) {
		assert_int_equal(tr2p_bucket_totals(b).count, THREADS * ROUNDS);
		assert_int_equal(tr2p_bucket_totals(b).value, THREADS * ROUNDS * 10);
	}
	assert_int_equal(n, STACKS);
	assert_int_equal(tr2p_bucket_count(TR2P_BLOCK), STACKS);
	tr2p_bucket_reset(TR2P_BLOCK);
	assert_int_equal(tr2p_bucket_totals(tr2p_bucket_first(TR2P_BLOCK)).count, 0);
}

static __attribute__((noinline)) void here(struct tr2p_stack *stack)
{
	tr2p_unwind(stack, 0);
	__asm__ volatile("");   /* no tail call */
}

static __attribute__((noinline)) void outer(struct tr2p_stack *stack)
{
	here(stack);
	__asm__ volatile("");
}

static void test_stack_begins_with_the_caller_of_the_function(void **state)
{
	struct tr2p_stack stack;

	(void)state;
	tr2p_thread_begin();
	outer(&stack);
	assert_true(stack.n >= 2);
	assert_in_range(stack.at[0], (uintptr_t)outer, (uintptr_t)outer + 64);
	assert_in_range(stack.at[1], (uintptr_t)test_stack_begins_with_the_caller_of_the_function,
			(uintptr_t)test_stack_begins_with_the_caller_of_the_function + 512);
}

static void test_module_of_a_function_has_its_file(void **state)
{
	const struct tr2p_module *mine = tr2p_module_of((uintptr_t)setup, NULL), *modules[2];
	const struct tr2p_module *other = tr2p_module_of((uintptr_t)qsort, NULL);
	char text[1200], start[64];
	size_t bytes;

	(void)state;
	assert_non_null(mine);
	assert_ptr_equal(tr2p_module_of((uintptr_t)outer, NULL), mine);
	assert_ptr_equal(tr2p_module_of((uintptr_t)outer, mine), mine);
	assert_non_null(strstr(mine->path, "test_tr2p_bucket"));
	assert_true(mine->start <= (uintptr_t)setup && (uintptr_t)setup < mine->end);
	assert_non_null(other);
	assert_null(tr2p_module_of(1, NULL));
	modules[0] = mine;
	modules[1] = other;
	bytes = tr2p_module_text(modules, 2, text, sizeof(text));
	assert_int_equal(bytes, strlen(text));
	snprintf(start, sizeof(start), "%lx-%lx ", (unsigned long)mine->start, (unsigned long)mine->end);
	assert_memory_equal(text, start, strlen(start));
	assert_non_null(strchr(text, '\n'));
	assert_non_null(strstr(strchr(text, '\n'), other->path));
	assert_int_equal(tr2p_module_text(modules, 2, NULL, 0), bytes);
}

static void test_sample_is_added_up(void **state)
{
	const struct tr2p_stack stack = stack_of((uintptr_t)setup, (uintptr_t)outer);
	const struct tr2p_amount two = { 1, 100, 1000, 2.5 }, freed = { -1, -100, 1000, 2.5 };
	struct tr2p_bucket *bucket = tr2p_sample(TR2P_HEAP, &stack, &two);
	struct tr2p_totals totals;

	(void)state;
	assert_non_null(bucket);
	assert_ptr_equal(tr2p_sample(TR2P_HEAP, &stack, &two), bucket);
	tr2p_sample_again(bucket, &freed);
	totals = tr2p_bucket_totals(bucket);
	assert_int_equal(totals.count, 2);
	assert_int_equal(totals.all_count, 5 * TR2P_COUNT_PARTS);
	assert_int_equal(totals.all_value, 500 * TR2P_BYTE_PARTS);
	assert_int_equal(totals.freed_count, 1);
	assert_int_equal(totals.freed_all_value, 250 * TR2P_BYTE_PARTS);
	assert_false(tr2p_is_inside());
}

/* A thousand threads that wait in one place do so for 9 * 10^15 ns in two and a half hours. */
static void test_sample_of_years_does_not_overflow(void **state)
{
	const struct tr2p_stack stack = stack_of((uintptr_t)setup, (uintptr_t)outer);
	const struct tr2p_amount years = { 1, INT64_C(1) << 60, 1000, 1 };
	struct tr2p_totals totals;

	(void)state;
	for (int i = 0; i < 4; i++)
		totals = tr2p_bucket_totals(tr2p_sample(TR2P_WALL, &stack, &years));
	assert_int_equal(totals.value, INT64_C(1) << 62);
	assert_int_equal(totals.all_value, INT64_C(1) << 62);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bucket_of_the_same_stack_is_the_same),
		cmocka_unit_test(test_buckets_added_to_by_threads_have_all),
		cmocka_unit_test(test_stack_begins_with_the_caller_of_the_function),
		cmocka_unit_test(test_module_of_a_function_has_its_file),
		cmocka_unit_test(test_sample_is_added_up),
		cmocka_unit_test(test_sample_of_years_does_not_overflow),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
