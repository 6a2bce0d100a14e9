/* SPDX-License-Identifier: MIT */
/* What checkpoints mean: regions, times, messages; and checkpoints that mean nothing. */
#include "t2test.h"

#include <stdio.h>

#include "feed.h"

/* A writer that shows what the model found out: kind, open regions, t_rel, message. */
static void print_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_out_uint(printer->out, ev->style);
	t2x_out_literal(printer->out, " open:");
	t2x_out_uint(printer->out, ev->open);
	t2x_out_literal(printer->out, " abs:");
	t2x_out_int(printer->out, (int64_t)t2x_event_us(ev, t2x_event_abs_ns(ev)));
	t2x_out_literal(printer->out, " rel:");
	if (ev->rel_ns == T2X_NO_TIME)
		t2x_out_char(printer->out, '?');
	else
		t2x_out_int(printer->out, (int64_t)t2x_event_us(ev, ev->rel_ns));
	if (ev->lost) {
		t2x_out_char(printer->out, ' ');
		t2x_out_string(printer->out, ev->scope->label);
		t2x_out_char(printer->out, ':');
		t2x_out_int(printer->out, ev->args[0].value);
	}
	if (ev->message) {
		t2x_out_literal(printer->out, " msg:");
		t2x_out_bytes(printer->out, ev->message, ev->message_length);
	}
	t2x_out_end_line(printer->out);
}

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	assert_null(ev->scope);
	assert_int_equal(ev->nargs, 0);
	t2x_out_literal(printer->out, "unresolved ");
	t2x_out_uint(printer->out, ev->scope_index);
	t2x_out_literal(printer->out, " open:");
	t2x_out_uint(printer->out, ev->open);
	t2x_out_end_line(printer->out);
}

static const struct t2x_writer plain_writer = {
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

static void test_model_regions_nest_and_elapse(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, region_enter, 10, "");
	feed(&f, region_enter, 20, "");
	feed(&f, data, 25, "s", "v");
	feed(&f, region_leave, 40, "");
	feed(&f, data_intmax, 45, "i", 1);
	feed(&f, region_leave, 50, "");
	feed(&f, data_json, 60, "s", "{}");
	feed_expect(&f, "22 open:1 abs:10 rel:0\n"
			"22 open:2 abs:20 rel:0\n"
			"24 open:3 abs:25 rel:5\n"
			"23 open:2 abs:40 rel:20\n"
			"25 open:2 abs:45 rel:35\n"
			"23 open:1 abs:50 rel:40\n"
			"26 open:1 abs:60 rel:60\n");
}

static void test_model_outermost_level_can_be_left_once(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, region_leave, 10, "");
	feed(&f, data, 20, "s", "v");
	feed(&f, region_leave, 30, "");
	feed(&f, region_enter, 40, "");
	feed(&f, data, 45, "s", "v");
	feed(&f, region_leave, 50, "");
	feed_expect(&f, "23 open:0 abs:10 rel:10\n"
			"24 open:0 abs:20 rel:0\n"
			"23 open:0 abs:30 rel:0\n"
			"22 open:0 abs:40 rel:0\n"
			"24 open:1 abs:45 rel:5\n"
			"23 open:0 abs:50 rel:10\n");
}

static void test_model_exit_keeps_regions_and_atexit_unwinds_them(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, region_enter, 1, "");
	feed(&f, region_enter, 2, "");
	feed(&f, signal, 3, "i", 13);
	feed(&f, exit, 3, "i", 1);
	feed(&f, atexit, 4, "i", 1);
	feed_expect(&f, "22 open:1 abs:1 rel:0\n"
			"22 open:2 abs:2 rel:0\n"
			"6 open:3 abs:3 rel:0\n"
			"4 open:3 abs:3 rel:0\n"
			"5 open:1 abs:4 rel:0\n");
}

static void test_model_sums_and_thread_exit_unwind(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	f.current = 1;
	feed(&f, region_enter, 1010, "");
	feed(&f, region_enter, 1020, "");
	feed(&f, th_timer, 1030, "uuuu", UINT64_C(1), UINT64_C(1), UINT64_C(1), UINT64_C(1));
	feed(&f, region_enter, 1040, "");
	feed(&f, thread_exit, 1050, "");
	feed_expect(&f, "22 open:1 abs:1010 rel:0\n"
			"22 open:2 abs:1020 rel:0\n"
			"29 open:1 abs:1030 rel:0\n"
			"22 open:1 abs:1040 rel:0\n"
			"19 open:1 abs:1050 rel:50\n");
}

static void test_model_threads_have_regions_of_their_own(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, region_enter, 1010, "");
	f.current = 1;
	feed(&f, region_enter, 1020, "");
	f.current = 0;
	feed(&f, region_leave, 1030, "");
	f.current = 1;
	feed(&f, region_leave, 1050, "");
	feed_expect(&f, "22 open:1 abs:1010 rel:0\n"
			"22 open:1 abs:1020 rel:0\n"
			"23 open:1 abs:1030 rel:20\n"
			"23 open:1 abs:1050 rel:30\n");
}

static void test_model_children_elapse_from_their_start(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, child_exit, 100, "iiiu", 0, 1, 0, FEED_START_NS + 60 * 1000 + 999);
	feed(&f, child_exit, 100, "iiiu", 0, 1, 0, UINT64_C(0));
	feed(&f, child_ready, 100, "iius", 0, 1, FEED_START_NS + 70 * 1000, "ready");
	feed_expect(&f, "14 open:1 abs:100 rel:40\n"
			"14 open:1 abs:100 rel:0\n"
			"15 open:1 abs:100 rel:30\n");
}

static void test_model_unknown_starts_elapse_nothing(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	f.process.start_ns = 0;
	f.thread[1].start_ns = 0;
	feed(&f, data, 100, "s", "v");
	f.current = 1;
	feed(&f, thread_exit, 100, "");
	feed_expect(&f, "24 open:1 abs:0 rel:?\n"
			"19 open:1 abs:0 rel:?\n");
}

static void repeat(struct feed *f, const struct t2x_open *open, unsigned count)
{
	const struct t2x_update update = {
		.kind = T2X_OPEN_REGIONS, .thread = &f->thread[0],
		.opens = { .open = open, .count = count, .is_shown = 1 },
	};

	t2x_model_update(f->model, &update);
}

static void test_model_repeated_regions_replace_what_was_known(void **state)
{
	const struct t2x_open enters[] = {
		{ .ns = FEED_START_NS + 100 * 1000, .when = 100 }, { .ns = FEED_START_NS + 200 * 1000, .when = 200 }
	};
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, region_enter, 300, "");
	repeat(&f, enters, 2);
	feed(&f, region_leave, 400, "");
	feed(&f, region_leave, 500, "");
	feed(&f, data, 600, "s", "v");
	repeat(&f, enters, 2);
	repeat(&f, enters, 0);
	feed(&f, data, 700, "s", "v");
	feed_expect(&f, "22 open:1 abs:300 rel:0\n"
			"23 open:2 abs:400 rel:200\n"
			"23 open:1 abs:500 rel:400\n"
			"24 open:1 abs:600 rel:600\n"
			"24 open:1 abs:700 rel:700\n");
}

/* Those that were not shown are shown; what is known stays, and is not shown again. */
static void test_model_repeated_regions_are_shown_once(void **state)
{
	struct feed f;
	struct t2x_open open[4];

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	for (unsigned i = 0; i < 4; i++)
		open[i] = (struct t2x_open){
			.scope = feed_scope(&f, i < 3 ? TLG_STYLE_region_enter : TLG_STYLE_step, "c", "l", "message"),
			.ns = FEED_START_NS + 1000 * (10 + i), .when = 10 + i,
		};
	feed(&f, region_enter, 10, "");
	open[1].scope = NULL;
	repeat(&f, open, 4);
	repeat(&f, open, 4);
	feed(&f, region_leave, 400, "");
	feed(&f, data, 500, "s", "v");
	feed_expect(&f, "22 open:1 abs:10 rel:0\n"
			"22 open:3 abs:12 rel:0\n"
			"23 open:4 abs:400 rel:387\n"
			"24 open:4 abs:500 rel:488\n");
}

static void test_model_repeated_regions_may_lack_the_outermost_level(void **state)
{
	const struct t2x_open open[] = { { .when = 0 }, { .ns = FEED_START_NS + 20000, .when = 20 } };
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	repeat(&f, open, 2);
	feed(&f, data, 30, "s", "v");
	repeat(&f, open, 2);
	feed(&f, data, 40, "s", "v");
	repeat(&f, open, 1);
	feed(&f, data, 50, "s", "v");
	repeat(&f, &open[1], 1);
	feed(&f, data, 60, "s", "v");
	feed_expect(&f, "24 open:1 abs:30 rel:10\n"
			"24 open:1 abs:40 rel:20\n"
			"24 open:0 abs:50 rel:0\n"
			"24 open:2 abs:60 rel:40\n");
}

/* It may have joined inside a region whose leave it then took for one too many. */
static void test_model_repeating_nothing_puts_a_thread_back_to_its_outermost_level(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, region_leave, 300, "");
	repeat(&f, NULL, 0);
	feed(&f, cmd_mode, 400, "s", "x");
	feed_expect(&f, "23 open:0 abs:300 rel:300\n"
			"11 open:1 abs:400 rel:0\n");
}

static void test_model_names_show_the_hierarchy_unless_it_is_empty(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	feed(&f, cmd_name, 1, "ss", NULL, "");
	feed(&f, cmd_name, 1, "ss", "first", "first");
	feed(&f, cmd_name, 1, "ss", "first/second", "second");
	feed(&f, cmd_name, 1, "ss", "first/second/", "");
	feed_expect(&f, "cmd_name \n"
			"cmd_name first (first)\n"
			"cmd_name second (first/second)\n"
			"cmd_name  (first/second/)\n");
}

static void test_model_messages_come_rendered_or_as_arguments(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "%s=%d%c"), 1, "sii", "a", 5, '!');
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "ends%chere"), 2, "i", 0);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, NULL), 3, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, ""), 4, "");
	f.flags = TLG_RENDERED;
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "%s"), 5, "s", "100%s");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, NULL, NULL, NULL), 6, "s", "thread-proc on main: x");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "%s"), 7, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, ""), 8, "s", "text");
	feed_expect(&f, "27 open:1 abs:1 rel:0 msg:a=5!\n"
			"27 open:1 abs:2 rel:0 msg:ends\n"
			"27 open:1 abs:3 rel:0\n"
			"27 open:1 abs:4 rel:0\n"
			"27 open:1 abs:5 rel:0 msg:100%s\n"
			"22 open:1 abs:6 rel:0 msg:thread-proc on main: x\n"
			"27 open:2 abs:7 rel:0 msg:\n"
			"27 open:2 abs:8 rel:0\n");
}

static void test_model_absent_last_text_is_empty(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	feed(&f, cmd_mode, 1, "");
	feed(&f, cmd_path, 1, "s", NULL);
	feed(&f, exec_result, 1, "ii", 3, 0);
	feed(&f, child_ready, 1, "iiu", 3, 4, UINT64_C(0));
	feed_expect(&f, "cmd_mode \n"
			"cmd_path \n"
			"exec_result[3] code:0\n"
			"child_ready[3] pid:4 ready: elapsed:0.000000\n");
}

/* Scopes are numbered from 1, and an unresolved line shows the number: expect n of them. */
static void expect_unresolved(struct feed *f, unsigned n)
{
	char expected[1024];
	size_t length = 0;

	assert_int_equal(t2x_model_summary(f->model)->checkpoints, n);
	assert_int_equal(t2x_model_summary(f->model)->unresolved, n);
	for (unsigned i = 1; i <= n; i++)
		length += (size_t)snprintf(expected + length, sizeof(expected) - length, "unresolved %u open:1\n", i);
	assert_true(length < sizeof(expected));
	feed_expect(f, expected);
}

static void test_model_unknown_kinds_are_unresolved(void **state)
{
	static const int styles[] = { TLG_STYLE_none, TLG_STYLE_COUNT, 255 };
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	for (unsigned i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		feed_hit(&f, feed_scope(&f, styles[i], "c", "l", "%s"), 1, "s", "text");
	expect_unresolved(&f, 3);
}

static void test_model_missing_scope_is_unresolved(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed_hit(&f, NULL, 1, "si", "text", 5);
	feed_expect(&f, "unresolved 99 open:1\n");
}

static void test_model_wrong_arguments_are_unresolved_and_change_nothing(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &plain_writer, 0, 0);
	feed(&f, exit, 1, "");
	feed(&f, exit, 1, "s", "text");
	feed(&f, exit, 1, "ii", 1, 2);
	feed(&f, start, 1, "i", 1);
	feed(&f, start, 1, "s", NULL);
	feed(&f, start, 1, "si", "a", 1);
	feed(&f, start, 1, "ss", "a", NULL);
	feed(&f, data, 1, "i", 1);
	feed(&f, data, 1, "ss", "a", "b");
	feed(&f, data, 1, "sss", NULL, "a", "b");
	feed(&f, child_start, 1, "iiss", 1, 0, NULL, NULL);
	feed(&f, timer, 1, "uuu", UINT64_C(1), UINT64_C(1), UINT64_C(1));
	feed(&f, timer, 1, "uuud", UINT64_C(1), UINT64_C(1), UINT64_C(1), 1.0);
	feed(&f, thread_exit, 1, "p", NULL);
	feed(&f, cmd_name, 1, "i", 1);
	f.flags = TLG_RENDERED;
	feed(&f, region_enter, 1, "i", 1);
	feed(&f, region_leave, 1, "i", 1);
	expect_unresolved(&f, 17);
}

/* It need not be put together; what should be a message and is none is found all the same. */
static void test_model_message_that_the_writer_ignores_is_not_made(void **state)
{
	struct t2x_writer writer = plain_writer;
	struct feed f;

	(void)state;
	writer.ignores_messages = 1;
	feed_open(&f, &writer, 0, 0);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "of %d"), 10, "i", 5);
	f.flags = TLG_RENDERED;
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "of %d"), 20, "i", 5);
	feed_expect(&f, "27 open:1 abs:10 rel:0\nunresolved 2 open:1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model_regions_nest_and_elapse),
		cmocka_unit_test(test_model_outermost_level_can_be_left_once),
		cmocka_unit_test(test_model_exit_keeps_regions_and_atexit_unwinds_them),
		cmocka_unit_test(test_model_sums_and_thread_exit_unwind),
		cmocka_unit_test(test_model_threads_have_regions_of_their_own),
		cmocka_unit_test(test_model_children_elapse_from_their_start),
		cmocka_unit_test(test_model_unknown_starts_elapse_nothing),
		cmocka_unit_test(test_model_repeated_regions_replace_what_was_known),
		cmocka_unit_test(test_model_repeated_regions_are_shown_once),
		cmocka_unit_test(test_model_repeated_regions_may_lack_the_outermost_level),
		cmocka_unit_test(test_model_repeating_nothing_puts_a_thread_back_to_its_outermost_level),
		cmocka_unit_test(test_model_names_show_the_hierarchy_unless_it_is_empty),
		cmocka_unit_test(test_model_messages_come_rendered_or_as_arguments),
		cmocka_unit_test(test_model_absent_last_text_is_empty),
		cmocka_unit_test(test_model_unknown_kinds_are_unresolved),
		cmocka_unit_test(test_model_missing_scope_is_unresolved),
		cmocka_unit_test(test_model_wrong_arguments_are_unresolved_and_change_nothing),
		cmocka_unit_test(test_model_message_that_the_writer_ignores_is_not_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
