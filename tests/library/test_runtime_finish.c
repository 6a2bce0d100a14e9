/* SPDX-License-Identifier: MIT */
/* trace2_finish(): the end of a trace before the end of its process. */
#include "t2test.h"

#include <dirent.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

/* Ring files in t.dir. */
static unsigned count_rings(void)
{
	DIR *dir = opendir(t.dir);
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += strstr(entry->d_name, ".ring") != NULL;
	closedir(dir);
	return n;
}

static void assert_ended(size_t hits_of_number, size_t streams)
{
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "number"), hits_of_number);
	assert_int_equal(file.streams, streams);
	assert_int_equal(file.ends, streams);
	assert_int_equal(count_rings(), 0);
}

static int run_and_leave(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_data_intmax("n", NULL, "number", 1);
	trace2_cmd_exit(3);
	trace2_finish();
	if (trace2_is_enabled())
		return 1;
	trace2_data_intmax("n", NULL, "number", 2);
	trace2_finish();
	_exit(0);
}

static void test_finish_before_an_exit_without_handlers_completes_the_trace(void **state)
{
	(void)state;
	traced_run(&t, run_and_leave, NULL, NULL);
	assert_ended(1, 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 1);
	assert_int_equal(file.end_reason, TLG_END_EXIT);
}

static int run_and_return(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_finish();
	return 0;
}

static void test_finish_is_not_repeated_at_exit(void **state)
{
	(void)state;
	traced_run(&t, run_and_return, NULL, NULL);
	assert_ended(0, 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 1);
}

enum { CHILDREN = 20 };

static int run_workers(void *data)
{
	void (*end)(void) = *(void (**)(void))data;
	int status;

	trace2_initialize();
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();
		if (!pid) {
			trace2_data_intmax("n", NULL, "number", i);
			end();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

static void finish(void)
{
	trace2_finish();
}

static void say_goodbye(void)
{
	trace2_cmd_exit(0);
	trace2_flush();
}

static void test_finish_in_forked_workers_leaves_no_ring_file(void **state)
{
	void (*end)(void) = finish;

	(void)state;
	traced_run(&t, run_workers, &end, NULL);
	assert_ended(CHILDREN, CHILDREN + 1);
}

static void test_flush_after_the_exit_of_a_forked_worker_ends_its_trace(void **state)
{
	void (*end)(void) = say_goodbye;

	(void)state;
	traced_run(&t, run_workers, &end, NULL);
	assert_ended(CHILDREN, CHILDREN + 1);
}

static int run_workers_that_only_say_goodbye(void *data)
{
	int status;

	(void)data;
	trace2_initialize();
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();
		if (!pid) {
			say_goodbye();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

static void test_flush_after_the_exit_that_is_a_forked_workers_only_call_ends_its_trace(void **state)
{
	(void)state;
	traced_run(&t, run_workers_that_only_say_goodbye, NULL, NULL);
	assert_ended(0, CHILDREN + 1);
}

static int run_flush_behind_exit(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_cmd_exit(0);
	trace2_flush();
	trace2_data_intmax("n", NULL, "number", 1);
	return 0;
}

static void test_flush_after_the_exit_of_the_first_process_does_not_end_its_trace(void **state)
{
	(void)state;
	traced_run(&t, run_flush_behind_exit, NULL, NULL);
	assert_ended(1, 1);
}

static int run_fork_behind_finish(void *data)
{
	int status;
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_finish();
	pid = fork();
	if (!pid) {
		trace2_data_intmax("n", NULL, "number", 1);
		_exit(trace2_is_enabled());
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static void test_finish_also_holds_for_children_forked_later(void **state)
{
	(void)state;
	traced_run(&t, run_fork_behind_finish, NULL, NULL);
	assert_ended(0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_finish_before_an_exit_without_handlers_completes_the_trace),
		TRACED_TEST(test_finish_is_not_repeated_at_exit),
		TRACED_TEST(test_finish_in_forked_workers_leaves_no_ring_file),
		TRACED_TEST(test_flush_after_the_exit_of_a_forked_worker_ends_its_trace),
		TRACED_TEST(test_flush_after_the_exit_that_is_a_forked_workers_only_call_ends_its_trace),
		TRACED_TEST(test_flush_after_the_exit_of_the_first_process_does_not_end_its_trace),
		TRACED_TEST(test_finish_also_holds_for_children_forked_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
