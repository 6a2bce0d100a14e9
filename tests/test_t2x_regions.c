/* SPDX-License-Identifier: MIT */
/* Open regions: times as deep as they are kept, counts beyond. */
#include "t2test.h"

#include "t2x_regions.h"

static void test_regions_times_survive_growth(void **state)
{
	struct t2x_regions r;
	unsigned budget = 1000000;

	(void)state;
	t2x_regions_init(&r, 5);
	for (uint64_t i = 0; i < 1000; i++)
		t2x_regions_enter(&r, 100 + i, 0, &budget);
	assert_int_equal(t2x_regions_open(&r), 1001);
	for (uint64_t i = 1000; i-- > 0;) {
		assert_int_equal(t2x_regions_elapsed(&r, 2000), 1900 - i);
		t2x_regions_leave(&r);
	}
	assert_int_equal(t2x_regions_elapsed(&r, 2000), 1995);
	assert_true(budget < 1000000);
	t2x_regions_free(&r, &budget);
	assert_int_equal(budget, 1000000);
}

static void test_regions_deeper_than_kept_are_counted(void **state)
{
	struct t2x_regions r;
	unsigned budget = 4 * T2X_REGIONS_KEPT;

	(void)state;
	t2x_regions_init(&r, 5);
	for (unsigned i = 0; i < T2X_REGIONS_KEPT + 100; i++)
		t2x_regions_enter(&r, 10, 0, &budget);
	assert_int_equal(t2x_regions_open(&r), T2X_REGIONS_KEPT + 101);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 0);
	for (unsigned i = 0; i < 101; i++)
		t2x_regions_leave(&r);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 90);
	t2x_regions_free(&r, &budget);
}

static void test_regions_without_budget_are_counted(void **state)
{
	struct t2x_regions r;
	unsigned budget = 2 * T2X_REGIONS_SMALL + 1;

	(void)state;
	t2x_regions_init(&r, 5);
	for (unsigned i = 0; i < 3 * T2X_REGIONS_SMALL; i++)
		t2x_regions_enter(&r, 10, 0, &budget);
	assert_int_equal(budget, 1);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 0);
	assert_int_equal(t2x_regions_open(&r), 3 * T2X_REGIONS_SMALL + 1);
	t2x_regions_unwind(&r);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 95);
	t2x_regions_free(&r, &budget);
}

static void test_regions_nothing_open_has_no_time(void **state)
{
	struct t2x_regions r;
	unsigned budget = 0;

	(void)state;
	t2x_regions_init(&r, 5);
	t2x_regions_leave(&r);
	t2x_regions_leave(&r);
	assert_int_equal(t2x_regions_open(&r), 0);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 0);
	t2x_regions_unwind(&r);
	assert_int_equal(t2x_regions_open(&r), 0);
	t2x_regions_enter(&r, 50, 0, &budget);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 50);
	assert_true(t2x_regions_elapsed(&r, 49) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regions_times_survive_growth),
		cmocka_unit_test(test_regions_deeper_than_kept_are_counted),
		cmocka_unit_test(test_regions_without_budget_are_counted),
		cmocka_unit_test(test_regions_nothing_open_has_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
