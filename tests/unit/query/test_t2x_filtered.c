/* SPDX-License-Identifier: MIT */
/* What a filter knows of regions: how many shown ones are around, of which some may be over already. */
#include "t2test.h"

#include "query/t2x_filtered.h"

static struct t2x_filtered outside[2];
static struct t2x_filtered_pool pool;

static int set_up(void **state)
{
	(void)state;
	t2x_filtered_init(outside);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	t2x_filtered_free(&pool);
	return 0;
}

static struct t2x_filtered *region_in(struct t2x_filtered *around, unsigned level)
{
	struct t2x_filtered *region = t2x_filtered_new(&pool, around, level);

	assert_non_null(region);
	return region;
}

static void test_region_counts_those_around_it_that_are_shown(void **state)
{
	struct t2x_filtered *a = region_in(&outside[1], 1), *b = region_in(a, 2), *c = region_in(b, 3);

	(void)state;
	t2x_filtered_come_out(a, T2X_FILTERED_SHOWN);
	t2x_filtered_come_out(b, T2X_FILTERED_WANTED);
	t2x_filtered_come_out(c, T2X_FILTERED_SHOWN);
	assert_int_equal(t2x_filtered_shown(a), 2);
	assert_int_equal(t2x_filtered_shown(b), 2);
	assert_int_equal(t2x_filtered_shown(c), 3);
	assert_int_equal(t2x_filtered_within(c), T2X_WITHIN_WANTED);
	t2x_filtered_put(&pool, a);
	t2x_filtered_put(&pool, b);
	assert_int_equal(t2x_filtered_shown(c), 3);
	t2x_filtered_put(&pool, c);
}

static void test_region_outside_of_its_thread_is_in_nothing(void **state)
{
	struct t2x_filtered *a = region_in(&outside[0], 0);

	(void)state;
	assert_int_equal(t2x_filtered_shown(&outside[1]), 1);
	assert_int_equal(t2x_filtered_shown(a), 0);
	t2x_filtered_come_out(a, T2X_FILTERED_SHOWN);
	assert_int_equal(t2x_filtered_shown(a), 1);
	t2x_filtered_put(&pool, a);
}

static void test_region_that_never_comes_out_is_not_around_anything(void **state)
{
	struct t2x_filtered *a = region_in(&outside[1], 1), *b = region_in(a, 2);

	(void)state;
	t2x_filtered_come_out(a, T2X_FILTERED_SHOWN);
	assert_int_equal(t2x_filtered_shown(b), 2);
	assert_int_equal(t2x_filtered_within(b), T2X_WITHIN_WANTED);
	b->state = T2X_FILTERED_EXCLUDED;
	assert_int_equal(t2x_filtered_shown(b), 2);
	assert_int_equal(t2x_filtered_within(b), T2X_WITHIN_WANTED | T2X_WITHIN_EXCLUDED);
	t2x_filtered_put(&pool, b);
	t2x_filtered_put(&pool, a);
}

static void test_region_shown_in_an_excluded_one_is_within_both(void **state)
{
	struct t2x_filtered *a = region_in(&outside[1], 1), *b = region_in(a, 2);

	(void)state;
	a->state = T2X_FILTERED_EXCLUDED;
	t2x_filtered_come_out(b, T2X_FILTERED_SHOWN);
	assert_int_equal(t2x_filtered_shown(b), 2);
	assert_int_equal(t2x_filtered_within(b), T2X_WITHIN_WANTED | T2X_WITHIN_EXCLUDED);
	t2x_filtered_put(&pool, a);
	t2x_filtered_put(&pool, b);
}

static void test_span_that_nothing_is_known_of_is_in_the_region_around_it(void **state)
{
	struct t2x_span span[4] = { { .is_thread = 1, .is_seen = 1 } };
	struct t2x_spans spans = { .open = 4, .max = 4, .spans = span };
	struct t2x_filtered *a = region_in(&outside[1], 1);

	(void)state;
	assert_ptr_equal(t2x_filtered_find(&outside[1], &spans, 1), &outside[1]);
	span[1].own = a;
	assert_ptr_equal(t2x_filtered_find(&outside[1], &spans, 4), a);
	assert_ptr_equal(span[3].own, a);
	assert_int_equal(a->users, 3);
	assert_ptr_equal(t2x_filtered_find(&outside[0], &spans, 0), &outside[0]);
	for (unsigned i = 1; i < 4; i++)
		t2x_filtered_put(&pool, span[i].own);
	assert_ptr_equal(pool.unused, a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_region_counts_those_around_it_that_are_shown),
		TEST(test_region_outside_of_its_thread_is_in_nothing),
		TEST(test_region_that_never_comes_out_is_not_around_anything),
		TEST(test_region_shown_in_an_excluded_one_is_within_both),
		TEST(test_span_that_nothing_is_known_of_is_in_the_region_around_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
