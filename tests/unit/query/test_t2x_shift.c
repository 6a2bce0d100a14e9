/* SPDX-License-Identifier: MIT */
/* Differences between the runs of two sides, and chance. */
#include "t2test.h"

#include <stdint.h>
#include <string.h>

#include "query/t2x_shift.h"

static uint64_t g_seed = 20260701;

/* 0 to 1, by xorshift: the same in each run of the test. */
static double random_share(void)
{
	g_seed ^= g_seed << 13;
	g_seed ^= g_seed >> 7;
	g_seed ^= g_seed << 17;
	return (double)(g_seed >> 11) / 9007199254740992.0;
}

/* About a million, with so much noise; one of ten is twice as long, as on a machine that does something else, too. */
static void make(uint64_t *values, unsigned n, double mean, double noise)
{
	for (unsigned i = 0; i < n; i++) {
		double sum = -6;
		for (int k = 0; k < 12; k++)
			sum += random_share();
		values[i] = (uint64_t)(mean * (1 + noise * sum) * (random_share() < 0.1 ? 2 : 1));
	}
}

static struct t2x_shift find(const uint64_t *old, unsigned nold, const uint64_t *new, unsigned nnew)
{
	struct t2x_shift_test *test = t2x_shift_new(nold, nnew);
	struct t2x_shift shift;

	assert_non_null(test);
	shift = t2x_shift_find(test, old, new);
	t2x_shift_free(test);
	return shift;
}

static int is_near(double x, double y)
{
	return x - y < 1e-9 && y - x < 1e-9;
}

/* p, as tables of the test have it: 2 of 70, of 924, and of 252 sums. */
static void test_shift_p_of_sides_apart_is_that_of_the_tables(void **state)
{
	static const uint64_t old[] = { 1, 2, 3, 4, 5, 6 }, new[] = { 11, 12, 13, 14, 15, 16 };
	static const uint64_t mixed_old[] = { 1, 2, 4, 5, 9 }, mixed_new[] = { 3, 6, 7, 8, 10 };

	(void)state;
	assert_true(is_near(find(old, 4, new, 4).p, 2 / 70.0));
	assert_true(is_near(find(new, 6, old, 6).p, 2 / 924.0));
	assert_true(is_near(find(old, 1, new, 1).p, 1));
	/* the new ones' ranks add up to 34, the mean is 27.5: 56 of 252 choices are as far from it */
	assert_true(is_near(find(mixed_old, 5, mixed_new, 5).p, 56 / 252.0));
}

static void test_shift_of_equal_values_is_none(void **state)
{
	uint64_t equal[30];

	(void)state;
	for (int i = 0; i < 30; i++)
		equal[i] = 7;
	assert_true(is_near(find(equal, 5, equal, 5).p, 1));
	assert_true(is_near(find(equal, 30, equal, 30).p, 1));
	assert_true(is_near(find(equal, 5, equal, 5).change, 0));
}

static void test_shift_is_the_median_quotient_in_its_interval(void **state)
{
	static const uint64_t old[] = { 100, 101, 102, 103 }, new[] = { 110, 111, 112, 1000 };
	const struct t2x_shift shift = find(old, 4, new, 4), few = find(old, 3, new, 3);

	(void)state;
	assert_true(shift.has_interval && !few.has_interval);
	assert_true(shift.change > 0.07 && shift.change < 0.12);
	assert_true(is_near(shift.low, 110 / 103.0 - 1));
	assert_true(is_near(shift.high, 1000 / 100.0 - 1));
}

static void test_shift_by_random_permutations_is_as_by_all(void **state)
{
	uint64_t old[21], new[21];
	double by_all, by_random;

	(void)state;
	for (unsigned i = 0; i < 21; i++) {
		old[i] = 1000 + 10 * i;
		new[i] = 1000 + 10 * i + 45;
	}
	by_all = find(old, 20, new, 20).p;
	by_random = find(old, 21, new, 20).p;
	assert_true(by_all > 0.02 && by_all < 0.2);
	assert_true(by_all - by_random < 0.03 && by_random - by_all < 0.03);
}

/* Twenty rows in each of 500 comparisons of a program with itself: in at most 5 of 100 any row is believed. */
static void test_shift_of_nothing_is_believed_in_one_of_twenty_comparisons(void **state)
{
	enum { COMPARISONS = 500, ROWS = 20, RUNS = 10 };
	unsigned flagged = 0;

	(void)state;
	for (int i = 0; i < COMPARISONS; i++) {
		double p[ROWS];
		for (int row = 0; row < ROWS; row++) {
			uint64_t old[RUNS], new[RUNS];
			int at = row;
			double of_row;
			make(old, RUNS, 1e6, 0.05);
			make(new, RUNS, 1e6, 0.05);
			of_row = find(old, RUNS, new, RUNS).p;
			for (; at && p[at - 1] > of_row; at--)
				p[at] = p[at - 1];
			p[at] = of_row;
		}
		flagged += t2x_shift_believe(p, ROWS, 0.05) > 0;
	}
	print_message("seed 20260701: %u of %u comparisons of equals flag a row\n", flagged, COMPARISONS);
	assert_true(flagged <= COMPARISONS / 20 + 10);   /* two standard deviations more */
}

/* Three per cent in noise of one per cent, with ten runs a side: the interval has it, and it is found. */
static void test_shift_of_three_per_cent_is_found_in_ten_runs(void **state)
{
	enum { COMPARISONS = 400, RUNS = 10 };
	unsigned found = 0, inside = 0;

	(void)state;
	for (int i = 0; i < COMPARISONS; i++) {
		uint64_t old[RUNS], new[RUNS];
		struct t2x_shift shift;
		make(old, RUNS, 1e6, 0.01);
		make(new, RUNS, 1.03e6, 0.01);
		shift = find(old, RUNS, new, RUNS);
		found += shift.p <= 0.05 && shift.change > 0;
		inside += shift.low <= 0.03 && 0.03 <= shift.high;
	}
	print_message("seed 20260701: found in %u, in the interval in %u of %u\n", found, inside, COMPARISONS);
	assert_true(found >= COMPARISONS * 9 / 10);
	assert_true(inside >= COMPARISONS * 93 / 100);
}

static void test_believed_are_those_below_their_share(void **state)
{
	static const double p[] = { 0.001, 0.012, 0.014, 0.2, 0.9 };

	(void)state;
	assert_int_equal(t2x_shift_believe(p, 5, 0.05), 3);
	assert_int_equal(t2x_shift_believe(p + 3, 2, 0.05), 0);
	assert_int_equal(t2x_shift_believe(p, 0, 0.05), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift_p_of_sides_apart_is_that_of_the_tables),
		cmocka_unit_test(test_shift_of_equal_values_is_none),
		cmocka_unit_test(test_shift_is_the_median_quotient_in_its_interval),
		cmocka_unit_test(test_shift_by_random_permutations_is_as_by_all),
		cmocka_unit_test(test_shift_of_nothing_is_believed_in_one_of_twenty_comparisons),
		cmocka_unit_test(test_shift_of_three_per_cent_is_found_in_ten_runs),
		cmocka_unit_test(test_believed_are_those_below_their_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
