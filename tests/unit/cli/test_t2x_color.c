/* SPDX-License-Identifier: MIT */
/* Colours: which parts of a line of perf and of tree get one. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "cli/t2x_color.h"

/* The line with its coloured parts in brackets: [e:] event, [c:] category, [!:] error, [?:] missing. */
static const char *mark(enum t2x_format_name format, const char *line)
{
	static const char letters[] = "ec!?";
	static char text[512];
	struct t2x_color_span spans[T2X_MAX_SPANS];
	size_t n = strlen(line), at = 0, length = 0;
	unsigned nspans = t2x_color_find(&t2x_formats[format])(spans, line, n);

	assert_true(nspans <= T2X_MAX_SPANS);
	for (unsigned i = 0; i < nspans; i++) {
		assert_true(spans[i].at >= at && spans[i].n && spans[i].at + spans[i].n <= n);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%.*s[%c:%.*s]",
					   (int)(spans[i].at - at), line + at, letters[spans[i].color],
					   (int)spans[i].n, line + spans[i].at);
		at = spans[i].at + spans[i].n;
	}
	snprintf(text + length, sizeof(text) - length, "%s", line + at);
	return text;
}

#define expect_perf(line, expected) assert_string_equal(mark(T2X_FORMAT_perf, (line)), (expected))
#define expect_summary(line, expected) assert_string_equal(mark(T2X_FORMAT_summary, (line)), (expected))
#define expect_tree(line, expected) assert_string_equal(mark(T2X_FORMAT_tree, (line)), (expected))

static void test_color_perf_marks_event_and_category(void **state)
{
	(void)state;
	expect_perf("09:15:35.351500 hello.c:7 | d0 | main | start   |     |  0.000487 |           |       | prog",
		    "09:15:35.351500 hello.c:7 | d0 | main | [e:start]   |     |  0.000487 |           |       | prog");
	expect_perf("d0 | main | region_enter |     |  0.000493 |           | hello        | label:print",
		    "d0 | main | [e:region_enter] |     |  0.000493 |           | [c:hello]        | label:print");
	expect_perf("d0 | main | region_enter | r1  |  0.000493 |           | hello        | ",
		    "d0 | main | [e:region_enter] | r1  |  0.000493 |           | [c:hello]        | ");
}

static void test_color_perf_failures_are_errors(void **state)
{
	(void)state;
	expect_perf("d0 | main | error        |     |           |           |              | no such file",
		    "d0 | main | [!:error]        |     |           |           |              | [!:no such file]");
	expect_perf("d0 | main | child_exit   |     |  0.000493 |  0.000493 |       | [ch0] pid:12 code:1",
		    "d0 | main | [e:child_exit]   |     |  0.000493 |  0.000493 |       | [ch0] pid:12 [!:code:1]");
	expect_perf("d0 | main | exit         |     |  0.000493 |           |              | code:0",
		    "d0 | main | [e:exit]         |     |  0.000493 |           |              | code:0");
	expect_perf("d0 | main | printf       |     |  0.000493 |           |              | code:1",
		    "d0 | main | [e:printf]       |     |  0.000493 |           |              | code:1");
}

static void test_color_perf_dropped_events_are_missing(void **state)
{
	(void)state;
	expect_perf("d0 | main | data    |     | 0.000493 |      | trace2 | ..lost-events:3",
		    "d0 | main | [?:data]    |     | 0.000493 |      | [?:trace2] | [?:..lost-events:3]");
	expect_perf("d0 | main | counter |     |          |      | trace2 | name:lost-ring-full value:12",
		    "d0 | main | [?:counter] |     |          |      | [?:trace2] | [?:name:lost-ring-full value:12]");
	expect_perf("d0 | main | data         |     |  0.000493 |           | other        | ..lost-events:3",
		    "d0 | main | [e:data]         |     |  0.000493 |           | [c:other]        | ..lost-events:3");
}

static void test_color_perf_other_lines_stay(void **state)
{
	static const char line[] = "1 a.c:1 | d0 | main | error | r1 | 0.1 | 0.2 | trace2 | ..lost-events:3";
	struct t2x_color_span spans[T2X_MAX_SPANS];

	(void)state;
	expect_perf("", "");
	expect_perf("the second line of a message | with a bar", "the second line of a message | with a bar");
	for (size_t n = 0; n < sizeof(line); n++)
		assert_true(t2x_color_find(&t2x_formats[T2X_FORMAT_perf])(spans, line, n) <= T2X_MAX_SPANS);
}

static void test_color_tree_marks_result_and_program(void **state)
{
	(void)state;
	expect_tree("13:34:51.579298    0.001351  code:3    pid:17876   prog arg",
		    "13:34:51.579298    0.001351  [!:code:3]    pid:17876   [e:prog] arg");
	expect_tree("   0.001351  code:0    pid:17876   |   `-- prog pid:1",
		    "   0.001351  code:0    pid:17876   |   `-- [e:prog] pid:1");
	expect_tree("   0.001351+ open      pid:17876   |-- prog",
		    "   0.001351+ [?:open]      pid:17876   |-- [e:prog]");
	expect_tree("   0.001351  signal:9  pid:17876   prog", "   0.001351  [!:signal:9]  pid:17876   [e:prog]");
	expect_tree("3 more processes: no room", "[?:3 more processes: no room]");
	expect_tree("", "");
}

static void test_color_summary_marks_titles_categories_and_what_is_not_complete(void **state)
{
	(void)state;
	expect_summary("timers of threads", "[e:timers of threads]");
	expect_summary("missing", "[?:missing]");
	expect_summary("       count     total  category      label", "       count     total  category      label");
	expect_summary("       20000   3.07 ms    153 ns   69.4 us  cat           lab",
		       "       20000   3.07 ms    153 ns   69.4 us  [c:cat]           lab");
	expect_summary("         2   3.07 ms  cat           lab  open:1  failed:3",
		       "         2   3.07 ms  [c:cat]           lab  [?:open:1]  [!:failed:3]");
	expect_summary("           1              3  trace2        lost-events",
		       "           1              3  [c:trace2]        [?:lost-events]");
	expect_summary("           7 more", "           7 more");
	expect_summary("kind,count,total", "kind,count,total");
	expect_summary("  {\"kind\": \"region\"}", "  {\"kind\": \"region\"}");
	expect_summary("", "");
	expect_summary("     ", "     ");
}

static void test_color_other_formats_have_none(void **state)
{
	(void)state;
	assert_null(t2x_color_find(&t2x_formats[T2X_FORMAT_event]));
	assert_null(t2x_color_find(&t2x_formats[T2X_FORMAT_raw]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_color_perf_marks_event_and_category),
		cmocka_unit_test(test_color_perf_failures_are_errors),
		cmocka_unit_test(test_color_perf_dropped_events_are_missing),
		cmocka_unit_test(test_color_perf_other_lines_stay),
		cmocka_unit_test(test_color_tree_marks_result_and_program),
		cmocka_unit_test(test_color_summary_marks_titles_categories_and_what_is_not_complete),
		cmocka_unit_test(test_color_other_formats_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
