/* SPDX-License-Identifier: MIT */
/* test_t2x_spans_files.c - spans of a thread that goes on in another file: which regions are the same there. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "model/t2x_regions.h"
#include "model/t2x_spans.h"

/* A writer that notes which spans ended, and how: "name=end:ns". */
static struct t2x_spans_table table;
static struct t2x_printer printer;
static struct t2x_process process;
static struct t2x_thread thread;
static char heard[4096];

static void end_span(struct t2x_spans_table *of, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	static const char *const ends[] = { "left", "unsure", "lost", "cut", "open", "unseen" };
	const char *name = span->leave ? span->leave->scope->label : span->own;
	size_t n = strlen(heard);

	(void)of;
	snprintf(heard + n, sizeof(heard) - n, "%u:%s=%s:%d ", (unsigned)spans->open, name, ends[end],
		 (int)(span->end_ns - span->start_ns));
}

static int set_up(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	memset(&printer, 0, sizeof(printer));
	process = (struct t2x_process){ .pid = 1, .stream = 1, .number = 1, .sid = "" };
	thread = (struct t2x_thread){ .process = &process, .name = "main", .number = 2 };
	*heard = '\0';
	table.end_span = end_span;
	t2x_spans_begin(&table, &printer);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	t2x_spans_free(&table);
	return 0;
}

static void event_of(enum tlg_style style, unsigned open, uint64_t ns, uint64_t rel_ns, const char *label)
{
	const struct t2x_scope scope = { .label = label, .style = (uint8_t)style };
	const struct t2x_event ev = {
		.thread = &thread, .scope = &scope, .style = style, .open = open, .ns = ns, .rel_ns = rel_ns,
	};
	struct t2x_spans *spans = printer.spans->take(printer.spans, &ev);

	assert_non_null(spans);
	if (style == TLG_STYLE_region_enter)
		spans->at->own = (void *)(uintptr_t)label;
}

static void enter(unsigned open, uint64_t ns, const char *label)
{
	event_of(TLG_STYLE_region_enter, open, ns, 0, label);
}

static void leave(unsigned open, uint64_t ns, uint64_t rel_ns, const char *label)
{
	event_of(TLG_STYLE_region_leave, open, ns, rel_ns, label);
}

/* Another file goes on with the thread: these regions are open in it. */
static void go_on(struct t2x_regions *regions, uint64_t outer, uint64_t inner)
{
	unsigned budget = 100;

	t2x_regions_init(regions, 50);
	t2x_regions_enter(regions, &(struct t2x_region){ outer, 1, NULL }, &budget);
	t2x_regions_enter(regions, &(struct t2x_region){ inner, inner ? 2 : TLG_OPEN_LOST, NULL }, &budget);
	thread.model = regions;
	thread.number = 3;
}

static void test_region_that_the_next_file_repeats_goes_on(void **state)
{
	struct t2x_regions regions;

	(void)state;
	enter(1, 10000, "a");
	enter(2, 20000, "b");
	go_on(&regions, 10003, 20400);   /* by another pair of its clock */
	event_of(TLG_STYLE_data, 3, 50000, 29600, "x");
	assert_string_equal(heard, "");
	leave(2, 60000, 39600, "b");
	assert_string_equal(heard, "2:b=left:39600 ");
}

static void test_region_in_whose_place_the_next_file_has_another_one_is_lost(void **state)
{
	struct t2x_regions regions;

	(void)state;
	enter(1, 10000, "a");
	enter(2, 20000, "b");
	go_on(&regions, 10003, 40000);
	event_of(TLG_STYLE_data, 3, 50000, 10000, "x");
	assert_string_equal(heard, "2:b=lost:0 ");
	leave(2, 60000, 20000, "c");
	assert_string_equal(heard, "2:b=lost:0 2:c=left:20000 ");
	leave(1, 70000, 60000, "a");
	assert_string_equal(heard, "2:b=lost:0 2:c=left:20000 1:a=left:60000 ");
}

static void test_region_that_the_next_file_leaves_at_once_is_another_one(void **state)
{
	struct t2x_regions regions;

	(void)state;
	enter(1, 10000, "a");
	enter(2, 20000, "b");
	go_on(&regions, 10003, 40000);
	t2x_regions_leave(&regions);
	leave(2, 60000, 20000, "c");
	assert_string_equal(heard, "2:b=lost:0 2:c=left:20000 ");
}

static void test_region_in_whose_place_one_is_that_was_dropped_is_lost(void **state)
{
	struct t2x_regions regions;

	(void)state;
	enter(1, 10000, "a");
	enter(2, 20000, "b");
	go_on(&regions, 10003, 0);
	event_of(TLG_STYLE_data, 3, 50000, T2X_NO_TIME, "x");
	assert_string_equal(heard, "2:b=lost:0 ");
}

/* There the depths are those of the regions that are shown. */
static void test_region_behind_a_filter_is_not_compared(void **state)
{
	struct t2x_regions regions;

	(void)state;
	table.is_filtered = 1;
	enter(1, 10000, "a");
	enter(2, 20000, "b");
	go_on(&regions, 10003, 40000);
	event_of(TLG_STYLE_data, 3, 50000, 10000, "x");
	assert_string_equal(heard, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_region_that_the_next_file_repeats_goes_on),
		TEST(test_region_in_whose_place_the_next_file_has_another_one_is_lost),
		TEST(test_region_that_the_next_file_leaves_at_once_is_another_one),
		TEST(test_region_in_whose_place_one_is_that_was_dropped_is_lost),
		TEST(test_region_behind_a_filter_is_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
