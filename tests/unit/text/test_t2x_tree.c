/* SPDX-License-Identifier: MIT */
/* The tree of processes: who belongs where, what each line says. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "text/t2x_formats.h"
#include "text/t2x_tree.h"

/* The next checkpoints are of this process, which began at start_us. */
static void become(struct feed *f, uint32_t pid, const char *sid, uint64_t start_us)
{
	f->process.sid = sid;
	f->process.pid = f->process.stream = pid;
	f->process.start_ns = FEED_START_NS + start_us * 1000;
}

/* A process from its start to its end, a hundred microseconds long. */
static void live(struct feed *f, uint32_t pid, const char *sid, uint64_t start_us, const char *word)
{
	become(f, pid, sid, start_us);
	feed(f, start, start_us + 10, "s", word);
	feed(f, atexit, start_us + 100, "i", (int)pid % 10);
}

static void open_tree(struct feed *f)
{
	feed_open(f, &t2x_writer_tree, 1, 0);
}

static void test_tree_children_stand_below_their_parents_by_start(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	live(&f, 35, "b", 500, "late");
	live(&f, 23, "a/q", 300, "second");
	live(&f, 12, "a/p", 100, "first");
	live(&f, 14, "a/p/x/y", 130, "grandchild");
	live(&f, 13, "a/p/x", 120, "child");
	live(&f, 24, "a/q/x", 310, "other");
	live(&f, 10, "a", 0, "root");
	feed_expect(&f, "   0.000100  code:0    pid:10      root\n"
			"   0.000100  code:2    pid:12      |-- first\n"
			"   0.000100  code:3    pid:13      |   `-- child\n"
			"   0.000100  code:4    pid:14      |       `-- grandchild\n"
			"   0.000100  code:3    pid:23      `-- second\n"
			"   0.000100  code:4    pid:24          `-- other\n"
			"   0.000100  code:5    pid:35      late\n");
}

static void test_tree_without_parent_is_a_root(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	live(&f, 10, "a", 0, "root");
	live(&f, 14, "a/p/x", 130, "orphan");
	live(&f, 15, "aa/p", 140, "stranger");
	feed_expect(&f, "   0.000100  code:0    pid:10      root\n"
			"   0.000100  code:4    pid:14      orphan\n"
			"   0.000100  code:5    pid:15      stranger\n");
}

static void test_tree_start_is_local_time_unless_brief(void **state)
{
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_tree, 0, 0);
	live(&f, 10, "a", 1500000, "root");
	feed_expect(&f, "04:06:44.500000    0.000100  code:0    pid:10      root\n");
}

static void test_tree_ends_are_told_apart(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	become(&f, 1, "a", 0);
	feed(&f, start, 5, "s", "runs");
	feed(&f, step, 30, "");
	feed(&f, step, 20, "");
	become(&f, 2, "b", 1);
	feed(&f, start, 5, "s", "exits");
	feed(&f, exit, 21, "i", 3);
	feed(&f, step, 31, "");
	become(&f, 3, "c", 2);
	feed(&f, start, 5, "s", "signalled");
	feed(&f, signal, 22, "i", 13);
	become(&f, 4, "d", 3);
	feed(&f, start, 5, "s", "replaced");
	feed(&f, exec, 23, "iss", 0, "x", "x");
	become(&f, 5, "e", 4);
	feed(&f, start, 5, "s", "not replaced");
	feed(&f, exec, 14, "iss", 0, "x", "x");
	feed(&f, exec_result, 24, "iis", 0, 2, "No such file");
	become(&f, 6, "f", 5);
	feed(&f, start, 6, "s", "changes its mind");
	feed(&f, exit, 15, "i", 1);
	feed(&f, exit, 20, "i", 300);
	feed(&f, atexit, 25, "i", -1);
	feed(&f, step, 99, "");
	feed_expect(&f, "   0.000030+ open      pid:1       runs\n"
			"   0.000030+ code:3    pid:2       exits\n"
			"   0.000020  signal:13 pid:3       signalled\n"
			"   0.000020  exec      pid:4       replaced\n"
			"   0.000020+ open      pid:5       'not replaced'\n"
			"   0.000020  code:-1   pid:6       'changes its mind'\n");
}

static void test_tree_shows_the_mode_that_was_said_last(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	become(&f, 1, "a", 0);
	feed(&f, start, 5, "ss", "checkout", "x");
	feed(&f, cmd_mode, 6, "s", "path");
	feed(&f, cmd_mode, 7, "s", "branch");
	feed(&f, atexit, 10, "i", 0);
	become(&f, 2, "a/b", 1);
	feed(&f, start, 5, "s", "none");
	become(&f, 3, "a/c", 2);
	feed(&f, start, 5, "s", "odd");
	feed(&f, cmd_mode, 6, "s", "it's\none");
	/* the same process in a later file, whose end is there */
	f.process.stream = 33;
	feed(&f, version, 8, "s", "1.0");
	feed(&f, atexit, 12, "i", 0);
	feed_expect(&f, "   0.000010  code:0    pid:1       checkout x [mode:branch]\n"
			"   0.000004+ open      pid:2       |-- none\n"
			"   0.000010  code:0    pid:3       `-- odd [mode:'it'\\''s?one']\n");
}

static void test_tree_without_start_shows_what_else_is_known(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	become(&f, 1, "a", 0);
	feed(&f, version, 1, "s", "1.0");
	become(&f, 2, "b", 1);
	feed(&f, cmd_name, 2, "ss", "up/own", "own");
	become(&f, 3, "c", 2);
	feed(&f, cmd_path, 3, "s", "/bin/a b");
	feed(&f, cmd_name, 3, "ss", "up/own", "own");
	become(&f, 4, "d", 3);
	feed(&f, cmd_name, 4, "ss", "up/own", "own");
	feed(&f, cmd_path, 4, "s", "/bin/a");
	feed(&f, start, 4, "ss", "a", "it's");
	feed(&f, start, 4, "s", "another");
	become(&f, 5, "e", 4);
	feed_hit(&f, NULL, 5, "");
	feed_expect(&f, "   0.000001+ open      pid:1       ?\n"
			"   0.000001+ open      pid:2       own\n"
			"   0.000001+ open      pid:3       '/bin/a b'\n"
			"   0.000001+ open      pid:4       a 'it'\\''s'\n"
			"   0.000001+ open      pid:5       ?\n");
}

static void test_tree_forks_are_lines_of_their_own(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	live(&f, 10, "a", 0, "daemon");
	become(&f, 11, "a", 0);
	feed(&f, region_enter, 50, "");
	feed(&f, atexit, 90, "i", 5);
	live(&f, 12, "a/x", 20, "child");
	live(&f, 13, "b", 0, "other");
	feed_expect(&f, "   0.000100  code:0    pid:10      daemon\n"
			"   0.000100  code:2    pid:12      `-- child\n"
			"   0.000040  code:5    pid:11      daemon [fork]\n"
			"   0.000100  code:3    pid:13      other\n");
}

/* A forked child is a session below its parent's; that it was forked tells its start, which is its parent's. */
static void test_tree_forked_sessions_stand_below_their_parents(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	f.process.start_ticks = 700;
	live(&f, 10, "a", 0, "daemon");
	become(&f, 11, "a/f", 0);
	feed(&f, region_enter, 50, "");
	feed(&f, atexit, 90, "i", 5);
	become(&f, 12, "a/f/g", 0);
	feed(&f, cmd_name, 60, "ss", "daemon/worker", "worker");
	feed(&f, atexit, 80, "i", 6);
	become(&f, 13, "a/f/h", 0);
	feed(&f, atexit, 70, "i", 7);
	f.process.start_ticks = 701;
	become(&f, 14, "a/f/x", 75);
	feed(&f, atexit, 79, "i", 8);
	feed_expect(&f, "   0.000100  code:0    pid:10      daemon\n"
			"   0.000040  code:5    pid:11      `-- daemon [fork]\n"
			"   0.000020  code:6    pid:12          |-- worker [fork]\n"
			"   0.000000  code:7    pid:13          |-- daemon [fork]\n"
			"   0.000004  code:8    pid:14          `-- ?\n");
}

static void test_tree_streams_of_one_process_are_one_line(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	become(&f, 10, "a", 0);
	feed(&f, start, 10, "s", "rotates");
	f.process.stream = 77;
	feed(&f, child_start, 20, "iissss", 0, 0, NULL, NULL, NULL, "cc");
	feed(&f, child_exit, 30, "iiiu", 0, 40, 1, FEED_START_NS + 20 * 1000);
	f.process.stream = 78;
	feed(&f, atexit, 50, "i", 4);
	feed_expect(&f, "   0.000050  code:4    pid:10      rotates\n"
			"   0.000010  code:1    pid:40      `-- cc [untraced]\n");
}

static void test_tree_children_without_trace_are_known_from_the_parent(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	become(&f, 10, "a", 0);
	feed(&f, start, 10, "s", "root");
	feed(&f, child_start, 20, "iisssss", 0, TLG_CHILD_GIT, NULL, NULL, NULL, "log", "a b");
	feed(&f, child_start, 21, "iisssss", 1, 0, NULL, NULL, NULL, "sort", "-k1");
	feed(&f, child_start, 22, "iissss", 2, 0, NULL, NULL, NULL, "daemon");
	feed(&f, child_start, 23, "iissss", 3, 0, NULL, NULL, NULL, "unknown");
	feed(&f, child_start, 24, "iisss", 4, TLG_CHILD_GIT, NULL, NULL, NULL);
	feed(&f, child_exit, 31, "iiiu", 1, 41, 137, FEED_START_NS + 21 * 1000);
	feed(&f, child_exit, 40, "iiiu", 0, 40, 0, FEED_START_NS + 20 * 1000);
	feed(&f, child_ready, 42, "iius", 2, 42, FEED_START_NS + 22 * 1000, "ready");
	feed(&f, child_exit, 44, "iiiu", 4, -1, -1, FEED_START_NS + 24 * 1000);
	feed(&f, child_exit, 50, "iiiu", 0, 40, 9, FEED_START_NS + 20 * 1000);
	feed(&f, atexit, 60, "i", 0);
	feed_expect(&f, "   0.000060  code:0    pid:10      root\n"
			"   0.000020  code:0    pid:40      |-- git log 'a b' [untraced]\n"
			"   0.000010  code:137  pid:41      |-- sort -k1 [untraced]\n"
			"   0.000020+ open      pid:42      |-- daemon [untraced]\n"
			"   0.000020  code:-1   pid:-1      `-- git [untraced]\n");
}

static void test_tree_children_with_trace_are_shown_once(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	become(&f, 10, "a", 0);
	feed(&f, start, 10, "s", "root");
	feed(&f, child_start, 20, "iissss", 0, 0, NULL, NULL, NULL, "traced");
	live(&f, 41, "a/x", 25, "traced");
	become(&f, 10, "a", 0);
	feed(&f, child_exit, 130, "iiiu", 0, 41, 1, FEED_START_NS + 20 * 1000);
	feed(&f, child_start, 140, "iissss", 1, 0, NULL, NULL, NULL, "killed");
	become(&f, 42, "a/y", 145);
	feed(&f, start, 146, "s", "killed");
	become(&f, 10, "a", 0);
	feed(&f, child_exit, 245, "iiiu", 1, 42, 137, FEED_START_NS + 140 * 1000);
	feed(&f, child_start, 250, "iissss", 2, 0, NULL, NULL, NULL, "again");
	feed(&f, child_exit, 255, "iiiu", 2, 41, 0, FEED_START_NS + 250 * 1000);
	feed(&f, atexit, 300, "i", 0);
	feed_expect(&f, "   0.000300  code:0    pid:10      root\n"
			"   0.000100  code:1    pid:41      |-- traced\n"
			"   0.000100  code:137  pid:42      |-- killed\n"
			"   0.000005  code:0    pid:41      `-- again [untraced]\n");
}

static void test_tree_children_of_a_fork_stand_below_the_fork(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	live(&f, 10, "a", 0, "daemon");
	become(&f, 11, "a", 0);
	feed(&f, child_start, 120, "iissss", 0, 0, NULL, NULL, NULL, "x");
	live(&f, 12, "a/x", 125, "traced");
	become(&f, 11, "a", 0);
	feed(&f, child_exit, 230, "iiiu", 0, 12, 2, FEED_START_NS + 120 * 1000);
	feed_expect(&f, "   0.000100  code:0    pid:10      daemon\n"
			"   0.000110+ open      pid:11      daemon [fork]\n"
			"   0.000100  code:2    pid:12      `-- traced\n");
}

static void test_tree_learns_the_session_id_late(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	become(&f, 12, "", 20);
	feed_hit(&f, NULL, 21, "");
	become(&f, 12, "a/x", 20);
	feed(&f, atexit, 30, "i", 0);
	live(&f, 10, "a", 0, "root");
	feed_expect(&f, "   0.000100  code:0    pid:10      root\n"
			"   0.000010  code:0    pid:12      `-- ?\n");
}

static void test_tree_long_commands_are_cut_between_characters(void **state)
{
	char word[2 * T2X_TREE_COMMAND + 1], expected[T2X_TREE_COMMAND + 64];
	const unsigned room = T2X_TREE_COMMAND - 4;
	struct feed f;

	(void)state;
	/* an opening quote, then characters of two bytes: the last would be cut in two */
	for (unsigned i = 0; i < 2 * T2X_TREE_COMMAND; i += 2)
		memcpy(word + i, "\xc3\xa9", 2);
	word[2 * T2X_TREE_COMMAND] = '\0';
	open_tree(&f);
	live(&f, 10, "a", 0, word);
	snprintf(expected, sizeof(expected), "   0.000100  code:0    pid:10      '%.*s...\n", (int)room - 2, word);
	feed_expect(&f, expected);
}

/* Longer than what is put together at a time. */
static void test_tree_of_a_very_long_command_has_its_beginning(void **state)
{
	enum { LENGTH = 300000 };
	char *word = malloc(LENGTH + 1), expected[T2X_TREE_COMMAND + 256];
	struct feed f;

	(void)state;
	assert_non_null(word);
	memset(word, 'z', LENGTH);
	memset(word, 'a', T2X_TREE_COMMAND);
	word[LENGTH] = '\0';
	open_tree(&f);
	live(&f, 10, "a", 0, word);
	live(&f, 11, "b", 0, "short");
	snprintf(expected, sizeof(expected), "   0.000100  code:0    pid:10      %.*s...\n"
		 "   0.000100  code:1    pid:11      short\n", T2X_TREE_COMMAND - 4, word);
	feed_expect(&f, expected);
	free(word);
}

static void test_tree_control_characters_do_not_break_lines(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	live(&f, 10, "a", 0, "a\nb\t\033[31m\177");
	feed_expect(&f, "   0.000100  code:0    pid:10      'a?b??[31m?'\n");
}

/* What is expected of long trees is put together by another printf. */
static void expect_stream(struct feed *f, FILE *stream, char **text)
{
	assert_int_equal(fclose(stream), 0);
	feed_expect(f, *text);
	free(*text);
}

static void test_tree_as_deep_as_there_are_processes_is_shown(void **state)
{
	enum { DEPTH = 500 };
	char sid[2 * DEPTH + 1], pid[16], *text;
	struct t2x_scope *step;
	struct feed f;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	assert_non_null(stream);
	open_tree(&f);
	step = feed_scope(&f, TLG_STYLE_step, NULL, NULL, NULL);
	for (unsigned i = 0; i < DEPTH; i++) {
		memcpy(sid + 2 * i, "x/", 2);
		sid[2 * i + 1] = '\0';
		become(&f, i + 1, sid, i);
		feed_hit(&f, step, i + 1, "");
		sid[2 * i + 1] = '/';
		snprintf(pid, sizeof(pid), "pid:%u", i + 1);
		fprintf(stream, "   0.000001+ open      %-12s%*s%s?\n", pid, i ? 4 * (int)i - 4 : 0, "",
			i ? "`-- " : "");
	}
	expect_stream(&f, stream, &text);
}

static void test_tree_of_too_many_processes_counts_the_rest(void **state)
{
	char sid[16], pid[16], *text;
	struct t2x_scope *step;
	struct feed f;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	assert_non_null(stream);
	open_tree(&f);
	step = feed_scope(&f, TLG_STYLE_step, NULL, NULL, NULL);
	for (unsigned i = 0; i < T2X_TREE_NODES + 3; i++) {
		snprintf(sid, sizeof(sid), "%u", i);
		snprintf(pid, sizeof(pid), "pid:%u", i);
		become(&f, i, sid, 0);
		feed_hit(&f, step, 1, "");
		feed_hit(&f, step, 2, "");
		if (i < T2X_TREE_NODES)
			fprintf(stream, "   0.000002+ open      %-12s?\n", pid);
	}
	fputs("3 more processes: no room\n", stream);
	expect_stream(&f, stream, &text);
}

static void test_tree_of_nothing_is_empty(void **state)
{
	struct feed f;

	(void)state;
	open_tree(&f);
	feed_expect(&f, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_children_stand_below_their_parents_by_start),
		cmocka_unit_test(test_tree_without_parent_is_a_root),
		cmocka_unit_test(test_tree_start_is_local_time_unless_brief),
		cmocka_unit_test(test_tree_ends_are_told_apart),
		cmocka_unit_test(test_tree_shows_the_mode_that_was_said_last),
		cmocka_unit_test(test_tree_without_start_shows_what_else_is_known),
		cmocka_unit_test(test_tree_forks_are_lines_of_their_own),
		cmocka_unit_test(test_tree_forked_sessions_stand_below_their_parents),
		cmocka_unit_test(test_tree_streams_of_one_process_are_one_line),
		cmocka_unit_test(test_tree_children_without_trace_are_known_from_the_parent),
		cmocka_unit_test(test_tree_children_with_trace_are_shown_once),
		cmocka_unit_test(test_tree_children_of_a_fork_stand_below_the_fork),
		cmocka_unit_test(test_tree_learns_the_session_id_late),
		cmocka_unit_test(test_tree_long_commands_are_cut_between_characters),
		cmocka_unit_test(test_tree_of_a_very_long_command_has_its_beginning),
		cmocka_unit_test(test_tree_control_characters_do_not_break_lines),
		cmocka_unit_test(test_tree_as_deep_as_there_are_processes_is_shown),
		cmocka_unit_test(test_tree_of_too_many_processes_counts_the_rest),
		cmocka_unit_test(test_tree_of_nothing_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
