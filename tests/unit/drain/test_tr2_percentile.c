/* SPDX-License-Identifier: MIT */
/* The 99th percentile of the last hour. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "drain/tr2_percentile.h"

static struct tr2_percentile percentile;

static int setup(void **state)
{
	(void)state;
	memset(&percentile, 0, sizeof(percentile));
	return 0;
}

static void add(uint64_t ticks, unsigned n)
{
	while (n--)
		tr2_percentile_add(&percentile, ticks);
}

static void test_percentile_of_few_durations_is_none(void **state)
{
	(void)state;
	add(1000, TR2_PERCENTILE_LEAST - 1);
	assert_int_equal(tr2_percentile_get(&percentile), 0);
	add(1000, 1);
	assert_in_range(tr2_percentile_get(&percentile), 930, 1070);
}

/* Each power of two: the middle of a bucket is at most a sixteenth away. */
static void test_percentile_is_right_to_seven_percent(void **state)
{
	(void)state;
	for (uint64_t ticks = 1; ticks < UINT64_C(1) << 62; ticks += ticks / 3 + 1) {
		setup(NULL);
		add(ticks, TR2_PERCENTILE_LEAST);
		assert_in_range(tr2_percentile_get(&percentile), ticks - ticks / 14, ticks + ticks / 14);
	}
	setup(NULL);
	add(UINT64_MAX, TR2_PERCENTILE_LEAST);
	assert_true(tr2_percentile_get(&percentile) > UINT64_MAX / 16 * 15);
}

static void test_percentile_leaves_one_in_a_hundred_above(void **state)
{
	(void)state;
	add(1000, 990);
	add(1000000, 9);
	assert_in_range(tr2_percentile_get(&percentile), 930, 1070);
	setup(NULL);
	add(1000, 980);
	add(1000000, 20);
	assert_in_range(tr2_percentile_get(&percentile), 930000, 1070000);
}

static void test_percentile_forgets_what_is_older_than_an_hour(void **state)
{
	(void)state;
	tr2_percentile_go_on(&percentile, 5);
	add(1000000, 1000);
	tr2_percentile_go_on(&percentile, 5 + TR2_PERCENTILE_MINUTES - 1);
	add(1000, 1000);
	assert_in_range(tr2_percentile_get(&percentile), 930000, 1070000);
	tr2_percentile_go_on(&percentile, 5 + TR2_PERCENTILE_MINUTES);
	assert_int_equal(percentile.count, 1000);
	assert_in_range(tr2_percentile_get(&percentile), 930, 1070);
	tr2_percentile_go_on(&percentile, 1000000);   /* long idle */
	assert_int_equal(percentile.count, 0);
	assert_int_equal(tr2_percentile_get(&percentile), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_percentile_of_few_durations_is_none, setup),
		cmocka_unit_test_setup(test_percentile_is_right_to_seven_percent, setup),
		cmocka_unit_test_setup(test_percentile_leaves_one_in_a_hundred_above, setup),
		cmocka_unit_test_setup(test_percentile_forgets_what_is_older_than_an_hour, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
