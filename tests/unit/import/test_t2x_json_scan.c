/* SPDX-License-Identifier: MIT */
/* JSON as git writes it: texts survive byte by byte, and nothing that is no JSON is taken for it. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "import/t2x_json_scan.h"

/* Copies of exact size, so that AddressSanitizer sees a byte read too many. */
static void assert_is(const char *text, int is_value, enum t2x_json_type type, const char *inner)
{
	const size_t n = strlen(text);
	char *copy = malloc(n ? n : 1);
	struct t2x_json_item item;
	const char *behind;

	assert_non_null(copy);
	memcpy(copy, text, n);
	behind = t2x_json_scan(copy, copy + n, &item);
	assert_int_equal(behind != NULL, is_value);
	if (is_value) {
		assert_int_equal(item.type, type);
		assert_int_equal(item.length, strlen(inner));
		assert_memory_equal(item.text, inner, item.length);
	}
	free(copy);
}

static void test_json_values_are_found_as_they_stand(void **state)
{
	(void)state;
	assert_is("\"a\\\"b\\\\\",", 1, T2X_JSON_STRING, "a\\\"b\\\\");
	assert_is("-12.5e3]", 1, T2X_JSON_NUMBER, "-12.5e3");
	assert_is("true", 1, T2X_JSON_TRUE, "true");
	assert_is("false}", 1, T2X_JSON_FALSE, "false");
	assert_is("null", 1, T2X_JSON_NULL, "null");
	assert_is("[1, {\"a\":\"]\"}] x", 1, T2X_JSON_ARRAY, "[1, {\"a\":\"]\"}]");
	assert_is("{ \"a\" : [ ] }", 1, T2X_JSON_OBJECT, "{ \"a\" : [ ] }");
}

static void test_json_that_is_none_is_refused(void **state)
{
	static const char *const wrong[] = {
		"", "\"", "\"a\\", "\"a\\\"", "[", "[1", "{\"a\"]", "[}", "tru", "nul", "x", "-", "+1", "[\"a]",
	};
	char deep[T2X_JSON_DEPTH + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_is(wrong[i], 0, T2X_JSON_NULL, "");
	memset(deep, '[', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_is(deep, 0, T2X_JSON_NULL, "");
}

static void assert_members(const char *text, unsigned count, int is_bad)
{
	const char *end = text + strlen(text), *p = text + 1;
	struct t2x_json_item key, value;
	unsigned n = 0;
	int bad;

	while ((p = t2x_json_next(p, end, *text == '{' ? &key : NULL, &value, &bad)))
		n++;
	assert_int_equal(bad, is_bad);
	assert_int_equal(n, count);
}

static void test_json_members_are_walked_through(void **state)
{
	(void)state;
	assert_members("{}", 0, 0);
	assert_members("{\"a\":1,\"b\":[2],\"c\":{\"d\":3}}", 3, 0);
	assert_members("[ 1 , \"2\" , null ]", 3, 0);
	assert_members("{\"a\":1", 0, 1);
	assert_members("{\"a\" 1}", 0, 1);
	assert_members("{a:1}", 0, 1);
	assert_members("[1 2]", 0, 1);
	assert_members("{", 0, 1);
}

static void assert_unescaped(const char *from, const char *to, size_t n)
{
	struct t2x_json_item item = { .type = T2X_JSON_STRING, .text = from, .length = strlen(from) };
	char *text = malloc(item.length + 1);

	assert_non_null(text);
	assert_int_equal(t2x_json_unescape(text, &item), n);
	assert_memory_equal(text, to, n);
	free(text);
}

static void test_json_escapes_become_bytes(void **state)
{
	(void)state;
	assert_unescaped("a\\n\\t\\r\\f\\b\\\"\\\\\\/z", "a\n\t\r\f\b\"\\/z", 10);
	assert_unescaped("\\u0001\\u00e9\\u20ac", "\001\303\251\342\202\254", 6);
	assert_unescaped("\\ud83d\\ude00", "\360\237\230\200", 4);
	assert_unescaped("\\ud83dx", "\357\277\275x", 4);
	assert_unescaped("\\u0000", "\357\277\275", 3);
	assert_unescaped("\377\200", "\377\200", 2);   /* not UTF-8: as it is */
	assert_unescaped("\\u12\\uzzzz", "?12?zzzz", 8);
}

static void assert_number(const char *text, int is_integer, int64_t integer, int is_time, int64_t us)
{
	const struct t2x_json_item item = { .type = T2X_JSON_NUMBER, .text = text, .length = strlen(text) };
	int64_t value = 0;

	assert_int_equal(t2x_json_integer(&item, &value), is_integer);
	if (is_integer)
		assert_int_equal(value, integer);
	assert_int_equal(t2x_json_microseconds(&item, &value), is_time);
	if (is_time)
		assert_int_equal(value, us);
}

static void test_json_numbers_are_exact_or_refused(void **state)
{
	(void)state;
	assert_number("0", 1, 0, 1, 0);
	assert_number("-7", 1, -7, 1, -7000000);
	assert_number("9223372036854775807", 1, INT64_MAX, 0, 0);
	assert_number("-9223372036854775808", 1, INT64_MIN, 0, 0);
	assert_number("18446744073709551615", 1, -1, 0, 0);   /* a counter of git's */
	assert_number("18446744073709551616", 0, 0, 0, 0);
	assert_number("0.000525", 0, 0, 1, 525);
	assert_number("12.5", 0, 0, 1, 12500000);
	assert_number("1.23456789", 0, 0, 1, 1234567);
	assert_number("1e3", 0, 0, 0, 0);
	assert_number("18446744073709.550781", 0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_values_are_found_as_they_stand),
		cmocka_unit_test(test_json_that_is_none_is_refused),
		cmocka_unit_test(test_json_members_are_walked_through),
		cmocka_unit_test(test_json_escapes_become_bytes),
		cmocka_unit_test(test_json_numbers_are_exact_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
