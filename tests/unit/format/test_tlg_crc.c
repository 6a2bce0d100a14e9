/* SPDX-License-Identifier: MIT */
/* CRC-32C: by the instruction, by tables, backwards. */
#include "t2test.h"

#include "../format/tlg_crc.c"   /* both ways of computing it, whichever this processor has */

enum { BYTES = 300 };

static unsigned char data[BYTES];

/* The definition, bit by bit. */
static uint32_t by_definition(uint32_t crc, const unsigned char *p, size_t n)
{
	for (crc = ~crc; n; p++, n--) {
		crc ^= *p;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static int setup(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < BYTES; i++)
		data[i] = (unsigned char)((random = random * 1664525 + 1013904223) >> 24);
	return 0;
}

static void test_crc_check_value_is_the_standards(void **state)
{
	(void)state;
	assert_int_equal(tlg_crc32c(0, "123456789", 9), 0xe3069283);
}

static void test_crc_all_ways_agree_at_each_length_and_alignment(void **state)
{
	(void)state;
	for (size_t from = 0; from < 9; from++) {
		for (size_t n = 0; n <= BYTES - 9; n++) {
			uint32_t expected = by_definition(77, data + from, n);
			assert_int_equal(tlg_crc32c(77, data + from, n), expected);
			assert_int_equal(~by_tables(~UINT32_C(77), data + from, n), expected);
			if (has_instruction())
				assert_int_equal(~by_instruction(~UINT32_C(77), data + from, n), expected);
		}
	}
}

static void test_crc_seed_is_found_backwards(void **state)
{
	(void)state;
	for (size_t n = 0; n <= BYTES; n++) {
		uint32_t seed = (uint32_t)n * 2654435761u;
		assert_int_equal(tlg_crc32c_seed(tlg_crc32c(seed, data, n), data, n), seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc_check_value_is_the_standards),
		cmocka_unit_test(test_crc_all_ways_agree_at_each_length_and_alignment),
		cmocka_unit_test(test_crc_seed_is_found_backwards),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
