/* SPDX-License-Identifier: MIT */
/* What the texts of settings stand for. */
#include "t2test.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "settings/tr2_value.h"

enum { UNTOUCHED = 4711 };

/* The C library's number, if the text is one and nothing more, and fits; as git takes it. */
static int is_number(const char *text, int base, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, base);
	return !errno && end > text && !*end;
}

static void test_value_number_is_the_c_librarys(void **state)
{
	static const char *const texts[] = {
		"0", "1", "-1", "+1", "42", "007", "08", "0x10", "0XfF", "-0x10", "0x", "0xg", "x", "", "-",
		"+-1", " 12",
		"\t\n12", "12 ", "1 2", "9223372036854775806", "-9223372036854775807", "9223372036854775808",
		"99999999999999999999", "-99999999999999999999", "0x7ffffffffffffffe", "0777777777777777777777777",
		"1.5", "1e3", "--1", "abc", "0b1", "a1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		long long expected, value = UNTOUCHED;
		int is_one = is_number(texts[i], 0, &expected);

		errno = 0;
		assert_int_equal(tr2_value_number(texts[i], &value), is_one);
		assert_true(value == (is_one ? expected : UNTOUCHED));
		assert_int_equal(errno, 0);
	}
}

static void test_value_number_has_units(void **state)
{
	static const struct { const char *text; long long value; } rows[] = {
		{ "4k", 4096 }, { "4K", 4096 }, { "3m", 3 << 20 }, { "-2G", -(2LL << 30) }, { "0x10k", 16384 },
		{ "0g", 0 },
		{ "4kb", UNTOUCHED }, { "4 k", UNTOUCHED }, { "k", UNTOUCHED }, { "1t", UNTOUCHED },
		{ "1kk", UNTOUCHED },
		{ "9000000000g", UNTOUCHED }, { "-9000000000g", UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long long value = UNTOUCHED;
		assert_int_equal(tr2_value_number(rows[i].text, &value), rows[i].value != UNTOUCHED);
		assert_true(value == rows[i].value);
	}
}

static void test_value_time_is_in_milliseconds(void **state)
{
	static const struct { const char *text; long long value; } rows[] = {
		{ "250", 250 }, { "250ms", 250 }, { "2s", 2000 }, { "2S", 2000 }, { "0", 0 }, { "-1s", -1000 },
		{ "010", 10 },
		{ "1m", UNTOUCHED }, { "s", UNTOUCHED }, { "", UNTOUCHED }, { "1 s", UNTOUCHED }, { "0x1", UNTOUCHED },
		{ "9223372036854775806s", UNTOUCHED }, { "99999999999999999999", UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long long value = UNTOUCHED;
		assert_int_equal(tr2_value_time(rows[i].text, &value), rows[i].value != UNTOUCHED);
		assert_true(value == rows[i].value);
	}
}

static void test_value_count_is_what_atoi_makes_of_it(void **state)
{
	static const char *const texts[] = { "0", "12", "12x", "-3", " 7 ", "010", "0x10", "+5.5" };
	long long value = UNTOUCHED;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(tr2_value_count(texts[i], &value), 1);
		assert_true(value == atoi(texts[i]));
	}
	assert_int_equal(tr2_value_count("99999999999999999999", &value), 1);
	assert_true(value == LLONG_MAX);
	value = UNTOUCHED;
	assert_int_equal(tr2_value_count("x", &value), 0);
	assert_int_equal(tr2_value_count("", &value), 0);
	assert_true(value == UNTOUCHED);
}

static void test_value_bool_is_gits(void **state)
{
	static const char *const yes[] = { "true", "YES", "on", "1", "-1", "0x2", "1k" };
	static const char *const no[] = { "false", "No", "off", "", "0", "0x0", "0k" };
	static const char *const neither[] = { "maybe", "t", "yes ", "1x", "99999999999999999999" };
	long long value;

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(tr2_value_bool(yes[i], &value), 1);
		assert_true(value == 1);
		assert_int_equal(tr2_value_bool(no[i], &value), 1);
		assert_true(value == 0);
	}
	for (size_t i = 0; i < sizeof(neither) / sizeof(neither[0]); i++)
		assert_int_equal(tr2_value_bool(neither[i], &value), 0);
}

static void test_value_word_is_its_place(void **state)
{
	long long value = UNTOUCHED;

	(void)state;
	assert_int_equal(tr2_value_word("off", "init late off", &value), 1);
	assert_true(value == 2);
	assert_int_equal(tr2_value_word("INIT", "init late off", &value), 1);
	assert_true(value == 0);
	assert_int_equal(tr2_value_word("", "init late off", &value), 0);
	assert_int_equal(tr2_value_word("la", "init late off", &value), 0);
	assert_int_equal(tr2_value_word("late off", "init late off", &value), 0);
	assert_int_equal(tr2_value_word("offf", "init late off", &value), 0);
	assert_true(value == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_number_is_the_c_librarys),
		cmocka_unit_test(test_value_number_has_units),
		cmocka_unit_test(test_value_time_is_in_milliseconds),
		cmocka_unit_test(test_value_count_is_what_atoi_makes_of_it),
		cmocka_unit_test(test_value_bool_is_gits),
		cmocka_unit_test(test_value_word_is_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
