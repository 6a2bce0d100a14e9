/* SPDX-License-Identifier: MIT */
/* What is one JSON value, and what is none. */
#include "t2test.h"

#include <string.h>

#include "text/t2x_json_check.h"

static int check(const char *text)
{
	return t2x_json_is_value(text, strlen(text));
}

static void test_json_check_values_are_accepted(void **state)
{
	static const char *const texts[] = {
		"0", "-0", "12", "-1.5", "1e5", "1E+05", "0.25e-3", "true", "false", "null", "\"\"",
		"\"a\\n\\u00e4\\/\"",
		"\"\377 \302\233\"", "[]", "{}", " [ ] ", "[1,2 , 3]", "{\"a\":1}",
		"{ \"a\" : [ { } , [ ] ] , \"\" : null }",
		"\t{\n\"k\"\r:[[[1]]]}\n", "[{},[],\"x\"]",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!check(texts[i]))
			fail_msg("refused: %s", texts[i]);
	}
}

static void test_json_check_others_are_refused(void **state)
{
	static const char *const texts[] = {
		"", " ", "a", "tru", "truex", "01", "+1", "1.", ".5", "1e", "1e+", "-", "0x1", "NaN", "Infinity",
		"\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u123", "\"\n\"", "\"\001\"",
		"[", "]", "[1", "[1,]", "[,1]", "[1 2]",
		"{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "{,}", "[}", "{]", "{\"a\":1]", "[1}",
		"1 2", "{}{}", "[],", "1,2", "\"a\"}\n{\"event\":\"forged\"", "'a'", "// c\n1",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (check(texts[i]))
			fail_msg("accepted: %s", texts[i]);
	}
	assert_false(t2x_json_is_value("1\0", 2));
	assert_false(t2x_json_is_value("[\0]", 3));
}

static void test_json_check_depth_is_bounded(void **state)
{
	char text[2 * T2X_JSON_DEPTH + 2];

	(void)state;
	memset(text, '[', T2X_JSON_DEPTH);
	memset(text + T2X_JSON_DEPTH, ']', T2X_JSON_DEPTH);
	assert_true(t2x_json_is_value(text, 2 * T2X_JSON_DEPTH));
	memset(text, '[', T2X_JSON_DEPTH + 1);
	memset(text + T2X_JSON_DEPTH + 1, ']', T2X_JSON_DEPTH + 1);
	assert_false(t2x_json_is_value(text, 2 * T2X_JSON_DEPTH + 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_check_values_are_accepted),
		cmocka_unit_test(test_json_check_others_are_refused),
		cmocka_unit_test(test_json_check_depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
