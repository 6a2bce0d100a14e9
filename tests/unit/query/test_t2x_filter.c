/* SPDX-License-Identifier: MIT */
/* The filters: gaps, regions that are repeated, regions that wait.  (tests/cli/check_filters.sh has a real program.) */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "model/t2x_regions.h"
#include "query/t2x_filter.h"
#include "query/t2x_queued.h"
#include "text/t2x_text.h"

/* "enter 2 label", "data 1 key": kind, open regions, name; "~" in front of what is repeated. */
static void print_row(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	t2x_out_string(out, ev->is_repeated ? "~" : "");
	t2x_out_string(out, t2x_text_event_name(ev->style));
	t2x_out_char(out, ' ');
	t2x_out_uint(out, ev->open);
	t2x_out_char(out, ' ');
	t2x_out_string(out, ev->scope && ev->scope->label ? ev->scope->label : "-");
	if (ev->lost) {
		t2x_out_char(out, ' ');
		t2x_out_int(out, ev->args[0].value);
	}
	t2x_out_end_line(out);
}

static const struct t2x_writer writer_rows = {
	.unresolved = print_row,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_row,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

static struct t2x_filter g_filter;

static void open_filter(struct feed *f, enum t2x_filter_option option, const char *value)
{
	const struct t2x_options options = { .filter = &g_filter };

	g_filter = (struct t2x_filter){ .writer = &writer_rows };
	assert_int_equal(t2x_filter_set(&g_filter, option, value), 0);
	feed_open_with(f, &t2x_writer_filter, &options);
}

static void expect(struct feed *f, const char *expected)
{
	feed_expect(f, expected);
	t2x_filter_free(&g_filter);
}

static void enter(struct feed *f, const char *label, uint64_t us)
{
	struct t2x_scope *scope = feed_scope(f, TLG_STYLE_region_enter, "c", label, NULL);

	scope->names = (uint32_t)label[0];
	feed_hit(f, scope, us, "");
}

static void leave(struct feed *f, const char *label, uint64_t us)
{
	struct t2x_scope *scope = feed_scope(f, TLG_STYLE_region_leave, "c", label, NULL);

	scope->names = (uint32_t)label[0];
	feed_hit(f, scope, us, "");
}

/* Regions that a gap closed count if they are shown; those entered in it have no names and are not shown. */
static void test_filter_gap_counts_regions_that_are_shown(void **state)
{
	struct feed f;

	(void)state;
	open_filter(&f, T2X_FILTER_label, "a,k");
	enter(&f, "a", 10);
	enter(&f, "b", 11);
	enter(&f, "a", 12);
	feed_gap(&f, 20, (struct t2x_gap){ .events = 9, .left = 2, .entered = 1, .is_known = 1 });
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "c", "k", NULL), 21, "s", "v");
	leave(&f, "a", 22);
	leave(&f, "a", 23);
	expect(&f, "region_enter 1 a\n"
		   "region_enter 2 a\n"
		   "data 3 lost-events 9\n"
		   "data 2 lost-leaves 1\n"
		   "data 2 k\n"
		   "region_leave 1 a\n");
}

static void test_filter_since_shows_what_is_open_in_time_order(void **state)
{
	struct feed f;

	(void)state;
	open_filter(&f, T2X_FILTER_since, "+90us");
	enter(&f, "a", 10);
	f.current = 1;
	enter(&f, "w", 15);
	f.current = 0;
	enter(&f, "gone", 20);
	leave(&f, "gone", 30);
	enter(&f, "b", 40);
	enter(&f, "c", 100);
	leave(&f, "c", 110);
	leave(&f, "b", 120);
	expect(&f, "~region_enter 1 a\n~region_enter 1 w\n~region_enter 2 b\n"
		   "region_enter 3 c\nregion_leave 3 c\nregion_leave 2 b\n");
}

static void test_filter_short_regions_take_their_data_along(void **state)
{
	struct feed f;

	(void)state;
	open_filter(&f, T2X_FILTER_min_duration, "50us");
	enter(&f, "long", 10);
	enter(&f, "short", 20);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "c", "in short", NULL), 21, "s", "v");
	feed(&f, child_start, 22, "iisss", 0, 0, NULL, NULL, NULL);
	f.current = 1;
	feed(&f, step, 23, "");
	f.current = 0;
	leave(&f, "short", 30);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "c", "in long", NULL), 31, "s", "v");
	leave(&f, "long", 70);
	enter(&f, "open", 80);
	expect(&f, "region_enter 1 long\nchild_start 2 -\nstep 1 -\ndata 2 in long\nregion_leave 1 long\n"
		   "region_enter 1 open\n");
}

/* The leave of "gone" is missing, and "short" takes its place: what is in "short" is not in "gone". */
static void test_filter_event_in_a_short_region_is_in_the_one_around_it(void **state)
{
	struct t2x_open open = { .when = 0 };
	struct t2x_update update = { .kind = T2X_OPEN_REGIONS, .opens = { .open = &open, .count = 1, .is_shown = 1 } };
	struct feed f;

	(void)state;
	open_filter(&f, T2X_FILTER_min_duration, "5us");
	enter(&f, "long", 10);
	open.when = ((struct t2x_regions *)f.thread[0].model)->entered[1].when;
	enter(&f, "gone", 20);
	update.thread = &f.thread[0];
	t2x_model_update(f.model, &update);
	enter(&f, "short", 30);
	feed(&f, child_start, 31, "iisss", 0, 0, NULL, NULL, NULL);
	leave(&f, "short", 32);
	leave(&f, "long", 70);
	expect(&f, "region_enter 1 long\nregion_enter 2 gone\nchild_start 2 -\nregion_leave 1 long\n");
}

/* More events than may wait: the first region is shown although it is short, its leave, too. */
static void test_filter_full_queue_shows_the_first_region(void **state)
{
	struct t2x_scope *step;
	struct feed f;
	char *expected = malloc(T2X_QUEUED_MAX * 12 + 100), *to = expected;

	(void)state;
	assert_non_null(expected);
	open_filter(&f, T2X_FILTER_min_duration, "1s");
	step = feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "x");
	enter(&f, "a", 10);
	to = stpcpy(to, "region_enter 1 a\n");
	for (unsigned i = 0; i < T2X_QUEUED_MAX; i++) {
		feed_hit(&f, step, 11, "");
		to = stpcpy(to, "printf 2 -\n");
	}
	leave(&f, "a", 12);
	stpcpy(to, "region_leave 1 a\n");
	expect(&f, expected);
	free(expected);
}

static void test_filter_thread_that_ends_is_forgotten(void **state)
{
	struct feed f;

	(void)state;
	open_filter(&f, T2X_FILTER_label, "!b");
	f.current = 1;
	feed(&f, thread_start, 10, "");
	enter(&f, "a", 11);
	enter(&f, "b", 12);
	enter(&f, "d", 13);
	feed(&f, thread_exit, 14, "");
	feed(&f, thread_start, 15, "");
	enter(&f, "e", 16);
	expect(&f, "thread_start 1 -\nregion_enter 1 a\nregion_enter 2 d\nthread_exit 1 -\nthread_start 1 -\n"
		   "region_enter 1 e\n");
}

static void test_filter_unresolved_is_an_event_without_names(void **state)
{
	struct feed f;

	(void)state;
	open_filter(&f, T2X_FILTER_label, "!b");
	feed_hit(&f, NULL, 10, "");
	expect(&f, "unresolved 1 -\n");
	open_filter(&f, T2X_FILTER_label, "b");
	feed_hit(&f, NULL, 10, "");
	expect(&f, "");
}

static void take_sample(struct feed *f, const char *path, uint64_t us)
{
	struct t2x_scope *scope = feed_scope(f, TLG_STYLE_sample, "cpu", NULL, "1234");

	scope->file = "1000-2000 0 - /bin/a";
	feed_hit(f, scope, us, "iiiss", 1, 10, 10, "path", path);
}

/* A sample in a, one in b in a, one in c in a, one outside. */
static void expect_samples(enum t2x_filter_option option, const char *value, const char *expected)
{
	struct feed f;

	open_filter(&f, option, value);
	enter(&f, "a", 10);
	take_sample(&f, "/", 11);
	enter(&f, "b", 12);
	take_sample(&f, "/", 13);
	leave(&f, "b", 14);
	enter(&f, "c", 15);
	take_sample(&f, "/c", 16);
	leave(&f, "c", 17);
	leave(&f, "a", 18);
	take_sample(&f, "/", 19);
	expect(&f, expected);
}

static void test_filter_samples_are_those_of_the_regions_around_them(void **state)
{
	(void)state;
	expect_samples(T2X_FILTER_label, "b", "region_enter 1 b\nsample 2 -\nregion_leave 1 b\n");
	expect_samples(T2X_FILTER_category, "c", "region_enter 1 a\nsample 2 -\nregion_enter 2 b\nsample 3 -\n"
		       "region_leave 2 b\nregion_enter 2 c\nsample 3 -\nregion_leave 2 c\nregion_leave 1 a\n");
	expect_samples(T2X_FILTER_label, "a,!b", "region_enter 1 a\nsample 2 -\nsample 2 -\nregion_leave 1 a\n");
	expect_samples(T2X_FILTER_label, "!a", "region_enter 1 b\nregion_leave 1 b\nregion_enter 1 c\n"
		       "region_leave 1 c\nsample 1 -\n");
	expect_samples(T2X_FILTER_since, "+3us", "~region_enter 1 a\n~region_enter 2 b\nsample 3 -\n"
		       "region_leave 2 b\nregion_enter 2 c\nsample 3 -\nregion_leave 2 c\nregion_leave 1 a\n"
		       "sample 1 -\n");
	expect_samples(T2X_FILTER_min_duration, "5us", "region_enter 1 a\nsample 2 -\nregion_leave 1 a\nsample 1 -\n");
}

static void test_filter_recorded_label_selects_samples(void **state)
{
	(void)state;
	expect_samples(T2X_FILTER_label, "path=/c", "sample 1 -\n");
	expect_samples(T2X_FILTER_label, "b,path=/c", "region_enter 1 b\nsample 2 -\nregion_leave 1 b\nsample 1 -\n");
	expect_samples(T2X_FILTER_label, "a,!path=*c", "region_enter 1 a\nsample 2 -\nsample 2 -\nregion_leave 1 a\n");
	expect_samples(T2X_FILTER_event, "sample", "sample 1 -\nsample 1 -\nsample 1 -\nsample 1 -\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter_gap_counts_regions_that_are_shown),
		cmocka_unit_test(test_filter_since_shows_what_is_open_in_time_order),
		cmocka_unit_test(test_filter_short_regions_take_their_data_along),
		cmocka_unit_test(test_filter_event_in_a_short_region_is_in_the_one_around_it),
		cmocka_unit_test(test_filter_full_queue_shows_the_first_region),
		cmocka_unit_test(test_filter_thread_that_ends_is_forgotten),
		cmocka_unit_test(test_filter_unresolved_is_an_event_without_names),
		cmocka_unit_test(test_filter_samples_are_those_of_the_regions_around_them),
		cmocka_unit_test(test_filter_recorded_label_selects_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
