/* SPDX-License-Identifier: MIT */
/* test_t2x_missing.c - the time of steps where reading begins in the middle of a file. */
#include "t2test.h"

#include <stdlib.h>

#include "record.h"
#include "tlgmake.h"

enum { ENTER = 1, STEP, CYCLES = 20 };

/* Thread 1 enters a region at 1100.  Cycle n begins at 1000 * n; a step is its first event. */
static void make_cycles(struct tlgmake *make)
{
	tlgmake_init(make, 77, 1234);
	for (unsigned n = 1; n <= CYCLES; n++) {
		make->cycle_ns = 1000 * n;
		tlgmake_cycle(make);
		tlgmake_begin(make, 1);
		tlgmake_thread(make, "a", 1);
		if (n > 1)
			tlgmake_open_region(make, 1100, ENTER);
		tlgmake_scope(make, ENTER, TLG_STYLE_region_enter, 0, "enter");
		tlgmake_scope(make, STEP, TLG_STYLE_step, 0, "step");
		if (n == 1)
			tlgmake_hit(make, 1100, ENTER);
		tlgmake_hit(make, 0, STEP);
		if (n < CYCLES)
			tlgmake_seal(make);
	}
}

/* Read it from the last cycle on, which is still open. */
static void expect_sought(struct tlgmake *make, const char *text)
{
	struct record record = { .text = NULL };
	unsigned char *frames;
	const char *path;
	size_t n;

	tlgmake_seal(make);
	tlgmake_end(make);
	frames = tlgmake_lz4(make, 1, &n);   /* a block in each */
	path = tlgmake_path(frames, n);
	record_sought(&record, path, 1000 * CYCLES);
	assert_string_equal(record.text, text);
	assert_int_equal(record.report.damages, 0);
	assert_int_equal(record.context.used_bytes, 0);
	tlgmake_close(path);
	free(frames);
	record_free(&record);
	tlgmake_free(make);
}

/* When its predecessor was is not known, but that it is older than the cycle, and so than what is wanted. */
static void test_missing_step_where_reading_begins_is_older_than_the_cycle(void **state)
{
	struct tlgmake make;

	(void)state;
	make_cycles(&make);
	tlgmake_hit(&make, 30000, STEP);
	tlgmake_hit(&make, 0, STEP);
	expect_sought(&make, "open a 1100:enter\nhit a 19999 step\nhit a 30000 step\nhit a 30000 step\n");
	make_cycles(&make);
	expect_sought(&make, "open a 1100:enter\nhit a 19999 step\n");
}

static void test_missing_step_where_reading_begins_is_not_younger_than_the_next(void **state)
{
	struct tlgmake make;

	(void)state;
	make_cycles(&make);
	tlgmake_hit(&make, 19500, STEP);
	expect_sought(&make, "open a 1100:enter\nhit a 19500 step\nhit a 19500 step\n");
}

/* It has no predecessor. */
static void test_missing_step_that_is_its_threads_first_has_the_time_of_the_next(void **state)
{
	struct tlgmake make;

	(void)state;
	make_cycles(&make);
	tlgmake_seal(&make);
	tlgmake_begin(&make, 2);
	tlgmake_thread(&make, "b", 20500);
	tlgmake_hit(&make, 0, STEP);
	tlgmake_hit(&make, 20600, STEP);
	expect_sought(&make, "open a 1100:enter\nhit a 19999 step\nopen b\nhit b 20600 step\nhit b 20600 step\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_step_where_reading_begins_is_older_than_the_cycle),
		cmocka_unit_test(test_missing_step_where_reading_begins_is_not_younger_than_the_next),
		cmocka_unit_test(test_missing_step_that_is_its_threads_first_has_the_time_of_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
