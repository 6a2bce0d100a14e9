/* SPDX-License-Identifier: MIT */
/* Open regions: times as deep as they are kept, counts beyond. */
#include "t2test.h"

#include "model/t2x_regions.h"

static void enter(struct t2x_regions *regions, uint64_t us, unsigned *budget)
{
	const struct t2x_region region = { .ns = us };

	t2x_regions_enter(regions, &region, budget);
}

static void test_regions_times_survive_growth(void **state)
{
	struct t2x_regions r;
	unsigned budget = 1000000;

	(void)state;
	t2x_regions_init(&r, 5);
	for (uint64_t i = 0; i < 1000; i++)
		enter(&r, 100 + i, &budget);
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
	unsigned budget = 4 * T2X_REGIONS_MAX;

	(void)state;
	t2x_regions_init(&r, 5);
	for (unsigned i = 0; i < T2X_REGIONS_MAX + 100; i++)
		enter(&r, 10, &budget);
	assert_int_equal(t2x_regions_open(&r), T2X_REGIONS_MAX + 101);
	assert_true(t2x_regions_elapsed(&r, 100) == T2X_NO_TIME);
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
		enter(&r, 10, &budget);
	assert_int_equal(budget, 1);
	assert_true(t2x_regions_elapsed(&r, 100) == T2X_NO_TIME);
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
	enter(&r, 50, &budget);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 50);
	assert_true(t2x_regions_elapsed(&r, 49) == UINT64_MAX);
}

/* ---- what is missing ---------------------------------------------------------------------------- */

enum { JOB = 1, BLOCK, OTHER };

static void enter_named(struct t2x_regions *regions, uint32_t names, uint64_t us, unsigned *budget)
{
	static const struct t2x_scope scopes[] = {
		{ .names = 0 }, { .names = JOB }, { .names = BLOCK }, { .names = OTHER },
	};
	const struct t2x_region region = { .ns = us, .scope = &scopes[names] };

	t2x_regions_enter(regions, &region, budget);
}

/* A thread since 5 us, in a job since 10 us, in a block since 20 us. */
static void begin_in_block(struct t2x_regions *regions, unsigned *budget)
{
	t2x_regions_init(regions, 5);
	enter_named(regions, JOB, 10, budget);
	enter_named(regions, BLOCK, 20, budget);
}

static void begin_behind_a_gap(struct t2x_regions *regions, unsigned *budget)
{
	begin_in_block(regions, budget);
	t2x_regions_assume(regions);
}

static void test_regions_behind_a_gap_are_certain_and_those_before_are_not(void **state)
{
	struct t2x_regions r;
	unsigned budget = 100;

	(void)state;
	begin_behind_a_gap(&r, &budget);
	assert_true(t2x_regions_elapsed(&r, 100) == T2X_NO_TIME);
	enter_named(&r, OTHER, 50, &budget);
	assert_false(t2x_regions_are_assumed(&r));
	assert_int_equal(t2x_regions_elapsed(&r, 100), 50);
	t2x_regions_leave(&r);
	assert_true(t2x_regions_are_assumed(&r));
	assert_true(t2x_regions_elapsed(&r, 100) == T2X_NO_TIME);
	t2x_regions_unwind(&r);
	assert_int_equal(t2x_regions_elapsed(&r, 100), 95);
	t2x_regions_free(&r, &budget);
}

/* Regions that were looked at once are not looked at again, unless they are others now. */
static void test_regions_lost_enter_where_a_checked_region_was_is_found(void **state)
{
	struct t2x_regions r;
	unsigned budget = 100;

	(void)state;
	begin_behind_a_gap(&r, &budget);
	assert_int_equal(t2x_regions_assume(&r), 0);
	t2x_regions_apply_gap(&r, 1, 1, &budget);
	enter_named(&r, OTHER, 30, &budget);
	assert_int_equal(t2x_regions_open(&r), 4);
	assert_int_equal(t2x_regions_assume(&r), 2);
	assert_int_equal(t2x_regions_open(&r), 2);
	enter_named(&r, OTHER, 40, &budget);
	assert_int_equal(t2x_regions_assume(&r), 0);
	assert_int_equal(t2x_regions_open(&r), 3);
	t2x_regions_free(&r, &budget);
}

static void test_regions_leave_behind_a_gap_closes_up_to_its_own(void **state)
{
	struct t2x_regions r;
	unsigned budget = 100;
	int is_missing;

	(void)state;
	begin_behind_a_gap(&r, &budget);
	assert_int_equal(t2x_regions_repair_leave(&r, JOB, &is_missing), 1);
	assert_false(is_missing);
	assert_int_equal(t2x_regions_open(&r), 2);
	assert_true(t2x_regions_elapsed(&r, 100) == T2X_NO_TIME);
	t2x_regions_free(&r, &budget);
}

static void test_regions_leave_behind_a_gap_without_its_own_closes_all(void **state)
{
	struct t2x_regions r;
	unsigned budget = 100;
	int is_missing;

	(void)state;
	begin_behind_a_gap(&r, &budget);
	assert_int_equal(t2x_regions_repair_leave(&r, OTHER, &is_missing), 2);
	assert_true(is_missing);
	assert_int_equal(t2x_regions_open(&r), 1);
	assert_int_equal(t2x_regions_repair_leave(&r, JOB, &is_missing), 0);
	assert_true(is_missing);
	assert_int_equal(t2x_regions_open(&r), 1);
	t2x_regions_free(&r, &budget);
}

/* A loop whose leaves are lost does not pile up. */
static void test_regions_entered_again_behind_each_gap_do_not_pile_up(void **state)
{
	struct t2x_regions r;
	unsigned budget = 100;

	(void)state;
	begin_in_block(&r, &budget);
	for (uint64_t i = 0; i < 1000; i++) {
		t2x_regions_assume(&r);
		t2x_regions_repair_enter(&r, JOB);
		assert_int_equal(t2x_regions_open(&r), 1);
		enter_named(&r, JOB, 100 + i, &budget);
		assert_int_equal(t2x_regions_elapsed(&r, 200 + i), 100);
	}
	t2x_regions_free(&r, &budget);
}

static void test_regions_of_a_gap_that_is_known_are_left_and_entered(void **state)
{
	struct t2x_regions r;
	unsigned budget = 100;

	(void)state;
	begin_in_block(&r, &budget);
	t2x_regions_apply_gap(&r, 1, 2, &budget);
	assert_int_equal(t2x_regions_open(&r), 4);
	assert_true(t2x_regions_elapsed(&r, 100) == T2X_NO_TIME);
	t2x_regions_leave(&r);
	t2x_regions_leave(&r);
	assert_false(t2x_regions_are_assumed(&r));
	assert_int_equal(t2x_regions_elapsed(&r, 100), 90);
	t2x_regions_apply_gap(&r, 9, 0, &budget);
	assert_int_equal(t2x_regions_open(&r), 0);
	t2x_regions_free(&r, &budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regions_times_survive_growth),
		cmocka_unit_test(test_regions_deeper_than_kept_are_counted),
		cmocka_unit_test(test_regions_without_budget_are_counted),
		cmocka_unit_test(test_regions_nothing_open_has_no_time),
		cmocka_unit_test(test_regions_behind_a_gap_are_certain_and_those_before_are_not),
		cmocka_unit_test(test_regions_lost_enter_where_a_checked_region_was_is_found),
		cmocka_unit_test(test_regions_leave_behind_a_gap_closes_up_to_its_own),
		cmocka_unit_test(test_regions_leave_behind_a_gap_without_its_own_closes_all),
		cmocka_unit_test(test_regions_entered_again_behind_each_gap_do_not_pile_up),
		cmocka_unit_test(test_regions_of_a_gap_that_is_known_are_left_and_entered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
