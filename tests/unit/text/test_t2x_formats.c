/* SPDX-License-Identifier: MIT */
/* test_t2x_formats.c - the table of formats: every one is complete, and is found by its name. */
#include "text/t2x_formats.h"

#include <stdio.h>

#include "t2test.h"

static void test_formats_each_is_found_by_its_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < T2X_FORMATS; i++)
		assert_ptr_equal(t2x_format_find(t2x_formats[i].name), &t2x_formats[i]);
	assert_null(t2x_format_find(""));
	assert_null(t2x_format_find("per"));
	assert_null(t2x_format_find("perf "));
}

static void test_formats_each_says_what_it_is(void **state)
{
	(void)state;
	for (unsigned i = 0; i < T2X_FORMATS; i++) {
		assert_true(strlen(t2x_formats[i].suffix) > 0 && strlen(t2x_formats[i].suffix) <= 10);
		assert_true(strlen(t2x_formats[i].name) <= 10);
		assert_true(strlen(t2x_formats[i].help) > 0 && strlen(t2x_formats[i].help) <= 100);
	}
}

static void test_formats_of_raw_events_take_blocks_and_others_events(void **state)
{
	(void)state;
	for (unsigned i = 0; i < T2X_FORMATS; i++) {
		const struct t2x_writer *writer = t2x_formats[i].writer;
		int is_raw = (t2x_formats[i].traits & T2X_TRAIT_RAW) != 0;

		assert_int_equal(writer->block != NULL, is_raw);
		assert_int_equal(writer->begin && writer->finish && !writer->unresolved, is_raw);
		assert_int_equal(writer->unresolved != NULL && writer->print.start != NULL, !is_raw);
	}
}

static void test_formats_options_name_formats_that_are_there(void **state)
{
	(void)state;
	for (unsigned i = 0; i < T2X_OPTIONS; i++) {
		char names[256], *rest = names, *name;

		snprintf(names, sizeof(names), "%s", t2x_format_options[i].formats);
		while ((name = strtok_r(rest, " ", &rest)))
			assert_true(t2x_format_find(name) || !strcmp(name, "diff"));   /* which is a command */
	}
}

static void test_formats_option_is_known_to_those_it_names(void **state)
{
	const struct t2x_format_option two = { .formats = "perf event" }, all = { .formats = "" };
	const struct t2x_format_option longer = { .formats = "performance eventually" };

	(void)state;
	assert_true(t2x_format_has(t2x_format_find("perf"), &two));
	assert_true(t2x_format_has(t2x_format_find("event"), &two));
	assert_false(t2x_format_has(t2x_format_find("tree"), &two));
	assert_true(t2x_format_has(t2x_format_find("tree"), &all));
	assert_false(t2x_format_has(t2x_format_find("perf"), &longer));
	assert_false(t2x_format_has(t2x_format_find("event"), &longer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats_each_is_found_by_its_name),
		cmocka_unit_test(test_formats_each_says_what_it_is),
		cmocka_unit_test(test_formats_of_raw_events_take_blocks_and_others_events),
		cmocka_unit_test(test_formats_options_name_formats_that_are_there),
		cmocka_unit_test(test_formats_option_is_known_to_those_it_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
