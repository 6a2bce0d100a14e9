/* SPDX-License-Identifier: MIT */
/* test_t2x_map.c - numbers to pointers. */
#include "t2test.h"

#include "t2x_map.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_keeps_what_was_put),
		cmocka_unit_test(test_map_put_again_replaces),
		cmocka_unit_test(test_map_remove_leaves_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
