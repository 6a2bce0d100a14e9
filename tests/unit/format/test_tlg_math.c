/* SPDX-License-Identifier: MIT */
/* test_tlg_math.c - both ways to compute with a product agree. */
#include "t2test.h"

#include "tlg_math.h"

static uint64_t state = 88172645463325252u;

/* Of any length in bits. */
static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> state % 64;
}

static void assert_exact(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t rest = 1, long_rest = 2;

	assert_true(tlg_mul_div_long(a, b, c, &long_rest) == tlg_mul_div(a, b, c, &rest));
	assert_true(long_rest == rest);
	assert_true(rest < c);
	assert_true(tlg_mul_high_long(a, b) == tlg_mul_high(a, b));
}

static void test_math_small_numbers_are_as_expected(void **unused)
{
	uint64_t rest;

	(void)unused;
	assert_true(tlg_mul_div(7, 10, 4, &rest) == 17 && rest == 2);
	assert_true(tlg_mul_div_long(7, 10, 4, &rest) == 17 && rest == 2);
	assert_true(tlg_mul_div_long(UINT64_MAX, UINT64_MAX, UINT64_MAX, &rest) == UINT64_MAX && rest == 0);
	assert_true(tlg_mul_div_long(0, 5, UINT64_MAX, &rest) == 0 && rest == 0);
	assert_true(tlg_mul_high(UINT64_C(3) << 40, UINT64_C(5) << 40) == UINT64_C(15) << 16);
	assert_true(tlg_mul_high_long(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
}

static void test_math_without_wide_integers_is_the_same(void **unused)
{
	(void)unused;
	for (int i = 0; i < 20000; i++) {
		uint64_t a = random_number(), b = random_number(), c = random_number();
		assert_exact(a, b, c ? c : 1);
		assert_exact(a % (c ? c : 1), b, c ? c : 1);
		assert_exact(UINT64_MAX - a % 3, UINT64_MAX - b % 3, UINT64_MAX - c % 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_math_small_numbers_are_as_expected),
		cmocka_unit_test(test_math_without_wide_integers_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
