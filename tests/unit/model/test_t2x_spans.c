/* SPDX-License-Identifier: MIT */
/* Spans: how each region ends, what is around it, and which threads make room for others. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "model/t2x_spans.h"

/* A writer that notes what it hears of, a word for each: "+name", "name=end:ns". */
static struct t2x_spans_table table;
static struct t2x_printer printer;
static struct t2x_process process;
static struct t2x_thread thread;
static char heard[4096];
static uint64_t inner_ns;

static void hear(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void hear(const char *format, ...)
{
	size_t n = strlen(heard);
	va_list ap;

	va_start(ap, format);
	vsnprintf(heard + n, sizeof(heard) - n, format, ap);
	va_end(ap);
}

static int meet_thread(struct t2x_spans_table *of, struct t2x_spans *spans, const struct t2x_event *ev, int is_renamed)
{
	assert_ptr_equal(of, &table);
	assert_int_equal(spans->tid, ev->thread->tid);
	hear(is_renamed ? "+%s " : "(%s) ", spans->name);
	return 1;
}

static void end_span(struct t2x_spans_table *of, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	static const char *const ends[] = { "left", "unsure", "lost", "cut", "open", "unseen" };
	const char *name = span->leave ? span->leave->scope->label : span->own ? span->own : "thread";

	assert_ptr_equal(of->printer, &printer);
	inner_ns = span->inner_ns;
	hear("%u:%s=%s:%d", (unsigned)spans->open, name, ends[end], (int)(span->end_ns - span->start_ns));
	if (span->message)
		hear("'%.*s'", (int)span->message_length, span->message);
	hear(" ");
}

static void forget_thread(struct t2x_spans_table *of, struct t2x_spans *spans)
{
	(void)of;
	hear("-%s ", spans->name);
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
	assert_ptr_equal(printer.spans, &table);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	t2x_spans_free(&table);
	return 0;
}

/* An event in so many regions, and one that says how long something was. */
static struct t2x_spans *event_of(enum tlg_style style, unsigned open, uint64_t ns, uint64_t rel_ns, const char *label)
{
	const struct t2x_scope scope = { .label = label, .style = (uint8_t)style };
	struct t2x_event ev = {
		.thread = &thread, .scope = &scope, .style = style, .open = open, .ns = ns, .rel_ns = rel_ns,
	};
	struct t2x_spans *spans = printer.spans->take(printer.spans, &ev);

	assert_non_null(spans);
	if (style == TLG_STYLE_region_enter && spans->at)
		spans->at->own = (void *)(uintptr_t)label;
	return spans;
}

static struct t2x_spans *enter(unsigned open, uint64_t ns, const char *label)
{
	return event_of(TLG_STYLE_region_enter, open, ns, 0, label);
}

static struct t2x_spans *leave(unsigned open, uint64_t ns, uint64_t rel_ns, const char *label)
{
	return event_of(TLG_STYLE_region_leave, open, ns, rel_ns, label);
}

static struct t2x_spans *lose(unsigned open, uint64_t ns)
{
	const struct t2x_scope scope = { .label = "lost-events", .style = TLG_STYLE_data_intmax };
	const struct t2x_lost lost = { T2X_LOST_EVENTS, 0 };
	const struct t2x_event ev = {
		.thread = &thread, .scope = &scope, .style = TLG_STYLE_data_intmax, .open = open, .ns = ns,
		.rel_ns = T2X_NO_TIME, .lost = &lost,
	};

	return printer.spans->take(printer.spans, &ev);
}

static void test_span_left_has_its_time_and_that_of_the_regions_in_it(void **state)
{
	struct t2x_spans *spans;

	(void)state;
	enter(1, 100, "a");
	enter(2, 110, "b");
	leave(2, 130, 20, "b");
	spans = leave(1, 150, 50, "a");
	assert_string_equal(heard, "2:b=left:20 1:a=left:50 ");
	assert_int_equal(inner_ns, 20);
	assert_int_equal(spans->at->inner_ns, 20);
	assert_false(spans->at->is_inner_unknown);
}

static void test_span_of_an_event_is_the_one_around_it(void **state)
{
	struct t2x_spans *spans;

	(void)state;
	spans = enter(1, 100, "a");
	assert_ptr_equal(spans->at, &spans->spans[1]);
	spans = event_of(TLG_STYLE_data, 2, 110, 10, "x");
	assert_string_equal(spans->at->own, "a");
	spans = leave(1, 120, 20, "a");
	assert_string_equal(spans->at->own, "a");
	spans = event_of(TLG_STYLE_data, 1, 130, 30, "x");
	assert_ptr_equal(spans->at, &spans->spans[0]);
	spans = event_of(TLG_STYLE_data, 4, 140, T2X_NO_TIME, "x");
	assert_null(spans->at);
}

static void test_span_whose_leave_is_missing_ends_in_front_of_the_next_event(void **state)
{
	(void)state;
	enter(1, 100, "a");
	enter(2, 110, "b");
	enter(3, 120, "c");
	event_of(TLG_STYLE_data, 2, 130, T2X_NO_TIME, "x");
	assert_string_equal(heard, "3:c=lost:10 2:b=lost:20 ");
	assert_true(leave(1, 150, T2X_NO_TIME, "a")->at->is_inner_unknown);
	assert_string_equal(heard, "3:c=lost:10 2:b=lost:20 1:a=unsure:50 ");
}

static void test_span_in_which_events_are_missing_says_so(void **state)
{
	(void)state;
	enter(1, 100, "a");
	enter(2, 110, "b");
	assert_true(lose(2, 120)->at->is_inner_unknown);
	leave(2, 130, T2X_NO_TIME, "b");
	assert_true(leave(1, 140, 40, "a")->at->is_inner_unknown);
}

static void test_leave_whose_enter_is_missing_has_no_start(void **state)
{
	(void)state;
	leave(2, 130, T2X_NO_TIME, "b");
	assert_string_equal(heard, "1:b=unseen:130 ");
	leave(1, 150, 40, "a");
	assert_string_equal(heard, "1:b=unseen:130 1:a=left:40 ");
}

/* The model knows the time of a region that was repeated, though the writer did not get its enter. */
static void test_region_whose_enter_is_missing_is_part_of_the_one_around_it(void **state)
{
	struct t2x_spans *spans;

	(void)state;
	enter(1, 100, "a");
	enter(3, 120, "c");
	leave(3, 130, 10, "c");
	spans = leave(2, 140, 25, "b");
	assert_int_equal(spans->at->inner_ns, 10);
	spans = leave(1, 150, 50, "a");
	assert_int_equal(spans->at->inner_ns, 25);
	assert_false(spans->at->is_inner_unknown);
}

/* Behind a gap the model knows regions that nobody saw entered: two of them, one in the other, are left. */
static void test_region_around_one_that_was_not_seen_has_its_time(void **state)
{
	struct t2x_spans *spans;

	(void)state;
	event_of(TLG_STYLE_data, 3, 100, 50, "x");
	leave(2, 120, 40, "inner");
	spans = leave(1, 130, 90, "outer");
	assert_int_equal(spans->at->inner_ns, 40);
	assert_false(spans->at->is_inner_unknown);
}

static void test_region_that_was_not_seen_and_in_which_events_are_missing_says_so(void **state)
{
	(void)state;
	event_of(TLG_STYLE_data, 1, 100, 50, "x");
	lose(2, 110);
	assert_true(leave(1, 130, 90, "outer")->at->is_inner_unknown);
}

static void test_region_around_one_that_did_not_end_says_so(void **state)
{
	(void)state;
	enter(0, 100, "a");
	enter(1, 110, "b");
	event_of(TLG_STYLE_exit, 1, 120, 0, NULL);
	assert_true(leave(0, 130, 30, "a")->at->is_inner_unknown);
}

static void test_leave_that_closes_a_region_entered_at_another_time_says_so(void **state)
{
	struct t2x_spans *spans;

	(void)state;
	enter(1, 100, "a");
	spans = leave(1, 150, 20, "b");
	assert_true(spans->at->is_moved);
	assert_int_equal(spans->at->start_ns, 130);
	enter(1, 160, "a");
	assert_false(leave(1, 170, 10, "a")->at->is_moved);
}

static void test_spans_end_with_their_thread_and_process(void **state)
{
	struct t2x_spans *spans;

	(void)state;
	enter(1, 100, "a");
	event_of(TLG_STYLE_atexit, 1, 110, 0, NULL);
	spans = enter(1, 120, "b");
	t2x_spans_end_thread(&table, spans);
	assert_string_equal(heard, "1:a=cut:10 1:b=cut:0 0:thread=cut:20 ");
	assert_null(t2x_spans_get(&table, 1, 0));
}

static void test_spans_of_a_trace_that_stops_are_open(void **state)
{
	(void)state;
	enter(1, 100, "a");
	event_of(TLG_STYLE_data, 2, 150, 50, "x");
	t2x_spans_end(&table);
	assert_string_equal(heard, "1:a=open:50 0:thread=open:50 ");
}

static void test_message_of_the_enter_stays_until_the_end(void **state)
{
	char text[] = "words";
	const struct t2x_scope scope = { .label = "a" };
	const struct t2x_event ev = {
		.thread = &thread, .scope = &scope, .style = TLG_STYLE_region_enter, .open = 1, .ns = 100,
		.message = text, .message_length = 5,
	};

	(void)state;
	table.keeps_messages = 1;
	t2x_spans_take(&table, &ev)->at->own = (void *)(uintptr_t)"a";
	memset(text, '-', 5);
	leave(1, 150, 50, "a");
	assert_string_equal(heard, "1:a=left:50'words' ");
}

static void test_thread_with_another_number_keeps_its_spans(void **state)
{
	(void)state;
	table.meet_thread = meet_thread;
	table.forget_thread = forget_thread;
	enter(1, 100, "a");
	thread.number = 3;
	event_of(TLG_STYLE_data, 2, 110, 10, "x");
	strcpy(thread.name, "named");
	thread.number = 4;
	leave(1, 120, 20, "a");
	event_of(TLG_STYLE_data, 1, 130, 30, "x");
	assert_string_equal(heard, "+main (main) +named 1:a=left:20 ");
}

/* A further file of the process: the front end has another struct t2x_thread for it. */
static void test_thread_of_the_next_file_goes_on(void **state)
{
	struct t2x_process next = { .pid = 1, .stream = 1, .number = 5, .sid = "" };

	(void)state;
	enter(1, 100, "a");
	thread = (struct t2x_thread){ .process = &next, .name = "main", .number = 6 };
	leave(1, 120, 20, "a");
	assert_string_equal(heard, "1:a=left:20 ");
}

/* Each input that has a thread has a number of its own for it. */
static void test_thread_that_has_ended_is_found_under_none_of_its_numbers(void **state)
{
	(void)state;
	enter(1, 100, "a");
	thread.number = 3;
	t2x_spans_end_thread(&table, event_of(TLG_STYLE_data, 2, 110, 10, "x"));
	thread.number = 2;
	assert_null(t2x_spans_at_hand(&table, &thread));
	assert_int_equal(enter(1, 120, "b")->open, 2);
}

static void test_thread_that_was_idle_for_longest_makes_room(void **state)
{
	(void)state;
	enter(1, 1, "a");
	for (unsigned i = 1; i <= T2X_SPANS_THREADS; i++) {
		thread.tid = i;
		thread.number = 10 + i;
		event_of(TLG_STYLE_data, 1, 10 + i, 10 + i, "x");
	}
	assert_string_equal(heard, "1:a=open:0 0:thread=open:0 ");
	assert_int_equal(table.forgotten, 1);
	assert_int_equal(table.nthreads, T2X_SPANS_THREADS);
	assert_null(t2x_spans_get(&table, 1, 0));
	assert_non_null(t2x_spans_get(&table, 1, 1));
}

static void test_spans_of_all_threads_are_bounded(void **state)
{
	const size_t deep = T2X_SPANS_MAX * sizeof(struct t2x_span), threads = T2X_SPANS_BYTES / deep;
	static size_t budget;    /* the table is freed behind the test */

	(void)state;
	budget = T2X_SPANS_BYTES;
	table.budget = &budget;
	for (unsigned i = 0; i <= threads; i++) {
		thread.tid = i;
		thread.number = 10 + i;
		assert_int_equal(enter(T2X_SPANS_MAX - 1, 10 + i, "deep")->at != NULL, i < threads);
	}
	assert_in_range(budget, 0, deep - 1);
	assert_true(table.is_full);
	thread.tid = 0;
	thread.number = 10;
	assert_null(enter(T2X_SPANS_MAX, 100, "deeper")->at);
	t2x_spans_end_thread(&table, t2x_spans_get(&table, 1, 0));
	assert_in_range(budget, deep - sizeof(struct t2x_span), 2 * deep);
}

static void test_threads_alone_have_no_spans(void **state)
{
	(void)state;
	table.has_no_spans = 1;
	t2x_spans_begin(&table, &printer);
	assert_int_equal(enter(1, 100, "a")->open, 1);
	leave(1, 120, 20, "a");
	assert_string_equal(heard, "");
}

static void *find_own(struct t2x_spans_table *of, const struct t2x_span *span)
{
	assert_ptr_equal(of, &table);
	return span->own;
}

static void test_part_behind_goes_on_with_what_was_open(void **state)
{
	struct t2x_spans_table part = { .is_part = 1 };
	struct t2x_printer other = { .out = NULL };
	struct t2x_spans *ours;
	struct t2x_span *span;

	(void)state;
	ours = enter(1, 100, "a");
	t2x_spans_begin(&part, &other);
	printer.spans = &part;
	enter(2, 110, "b");
	leave(2, 130, 20, "b");
	enter(2, 140, "c");
	assert_true(t2x_spans_join(&table, ours, t2x_spans_get(&part, 1, 0), find_own));
	assert_int_equal(ours->open, 3);
	assert_int_equal(ours->last_ns, 140);
	span = &ours->spans[2];
	assert_string_equal(span->own, "c");
	assert_int_equal(span[-1].inner_ns, 20);
	t2x_spans_free(&part);
	t2x_spans_end(&table);
	assert_string_equal(heard, "2:c=open:0 1:a=open:40 0:thread=open:40 ");
}

static void test_part_behind_that_takes_more_for_open_does_not_fit(void **state)
{
	struct t2x_spans_table part = { .is_part = 1 };
	struct t2x_printer other = { .out = NULL };
	struct t2x_spans *ours;

	(void)state;
	ours = enter(1, 100, "a");
	t2x_spans_begin(&part, &other);
	printer.spans = &part;
	enter(4, 110, "b");
	assert_false(t2x_spans_join(&table, ours, t2x_spans_get(&part, 1, 0), find_own));
	t2x_spans_free(&part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_span_left_has_its_time_and_that_of_the_regions_in_it),
		TEST(test_span_of_an_event_is_the_one_around_it),
		TEST(test_span_whose_leave_is_missing_ends_in_front_of_the_next_event),
		TEST(test_span_in_which_events_are_missing_says_so),
		TEST(test_leave_whose_enter_is_missing_has_no_start),
		TEST(test_region_whose_enter_is_missing_is_part_of_the_one_around_it),
		TEST(test_region_around_one_that_was_not_seen_has_its_time),
		TEST(test_region_that_was_not_seen_and_in_which_events_are_missing_says_so),
		TEST(test_region_around_one_that_did_not_end_says_so),
		TEST(test_leave_that_closes_a_region_entered_at_another_time_says_so),
		TEST(test_spans_end_with_their_thread_and_process),
		TEST(test_spans_of_a_trace_that_stops_are_open),
		TEST(test_message_of_the_enter_stays_until_the_end),
		TEST(test_thread_with_another_number_keeps_its_spans),
		TEST(test_thread_of_the_next_file_goes_on),
		TEST(test_thread_that_has_ended_is_found_under_none_of_its_numbers),
		TEST(test_thread_that_was_idle_for_longest_makes_room),
		TEST(test_spans_of_all_threads_are_bounded),
		TEST(test_threads_alone_have_no_spans),
		TEST(test_part_behind_goes_on_with_what_was_open),
		TEST(test_part_behind_that_takes_more_for_open_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
