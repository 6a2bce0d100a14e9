/* SPDX-License-Identifier: MIT */
/* The line of progress: what it says at some moment. */
#include "t2test.h"

#include <string.h>

#include "cli/t2x_progress.h"

static const char *line(uint64_t done, uint64_t total, uint64_t ms)
{
	static char text[80];

	return t2x_progress_put(text, sizeof(text), done, total, ms * 1000000);
}

static void test_progress_of_files_shows_part_rate_and_rest(void **state)
{
	(void)state;
	assert_string_equal(line(25000000, 100000000, 1000), "[#####               ]  25 %, 25.0 MB/s, 0:03 left");
	assert_string_equal(line(0, 100, 1000), "[                    ]   0 %, 0.0 MB/s, 0:00 left");
	assert_string_equal(line(100, 100, 1000), "[####################] 100 %, 0.0 MB/s, 0:00 left");
	assert_string_equal(line(1000000, 3601000000, 1000), "[                    ]   0 %, 1.0 MB/s, 1:00:00 left");
}

static void test_progress_of_a_file_that_grows_stays_at_its_end(void **state)
{
	(void)state;
	assert_string_equal(line(150, 100, 1000), "[####################] 100 %, 0.0 MB/s, 0:00 left");
}

static void test_progress_without_total_shows_what_was_read(void **state)
{
	(void)state;
	assert_string_equal(line(1500000, 0, 3000), "1.5 MB read, 0.5 MB/s");
	assert_string_equal(line(0, 0, 0), "0.0 MB read, 0.0 MB/s");
}

static void test_progress_fits_on_a_line_whatever_it_says(void **state)
{
	(void)state;
	assert_true(strlen(line(1, UINT64_MAX, 1000000)) < 79);
	assert_true(strlen(line(UINT64_MAX, UINT64_MAX, 1)) < 79);
	assert_true(strlen(line(UINT64_MAX, 0, 1)) < 79);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_progress_of_files_shows_part_rate_and_rest),
		cmocka_unit_test(test_progress_of_a_file_that_grows_stays_at_its_end),
		cmocka_unit_test(test_progress_without_total_shows_what_was_read),
		cmocka_unit_test(test_progress_fits_on_a_line_whatever_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
