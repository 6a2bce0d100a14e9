/* SPDX-License-Identifier: MIT */
/* test_t2x_map.c - numbers to pointers. */
#include "t2test.h"

#include "base/t2x_map.h"

enum { N = 5000 };

static char g_things[N];

/* Keys that fall into few slots at first. */
static uint32_t key_of(unsigned i)
{
	return i * 65536 + i % 3;
}

static void test_map_keeps_what_was_put(void **state)
{
	struct t2x_map map = { .slots = NULL };

	(void)state;
	assert_null(t2x_map_get(&map, 0));
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(t2x_map_put(&map, key_of(i), &g_things[i]), 0);
	assert_int_equal(map.count, N);
	for (unsigned i = 0; i < N; i++)
		assert_ptr_equal(t2x_map_get(&map, key_of(i)), &g_things[i]);
	assert_null(t2x_map_get(&map, 5));
	t2x_map_free(&map);
	assert_null(t2x_map_get(&map, key_of(1)));
}

static void test_map_put_again_replaces(void **state)
{
	struct t2x_map map = { .slots = NULL };

	(void)state;
	t2x_map_put(&map, 7, &g_things[0]);
	t2x_map_put(&map, 7, &g_things[1]);
	assert_int_equal(map.count, 1);
	assert_ptr_equal(t2x_map_get(&map, 7), &g_things[1]);
	t2x_map_free(&map);
}

static void test_map_remove_leaves_the_others(void **state)
{
	struct t2x_map map = { .slots = NULL };
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < N; i++)
		t2x_map_put(&map, key_of(i), &g_things[i]);
	for (unsigned i = 0; i < N; i += 2)
		t2x_map_remove(&map, key_of(i));
	t2x_map_remove(&map, 5);
	assert_int_equal(map.count, N / 2);
	for (unsigned i = 0; i < N; i++)
		assert_ptr_equal(t2x_map_get(&map, key_of(i)), i % 2 ? &g_things[i] : NULL);
	for (uint32_t i = 0; i < t2x_map_slots(&map); i++)
		seen += t2x_map_at(&map, i) != NULL;
	assert_int_equal(seen, N / 2);
	t2x_map_free(&map);
}

/* Times the golden ratio these are 0, 1, 2, ...: one run of slots; each search in it would be long. */
static void test_map_chosen_keys_do_not_make_it_slow(void **state)
{
	enum { MANY = 200000 };
	struct t2x_map map = { .slots = NULL };
	uint32_t inverse = 0x0e8b2f51;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(t2x_map_put(&map, i * inverse, &g_things[i % N]), 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_ptr_equal(t2x_map_get(&map, i * inverse), &g_things[i % N]);
	assert_null(t2x_map_get(&map, MANY * inverse));
	for (uint32_t i = 0; i < MANY; i += 2)
		t2x_map_remove(&map, i * inverse);
	assert_int_equal(map.count, MANY / 2);
	for (uint32_t i = 0; i < MANY; i++)
		assert_ptr_equal(t2x_map_get(&map, i * inverse), i % 2 ? &g_things[i % N] : NULL);
	t2x_map_free(&map);
}

/* No key is out of reach, and the table stays as small as it is said to be. */
static void test_map_many_factors_keep_all_within_reach(void **state)
{
	struct t2x_map map = { .slots = NULL };
	uint32_t random = 1, factor = 0;
	unsigned changes = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		random = random * 1664525 + 1013904223;
		/* every other key is near others in the table as it is now */
		t2x_map_put(&map, i % 2 ? random : i * 0x0e8b2f51, &g_things[i % N]);
		changes += map.factor != factor;
		factor = map.factor;
	}
	assert_true(changes > 1);
	assert_true(t2x_map_slots(&map) <= 4 * map.count);
	t2x_map_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_keeps_what_was_put),
		cmocka_unit_test(test_map_put_again_replaces),
		cmocka_unit_test(test_map_remove_leaves_the_others),
		cmocka_unit_test(test_map_chosen_keys_do_not_make_it_slow),
		cmocka_unit_test(test_map_many_factors_keep_all_within_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
