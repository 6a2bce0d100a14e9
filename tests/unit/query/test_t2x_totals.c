/* SPDX-License-Identifier: MIT */
/* Totals: percentiles, time of its own, gaps.  (tests/cli/check_summary.sh recomputes those of a real program.) */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>

#include "feed.h"
#include "summing.h"
#include "model/t2x_regions.h"
#include "query/t2x_summary.h"
#include "text/t2x_formats.h"

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Any distribution: percentiles of n values are within 1/256 of the truth. */
static void check_percentiles(unsigned n, unsigned shift)
{
	static uint64_t values[100000];
	struct t2x_histogram h = { 0 };
	size_t budget = 1 << 20;
	uint64_t state = 88172645463325252;

	for (unsigned i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		values[i] = state >> (shift + state % 20);
		t2x_histogram_add(&h, values[i], &budget);
	}
	qsort(values, n, sizeof(values[0]), compare);
	assert_int_equal(h.count, n);
	for (unsigned percent = 1; percent <= 100; percent++) {
		uint64_t truth = values[((uint64_t)n * percent + 99) / 100 - 1];
		uint64_t got = t2x_histogram_percentile(&h, percent), error = got > truth ? got - truth : truth - got;

		if (n <= T2X_HISTOGRAM_EXACT || truth < 256 ? error : error > truth / 256)
			fail_msg("p%u of %u: %lu, not %lu", percent, n, (unsigned long)got, (unsigned long)truth);
	}
	t2x_histogram_free(&h);
}

static void test_histogram_percentiles_are_within_the_promised_error(void **state)
{
	static const unsigned counts[] = { 1, 2, 3, 10, 63, 64, 65, 66, 100, 1000, 100000 };

	(void)state;
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (unsigned shift = 0; shift < 44; shift += 4)
			check_percentiles(counts[i], shift);
}

static void test_histogram_without_memory_has_no_percentiles(void **state)
{
	struct t2x_histogram h = { 0 };
	size_t budget = 600;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		t2x_histogram_add(&h, i, &budget);
	assert_int_equal(h.count, 100);
	assert_int_equal(t2x_histogram_percentile(&h, 50), 0);
	assert_true(h.is_cut);
	t2x_histogram_free(&h);
}

/* Rows with long names: as many as fit, and the others are counted. */
static void test_totals_names_beyond_the_memory_of_rows_are_left_out(void **state)
{
	enum { NAMES = 20000, NAME = 2000, MAX = T2X_ROWS_BYTES + T2X_TOTALS_BYTES };
	char label[NAME + 1];
	struct t2x_scope *scope;
	unsigned rows = 0;
	char *text;
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	summing_values[T2X_OPTION_as] = "json";
	scope = feed_scope(&f, TLG_STYLE_data, "c", label, NULL);
	for (unsigned i = 0; i < NAMES; i++) {
		feed_long_name(label, sizeof(label), i);
		scope->number = 1000 + i;
		feed_hit(&f, scope, 10, "s", "v");
	}
	text = feed_finish(&f);
	for (const char *at = text; (at = strstr(at, "\"data\"")); at++)
		rows++;
	assert_in_range(rows, MAX / (NAME + 500), MAX / NAME);
	snprintf(label, sizeof(label), "\"left_out\":%u,", NAMES - rows);
	assert_non_null(strstr(text, label));
	free(text);
}

static void test_totals_threads_beyond_the_memory_are_none(void **state)
{
	size_t budget = 5000;
	struct t2x_threads threads = { .bytes = sizeof(struct t2x_thread_record), .budget = &budget };
	struct t2x_process process = { .stream = 1 };
	void *first = NULL;
	unsigned n = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		const struct t2x_thread thread = { .process = &process, .tid = i };
		void *record = t2x_threads_get(&threads, &thread);

		first = first ? first : record;
		n += record != NULL;
	}
	assert_in_range(n, 10, 5000 / sizeof(struct t2x_thread_record) - 1);
	t2x_threads_remove(&threads, first);
	assert_non_null(t2x_threads_get(&threads, &(struct t2x_thread){ .process = &process, .tid = 200 }));
	assert_null(t2x_threads_get(&threads, &(struct t2x_thread){ .process = &process, .tid = 201 }));
	t2x_threads_free(&threads);
}

static void test_totals_self_is_without_regions_directly_inside(void **state)
{
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	enter(&f, "b", 20);
	enter(&f, "b", 21);
	leave(&f, "b", 24);
	leave(&f, "b", 30);
	enter(&f, "b", 40);
	leave(&f, "b", 42);
	leave(&f, "a", 60);
	enter(&f, "d", 70);
	feed_expect(&f, SUMMING_HEAD
		    "region,,\"\",\"c\",\"a\",1,50000,38000,50000,50000,50000,50000,50000,50000,,,0,0,0,,0,,,\n"
		    "region,,\"\",\"c\",\"b\",3,12000,12000,5000,2000,3000,10000,10000,10000,,,0,0,0,,0,,,\n"
		    "region,,\"\",\"c\",\"d\",0,0,0,,,,,,,,,0,0,1,,0,,,\n"
		    "thread,7,\"main\",\"\",\"main\",9,60000,,,,,,,,1795230403000010999,1795230403000070999,,,,,,,,\n");
}

/* In the gap nobody knows what b contained, and b is left without a line; a goes on. */
static void test_totals_gap_makes_self_unknown_but_not_the_duration(void **state)
{
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	enter(&f, "b", 20);
	feed_gap(&f, 30, (struct t2x_gap){ .events = 5, .left = 1, .entered = 1, .is_known = 1 });
	leave(&f, "e", 40);
	leave(&f, "a", 60);
	feed_expect(&f, SUMMING_HEAD
		    "region,,\"\",\"c\",\"a\",1,50000,0,50000,50000,50000,50000,50000,50000,,,0,1,0,,0,,,\n"
		    "region,,\"\",\"c\",\"b\",0,0,0,,,,,,,,,0,0,1,,0,,,\n"
		    "region,,\"\",\"c\",\"e\",0,0,0,,,,,,,,,1,0,0,,0,,,\n"
		    "thread,7,\"main\",\"\",\"main\",4,50000,,,,,,,,1795230403000010999,1795230403000060999,,,,,,,,\n"
		    "missing,,\"\",\"trace2\",\"lost-events\",1,5,,,,,,,,,,,,,,,,,\n"
		    "missing,,\"\",\"trace2\",\"lost-enters\",1,1,,,,,,,,,,,,,,,,,\n"
		    "missing,,\"\",\"trace2\",\"lost-leaves\",1,1,,,,,,,,,,,,,,,,,\n");
}

/* A cycle says that b is not open any more: nobody knows how much of a it was. */
static void test_totals_region_around_one_whose_leave_is_missing_has_no_self(void **state)
{
	struct t2x_open open = { .ns = FEED_START_NS + 10000, .when = 10000 };
	struct t2x_update update = { .kind = T2X_OPEN_REGIONS, .opens = { .open = &open, .count = 1, .is_shown = 1 } };
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	enter(&f, "b", 20);
	update.thread = &f.thread[0];
	open.when = ((struct t2x_regions *)f.thread[0].model)->entered[1].when;
	t2x_model_update(f.model, &update);
	leave(&f, "a", 60);
	feed_expect(&f, SUMMING_HEAD
		    "region,,\"\",\"c\",\"a\",1,50000,0,50000,50000,50000,50000,50000,50000,,,0,1,0,,0,,,\n"
		    "region,,\"\",\"c\",\"b\",0,0,0,,,,,,,,,0,0,1,,0,,,\n"
		    "thread,7,\"main\",\"\",\"main\",3,50000,,,,,,,,1795230403000010999,1795230403000060999,,,,,,,,\n");
}

/* What a leave of other names closes has a duration under its own; a leave where nothing is open has none. */
static void test_totals_leave_of_other_names_counts_for_the_region_it_closes(void **state)
{
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	enter(&f, "b", 20);
	leave(&f, "a", 50);
	leave(&f, "a", 60);
	leave(&f, "d", 70);
	feed_expect(&f, SUMMING_HEAD
		    "region,,\"\",\"c\",\"a\",1,50000,20000,50000,50000,50000,50000,50000,50000,,,0,0,0,,0,,,\n"
		    "region,,\"\",\"c\",\"b\",1,30000,30000,30000,30000,30000,30000,30000,30000,,,0,0,0,,1,,,\n"
		    "region,,\"\",\"c\",\"d\",0,0,0,,,,,,,,,0,0,0,,0,,,\n"
		    "thread,7,\"main\",\"\",\"main\",5,60000,,,,,,,,1795230403000010999,1795230403000070999,,,,,,,,\n"
		    "missing,,\"\",\"trace2\",\"mismatched-leaves\",2,2,,,,,,,,,,,,,,,,,\n");
}

static void test_totals_children_are_known_by_class_and_program(void **state)
{
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	feed(&f, child_start, 10, "iissss", 0, 0, "cls", NULL, NULL, "/bin/sort");
	feed(&f, child_start, 20, "iissss", 1, 1, NULL, NULL, NULL, "status");
	feed(&f, child_exit, 30, "iiiu", 0, 99, 2, FEED_START_NS + 10999);
	feed(&f, child_exit, 31, "iiiu", 7, 99, 0, UINT64_C(0));
	feed_expect(&f, SUMMING_HEAD
		    "child,,\"\",\"cls\",\"sort\",1,20000,,20000,20000,20000,20000,20000,20000,,,0,,0,1,,10000,20000,\n"
		    "child,,\"\",\"?\",\"?\",0,0,,,,,,,,,,1,,0,0,,,,\n"
		    "child,,\"\",\"?\",\"git\",0,0,,,,,,,,,,0,,1,0,,,,\n"
		    "thread,7,\"main\",\"\",\"main\",4,21000,,,,,,,,1795230403000010999,1795230403000031999,,,,,,,,\n");
}

/* The parent works while the child runs; then it waits, from 22 to 30 us.  A sample of it is nothing that it does. */
static void test_totals_child_was_waited_for_since_the_event_in_front(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, NULL);
	feed(&f, child_start, 10, "iissss", 0, 0, "cls", NULL, NULL, "/bin/sort");
	enter(&f, "a", 12);
	leave(&f, "a", 22);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_sample, "cpu", NULL, "1 2"), 25, "iiu", 1, 1000, UINT64_C(1000));
	feed(&f, child_exit, 30, "iiiu", 0, 99, 0, FEED_START_NS + 10999);
	feed(&f, child_start, 40, "iissss", 1, 0, "cls", NULL, NULL, "/bin/sort");
	feed(&f, child_exit, 45, "iiiu", 1, 99, 0, FEED_START_NS + 40999);
	text = feed_finish(&f);
	assert_non_null(strstr(text, "child,,\"\",\"cls\",\"sort\",2,25000,,12500,5000,5000,20000,20000,20000,"
				     ",,0,,0,0,,13000,25000,\n"));
	free(text);
}

static void test_totals_data_have_last_and_mean(void **state)
{
	struct t2x_scope *n;
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	n = feed_scope(&f, TLG_STYLE_data_intmax, "c", "n \"q\"", NULL);
	feed_hit(&f, n, 10, "i", -5);
	feed_hit(&f, n, 11, "i", 8);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "c", "s", NULL), 12, "s", "text");
	feed_hit(&f, NULL, 13, "");
	feed_expect(&f, SUMMING_HEAD
		    "data,,\"\",\"c\",\"n \"\"q\"\"\",2,3,,1.500,-5,,,,8,,8,,,,,,,,\n"
		    "data,,\"\",\"c\",\"s\",1,,,,,,,,,,,,,,,,,,\n"
		    "thread,7,\"main\",\"\",\"main\",4,3000,,,,,,,,1795230403000010999,1795230403000013999,,,,,,,,\n"
		    "missing,,\"\",\"trace2\",\"unresolved\",1,1,,,,,,,,,,,,,,,,,\n");
}

static void test_totals_steps_are_counted_by_category_and_label(void **state)
{
	struct t2x_scope *step;
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	step = feed_scope(&f, TLG_STYLE_step, "c", "s", NULL);
	feed_hit(&f, step, 10, "");
	feed_hit(&f, step, 11, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_step, "c", "t", NULL), 12, "");
	feed_expect(&f, SUMMING_HEAD
		    "step,,\"\",\"c\",\"s\",2,,,,,,,,,,,,,,,,,,\n"
		    "step,,\"\",\"c\",\"t\",1,,,,,,,,,,,,,,,,,,\n"
		    "thread,7,\"main\",\"\",\"main\",3,2000,,,,,,,,1795230403000010999,1795230403000012999,,,,,,,,\n");
}

/* A command that says its name again has another one from there on. */
static void test_totals_modes_are_counted_by_command(void **state)
{
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	feed(&f, cmd_mode, 10, "s", "early");
	feed(&f, cmd_name, 11, "ss", "git/checkout", "checkout");
	feed(&f, cmd_mode, 12, "s", "branch");
	feed(&f, cmd_mode, 13, "s", "branch");
	feed(&f, cmd_name, 14, "ss", "git/other", "other");
	feed(&f, cmd_mode, 15, "s", "branch");
	feed_expect(&f, SUMMING_HEAD
		    "cmd_mode,,\"\",\"\",\"early\",1,,,,,,,,,,,,,,,,,,\n"
		    "cmd_mode,,\"\",\"checkout\",\"branch\",2,,,,,,,,,,,,,,,,,,\n"
		    "cmd_mode,,\"\",\"other\",\"branch\",1,,,,,,,,,,,,,,,,,,\n"
		    "thread,7,\"main\",\"\",\"main\",6,5000,,,,,,,,1795230403000010999,1795230403000015999,,,,,,,,\n");
}

/* Threads may come in any order: what counts is when. */
static void test_totals_last_value_is_the_latest_in_time(void **state)
{
	struct t2x_scope *n;
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	n = feed_scope(&f, TLG_STYLE_data_intmax, "c", "n", NULL);
	f.current = 1;
	feed_hit(&f, n, 2000, "i", 1);
	feed_hit(&f, n, 3000, "i", 2);
	f.current = 0;
	feed_hit(&f, n, 1000, "i", 3);
	feed_hit(&f, n, 3000, "i", 4);
	feed_expect(&f, SUMMING_HEAD
		    "data,,\"\",\"c\",\"n\",4,10,,2.500,1,,,,4,,2,,,,,,,,\n"
		    "thread,7,\"main\",\"\",\"main\",2,2000000,,,,,,,,1795230403001000999,1795230403003000999,,,,,,,,\n"
		    "thread,7,\"th01:worker\",\"\",\"th01:worker\",2,1000000,,,,,,,,"
		    "1795230403002000999,1795230403003000999,,,,,,,,\n");
}

/* 2^65 - 4 has no place in the total, which wraps, but has an average. */
static void test_totals_average_of_a_total_that_wraps_is_right(void **state)
{
	struct t2x_scope *n;
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	n = feed_scope(&f, TLG_STYLE_data_intmax, "c", "n", NULL);
	for (unsigned i = 0; i < 4; i++)
		feed_hit(&f, n, 10, "u", (uint64_t)INT64_MAX);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data_intmax, "c", "o", NULL), 10, "u", UINT64_C(1) << 63);
	feed_expect(&f, SUMMING_HEAD
		    "data,,\"\",\"c\",\"n\",4,-4,,9223372036854775808.000,9223372036854775807,,,,9223372036854775807,,"
		    "9223372036854775807,,,,,,,,\n"
		    "data,,\"\",\"c\",\"o\",1,-9223372036854775808,,-9223372036854775808.000,-9223372036854775808,,,,"
		    "-9223372036854775808,,-9223372036854775808,,,,,,,,\n"
		    "thread,7,\"main\",\"\",\"main\",5,0,,,,,,,,1795230403000010999,1795230403000010999,,,,,,,,\n");
}

static void expect_sorted(const char *key, const char *expected)
{
	static const char *const labels[] = { "a", "b", "c" };
	static const int values[] = { -5, 10, -50 };
	struct feed f;

	summing_values[T2X_OPTION_sort] = key;
	summing_open(&f, NULL);
	for (unsigned i = 0; i < 3; i++)
		feed_hit(&f, feed_scope(&f, TLG_STYLE_data_intmax, "c", labels[i], NULL), 10, "i", values[i]);
	feed_expect(&f, expected);
	summing_values[T2X_OPTION_sort] = NULL;
}

static void test_summary_sorted_numbers_below_0_come_last(void **state)
{
	static const char expected[] = SUMMING_HEAD
		"data,,\"\",\"c\",\"b\",1,10,,10.000,10,,,,10,,10,,,,,,,,\n"
		"data,,\"\",\"c\",\"a\",1,-5,,-5.000,-5,,,,-5,,-5,,,,,,,,\n"
		"data,,\"\",\"c\",\"c\",1,-50,,-50.000,-50,,,,-50,,-50,,,,,,,,\n"
		"thread,7,\"main\",\"\",\"main\",3,0,,,,,,,,1795230403000010999,1795230403000010999,,,,,,,,\n";

	(void)state;
	expect_sorted("max", expected);
	expect_sorted("mean", expected);
}

/* One integer of that name, as a table or in another form. */
static void expect_named(const char *as, const char *category, const char *label, const char *expected)
{
	struct feed f;

	summing_open(&f, NULL);
	summing_values[T2X_OPTION_as] = as;
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data_intmax, category, label, NULL), 10, "i", 1);
	feed_expect(&f, expected);
}

/* Who writes a trace could show totals of its own. */
static void test_summary_name_with_newline_stays_on_its_line(void **state)
{
	(void)state;
	expect_named("table", "c\n", "n\n\x1b[2J",
		     "1 events in 0 ns\n\ndata\n       count            min             mean            max"
		     "           last  category      label\n           1              1              1.0"
		     "              1              1  c?            n??[2J\n\nthreads\n      events     first      last"
		     "      time  process thread\n           1      0 ns      0 ns      0 ns  7       main\n");
}

static void test_summary_name_that_is_no_utf8_is_json_all_the_same(void **state)
{
	(void)state;
	expect_named("json", "\xff", "n",
		     "{\"events\":1,\"first\":1795230403000010999,\"last\":1795230403000010999,\"left_out\":0,"
		     "\"rows\":[\n"
		     "{\"kind\":\"data\",\"category\":\"\\ufffd\",\"label\":\"n\",\"count\":1,\"total\":1,"
		     "\"mean\":1.000,\"min\":1,\"max\":1,\"last\":1},\n"
		     "{\"kind\":\"thread\",\"process\":7,\"thread\":\"main\",\"category\":\"\",\"label\":\"main\","
		     "\"count\":1,\"total\":0,\"first\":1795230403000010999,\"last\":1795230403000010999}\n]}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histogram_percentiles_are_within_the_promised_error),
		cmocka_unit_test(test_histogram_without_memory_has_no_percentiles),
		cmocka_unit_test(test_totals_names_beyond_the_memory_of_rows_are_left_out),
		cmocka_unit_test(test_totals_threads_beyond_the_memory_are_none),
		cmocka_unit_test(test_totals_self_is_without_regions_directly_inside),
		cmocka_unit_test(test_totals_gap_makes_self_unknown_but_not_the_duration),
		cmocka_unit_test(test_totals_region_around_one_whose_leave_is_missing_has_no_self),
		cmocka_unit_test(test_totals_leave_of_other_names_counts_for_the_region_it_closes),
		cmocka_unit_test(test_totals_children_are_known_by_class_and_program),
		cmocka_unit_test(test_totals_child_was_waited_for_since_the_event_in_front),
		cmocka_unit_test(test_totals_data_have_last_and_mean),
		cmocka_unit_test(test_totals_steps_are_counted_by_category_and_label),
		cmocka_unit_test(test_totals_modes_are_counted_by_command),
		cmocka_unit_test(test_totals_last_value_is_the_latest_in_time),
		cmocka_unit_test(test_totals_average_of_a_total_that_wraps_is_right),
		cmocka_unit_test(test_summary_sorted_numbers_below_0_come_last),
		cmocka_unit_test(test_summary_name_with_newline_stays_on_its_line),
		cmocka_unit_test(test_summary_name_that_is_no_utf8_is_json_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
