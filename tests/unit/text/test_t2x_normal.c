/* SPDX-License-Identifier: MIT */
/* The normal format: expected lines have the form that git gave them for the same calls. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "feed.h"

static const char commands[] =
	"04:06:43.000010 m.c:1                             version 1.2.3\n"
	"04:06:43.000030 m.c:3                             start prog 'a b'\n"
	"04:06:43.000040 m.c:4                             cmd_path /p q\n"
	"04:06:43.000050 m.c:5                             cmd_ancestry sh <- bash x\n"
	"04:06:43.000060 m.c:6                             cmd_name one (one)\n"
	"04:06:43.000070 m.c:7                             cmd_mode mode\n"
	"04:06:43.000080 m.c:8                             alias al -> x 'y z'\n"
	"04:06:43.000090 m.c:9                             child_start[0] cd '/some dir'; git st 'a'\\''b'\n"
	"04:06:43.000100 m.c:10                            child_exit[0] pid:1234 code:-1 elapsed:0.000010\n"
	"04:06:43.000110 m.c:11                            child_ready[0] pid:1234 ready:ready elapsed:0."
	  "000000\n"
	"04:06:43.000120 m.c:12                            exec[1] /bin/e x argv0 'a b' ''\n"
	"04:06:43.000130 m.c:13                            exec_result[1] code:2 err:No such file\n"
	"04:06:43.000140 m.c:14                            def_param scope:worktree k.x=v w\n"
	"04:06:43.000150 m.c:15                            error fmt arg\n"
	"04:06:43.000160 trace2/tr2_tgt_normal.c:118       signal elapsed:0.000160 code:13\n";

static const char regions[] =
	"04:06:43.000200 m.c:1                             worktree '/work tree'\n"
	"04:06:43.000250 m.c:6                             hello world\n"
	"04:06:43.000260                                   unresolved ?scope#99\n"
	"04:06:43.001200 trace2/tr2_tgt_normal.c:357       th_timer test/t2 intervals:1 total:0.000541 mi"
	  "n:0.000541 max:0.000542\n"
	"04:06:43.001210 trace2/tr2_tgt_normal.c:372       th_counter test/c2 value:3\n"
	"04:06:45.000000 m.c:13                            exit elapsed:2.000000 code:3\n"
	"04:06:45.000010 trace2/tr2_tgt_normal.c:357       timer test/t1 intervals:2 total:3.000000 min:1"
	  ".000000 max:2.000000\n"
	"04:06:45.000020 trace2/tr2_tgt_normal.c:372       counter test/c1 value:18446744073709551615\n"
	"04:06:45.000030 trace2/tr2_tgt_normal.c:128       atexit elapsed:2.000030 code:3\n";

static void test_normal_commands_print_as_git(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 0, 0);
	feed_commands(&f);
	feed_expect(&f, commands);
}

static void test_normal_regions_print_as_git(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 0, 0);
	feed_regions(&f);
	feed_expect(&f, regions);
}

static void test_normal_brief_has_no_prefix(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	feed(&f, version, 1, "s", "1");
	feed(&f, atexit, 2, "i", 0);
	feed_expect(&f, "version 1\n"
			"atexit elapsed:0.000002 code:0\n");
}

static void test_normal_children_without_words_keep_the_blank(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	feed(&f, child_start, 1, "iisss", 5, TLG_CHILD_GIT, "cls", NULL, "");
	feed(&f, child_start, 1, "iisss", 6, 0, NULL, NULL, NULL);
	feed(&f, exec, 1, "is", 2, "exeonly");
	feed(&f, exec, 1, "iss", 1, NULL, "argv0");
	feed(&f, exec_result, 1, "iis", 9, 0, "");
	feed(&f, exec_result, 1, "iis", 9, -1, "");
	feed(&f, alias, 1, "s", "al");
	feed_expect(&f, "child_start[5] cd ''; git \n"
			"child_start[6] \n"
			"exec[2] exeonly \n"
			"exec[1] argv0\n"
			"exec_result[9] code:0\n"
			"exec_result[9] code:-1\n"
			"alias al -> \n");
}

static void test_normal_place_pads_to_50_and_is_never_cut(void **state)
{
	struct feed f;
	struct t2x_scope *s;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 0, 0);
	s = feed_scope(&f, TLG_STYLE_start, NULL, NULL, NULL);
	s->file = NULL;
	s->number = 0;      /* it will change */
	feed_hit(&f, s, 0, "s", "none");
	s->file = "";
	feed_hit(&f, s, 0, "s", "empty");
	s->file = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa.c";
	feed_hit(&f, s, 0, "s", "fits");
	s->file = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.c";
	s->line = -5;
	feed_hit(&f, s, 0, "s", "longer");
	feed_expect(&f, "04:06:43.000000                                   start none\n"
			"04:06:43.000000                                   start empty\n"
			"04:06:43.000000 aaaaaaaaaaaaaaaaaaaaaaaaaaaaa.c:1 start fits\n"
			"04:06:43.000000 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.c:-5 start longer\n");
}

static void test_normal_place_is_the_same_every_time(void **state)
{
	static char file[600], expected[8000];
	static const size_t lengths[] = { 1, 31, 32, 33, 231, 232, 233, 599 };
	struct t2x_scope *scope;
	struct feed f;
	size_t n = 0;

	(void)state;
	memset(file, 'f', sizeof(file) - 1);
	feed_open(&f, &t2x_writer_normal, 0, 0);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		scope = feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "hi");
		scope->file = file + sizeof(file) - 1 - lengths[i];
		scope->line = 7;
		for (unsigned twice = 0; twice < 2; twice++) {
			feed_hit(&f, scope, 0, "");
			n += (size_t)snprintf(expected + n, sizeof(expected) - n, "04:06:43.000000 %s:7 %*shi\n",
					      scope->file, lengths[i] < 31 ? 31 - (int)lengths[i] : 0, "");
		}
	}
	assert_true(n < sizeof(expected));
	feed_expect(&f, expected);
}

static void test_normal_messages_end_in_one_newline_at_most_added(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "ends\n"), 1, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "two\nlines"), 1, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, ""), 1, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "%s"), 1, "s", "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_printf, NULL, NULL, "double\n\n"), 1, "");
	feed(&f, error, 1, "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_error, NULL, NULL, "%s"), 1, "s", "");
	feed_hit(&f, feed_scope(&f, TLG_STYLE_error, NULL, NULL, ""), 1, "");
	feed_expect(&f, "ends\n"
			"two\nlines\n"
			"double\n\n"
			"error\n"
			"error \n"
			"error\n");
}

static void test_normal_parameters_without_value_have_no_sign(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_normal, 1, 0);
	feed(&f, def_param, 1, "iss", 0, "k.none", NULL);
	feed(&f, def_param, 1, "iss", 5, "k.empty", "");
	feed(&f, def_param, 1, "iss", 77, "k.odd", "v");
	feed_expect(&f, "def_param scope:unknown k.none\n"
			"def_param scope:command k.empty=\n"
			"def_param scope:unknown k.odd=v\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_commands_print_as_git),
		cmocka_unit_test(test_normal_regions_print_as_git),
		cmocka_unit_test(test_normal_brief_has_no_prefix),
		cmocka_unit_test(test_normal_children_without_words_keep_the_blank),
		cmocka_unit_test(test_normal_place_pads_to_50_and_is_never_cut),
		cmocka_unit_test(test_normal_place_is_the_same_every_time),
		cmocka_unit_test(test_normal_messages_end_in_one_newline_at_most_added),
		cmocka_unit_test(test_normal_parameters_without_value_have_no_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
