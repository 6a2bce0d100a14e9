/* SPDX-License-Identifier: MIT */
/* Losses: totals that are stated again and again add up once. */
#include "t2test.h"

#include "model/t2x_losses.h"

enum { BUDGET = 1 << 20 };

static void test_losses_repeated_totals_add_only_what_is_new(void **state)
{
	struct t2x_losses *losses = NULL;
	size_t budget = BUDGET;

	(void)state;
	assert_int_equal(t2x_losses_update(&losses, &budget, 1, 1, 10), 10);
	assert_int_equal(t2x_losses_update(&losses, &budget, 1, 1, 10), 0);
	assert_int_equal(t2x_losses_update(&losses, &budget, 1, 1, 12), 2);
	assert_int_equal(t2x_losses_update(&losses, &budget, 1, 2, 12), 12);
	assert_int_equal(t2x_losses_update(&losses, &budget, UINT32_MAX, 1, 3), 3);
	assert_int_equal(t2x_losses_update(&losses, &budget, 1, 1, 5), 0);
	assert_int_equal(t2x_losses_update(&losses, &budget, 1, 1, 13), 1);
	assert_int_equal(t2x_losses_total(losses, 1), 13 + 3);
	assert_int_equal(t2x_losses_total(losses, 2), 12);
	assert_int_equal(t2x_losses_total(losses, 3), 0);
	assert_int_equal(t2x_losses_total(NULL, 1), 0);
	t2x_losses_free(losses, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_losses_of_many_threads_are_told_apart(void **state)
{
	struct t2x_losses *losses = NULL;
	size_t budget = BUDGET;

	(void)state;
	for (uint32_t tid = 0; tid < T2X_LOSSES_KEPT; tid++)
		assert_int_equal(t2x_losses_update(&losses, &budget, tid, 1, tid + 1), tid + 1);
	for (uint32_t tid = 0; tid < T2X_LOSSES_KEPT; tid++)
		assert_int_equal(t2x_losses_update(&losses, &budget, tid, 1, tid + 3), 2);
	assert_int_equal(t2x_losses_total(losses, 1), T2X_LOSSES_KEPT / 2 * (T2X_LOSSES_KEPT - UINT64_C(1) + 6));
	t2x_losses_free(losses, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_losses_beyond_the_table_count_as_nothing(void **state)
{
	struct t2x_losses *losses = NULL;
	size_t budget = BUDGET;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t tid = 0; tid < 4 * T2X_LOSSES_KEPT; tid++)
		sum += t2x_losses_update(&losses, &budget, tid, 1, 1);
	assert_int_equal(sum, T2X_LOSSES_KEPT);
	t2x_losses_free(losses, &budget);
	assert_int_equal(budget, BUDGET);
}

static void test_losses_beyond_the_budget_count_as_nothing(void **state)
{
	struct t2x_losses *losses = NULL;
	size_t budget = 4000;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t tid = 0; tid < 1000; tid++)
		sum += t2x_losses_update(&losses, &budget, tid, 1, 1);
	assert_in_range(sum, 16, 125);
	t2x_losses_free(losses, &budget);
	assert_int_equal(budget, 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_repeated_totals_add_only_what_is_new),
		cmocka_unit_test(test_losses_of_many_threads_are_told_apart),
		cmocka_unit_test(test_losses_beyond_the_table_count_as_nothing),
		cmocka_unit_test(test_losses_beyond_the_budget_count_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
