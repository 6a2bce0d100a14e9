/* SPDX-License-Identifier: MIT */
/* Points in time and lists of patterns, as the command line has them. */
#include "t2test.h"

#include <errno.h>

#include "query/t2x_patterns.h"
#include "query/t2x_when.h"

#define S UINT64_C(1000000000)
#define FIRST (UINT64_C(1795230403) * S)       /* 2026-11-21 03:06:43 UTC */

static uint64_t resolve(const char *text)
{
	struct t2x_instant when;

	assert_int_equal(t2x_when_parse(&when, text), 0);
	return t2x_when_resolve(&when, FIRST, 3600, FIRST + 100 * S);
}

static void test_when_relative_counts_from_start_and_end(void **state)
{
	(void)state;
	assert_int_equal(resolve("+1.5s"), FIRST + 1500000000);
	assert_int_equal(resolve("+1"), FIRST + S);
	assert_int_equal(resolve("+2m"), FIRST + 120 * S);
	assert_int_equal(resolve("-200ms"), FIRST + 100 * S - 200000000);
	assert_int_equal(resolve("-1.000000001s"), FIRST + 99 * S - 1);
}

static void test_when_time_of_day_is_local_and_nearest_to_the_first_event(void **state)
{
	(void)state;
	assert_int_equal(resolve("04:06:43.5"), FIRST + S / 2);
	assert_int_equal(resolve("4:07"), FIRST + 17 * S);
	assert_int_equal(resolve("16:06:42"), FIRST + 43199 * S);
	assert_int_equal(resolve("23:59:59"), FIRST - (4 * 3600 + 6 * 60 + 44) * S);
}

static void test_when_iso_has_a_zone_or_is_local(void **state)
{
	(void)state;
	assert_int_equal(resolve("2026-11-21T03:06:43Z"), FIRST);
	assert_int_equal(resolve("2026-11-21T05:36:43.25+02:30"), FIRST + S / 4);
	assert_int_equal(resolve("2026-11-20T22:06:43-0500"), FIRST);
	assert_int_equal(resolve("2026-11-21 04:06:43"), FIRST);
	assert_int_equal(resolve("2026-11-21"), FIRST - (4 * 3600 + 6 * 60 + 43) * S);
	assert_int_equal(resolve("1970-01-01T00:00Z"), 0);
	assert_int_equal(resolve("2000-02-29T00:00Z"), UINT64_C(951782400) * S);
	assert_int_equal(resolve("2026-12-31T00:00Z"), UINT64_C(1798675200) * S);
}

static void test_when_epoch_is_seconds_or_nanoseconds(void **state)
{
	(void)state;
	assert_int_equal(resolve("1795230403"), FIRST);
	assert_int_equal(resolve("1795230403.25"), FIRST + S / 4);
	assert_int_equal(resolve("1795230403.000000001"), FIRST + 1);
	assert_int_equal(resolve("1795230403000000001"), FIRST + 1);
	assert_int_equal(resolve("99999999999999999"), UINT64_C(99999999999999999));
	assert_int_equal(resolve("123456789"), UINT64_C(123456789) * S);
}

static void test_when_nonsense_is_refused(void **state)
{
	static const char *const texts[] = {
		"", "+", "-", "+s", "+1.s", "+1x", "12", "24:00", "1:60", "1:2", "12:00x", "2026-11", "2026-13-01",
		"2026-11-21T", "2026-11-21T1:00W", "9999-01-01", "+99999999999999999999s", "now",
		"2026-02-29", "2100-02-29", "2026-04-31", "2026-12-32", "2026-01-00",
		"12345678", "1795230403000", "1795230403.", "1795230403000000001.5", "1795230403s",
		"99999999999999999999",
	};
	struct t2x_instant when;

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (t2x_when_parse(&when, texts[i]) != -EINVAL)
			fail_msg("%s was taken", texts[i]);
}

static void test_patterns_include_and_exclude(void **state)
{
	struct t2x_patterns patterns = { 0 };

	(void)state;
	assert_true(t2x_patterns_select(&patterns, "any"));
	assert_true(t2x_patterns_select(&patterns, NULL));
	assert_int_equal(t2x_patterns_add(&patterns, "!th02*"), 0);
	assert_true(t2x_patterns_select(&patterns, NULL));
	assert_true(t2x_patterns_select(&patterns, "main"));
	assert_false(t2x_patterns_select(&patterns, "th02:x"));
	assert_int_equal(t2x_patterns_add(&patterns, "th*,a\\,b"), 0);
	assert_false(t2x_patterns_select(&patterns, NULL));
	assert_false(t2x_patterns_select(&patterns, "main"));
	assert_true(t2x_patterns_select(&patterns, "th01:x"));
	assert_false(t2x_patterns_select(&patterns, "th02:x"));
	assert_true(t2x_patterns_select(&patterns, "a,b"));
	t2x_patterns_free(&patterns);
}

static void test_patterns_without_slash_are_of_the_last_part(void **state)
{
	struct t2x_patterns patterns = { 0 };

	(void)state;
	assert_int_equal(t2x_patterns_add(&patterns, "child,a/*/x"), 0);
	assert_true(t2x_patterns_select_path(&patterns, "child"));
	assert_true(t2x_patterns_select_path(&patterns, "a/child"));
	assert_true(t2x_patterns_select_path(&patterns, "a/b/x"));
	assert_false(t2x_patterns_select_path(&patterns, "child/a"));
	assert_int_equal(t2x_patterns_add(&patterns, ""), -EINVAL);
	assert_int_equal(t2x_patterns_add(&patterns, "!"), -EINVAL);
	t2x_patterns_free(&patterns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when_relative_counts_from_start_and_end),
		cmocka_unit_test(test_when_time_of_day_is_local_and_nearest_to_the_first_event),
		cmocka_unit_test(test_when_iso_has_a_zone_or_is_local),
		cmocka_unit_test(test_when_epoch_is_seconds_or_nanoseconds),
		cmocka_unit_test(test_when_nonsense_is_refused),
		cmocka_unit_test(test_patterns_include_and_exclude),
		cmocka_unit_test(test_patterns_without_slash_are_of_the_last_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
