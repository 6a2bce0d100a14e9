/* SPDX-License-Identifier: MIT */
/* What is done with whole lines: columns in front of them, the last ones of each thread. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "query/t2x_last.h"
#include "query/t2x_lines.h"
#include "text/t2x_formats.h"

/* NULL: without the option */
static void open_lines(struct feed *f, const struct t2x_writer *writer, const char *columns, const char *last)
{
	static const char *values[T2X_OPTIONS];
	const struct t2x_options options = { .brief = 1, .values = values };

	values[T2X_OPTION_columns] = columns;
	values[T2X_OPTION_last] = last;
	feed_open_with(f, t2x_lines_writer(writer, &options), &options);
}

static void become(struct feed *f, uint32_t pid, uint64_t start_ticks)
{
	f->process.pid = f->process.stream = pid;
	f->process.start_ticks = start_ticks;
}

static void say(struct feed *f, uint64_t us, const char *text)
{
	feed_hit(f, feed_scope(f, TLG_STYLE_printf, NULL, NULL, "%s"), us, "s", text);
}

static void test_lines_without_an_option_are_the_writers(void **state)
{
	const struct t2x_options options = { .values = (const char *[T2X_OPTIONS]){ NULL } };

	(void)state;
	assert_ptr_equal(t2x_lines_writer(&t2x_writer_perf, &options), &t2x_writer_perf);
}

static void test_lines_with_columns_begin_with_them(void **state)
{
	struct feed f;

	(void)state;
	open_lines(&f, &t2x_writer_normal, "pid,program", NULL);
	become(&f, 7, 1);
	say(&f, 1, "early");
	feed(&f, cmd_name, 2, "ss", "own", "own");
	feed(&f, start, 3, "ss", "/usr/bin/a\tprogram-with-a-long-name", "x");
	feed(&f, cmd_name, 4, "ss", "other", "other");
	become(&f, 12345678, 2);
	say(&f, 5, "two\nlines");
	become(&f, 8, 1);                /* a fork of the first */
	say(&f, 6, "forked");
	feed_expect(&f, "      7 | ?                | early\n"
			"      7 | own              | cmd_name own (own)\n"
			"      7 | a?program-with-a | start '/usr/bin/a\tprogram-with-a-long-name' x\n"
			"      7 | a?program-with-a | cmd_name other (other)\n"
			"12345678 | ?                | two\nlines\n"
			"      8 | a?program-with-a | forked\n");
}

static void test_lines_of_events_that_are_not_shown_have_no_columns(void **state)
{
	struct feed f;

	(void)state;
	open_lines(&f, &t2x_writer_normal, "pid", NULL);
	become(&f, 7, 1);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "c", "l", NULL), 1, "");
	say(&f, 2, "shown");
	feed_expect(&f, "      7 | shown\n");
}

static void test_lines_last_are_those_of_each_thread_in_their_order(void **state)
{
	struct feed f;

	(void)state;
	open_lines(&f, &t2x_writer_normal, NULL, "2");
	say(&f, 1, "a1");
	f.current = 1;
	say(&f, 1001, "b1");
	f.current = 0;
	say(&f, 1002, "a2");
	say(&f, 1003, "a3");
	say(&f, 1004, "a4");
	feed_expect(&f, "b1\na3\na4\n");
}

/* The thread's id comes again: what the first one said last stays. */
static void test_lines_last_of_a_thread_that_ended_stay(void **state)
{
	struct feed f;

	(void)state;
	open_lines(&f, &t2x_writer_perf, NULL, "1");
	f.current = 1;
	say(&f, 1001, "gone");
	feed(&f, thread_exit, 1002, "");
	say(&f, 1003, "again");
	feed_expect(&f, "d0 | th01:worker              | thread_exit  |     |  0.001002 |  0.000002 |              | \n"
			"d0 | th01:worker              | printf       |     |  0.001003 |           |              | "
			"again\n");
}

/* A t2x_write_fn: the first byte, and the last but the end of the line. */
static int take_ends(void *target, const char *text, size_t n)
{
	char *ends = target;

	if (!ends[0])
		ends[0] = text[0];
	ends[1] = text[text[n - 1] == '\n' ? n - 2 : n - 1];
	return 0;
}

static void test_last_beyond_the_room_is_the_newest(void **state)
{
	enum { BYTES = 65536, TEXTS = 2 * T2X_LAST_BYTES / BYTES };
	struct t2x_process process = { .stream = 1 };
	struct t2x_thread thread = { .process = &process, .number = 1 };
	char *text = malloc(BYTES);
	struct t2x_last last;
	struct t2x_out out;
	char ends[2] = { 0 };
	unsigned kept;

	(void)state;
	assert_non_null(text);
	t2x_last_init(&last, UINT32_MAX);
	for (unsigned i = 0; i < TEXTS; i++) {
		memset(text, 'a' + (int)(i % 26), BYTES);
		thread.tid = i % 7;
		thread.number = i % 7 + 1;
		assert_int_equal(t2x_last_add(&last, &thread, text, BYTES), 0);
		assert_true(last.bytes <= T2X_LAST_BYTES);
	}
	assert_true(last.bytes > T2X_LAST_BYTES - 2 * BYTES);
	kept = (unsigned)(last.bytes / BYTES);
	assert_int_equal(t2x_out_init_fn(&out, take_ends, ends), 0);
	t2x_last_put(&last, &out);
	t2x_out_flush(&out);
	assert_int_equal(ends[0], 'a' + (TEXTS - kept) % 26);
	assert_int_equal(ends[1], 'a' + (TEXTS - 1) % 26);
	t2x_out_free(&out);
	t2x_last_free(&last);
	free(text);
}

static void test_columns_other_words_are_none(void **state)
{
	(void)state;
	assert_int_equal(t2x_lines_columns("pid"), T2X_LINES_PID);
	assert_int_equal(t2x_lines_columns("program"), T2X_LINES_PROGRAM);
	assert_int_equal(t2x_lines_columns("program,pid"), T2X_LINES_PID | T2X_LINES_PROGRAM);
	assert_int_equal(t2x_lines_columns(""), 0);
	assert_int_equal(t2x_lines_columns("pi"), 0);
	assert_int_equal(t2x_lines_columns("pid,thread"), 0);
	assert_int_equal(t2x_lines_columns("pid,,program"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_without_an_option_are_the_writers),
		cmocka_unit_test(test_lines_with_columns_begin_with_them),
		cmocka_unit_test(test_lines_of_events_that_are_not_shown_have_no_columns),
		cmocka_unit_test(test_lines_last_are_those_of_each_thread_in_their_order),
		cmocka_unit_test(test_lines_last_of_a_thread_that_ended_stay),
		cmocka_unit_test(test_last_beyond_the_room_is_the_newest),
		cmocka_unit_test(test_columns_other_words_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
