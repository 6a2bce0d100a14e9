/* SPDX-License-Identifier: MIT */
/* The session id's date. */
#include "t2test.h"

#include <string.h>
#include <time.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sid_date_is_the_c_librarys_on_each_day_of_four_centuries),
		cmocka_unit_test(test_sid_date_knows_leap_days_and_turns_of_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
