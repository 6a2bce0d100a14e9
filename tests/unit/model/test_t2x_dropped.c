/* SPDX-License-Identifier: MIT */
/* Dropped events: totals that are stated again and again add up once. */
#include "t2test.h"

#include "model/t2x_dropped.h"

enum { BUDGET = 1 << 20 };

static void test_dropped_repeated_totals_add_only_what_is_new(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = BUDGET;

	(void)state;
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 10), 10);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 10), 0);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 12), 2);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 2, 12), 12);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, UINT32_MAX, 1, 3), 3);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 5), 0);
	assert_int_equal(t2x_dropped_update(&dropped, &budget, 1, 1, 13), 1);
	assert_int_equal(t2x_dropped_total(dropped, 1), 13 + 3);
	assert_int_equal(t2x_dropped_total(dropped, 2), 12);
	assert_int_equal(t2x_dropped_total(dropped, 3), 0);
	assert_int_equal(t2x_dropped_total(NULL, 1), 0);
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_dropped_of_many_threads_are_kept_apart(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = BUDGET;

	(void)state;
	for (uint32_t tid = 0; tid < T2X_DROPPED_MAX; tid++)
		assert_int_equal(t2x_dropped_update(&dropped, &budget, tid, 1, tid + 1), tid + 1);
	for (uint32_t tid = 0; tid < T2X_DROPPED_MAX; tid++)
		assert_int_equal(t2x_dropped_update(&dropped, &budget, tid, 1, tid + 3), 2);
	assert_int_equal(t2x_dropped_total(dropped, 1), T2X_DROPPED_MAX / 2 * (T2X_DROPPED_MAX - UINT64_C(1) + 6));
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_dropped_beyond_the_table_count_as_nothing(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = BUDGET;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t tid = 0; tid < 4 * T2X_DROPPED_MAX; tid++)
		sum += t2x_dropped_update(&dropped, &budget, tid, 1, 1);
	assert_int_equal(sum, T2X_DROPPED_MAX);
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_dropped_beyond_the_budget_count_as_nothing(void **state)
{
	struct t2x_dropped *dropped = NULL;
	size_t budget = 4000;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t tid = 0; tid < 1000; tid++)
		sum += t2x_dropped_update(&dropped, &budget, tid, 1, 1);
	assert_in_range(sum, 16, 125);
	t2x_dropped_free(dropped, &budget);
	assert_int_equal(budget, 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropped_repeated_totals_add_only_what_is_new),
		cmocka_unit_test(test_dropped_of_many_threads_are_kept_apart),
		cmocka_unit_test(test_dropped_beyond_the_table_count_as_nothing),
		cmocka_unit_test(test_dropped_beyond_the_budget_count_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
