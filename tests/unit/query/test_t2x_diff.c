/* SPDX-License-Identifier: MIT */
/* Comparing runs: counts exactly, times against what runs differ by anyway. */
#include "t2test.h"

#include <stdlib.h>

#include "feed.h"
#include "query/t2x_diff.h"
#include "query/t2x_filter.h"

/* A run with so many regions of the label, each so long. */
static struct t2x_totals *make_run(const char *label, unsigned count, unsigned us)
{
	struct t2x_filter filter = { .own = t2x_totals_new(T2X_BY_NOTHING) };
	const struct t2x_options options = { .filter = &filter };
	struct t2x_scope *enter, *leave;
	struct feed f;

	assert_non_null(filter.own);
	feed_open_with(&f, &t2x_writer_totals, &options);
	enter = feed_scope(&f, TLG_STYLE_region_enter, "c", label, NULL);
	leave = feed_scope(&f, TLG_STYLE_region_leave, "c", label, NULL);
	for (unsigned i = 0; i < count; i++) {
		feed_hit(&f, enter, 1000 * i, "");
		feed_hit(&f, leave, 1000 * i + us, "");
	}
	feed_expect(&f, "");
	return filter.own;
}

struct shown {
	char text[1024];
	size_t n;
};

static int take_text(void *target, const char *text, size_t n)
{
	struct shown *shown = target;

	assert_true(shown->n + n < sizeof(shown->text));
	memcpy(shown->text + shown->n, text, n);
	shown->n += n;
	return 0;
}

/* What is shown of runs, which are freed. */
static void expect_diff(const struct t2x_diff *diff, int changed, const char *expected)
{
	struct shown shown = { .n = 0 };
	struct t2x_out out;

	assert_int_equal(t2x_out_init_fn(&out, take_text, &shown), 0);
	assert_int_equal(t2x_diff_show(diff, &out), changed);
	t2x_out_flush(&out);
	assert_string_equal(shown.text, expected);
	t2x_out_free(&out);
	for (unsigned i = 0; i < diff->nold + diff->nnew; i++)
		t2x_totals_free(diff->runs[i]);
}

/* The first nold are the old ones. */
static void expect(struct t2x_totals **runs, unsigned nold, unsigned nnew, double threshold, int changed,
		   const char *expected)
{
	const struct t2x_diff diff = { .runs = runs, .nold = nold, .nnew = nnew, .threshold = threshold };

	expect_diff(&diff, changed, expected);
}

/* One run of each side, with --durations. */
static void expect_durations(struct t2x_totals **runs, double threshold, const char *expected, int changed)
{
	const struct t2x_diff diff = {
		.runs = runs, .nold = 1, .nnew = 1, .threshold = threshold, .has_durations = 1,
	};

	expect_diff(&diff, changed, expected);
}

#define STRUCTURE "structure\n             old              new       kind     category       label\n"
#define TIME "time\n          old ns           new ns   change   noise  kind     category       label\n"

static void test_diff_count_outside_of_old_runs_has_changed(void **state)
{
	(void)state;
	expect((struct t2x_totals *[]){ make_run("a", 5, 1), make_run("a", 6, 1) }, 1, 1, -1, 1,
	       STRUCTURE "                5                6        region   c              a\n");
	expect((struct t2x_totals *[]){ make_run("a", 5, 1), make_run("a", 8, 1), make_run("a", 6, 1) }, 2, 1, -1, 0,
	       "");
	expect((struct t2x_totals *[]){ make_run("a", 5, 1), make_run("a", 5, 1), make_run("a", 6, 1) }, 1, 2, -1, 1,
	       STRUCTURE "                5              5-6        region   c              a\n");
}

static void test_diff_new_and_vanished_labels_are_named(void **state)
{
	(void)state;
	expect((struct t2x_totals *[]){ make_run("a", 1, 1), make_run("b", 2, 1) }, 1, 1, -1, 2,
	       STRUCTURE "                1                0  gone  region   c              a\n"
			 "                0                2   new  region   c              b\n");
}

static void test_diff_name_with_newline_stays_on_its_line(void **state)
{
	(void)state;
	expect((struct t2x_totals *[]){ make_run("a\nb", 1, 1), make_run("a\nb", 2, 1) }, 1, 1, -1, 1,
	       STRUCTURE "                1                2        region   c              a?b\n");
}

static void test_diff_time_counts_if_all_new_runs_are_slower(void **state)
{
	(void)state;
	expect((struct t2x_totals *[]){ make_run("a", 1, 10), make_run("a", 1, 12) }, 1, 1, -1, 0, "");
	expect((struct t2x_totals *[]){ make_run("a", 1, 10), make_run("a", 1, 12) }, 1, 1, 25, 0, "");
	expect((struct t2x_totals *[]){ make_run("a", 1, 10), make_run("a", 1, 12) }, 1, 1, 10, 1,
	       TIME "           10000            12000   +20.0%       ?  region   c              a\n");
	expect((struct t2x_totals *[]){ make_run("a", 1, 100), make_run("a", 1, 104), make_run("a", 1, 103),
					make_run("a", 1, 150) }, 2, 2, 10, 0, "");
	expect((struct t2x_totals *[]){ make_run("a", 1, 100), make_run("a", 1, 104), make_run("a", 1, 140),
					make_run("a", 1, 150) }, 2, 2, 10, 1,
	       TIME "          102000           145000   +42.2%    3.4%  region   c              a\n");
}

#define DURATIONS "durations\n" \
	"          old ns           new ns   change   noise  of     kind     category       label\n"

/* A run of regions that are so long. */
static struct t2x_totals *make_durations(const unsigned *us, unsigned n)
{
	struct t2x_filter filter = { .own = t2x_totals_new(T2X_BY_NOTHING) };
	const struct t2x_options options = { .filter = &filter };
	struct t2x_scope *enter, *leave;
	struct feed f;

	assert_non_null(filter.own);
	feed_open_with(&f, &t2x_writer_totals, &options);
	enter = feed_scope(&f, TLG_STYLE_region_enter, "c", "a", NULL);
	leave = feed_scope(&f, TLG_STYLE_region_leave, "c", "a", NULL);
	for (unsigned i = 0; i < n; i++) {
		feed_hit(&f, enter, 1000 * i, "");
		feed_hit(&f, leave, 1000 * i + us[i], "");
	}
	feed_expect(&f, "");
	return filter.own;
}

/* The slowest is slower by half; the others are as they were.  That is no change that counts. */
static void test_diff_durations_of_which_a_percentile_differs_are_shown(void **state)
{
	static const unsigned old[] = { 10, 10, 10, 10, 20 }, new[] = { 10, 10, 10, 10, 30 };

	(void)state;
	expect_durations((struct t2x_totals *[]){ make_durations(old, 5), make_durations(new, 5) }, -1,
			 DURATIONS
			 "           60000            70000   +16.7%       ?  total  region   c              a\n"
			 "           12000            14000   +16.7%       ?  mean   region   c              a\n"
			 "           20000            30000   +50.0%       ?  p90    region   c              a\n"
			 "           20000            30000   +50.0%       ?  p99    region   c              a\n", 0);
	expect_durations((struct t2x_totals *[]){ make_durations(old, 5), make_durations(new, 5) }, 20,
			 DURATIONS
			 "           20000            30000   +50.0%       ?  p90    region   c              a\n"
			 "           20000            30000   +50.0%       ?  p99    region   c              a\n", 0);
	expect_durations((struct t2x_totals *[]){ make_durations(old, 5), make_durations(old, 5) }, -1, "", 0);
}

static void test_diff_durations_that_one_side_lacks_are_not_shown(void **state)
{
	static const unsigned old[] = { 10 };

	(void)state;
	expect_durations((struct t2x_totals *[]){ make_durations(old, 1), make_durations(old, 0) }, -1,
			 STRUCTURE "                1                0  gone  region   c              a\n", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff_count_outside_of_old_runs_has_changed),
		cmocka_unit_test(test_diff_new_and_vanished_labels_are_named),
		cmocka_unit_test(test_diff_name_with_newline_stays_on_its_line),
		cmocka_unit_test(test_diff_durations_of_which_a_percentile_differs_are_shown),
		cmocka_unit_test(test_diff_durations_that_one_side_lacks_are_not_shown),
		cmocka_unit_test(test_diff_time_counts_if_all_new_runs_are_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
