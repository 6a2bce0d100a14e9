/* SPDX-License-Identifier: MIT */
/* test_t2x_memory.c - cache lines: aligned, all zero, and cheaper than aligned memory of the C library. */
#include "t2test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_memory.h"

enum { N = 1000 };

static size_t g_taken, g_aligned;
static unsigned g_live;

static void *resize(void *memory, size_t bytes)
{
	if (!bytes) {
		g_live--;
		free(memory);
		return NULL;
	}
	return realloc(memory, bytes);
}

static void *take_zeroed(size_t bytes)
{
	g_taken += bytes;
	g_live++;
	return calloc(1, bytes);
}

static void *refuse_aligned(size_t alignment, size_t bytes)
{
	(void)alignment;
	g_aligned += bytes;
	return NULL;
}

static void test_memory_cache_lines_are_aligned_and_zero_and_cost_one_more(void **state)
{
	static const struct t2x_memory memory = { resize, take_zeroed, refuse_aligned };
	static char *pieces[N];

	(void)state;
	t2x_memory_use(&memory);
	for (unsigned i = 0; i < N; i++) {
		const size_t bytes = 1 + i * 7 % 500;

		g_taken = 0;
		pieces[i] = t2x_cache_line_new(bytes);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % T2X_CACHE_LINE, 0);
		assert_int_equal(g_taken, t2x_cache_line_bytes(bytes) + T2X_CACHE_LINE);
		for (size_t k = 0; k < t2x_cache_line_bytes(bytes); k++)
			assert_int_equal(pieces[i][k], 0);
		memset(pieces[i], 'x', t2x_cache_line_bytes(bytes));
	}
	assert_int_equal(g_aligned, 0);
	for (unsigned i = 0; i < N; i++)
		t2x_cache_line_free(pieces[i]);
	t2x_cache_line_free(NULL);
	assert_int_equal(g_live, 0);
	assert_null(t2x_cache_line_new(SIZE_MAX - 8));
	assert_null(t2x_cache_line_new(SIZE_MAX - 3 * T2X_CACHE_LINE / 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_cache_lines_are_aligned_and_zero_and_cost_one_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
