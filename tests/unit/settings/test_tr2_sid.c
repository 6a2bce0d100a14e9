/* SPDX-License-Identifier: MIT */
/* The session id's date. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tlg_parent.h"
#include "settings/tr2_sid.h"

static void assert_date(time_t seconds)
{
	char expected[TR2_SID_DATE], date[TR2_SID_DATE];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(expected, sizeof(expected), "%Y%m%dT%H%M%S", &utc);
	tr2_sid_date(seconds, date);
	assert_string_equal(date, expected);
}

static void test_sid_date_is_the_c_librarys_on_each_day_of_four_centuries(void **state)
{
	(void)state;
	for (time_t day = 0; day < 146097; day++) {
		assert_date(day * 86400);
		assert_date(day * 86400 + 86399);
	}
}

static void test_sid_date_knows_leap_days_and_turns_of_years(void **state)
{
	char date[TR2_SID_DATE];

	(void)state;
	tr2_sid_date(0, date);
	assert_string_equal(date, "19700101T000000");
	tr2_sid_date(951782400, date);
	assert_string_equal(date, "20000229T000000");
	tr2_sid_date(4107542399, date);
	assert_string_equal(date, "21000228T235959");
	tr2_sid_date(1798761599, date);
	assert_string_equal(date, "20261231T235959");
}

static void test_parent_of_a_process_is_itself_if_the_last_component_has_its_id(void **state)
{
	static const char session[] = "20261123T133847.906391Z-H0a7c9cdf-P0000487c";
	char below[200];

	(void)state;
	assert_true(tlg_parent_is(session, 0x487c));
	assert_false(tlg_parent_is(session, 0x487d));
	snprintf(below, sizeof(below), "%s/20261123T133847.916270Z-H0a7c9cdf-P00010000", session);
	assert_true(tlg_parent_is(below, 0x10000));
	assert_false(tlg_parent_is(below, 0x487c));
	assert_false(tlg_parent_is(NULL, 1));
	assert_false(tlg_parent_is("", 0));
	assert_false(tlg_parent_is("of another program", 1));
	assert_false(tlg_parent_is("P1x", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parent_of_a_process_is_itself_if_the_last_component_has_its_id),
		cmocka_unit_test(test_sid_date_is_the_c_librarys_on_each_day_of_four_centuries),
		cmocka_unit_test(test_sid_date_knows_leap_days_and_turns_of_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
