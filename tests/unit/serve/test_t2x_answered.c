/* SPDX-License-Identifier: MIT */
/* test_t2x_answered.c - what a process says of itself, however it says it. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "serve/t2x_answered.h"

static struct t2x_answered said;

static void test_answered_status_is_read(void **state)
{
	(void)state;
	t2x_answered_parse(&said, "state: on\nversion: 1\nfile: /tmp/a: b.tlg\npolicy: block\nprofiles: cpu,heap\n"
				  "written: 12\nmoved: 34\nthreads: 2\nmemory used: 4096\nlost, ring full: 5\n"
				  "lost, memory: 6");
	assert_string_equal(said.state, "on");
	assert_string_equal(said.file, "/tmp/a: b.tlg");
	assert_string_equal(said.policy, "block");
	assert_true(said.has_profiles && said.has_counts);
	assert_int_equal(said.written, 12);
	assert_int_equal(said.moved, 34);
	assert_int_equal(said.threads, 2);
	assert_int_equal(said.memory_used, 4096);
	assert_int_equal(said.nlost, 2);
	assert_string_equal(said.lost[1].reason, "memory");
	assert_int_equal(said.lost[1].count, 6);
}

static void test_answered_profiles_are_whole_words(void **state)
{
	(void)state;
	t2x_answered_parse(&said, "profiles: wall,threadcreate\n");
	assert_true(t2x_answered_has(&said, "wall"));
	assert_true(t2x_answered_has(&said, "threadcreate"));
	assert_false(t2x_answered_has(&said, "thread"));
	assert_false(t2x_answered_has(&said, "create"));
	assert_false(t2x_answered_has(&said, "cpu"));
	t2x_answered_parse(&said, "profiles: none\n");
	assert_true(said.has_profiles);
	assert_false(t2x_answered_has(&said, "cpu"));
	t2x_answered_parse(&said, "state: on\n");
	assert_false(said.has_profiles);
}

static void test_answered_file_is_an_absolute_path_or_none(void **state)
{
	char text[3 * TLG_RING_PATH] = "file: /";

	(void)state;
	t2x_answered_parse(&said, "file: none\n");
	assert_string_equal(said.file, "");
	t2x_answered_parse(&said, "file: --output=x\n");
	assert_string_equal(said.file, "");
	memset(text + 7, 'a', sizeof(text) - 8);
	t2x_answered_parse(&said, text);
	assert_string_equal(said.file, "");
}

static void test_answered_nonsense_is_ignored(void **state)
{
	char text[4096] = "";
	size_t n = 0;

	(void)state;
	t2x_answered_parse(&said, "\n\n:\n: \nstate:\nwritten: x\nwritten: 99999999999999999999999\nmoved: -1\n"
				  "lost, : 1\nlost, a: b\nstate");
	assert_string_equal(said.state, "");
	assert_false(said.has_counts);
	assert_int_equal(said.moved, 0);
	assert_int_equal(said.nlost, 0);
	for (unsigned i = 0; i < 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "lost, reason %u: %u\n", i, i);
	t2x_answered_parse(&said, text);
	assert_int_equal(said.nlost, T2X_ANSWERED_REASONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answered_status_is_read),
		cmocka_unit_test(test_answered_profiles_are_whole_words),
		cmocka_unit_test(test_answered_file_is_an_absolute_path_or_none),
		cmocka_unit_test(test_answered_nonsense_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
