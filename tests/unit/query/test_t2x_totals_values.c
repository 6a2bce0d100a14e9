/* SPDX-License-Identifier: MIT */
/* Totals of regions that are kept apart by messages, or by data in them. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "summing.h"
#include "query/t2x_summary.h"
#include "query/t2x_totals_values.h"
#include "text/t2x_formats.h"

/* A row: count, total and self in microseconds, open, mismatched. */
static void expect_row(const char *text, const char *label, const char *value, const char *numbers)
{
	char begin[64], end[T2X_VALUE_MAX + 8];

	snprintf(begin, sizeof(begin), "region,,\"\",\"c\",\"%s\",%s", label, numbers);
	snprintf(end, sizeof(end), *value ? ",\"%s\"" : ",", value);
	for (const char *at = strstr(text, begin); at; at = strstr(at + 1, begin)) {
		size_t n = strcspn(at, "\n");

		if (n > strlen(end) && !strncmp(at + n - strlen(end), end, strlen(end)))
			return;
	}
	fail_msg("no %s of value %s, %s, in\n%s", label, value, numbers, text);
}

static unsigned count_regions(const char *text)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, "region,,")); at++)
		n++;
	return n;
}

static void test_values_regions_are_apart_by_the_message_of_their_enter(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, "message");
	enter_with(&f, "a", "one", 10);
	leave(&f, "a", 20);
	enter_with(&f, "a", "two", 30);
	leave(&f, "a", 35);
	enter_with(&f, "a", "one", 40);
	enter(&f, "a", 42);
	summing_region(&f, TLG_STYLE_region_leave, "a", "is no value", 45);
	leave(&f, "a", 60);
	enter_with(&f, "a", "open", 70);
	text = feed_finish(&f);
	expect_row(text, "a", "one", "2,30000,27000,");
	expect_row(text, "a", "two", "1,5000,5000,");
	expect_row(text, "a", "", "1,3000,3000,");
	expect_row(text, "a", "open", "0,0,0,");
	assert_int_equal(count_regions(text), 4);
	free(text);
}

/* Data count for the region directly around them, the latest; of other keys, and outside of regions, they are none. */
static void test_values_regions_are_apart_by_data_directly_in_them(void **state)
{
	struct t2x_scope *text_of_query, *number, *other;
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, "data:db/query");
	text_of_query = feed_scope(&f, TLG_STYLE_data, "db", "query", NULL);
	number = feed_scope(&f, TLG_STYLE_data_intmax, "db", "query", NULL);
	other = feed_scope(&f, TLG_STYLE_data, "dbx", "query", NULL);
	feed_hit(&f, text_of_query, 5, "s", "outside");
	enter(&f, "a", 10);
	enter(&f, "b", 20);
	feed_hit(&f, text_of_query, 21, "s", "old");
	feed_hit(&f, text_of_query, 22, "s", "select");
	feed_hit(&f, other, 23, "s", "other");
	leave(&f, "b", 30);
	enter(&f, "b", 40);
	feed_hit(&f, number, 41, "i", -7);
	leave(&f, "b", 45);
	enter(&f, "b", 50);
	feed_hit(&f, text_of_query, 51, "s", "select");
	leave(&f, "b", 90);
	leave(&f, "a", 100);
	enter(&f, "b", 110);
	feed_hit(&f, text_of_query, 111, "s", "open");
	text = feed_finish(&f);
	expect_row(text, "a", "", "1,90000,35000,");
	expect_row(text, "b", "select", "2,50000,50000,25000,10000,10000,40000,40000,40000,,,0,0,0,,0,");
	expect_row(text, "b", "'-7", "1,5000,5000,");
	expect_row(text, "b", "open", "0,0,0,,,,,,,,,0,0,1,,0,");
	assert_int_equal(count_regions(text), 4);
	free(text);
}

/* In a region of its value a region is nested; in one of another value it is not. */
static void test_values_region_in_one_of_its_value_counts_once_in_the_total(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, "message");
	enter_with(&f, "a", "one", 10);
	enter_with(&f, "a", "two", 20);
	enter_with(&f, "a", "one", 30);
	leave(&f, "a", 40);
	leave(&f, "a", 60);
	leave(&f, "a", 110);
	text = feed_finish(&f);
	expect_row(text, "a", "one", "2,100000,70000,55000,");
	expect_row(text, "a", "two", "1,40000,30000,");
	free(text);
}

static void test_values_leave_of_other_names_counts_for_the_value_it_closes(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, "message");
	enter_with(&f, "a", "one", 10);
	enter_with(&f, "b", "two", 20);
	leave(&f, "a", 30);
	leave(&f, "a", 40);
	text = feed_finish(&f);
	expect_row(text, "a", "one", "1,30000,20000,");
	expect_row(text, "b", "two", "1,10000,10000,10000,10000,10000,10000,10000,10000,,,0,0,0,,1,");
	free(text);
}

/* The 255th byte is in the middle of a character, which is left out. */
static void test_values_long_message_is_cut_between_characters(void **state)
{
	char message[400], value[400];
	struct feed f;
	char *text;

	(void)state;
	memset(message, 'x', sizeof(message));
	message[sizeof(message) - 1] = '\0';
	memcpy(message + T2X_VALUE_MAX - 1, "\303\244", 2);
	memcpy(value, message, T2X_VALUE_MAX - 1);
	value[T2X_VALUE_MAX - 1] = '\0';
	summing_open(&f, "message");
	enter_with(&f, "a", message, 10);
	leave(&f, "a", 20);
	text = feed_finish(&f);
	expect_row(text, "a", value, "1,10000,");
	free(text);
}

/* As many as fit are rows; the others are counted, and are not in the row of those that have no value. */
static void test_values_beyond_the_memory_of_rows_are_left_out(void **state)
{
	enum { N = T2X_ROWS_MAX + 100 };
	struct t2x_scope *in, *out;
	char message[32], *text;
	struct feed f;

	(void)state;
	summing_open(&f, "message");
	summing_values[T2X_OPTION_as] = "json";
	in = feed_scope(&f, TLG_STYLE_region_enter, "c", "a", "%s");
	out = feed_scope(&f, TLG_STYLE_region_leave, "c", "a", NULL);
	in->names = out->names = 1;
	for (unsigned i = 0; i < N; i++) {
		snprintf(message, sizeof(message), "message %u", i);
		feed_hit(&f, in, 10 + 2 * i, "s", message);
		feed_hit(&f, out, 11 + 2 * i, "");
	}
	text = feed_finish(&f);
	assert_null(strstr(text, "\"label\":\"a\",\"count\""));
	assert_null(strstr(text, "\"left_out\":0,"));
	assert_non_null(strstr(text, "\"value\":\"message 0\",\"count\":1,"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_regions_are_apart_by_the_message_of_their_enter),
		cmocka_unit_test(test_values_regions_are_apart_by_data_directly_in_them),
		cmocka_unit_test(test_values_region_in_one_of_its_value_counts_once_in_the_total),
		cmocka_unit_test(test_values_leave_of_other_names_counts_for_the_value_it_closes),
		cmocka_unit_test(test_values_long_message_is_cut_between_characters),
		cmocka_unit_test(test_values_beyond_the_memory_of_rows_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
