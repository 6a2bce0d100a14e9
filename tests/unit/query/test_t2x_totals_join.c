/* SPDX-License-Identifier: MIT */
/* Totals of parts that are joined: histograms, and children, of which each part knows half. */
#include "t2test.h"

#include <string.h>

#include "feed.h"
#include "query/t2x_diff.h"
#include "query/t2x_filter.h"
#include "query/t2x_summary.h"
#include "query/t2x_totals_join.h"

static void add(struct t2x_histogram *h, unsigned from, unsigned to, size_t *budget)
{
	for (unsigned i = from; i < to; i++)
		t2x_histogram_add(h, i * i * 7919ULL % 100003, budget);
}

/* Few and few, few and many, in any order: around the number that is kept as it is, all of them. */
static void test_histogram_joined_is_that_of_all_values(void **state)
{
	static const unsigned counts[] = { 0, 1, 2, 31, 32, 33, 62, 63, 64, 65, 66, 128, 1000 };
	const unsigned n = sizeof(counts) / sizeof(counts[0]);

	(void)state;
	for (unsigned i = 0; i < n * n; i++) {
		unsigned first = counts[i / n], all = first + counts[i % n];
		struct t2x_histogram whole = { 0 }, a = { 0 }, b = { 0 };
		size_t budget = 1 << 24, joined = 1 << 24, other = 1 << 24;

		add(&whole, 0, all, &budget);
		add(&a, 0, first, &joined);
		add(&b, first, all, &other);
		t2x_histogram_join(&a, &b, &joined);
		assert_int_equal(a.count, all);
		assert_int_equal(joined, budget);
		for (unsigned percent = 1; percent <= 100; percent++)
			assert_int_equal(t2x_histogram_percentile(&a, percent),
					 t2x_histogram_percentile(&whole, percent));
		t2x_histogram_free(&whole);
		t2x_histogram_free(&a);
		t2x_histogram_free(&b);
	}
}

static void test_histogram_joined_with_one_without_memory_has_no_percentiles(void **state)
{
	struct t2x_histogram a = { 0 }, b = { 0 };
	size_t budget = 1 << 20, none = 0;

	(void)state;
	add(&a, 0, 100, &budget);
	add(&b, 0, 100, &none);
	t2x_histogram_join(&a, &b, &budget);
	assert_true(a.is_cut);
	t2x_histogram_free(&a);
	t2x_histogram_free(&b);
}

/* A part that is fed by hand. */
struct half {
	struct feed feed;
	struct t2x_filter filter;
	struct t2x_options options;
};

static void open_half(struct half *half, enum t2x_part part)
{
	*half = (struct half){ .filter = { .own = t2x_totals_new_part(T2X_BY_NOTHING, part) } };
	assert_non_null(half->filter.own);
	half->options.filter = &half->filter;
	feed_open_with(&half->feed, &t2x_writer_totals, &half->options);
	half->feed.thread[0].number = 1;
}

/* Both parts of a trace. */
static void open_halves(struct half *a, struct half *b)
{
	open_half(a, T2X_PART_FIRST);
	open_half(b, T2X_PART_LATER);
}

static int needs_order;           /* of the latest join */

static const struct t2x_row *find_row(const struct t2x_totals *totals, enum t2x_row_kind kind, const char *label)
{
	for (unsigned i = 0; i < totals->n; i++)
		if (totals->rows[i]->kind == kind && !strcmp(totals->rows[i]->label, label))
			return totals->rows[i];
	fail();
	return NULL;
}

static int join(struct half *a, struct half *b)
{
	int done = t2x_totals_join(a->filter.own, b->filter.own) &&
		   t2x_totals_join_end(a->filter.own, &needs_order);

	feed_expect(&a->feed, "");
	feed_expect(&b->feed, "");
	t2x_totals_free(b->filter.own);
	return done;
}

static void start(struct half *half, int id, uint64_t us)
{
	feed(&half->feed, child_start, us, "iissss", id, 0, "cls", NULL, NULL, "/bin/sort");
}

static void end(struct half *half, int id, uint64_t us, uint64_t start_us)
{
	feed(&half->feed, child_exit, us, "iiiu", id, 99, 2, FEED_START_NS + start_us * 1000 + 999);
}

static void test_child_that_ends_in_another_part_counts_where_it_began(void **state)
{
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	start(&a, 0, 10);
	start(&a, 1, 20);
	end(&a, 1, 25, 20);
	end(&b, 0, 40, 10);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_CHILD, "sort");
	assert_int_equal(row->entered, 2);
	assert_int_equal(t2x_row_left(row), 2);
	assert_int_equal(row->failed, 2);
	assert_int_equal(row->total, 35000);
	assert_int_equal(row->max, 30000);
	assert_false(needs_order);
	t2x_totals_free(a.filter.own);
}

/* The parent did nothing from 12 us on, and the part behind begins with the exit; then from 45 us on. */
static void test_child_was_waited_for_since_an_event_of_the_part_in_front(void **state)
{
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	start(&a, 0, 10);
	start(&a, 1, 12);
	end(&b, 0, 40, 10);
	feed(&b.feed, error, 45, "s", "an error");
	end(&b, 1, 50, 12);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_CHILD, "sort");
	assert_int_equal(row->total, 68000);
	assert_int_equal(row->waited, 28000 + 5000);
	t2x_totals_free(a.filter.own);
}

/* The parts are two processes: a has a child from 10 to 40 us, as it says, and b is that child. */
static void open_parent_and_child(struct half *a, struct half *b)
{
	open_halves(a, b);
	a->feed.process.sid = "root";
	b->feed.process.sid = "root/child";
	b->feed.process.pid = 99;
	b->feed.process.stream = 99;
	start(a, 0, 10);
	end(a, 0, 40, 10);
}

/* It ended at 30 us, in its own file; its parent says so at 40. */
static void test_child_lived_until_its_own_end_in_another_part(void **state)
{
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_parent_and_child(&a, &b);
	feed(&b.feed, atexit, 30, "i", 0);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_CHILD, "sort");
	assert_int_equal(row->total, 30000);
	assert_int_equal(row->lived, 20000);
	assert_true(needs_order);
	t2x_totals_free(a.filter.own);
}

/* A process of that number ended before the child began, another one later, and one is of another parent. */
static void test_child_lived_until_its_exit_was_recorded_if_nobody_knows_better(void **state)
{
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_parent_and_child(&a, &b);
	feed(&b.feed, atexit, 5, "i", 0);
	feed(&b.feed, signal, 50, "i", 9);
	b.feed.process.sid = "other/child";
	feed(&b.feed, atexit, 60, "i", 0);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_CHILD, "sort");
	assert_int_equal(row->lived, 30000);
	assert_false(needs_order);
	t2x_totals_free(a.filter.own);
}

static void test_child_that_another_thread_ends_needs_the_order_of_time(void **state)
{
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	start(&a, 0, 10);
	b.feed.current = 1;
	end(&b, 0, 2000, 10);
	assert_true(join(&a, &b));
	assert_true(needs_order);
	t2x_totals_free(a.filter.own);
	open_halves(&a, &b);
	start(&a, 0, 10);
	b.feed.current = 1;
	end(&b, 0, 10, 10);
	assert_false(join(&a, &b));
	t2x_totals_free(a.filter.own);
}

/* Who sees both parts in the order of time may have taken the one for the other. */
static void test_child_whose_id_comes_twice_is_not_joined(void **state)
{
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	start(&a, 0, 10);
	start(&b, 0, 20);
	end(&b, 0, 40, 20);
	assert_false(join(&a, &b));
	t2x_totals_free(a.filter.own);
}

static void test_child_that_nobody_started_is_not_joined(void **state)
{
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	end(&b, 0, 40, 20);
	assert_false(join(&a, &b));
	t2x_totals_free(a.filter.own);
}

static void region(struct half *half, int style, const char *label, uint64_t us)
{
	struct t2x_scope *scope = feed_scope(&half->feed, style, "cat", label, NULL);

	scope->names = (unsigned char)label[0];
	feed_hit(&half->feed, scope, us, "");
}

#define enter(half, label, us) region(half, TLG_STYLE_region_enter, label, us)
#define leave(half, label, us) region(half, TLG_STYLE_region_leave, label, us)

/* What the front end has a part know: the regions that are open where it begins. */
static void repeat(struct half *half, const char *const labels[], const uint64_t us[], unsigned n)
{
	struct t2x_open open[4];
	const struct t2x_update update = {
		.kind = T2X_OPEN_REGIONS, .thread = &half->feed.thread[0], .opens = { .open = open, .count = n },
	};

	for (unsigned i = 0; i < n; i++) {
		struct t2x_scope *scope = feed_scope(&half->feed, TLG_STYLE_region_enter, "cat", labels[i], NULL);

		scope->names = (unsigned char)labels[i][0];
		open[i] = (struct t2x_open){ scope, FEED_START_NS + us[i] * 1000, us[i] * 1000 };
	}
	t2x_model_update(half->feed.model, &update);
}

static void test_region_has_the_time_that_several_parts_spent_in_others(void **state)
{
	static const char *const open[] = { "a", "b" };
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	enter(&a, "a", 10);
	enter(&a, "b", 20);
	enter(&a, "c", 30);
	leave(&a, "c", 35);
	repeat(&b, open, (const uint64_t[]){ 10, 20 }, 2);
	enter(&b, "c", 50);
	leave(&b, "c", 52);
	leave(&b, "b", 60);
	leave(&b, "a", 100);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_REGION, "b");
	assert_int_equal(row->total, 40000);
	assert_int_equal(row->self, 33000);
	row = find_row(a.filter.own, T2X_ROW_REGION, "a");
	assert_int_equal(row->self, 50000);
	assert_int_equal(row->self_unknown, 0);
	t2x_totals_free(a.filter.own);
}

/* The part in front does not know that its region ended with the process; it is not around what comes behind. */
static void test_region_that_ended_with_the_process_is_around_nothing(void **state)
{
	static const char *const open[] = { "a" };
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	enter(&a, "a", 10);
	repeat(&b, open, (const uint64_t[]){ 10 }, 1);
	feed(&b.feed, atexit, 20, "i", 0);
	enter(&b, "d", 30);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_REGION, "d");
	assert_int_equal(row->entered, 1);
	assert_int_equal(t2x_row_left(row), 0);
	row = find_row(a.filter.own, T2X_ROW_REGION, "a");
	assert_int_equal(t2x_row_left(row), 0);
	t2x_totals_free(a.filter.own);
}

/* The outer a is left in the part behind, the inner ones are of both parts. */
static void test_region_in_one_of_its_row_counts_once_in_the_total_of_parts(void **state)
{
	static const char *const open[] = { "a", "b" };
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	enter(&a, "a", 10);
	enter(&a, "b", 20);
	repeat(&b, open, (const uint64_t[]){ 10, 20 }, 2);
	enter(&b, "c", 50);
	enter(&b, "a", 51);
	leave(&b, "a", 52);
	leave(&b, "c", 60);
	leave(&b, "b", 70);
	enter(&b, "b", 75);
	leave(&b, "b", 76);
	leave(&b, "a", 100);
	enter(&b, "a", 110);
	leave(&b, "a", 120);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_REGION, "a");
	assert_int_equal(row->count, 3);
	assert_int_equal(row->total, 101000);
	assert_int_equal(t2x_row_time(row), 100000);
	row = find_row(a.filter.own, T2X_ROW_REGION, "b");
	assert_int_equal(t2x_row_time(row), 51000);
	t2x_totals_free(a.filter.own);
}

/* Both are left in the part behind. */
static void test_region_in_one_of_its_row_is_nested_where_it_is_left_in_another_part(void **state)
{
	static const char *const open[] = { "a", "a" };
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	enter(&a, "a", 10);
	enter(&a, "a", 20);
	repeat(&b, open, (const uint64_t[]){ 10, 20 }, 2);
	leave(&b, "a", 50);
	leave(&b, "a", 70);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_REGION, "a");
	assert_int_equal(t2x_row_time(row), 60000);
	t2x_totals_free(a.filter.own);
}

/* Three in each other, of which the outermost is never left: 1 us and 2 us of its own, and 50 us of the next one. */
static void test_region_in_one_of_its_row_that_no_part_leaves_counts(void **state)
{
	static const char *const open[] = { "a", "a" };
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	region(&a, TLG_STYLE_region_enter, "a", 10);
	region(&a, TLG_STYLE_region_enter, "a", 11);
	region(&a, TLG_STYLE_region_leave, "a", 12);
	region(&a, TLG_STYLE_region_enter, "a", 20);
	region(&a, TLG_STYLE_region_enter, "a", 30);
	region(&a, TLG_STYLE_region_leave, "a", 35);
	repeat(&b, open, (const uint64_t[]){ 10, 20 }, 2);
	region(&b, TLG_STYLE_region_enter, "a", 50);
	region(&b, TLG_STYLE_region_leave, "a", 55);
	region(&b, TLG_STYLE_region_leave, "a", 70);
	region(&b, TLG_STYLE_region_enter, "a", 80);
	region(&b, TLG_STYLE_region_leave, "a", 82);
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_REGION, "a");
	assert_int_equal(row->count, 5);
	assert_int_equal(t2x_row_time(row), 53000);
	t2x_totals_free(a.filter.own);
}

/* The part cannot say what is nested, as it takes other regions for those around. */
static void test_region_that_lies_in_others_than_the_part_says_is_not_joined(void **state)
{
	static const char *const open[] = { "b" };
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	enter(&a, "a", 10);
	repeat(&b, open, (const uint64_t[]){ 10 }, 1);
	enter(&b, "a", 50);
	leave(&b, "a", 70);
	assert_false(join(&a, &b));
	t2x_totals_free(a.filter.own);
}

/* It is around something in the part, but no event of the part is of it. */
static void test_region_that_is_only_around_a_part_has_one_row(void **state)
{
	static const char *const open[] = { "a" };
	const struct t2x_totals *totals;
	unsigned regions = 0;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	enter(&a, "a", 10);
	repeat(&b, open, (const uint64_t[]){ 10 }, 1);
	enter(&b, "d", 50);
	leave(&b, "d", 70);
	assert_true(join(&a, &b));
	totals = a.filter.own;
	for (unsigned i = 0; i < totals->n; i++)
		regions += totals->rows[i]->kind == T2X_ROW_REGION;
	assert_int_equal(regions, 2);
	t2x_totals_free(a.filter.own);
}

static void test_mode_whose_command_another_part_names_is_not_joined(void **state)
{
	const struct t2x_row *row;
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	feed(&a.feed, cmd_name, 10, "ss", "one", "one");
	feed(&b.feed, cmd_mode, 20, "s", "list");
	assert_false(join(&a, &b));
	t2x_totals_free(a.filter.own);
	open_halves(&a, &b);
	feed(&a.feed, cmd_mode, 10, "s", "list");
	feed(&b.feed, cmd_name, 20, "ss", "one", "one");
	feed(&b.feed, cmd_mode, 30, "s", "list");
	assert_true(join(&a, &b));
	row = find_row(a.filter.own, T2X_ROW_MODE, "list");
	assert_int_equal(row->count, 1);
	t2x_totals_free(a.filter.own);
}

static void test_region_that_no_part_entered_is_not_joined(void **state)
{
	struct half a, b;

	(void)state;
	open_halves(&a, &b);
	feed_hit(&b.feed, feed_scope(&b.feed, TLG_STYLE_region_leave, "c", "r", NULL), 10, "");
	assert_false(join(&a, &b));
	t2x_totals_free(a.filter.own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histogram_joined_is_that_of_all_values),
		cmocka_unit_test(test_histogram_joined_with_one_without_memory_has_no_percentiles),
		cmocka_unit_test(test_child_that_ends_in_another_part_counts_where_it_began),
		cmocka_unit_test(test_child_was_waited_for_since_an_event_of_the_part_in_front),
		cmocka_unit_test(test_child_lived_until_its_own_end_in_another_part),
		cmocka_unit_test(test_child_lived_until_its_exit_was_recorded_if_nobody_knows_better),
		cmocka_unit_test(test_child_that_another_thread_ends_needs_the_order_of_time),
		cmocka_unit_test(test_child_whose_id_comes_twice_is_not_joined),
		cmocka_unit_test(test_child_that_nobody_started_is_not_joined),
		cmocka_unit_test(test_region_has_the_time_that_several_parts_spent_in_others),
		cmocka_unit_test(test_region_that_ended_with_the_process_is_around_nothing),
		cmocka_unit_test(test_region_in_one_of_its_row_counts_once_in_the_total_of_parts),
		cmocka_unit_test(test_region_in_one_of_its_row_is_nested_where_it_is_left_in_another_part),
		cmocka_unit_test(test_region_in_one_of_its_row_that_no_part_leaves_counts),
		cmocka_unit_test(test_region_that_lies_in_others_than_the_part_says_is_not_joined),
		cmocka_unit_test(test_region_that_is_only_around_a_part_has_one_row),
		cmocka_unit_test(test_mode_whose_command_another_part_names_is_not_joined),
		cmocka_unit_test(test_region_that_no_part_entered_is_not_joined),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
