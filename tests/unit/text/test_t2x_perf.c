/* SPDX-License-Identifier: MIT */
/* The perf format: expected lines have the form that git gave them for the same calls. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "feed.h"
#include "text/t2x_columns.h"

static const char commands[] =
	"04:06:43.000010 m.c:1                        | d0 | main                     | version      "
	  "|     |           |           |              | 1.2.3\n"
	"04:06:43.000030 m.c:3                        | d0 | main                     | start        "
	  "|     |  0.000030 |           |              | prog 'a b'\n"
	"04:06:43.000040 m.c:4                        | d0 | main                     | cmd_path     "
	  "|     |           |           |              | /p q\n"
	"04:06:43.000050 m.c:5                        | d0 | main                     | cmd_ancestry "
	  "|     |           |           |              | ancestry:[sh 'bash x']\n"
	"04:06:43.000060 m.c:6                        | d0 | main                     | cmd_name     "
	  "|     |           |           |              | one (one)\n"
	"04:06:43.000070 m.c:7                        | d0 | main                     | cmd_mode     "
	  "|     |           |           |              | mode\n"
	"04:06:43.000080 m.c:8                        | d0 | main                     | alias        "
	  "|     |           |           |              | alias:al argv:[x 'y z']\n"
	"04:06:43.000090 m.c:9                        | d0 | main                     | child_start  "
	  "|     |  0.000090 |           |              "
	  "| [ch0] class:cls cd:'/some dir' argv:[git st 'a'\\''b']\n"
	"04:06:43.000100 m.c:10                       | d0 | main                     | child_exit   "
	  "|     |  0.000100 |  0.000010 |              | [ch0] pid:1234 code:-1\n"
	"04:06:43.000110 m.c:11                       | d0 | main                     | child_ready  "
	  "|     |  0.000110 |  0.000000 |              | [ch0] pid:1234 ready:ready\n"
	"04:06:43.000120 m.c:12                       | d0 | main                     | exec         "
	  "|     |  0.000120 |           |              | id:1 argv:[/bin/e x argv0 'a b' '']\n"
	"04:06:43.000130 m.c:13                       | d0 | main                     | exec_result  "
	  "|     |  0.000130 |           |              | id:1 code:2 err:No such file\n"
	"04:06:43.000140 m.c:14                       | d0 | main                     | def_param    "
	  "|     |           |           | scope:worktr | k.x:v w\n"
	"04:06:43.000150 m.c:15                       | d0 | main                     | error        "
	  "|     |           |           |              | fmt arg\n"
	"04:06:43.000160 trace2/tr2_tgt_perf.c:207    | d0 | main                     | signal       "
	  "|     |  0.000160 |           |              | signo:13\n";

static const char regions[] =
	"04:06:43.000200 m.c:1                        | d0 | main                     | def_repo     "
	  "| r1  |           |           |              | worktree:'/work tree'\n"
	"04:06:43.000210 m.c:2                        | d0 | main                     | region_enter "
	  "| r1  |  0.000210 |           | category_lon | label:lab msg 5\n"
	"04:06:43.000220 m.c:3                        | d0 | main                     | data         "
	  "|     |  0.000220 |  0.000010 | cat          | ..key:va\"l\n"
	"04:06:43.000230 m.c:4                        | d0 | main                     | data         "
	  "|     |  0.000230 |  0.000020 | cat          | ..n:-5\n"
	"04:06:43.000240 m.c:5                        | d0 | main                     | data_json    "
	  "|     |  0.000240 |  0.000030 | cat          | ..j:{\n"
	"  \"a\": 1,\n"
	"  \"b\": []\n"
	"}\n"
	"04:06:43.000250 m.c:6                        | d0 | main                     | printf       "
	  "|     |  0.000250 |           |              | ..hello world\n"
	"04:06:43.000250 m.c:7                        | d0 | main                     | step         "
	  "|     |  0.000250 |           | cat          | ..label:st\n"
	"04:06:43.000260                              | d0 | main                     | unresolved   "
	  "|     |  0.000260 |           |              | ..?scope#99\n"
	"04:06:43.000270 m.c:8                        | d0 | main                     | region_leave "
	  "|     |  0.000270 |           | cat          | label:lab\n"
	"04:06:43.001000 m.c:9                        | d0 | th01:worker              | thread_start "
	  "|     |  0.001000 |           |              | \n"
	"04:06:43.001200 trace2/tr2_tgt_perf.c:580    | d0 | th01:worker              | th_timer     "
	  "|     |           |           | test         "
	  "| name:t2 intervals:1 total:0.000541 min:0.000541 max:0.000542\n"
	"04:06:43.001210 trace2/tr2_tgt_perf.c:596    | d0 | th01:worker              | th_counter   "
	  "|     |           |           | test         | name:c2 value:3\n"
	"04:06:43.001250 m.c:12                       | d0 | th01:worker              | thread_exit  "
	  "|     |  0.001250 |  0.000250 |              | \n"
	"04:06:45.000000 m.c:13                       | d0 | main                     | exit         "
	  "|     |  2.000000 |           |              | code:3\n"
	"04:06:45.000010 trace2/tr2_tgt_perf.c:580    | d0 | main                     | timer        "
	  "|     |           |           | test         "
	  "| name:t1 intervals:2 total:3.000000 min:1.000000 max:2.000000\n"
	"04:06:45.000020 trace2/tr2_tgt_perf.c:596    | d0 | main                     | counter      "
	  "|     |           |           | test         | name:c1 value:18446744073709551615\n"
	"04:06:45.000030 trace2/tr2_tgt_perf.c:219    | d0 | main                     | atexit       "
	  "|     |  2.000030 |           |              | code:3\n";

static void test_perf_commands_print_as_git(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 0, 2);
	feed_commands(&f);
	feed_expect(&f, commands);
}

static void test_perf_regions_print_as_git(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 0, 2);
	feed_regions(&f);
	feed_expect(&f, regions);
}

static void test_perf_brief_begins_with_depth(void **state)
{
	struct feed f;
	struct t2x_scope *s;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 2);
	f.process.depth = 12;
	s = feed_scope(&f, TLG_STYLE_region_enter, "cat", "lab", NULL);
	s->repo = 10;
	feed_hit(&f, s, 5, "");
	feed_hit(&f, s, 6, "");
	feed_expect(&f,
	"d12 | main                     | region_enter | r10  |  0.000005 |           | cat          "
	  "| label:lab\n"
	"d12 | main                     | region_enter | r10  |  0.000006 |           | cat          "
	  "| ..label:lab\n");
}

static void test_perf_long_place_keeps_its_end(void **state)
{
	static const char *const files[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaa.c", "aaaaaaaaaaaaaaaaaaaaaaaa.c", "a/very/long/path/in/total.c", "", NULL
	};
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 0, 2);
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct t2x_scope *s = feed_scope(&f, TLG_STYLE_cmd_mode, NULL, NULL, NULL);

		s->file = files[i];
		s->line = i == 2 ? INT32_MIN : 1;
		feed_hit(&f, s, 0, "s", "m");
	}
	feed_expect(&f,
	"04:06:43.000000 ...aaaaaaaaaaaaaaaaaaaaa.c:1 | d0 | main                     | cmd_mode     "
	  "|     |           |           |              | m\n"
	"04:06:43.000000 aaaaaaaaaaaaaaaaaaaaaaaa.c:1 | d0 | main                     | cmd_mode     "
	  "|     |           |           |              | m\n"
	"04:06:43.000000 ...th/in/total.c:-2147483648 | d0 | main                     | cmd_mode     "
	  "|     |           |           |              | m\n"
	"04:06:43.000000                              | d0 | main                     | cmd_mode     "
	  "|     |           |           |              | m\n"
	"04:06:43.000000                              | d0 | main                     | cmd_mode     "
	  "|     |           |           |              | m\n");
}

static void test_perf_region_texts_may_be_absent(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 2);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, NULL, "lab", NULL), 1, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "cat", NULL, NULL), 2, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, NULL, NULL, "onlymsg"), 3, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "", "", ""), 4, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "c", "l", "%s"), 5, "s", "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, NULL, NULL, NULL), 6, "s", "v");
	feed_expect(&f,
	"d0 | main                     | region_enter |     |  0.000001 |           |              "
	  "| label:lab\n"
	"d0 | main                     | region_enter |     |  0.000002 |           | cat          | ..\n"
	"d0 | main                     | region_enter |     |  0.000003 |           |              "
	  "| .... onlymsg\n"
	"d0 | main                     | region_enter |     |  0.000004 |           |              "
	  "| ......label:\n"
	"d0 | main                     | region_enter |     |  0.000005 |           | c            "
	  "| ........label:l \n"
	"d0 | main                     | data         |     |  0.000006 |  0.000001 |              "
	  "| ..........(null):v\n");
}

static void test_perf_children_and_exec_list_their_words(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 2);
	feed(&f, child_start, 1, "iisss", 5, TLG_CHILD_GIT, "cls", NULL, "");
	feed(&f, child_start, 1, "iisss", 6, 0, NULL, NULL, NULL);
	feed(&f, child_start, 1, "iissss", 7, 0, "ignored", "post", NULL, "hook");
	feed(&f, exec, 1, "is", 2, "exeonly");
	feed(&f, exec, 1, "iss", 1, NULL, "argv0");
	feed(&f, exec_result, 1, "iis", 9, 0, "");
	feed_expect(&f,
	"d0 | main                     | child_start  |     |  0.000001 |           |              "
	  "| [ch5] class:cls cd:'' argv:[git]\n"
	"d0 | main                     | child_start  |     |  0.000001 |           |              "
	  "| [ch6] class:? argv:[]\n"
	"d0 | main                     | child_start  |     |  0.000001 |           |              "
	  "| [ch7] class:hook hook:post argv:[hook]\n"
	"d0 | main                     | exec         |     |  0.000001 |           |              "
	  "| id:2 argv:[exeonly]\n"
	"d0 | main                     | exec         |     |  0.000001 |           |              "
	  "| id:1 argv:[argv0]\n"
	"d0 | main                     | exec_result  |     |  0.000001 |           |              "
	  "| id:9 code:0\n");
}

/* Found by fuzz_text: no arguments at all, and so no place to look for words. */
static void test_perf_list_without_words_is_empty(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 2);
	feed(&f, cmd_ancestry, 5, "");
	feed_expect(&f, "d0 | main                     | cmd_ancestry |     |           |           |              | "
			"ancestry:[]\n");
}

static void test_perf_times_widen_the_column(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 2);
	feed(&f, thread_start, 99999999, "");
	feed(&f, thread_start, 100000000, "");
	feed(&f, thread_start, UINT64_C(123456789012), "");
	feed_expect(&f,
	"d0 | main                     | thread_start |     | 99.999999 |           |              | \n"
	"d0 | main                     | thread_start |     | 100.000000 |           |              | \n"
	"d0 | main                     | thread_start |     | 123456.789012 |           |              | \n");
}

static void test_perf_time_before_the_start_wraps_as_git(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 2);
	f.current = 1;
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "c", "k", NULL), 999, "s", "v");
	feed_expect(&f,
	"d0 | th01:worker              | data         |     |  0.000999 | 18446744073709.550781 "
	  "| c            | k:v\n");
}

static void test_perf_thread_name_of_24_bytes_fills_the_column(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 2);
	memcpy(f.thread[1].name, "th01:exactly19characters", sizeof(f.thread[1].name));
	f.current = 1;
	feed(&f, thread_start, 1000, "");
	feed_expect(&f,
	"d0 | th01:exactly19characters | thread_start |     |  0.001000 |           |              | \n");
}

/* Two scopes, and two threads, whose templates have the same place in the table. */
static void test_perf_templates_of_others_are_not_taken(void **state)
{
	struct t2x_scope *one, *two;
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_perf, 1, 0);
	one = feed_scope(&f, TLG_STYLE_step, "c1", "one", NULL);
	two = feed_scope(&f, TLG_STYLE_step, "c2", "two", NULL);
	two->number = one->number + T2X_SCOPE_TEMPLATES;
	f.thread[1].number = f.thread[0].number + T2X_THREAD_TEMPLATES;
	for (unsigned i = 0; i < 4; i++) {
		f.current = i / 2;
		feed_hit(&f, i % 2 ? two : one, i, "");
	}
	strcpy(f.thread[1].name, "th01:new");
	f.thread[1].number = 77;
	feed_hit(&f, two, 4, "");
	feed_expect(&f,
	"d0 | main                     | step         |     |  0.000000 |           | c1           | label:one\n"
	"d0 | main                     | step         |     |  0.000001 |           | c2           | label:two\n"
	"d0 | th01:worker              | step         |     |  0.000002 |           | c1           | label:one\n"
	"d0 | th01:worker              | step         |     |  0.000003 |           | c2           | label:two\n"
	"d0 | th01:new                 | step         |     |  0.000004 |           | c2           | label:two\n");
}

/* Names around the length that a template can hold, after dots around the number that one copy holds. */
static void test_perf_long_names_and_many_dots_are_printed_whole(void **state)
{
	static char label[600], expected[200000], dots[81];
	struct feed f;
	size_t n = 0;

	(void)state;
	memset(dots, '.', sizeof(dots) - 1);
	feed_open(&f, &t2x_writer_perf, 1, 0);
	for (unsigned i = 0; i < 40; i++) {
		size_t length = 366 + i;
		struct t2x_scope *scope;

		memset(label, 'x', length);
		label[length] = '\0';
		scope = feed_scope(&f, TLG_STYLE_region_enter, "c", strdup(label), NULL);
		for (unsigned twice = 0; twice < 2; twice++)
			feed_hit(&f, scope, 0, "");
		feed_hit(&f, feed_scope(&f, TLG_STYLE_region_leave, "c", NULL, NULL), 0, "");
		for (unsigned k = 0; k < 3; k++)
			n += (size_t)snprintf(expected + n, sizeof(expected) - n,
				"d0 | main                     | region_%s |     |  0.000000 | %9s "
				"| c            | %.*s%s%s\n", k < 2 ? "enter" : "leave", k < 2 ? "" : "0.000000",
				(int)(2 * (i + (k > 0))), dots, k < 2 ? "label:" : "", k < 2 ? label : "");
		assert_true(n < sizeof(expected));
	}
	feed_expect(&f, expected);
	for (unsigned i = 0; i < f.nscopes; i += 2)
		free((char *)(uintptr_t)f.scope[i].label);
}

/* Nobody needs more, and without an end the text grows with the square of the events. */
static void test_perf_dots_end_at_256_regions(void **state)
{
	static char expected[400000], dots[513];
	struct t2x_scope *scope;
	struct feed f;
	size_t n = 0;

	(void)state;
	memset(dots, '.', sizeof(dots) - 1);
	feed_open(&f, &t2x_writer_perf, 1, 0);
	scope = feed_scope(&f, TLG_STYLE_region_enter, "c", "l", NULL);
	for (unsigned i = 0; i < 300; i++) {
		feed_hit(&f, scope, 0, "");
		n += (size_t)snprintf(expected + n, sizeof(expected) - n,
				      "d0 | main                     | region_enter |     |  0.000000 |           "
				      "| c            | %.*slabel:l\n", (int)(i < 256 ? 2 * i : 512), dots);
		assert_true(n < sizeof(expected));
	}
	feed_expect(&f, expected);
}

/* ---- the room behind the columns ------------------------------------------------------------------- */

static struct t2x_out *tight;          /* columns leave as much of it as they promise; a page of no use is behind it */

char *__wrap_t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
			       const char *category);
char *__real_t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
			       const char *category);

char *__wrap_t2x_columns_begin(struct t2x_printer *printer, const struct t2x_event *ev, unsigned times,
			       const char *category)
{
	return tight ? tight->pos : __real_t2x_columns_begin(printer, ev, times, category);
}

/* The buffer, at the end of which so many bytes are free. */
static char *map_tight(struct t2x_out *out, size_t spare)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (T2X_OUT_BYTES + page - 1) / page * page;
	char *map = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + bytes, page, PROT_NONE), 0);
	out->end = map + bytes;
	out->buf = out->end - T2X_OUT_BYTES;
	out->pos = out->line = out->end - spare;
	memset(out->buf, '.', T2X_OUT_BYTES - spare);
	return map;
}

/* n bytes of a message in the room that the columns leave: all of it arrives, and nothing is written behind. */
static void check_tight(size_t n)
{
	static char message[T2X_COLUMNS_SPARE + 8], expected[T2X_OUT_BYTES + sizeof(message)];
	struct feed f;
	struct t2x_out usual;
	size_t before = T2X_OUT_BYTES - T2X_COLUMNS_SPARE;
	char *map;

	memset(message, 'x', sizeof(message));
	message[n] = '\0';
	feed_open(&f, &t2x_writer_perf, 1, 2);
	usual = f.out;
	map = map_tight(&f.out, T2X_COLUMNS_SPARE);
	tight = &f.out;
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "c", NULL, "%s"), 0, "s", message);
	assert_int_equal(t2x_out_flush(&f.out), 0);
	tight = NULL;
	munmap(map, (size_t)(f.out.end - map));
	f.out = usual;
	memset(expected, '.', before);
	snprintf(expected + before, sizeof(expected) - before, " %s\n", message);
	feed_expect(&f, expected);
}

static void test_perf_message_that_fills_the_room_stays_within_it(void **state)
{
	(void)state;
	for (size_t n = T2X_COLUMNS_SPARE - 4; n < T2X_COLUMNS_SPARE + 4; n++)
		check_tight(n);
}

static void test_perf_ns_shows_every_time_as_it_was_recorded(void **state)
{
	const struct t2x_options options = { .ns = 1 };
	struct feed f;

	(void)state;
	feed_open_with(&f, &t2x_writer_perf, &options);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_enter, "cat", "lab", NULL), 5, "");
	f.process.start_ns += 7;
	feed_hit(&f, feed_scope(&f, TLG_STYLE_data, "cat", "key", NULL), 5, "s", "v");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_region_leave, "cat", "lab", NULL), 100000006, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_timer, "cat", "t", NULL), 100000007, "uuuu", UINT64_C(2),
		 UINT64_C(1234567890), UINT64_C(1), UINT64_C(999));
	f.process.start_ns = FEED_START_NS + 10000;
	feed(&f, start, 9, "s", "early");
	feed_expect(&f,
	"04:06:43.000005999 m.c:1                        | d0 | main                     | region_enter |     "
	  "|  0.000005999 |              | cat          | label:lab\n"
	"04:06:43.000005999 m.c:2                        | d0 | main                     | data         |     "
	  "|  0.000005992 |  0.000000000 | cat          | ..key:v\n"
	"04:08:23.000006999 m.c:3                        | d0 | main                     | region_leave |     "
	  "| 100.000006992 | 100.000001000 | cat          | label:lab\n"
	"04:08:23.000007999 trace2/tr2_tgt_perf.c:580    | d0 | main                     | timer        |     "
	  "|              |              | cat          | name:t intervals:2 total:1.234567890 min:0.000000001 "
	  "max:0.000000999\n"
	"04:06:43.000009999 m.c:5                        | d0 | main                     | start        |     "
	  "| -0.000000001 |              |              | early\n");
}

static void test_perf_ns_brief_has_no_time_of_day(void **state)
{
	const struct t2x_options options = { .ns = 1, .brief = 1 };
	struct feed f;

	(void)state;
	feed_open_with(&f, &t2x_writer_perf, &options);
	feed(&f, printf, 5, "");
	feed_expect(&f, "d0 | main                     | printf       |     |  0.000005999 |              |"
			"              | \n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_commands_print_as_git),
		cmocka_unit_test(test_perf_regions_print_as_git),
		cmocka_unit_test(test_perf_brief_begins_with_depth),
		cmocka_unit_test(test_perf_long_place_keeps_its_end),
		cmocka_unit_test(test_perf_region_texts_may_be_absent),
		cmocka_unit_test(test_perf_children_and_exec_list_their_words),
		cmocka_unit_test(test_perf_list_without_words_is_empty),
		cmocka_unit_test(test_perf_times_widen_the_column),
		cmocka_unit_test(test_perf_time_before_the_start_wraps_as_git),
		cmocka_unit_test(test_perf_thread_name_of_24_bytes_fills_the_column),
		cmocka_unit_test(test_perf_templates_of_others_are_not_taken),
		cmocka_unit_test(test_perf_dots_end_at_256_regions),
		cmocka_unit_test(test_perf_long_names_and_many_dots_are_printed_whole),
		cmocka_unit_test(test_perf_message_that_fills_the_room_stays_within_it),
		cmocka_unit_test(test_perf_ns_shows_every_time_as_it_was_recorded),
		cmocka_unit_test(test_perf_ns_brief_has_no_time_of_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
