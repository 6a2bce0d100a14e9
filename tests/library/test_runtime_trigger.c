/* SPDX-License-Identifier: MIT */
/* Triggers: what a rule is for becomes a snapshot, with its cause and its window; nothing else does. */
#include "t2test.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flood.h"
#include "rawread.h"
#include "trace2.h"
#include "traced.h"

#define SETTINGS(triggers, ...) \
	(const char *const[]){ "TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_SNAPSHOT=" triggers, __VA_ARGS__, NULL }

static off_t size_of_file(void)
{
	struct stat st;

	return stat(t.raw, &st) ? 0 : st.st_size;
}

static void sleep_ms(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

/* Return  0: it has grown; 1: it has not, in ten seconds */
static int wait_for_file(off_t larger_than)
{
	for (int i = 0; i < 10000 && size_of_file() <= larger_than; i++)
		sleep_ms(1);
	return size_of_file() <= larger_than;
}

static void record(int (*program)(void *), void *data, const char *const *settings)
{
	traced_run(&t, program, data, settings);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.hits, file.end_stored);
	assert_int_equal(file.ends, 1);
}

static void fail_with(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace2_cmd_error_va(format, ap);
	va_end(ap);
}

static char cause[1024];

/* The first cause begins so, and has this in it. */
static void assert_cause(const char *beginning, const char *part)
{
	assert_true(raw_text(&file, TLG_STYLE_data, cause, sizeof(cause)) > 0);
	if (strncmp(cause, beginning, strlen(beginning)) || !strstr(cause, part))
		fail_msg("'%s' is not '%s...%s'", cause, beginning, part);
}

static size_t count_causes(void)
{
	return raw_count(&file, TLG_STYLE_data, "snapshot");
}

/* ---- slow ---------------------------------------------------------------------------------------- */

static void request(long number, long ms)
{
	trace2_region_enter("srv", "request", NULL);
	trace2_data_intmax("srv", NULL, "number", number);
	if (ms)
		sleep_ms(ms);
	trace2_region_leave("srv", "request", NULL);
}

static int run_slow(void *data)
{
	trace2_initialize();
	request(1, 0);
	request(2, (long)data);
	return wait_for_file(0);
}

static void test_trigger_slow_region_is_written_with_its_cause(void **state)
{
	(void)state;
	record(run_slow, (void *)50, SETTINGS("slow:srv/req*>40ms", "TRACE2_RAW_RING=256k"));
	assert_string_equal(t.said, "");
	assert_cause("slow:srv/req*>40ms: srv/request ", " in thread main");
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "request"), 2);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_leave, "request"), 2);
	assert_int_equal(raw_count(&file, TLG_STYLE_version, NULL), 1);
}

static int run_fast(void *unused)
{
	trace2_initialize();
	for (long i = 0; i < 1000; i++)
		request(i, 0);
	trace2_region_enter("srv", "other", NULL);
	sleep_ms(100);
	trace2_region_leave("srv", "other", NULL);
	trace2_flush();
	return size_of_file() != 0 || unused != NULL;
}

static void test_trigger_slow_is_for_its_region_alone(void **state)
{
	(void)state;
	record(run_fast, NULL,
	       SETTINGS("slow:srv/request>60s,slow:db/other>1ms,slow:srv/othe>1ms", "TRACE2_RAW_RING=256k"));
	assert_int_equal(file.hits, 0);
}

/* Nothing ends the region: the file is written all the same. */
static int run_open(void *unused)
{
	trace2_initialize();
	trace2_region_enter("srv", "hangs", NULL);
	return wait_for_file(0) || unused != NULL;
}

static void test_trigger_slow_region_that_hangs_is_written_while_it_is_open(void **state)
{
	(void)state;
	record(run_open, NULL, SETTINGS("slow:srv/hangs>30ms", "TRACE2_RAW_THREAD=init"));
	assert_cause("slow:srv/hangs>30ms: srv/hangs is still open after ", " ms in thread main");
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "hangs"), 1);
}

/* What was written while it was open ends in a snapshot, too, however many there may be. */
static int run_open_and_leave(void *unused)
{
	off_t size;

	trace2_initialize();
	trace2_region_enter("srv", "hangs", NULL);
	if (wait_for_file(0) || unused)
		return 1;
	size = size_of_file();
	trace2_region_leave("srv", "hangs", NULL);
	return wait_for_file(size);
}

static void test_trigger_region_that_was_written_open_is_written_to_its_end(void **state)
{
	(void)state;
	record(run_open_and_leave, NULL, SETTINGS("slow:srv/hangs>30ms,max:1,quiet:1h", "TRACE2_RAW_THREAD=init"));
	assert_int_equal(count_causes(), 2);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_leave, "hangs"), 1);
}

/* ---- window -------------------------------------------------------------------------------------- */

static int run_window(void *data)
{
	trace2_initialize();
	flood(0, (long)data);
	sleep_ms(50);
	request(1, 0);
	request(2, 60);
	return wait_for_file(0);
}

/* Main's first chunk has gone, so all that is older than the window is left out, and counted. */
static void test_trigger_window_leaves_out_what_is_older(void **state)
{
	const long n = 30000;

	(void)state;
	record(run_window, (void *)n, SETTINGS("slow:srv/request>50ms,window:10ms", "TRACE2_RAW_RING=512k"));
	assert_cause("slow:srv/request>50ms: srv/request ", " in thread main");
	assert_int_equal(raw_count(&file, TLG_STYLE_version, NULL), 1);   /* which is kept */
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "number"), 2);
	assert_int_equal(file.lost, raw_lost(&file, 0, TLG_LOSS_OVERWRITTEN));
	/* version, n numbers, two requests of three, atexit */
	assert_int_equal(raw_stored(&file, 0) + file.lost, 1 + n + 6 + 1);
}

static int run_after(void *unused)
{
	off_t size;

	trace2_initialize();
	fail_with("this");
	if (wait_for_file(0) || unused)
		return 1;
	size = size_of_file();
	request(1, 0);
	return wait_for_file(size);
}

static void test_trigger_window_has_what_comes_after_its_cause(void **state)
{
	(void)state;
	record(run_after, NULL, SETTINGS("error,window:1s,200ms", "TRACE2_RAW_THREAD=init"));
	assert_cause("error: in thread main", "");
	assert_int_equal(count_causes(), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_leave, "request"), 1);
}

/* ---- other rules --------------------------------------------------------------------------------- */

static int run_values(void *unused)
{
	trace2_initialize();
	for (int i = -5; i <= 7; i++)
		trace2_data_intmax("cache", NULL, "size", i);
	return wait_for_file(0) || unused != NULL;
}

static void test_trigger_value_above_its_bound_is_a_cause(void **state)
{
	(void)state;
	record(run_values, NULL, SETTINGS("value:cache/size>6,max:9", "TRACE2_RAW_THREAD=init"));
	assert_cause("value:cache/size>6: cache/size is 7 in thread main", "");
	assert_int_equal(count_causes(), 1);
}

static int run_rate(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++)
		request(i, 0);
	sleep_ms(100);
	trace2_flush();
	return 0;
}

static void test_trigger_rate_above_its_bound_is_a_cause(void **state)
{
	(void)state;
	record(run_rate, (void *)500, SETTINGS("rate:srv/request>400/s", "TRACE2_RAW_THREAD=init"));
	assert_cause("rate:srv/request>400/s: ", " in the last second");
	assert_int_equal(count_causes(), 1);
}

static void test_trigger_rate_below_its_bound_is_none(void **state)
{
	(void)state;
	record(run_rate, (void *)300, SETTINGS("rate:srv/request>400/s", "TRACE2_RAW_THREAD=init"));
	assert_int_equal(file.hits, 0);
}

/* A busy machine may hold up one of the many, which is a cause then, too. */
static int run_usual(void *data)
{
	off_t size;

	trace2_initialize();
	for (long i = 0; i < 2000; i++)
		request(i, 0);
	trace2_flush();
	size = size_of_file();
	request(4711, (long)data);
	return wait_for_file(size);
}

static void test_trigger_p99_is_a_multiple_of_what_is_usual(void **state)
{
	(void)state;
	record(run_usual, (void *)300, SETTINGS("p99:srv/request>1000x", "TRACE2_RAW_THREAD=init"));
	assert_cause("p99:srv/request>1000x: srv/request took ", " ms, its 99th percentile is ");
	assert_in_range(count_causes(), 1, 100);
}

static int run_waiting(void *unused)
{
	trace2_initialize();
	request(1, 0);
	return wait_for_file(0) || unused != NULL;
}

static void test_trigger_every_interval_is_a_cause(void **state)
{
	(void)state;
	record(run_waiting, NULL, SETTINGS("every:50ms,max:1", "TRACE2_RAW_THREAD=init"));
	assert_cause("every:50ms; no further snapshots: max is reached", "");
}

static int run_growing(void *data)
{
	const size_t bytes = (size_t)(long)data;
	char *memory;

	trace2_initialize();
	sleep_ms(300);
	if (size_of_file())
		return 2;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 1, bytes);
	return wait_for_file(0);
}

static void test_trigger_memory_that_grows_is_a_cause(void **state)
{
	(void)state;
	record(run_growing, (void *)(300L << 20), SETTINGS("memory>250m", "TRACE2_RAW_THREAD=init"));
	assert_cause("memory>250m: ", " KiB resident");
}

static int run_exit(void *code)
{
	trace2_initialize();
	request(1, 0);
	trace2_cmd_exit((int)(long)code);
	return 0;
}

static void test_trigger_exit_code_is_a_cause_unless_it_is_0(void **state)
{
	(void)state;
	record(run_exit, (void *)3, SETTINGS("exit!=0,max:5", NULL));
	assert_cause("exit!=0: exit code 3", "");
	assert_int_equal(raw_count(&file, TLG_STYLE_exit, NULL), 1);
	raw_free(&file);
	unlink(t.raw);
	record(run_exit, (void *)0, SETTINGS("exit!=0,max:5", NULL));
	assert_int_equal(file.hits, 0);
}

/* Without a modifier the call that ends the process finds it: the reason is an event of its own thread. */
static void test_trigger_exit_code_alone_needs_no_looks(void **state)
{
	char reason[64] = "";

	(void)state;
	record(run_exit, (void *)3, SETTINGS("exit!=0", NULL));
	assert_true(raw_text(&file, TLG_STYLE_snapshot, reason, sizeof(reason)) > 0);
	assert_string_equal(reason, "exit!=0: exit code 3");
	assert_int_equal(count_causes(), 0);
}

/* ---- modifiers ----------------------------------------------------------------------------------- */

static int run_errors(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		off_t size = size_of_file();
		fail_with("again");
		for (int ms = 0; ms < 200 && size_of_file() == size; ms++)
			sleep_ms(1);
	}
	return 0;
}

static void test_trigger_max_bounds_the_snapshots(void **state)
{
	(void)state;
	record(run_errors, (void *)4, SETTINGS("error,max:2", "TRACE2_RAW_THREAD=init"));
	assert_int_equal(file.cycles, 2);
	assert_int_equal(count_causes(), 2);
	assert_int_equal(raw_count(&file, TLG_STYLE_error, NULL), 2);
}

static void test_trigger_quiet_keeps_later_causes_back(void **state)
{
	(void)state;
	record(run_errors, (void *)4, SETTINGS("error,quiet:1h", "TRACE2_RAW_THREAD=init"));
	assert_int_equal(count_causes(), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_error, NULL), 1);
}

/* ---- settings ------------------------------------------------------------------------------------ */

static void test_trigger_that_is_wrong_is_reported_and_the_others_work(void **state)
{
	(void)state;
	record(run_values, NULL,
	       SETTINGS("slow:srv>5ms,value:cache/size>6,max:0,KILL,max:3", "TRACE2_RAW_THREAD=init",
			"TRACE2_DST_DEBUG=1"));
	assert_int_equal(traced_count("warning: trace2: "), 3);
	assert_int_equal(traced_count("'TRACE2_RAW_SNAPSHOT': 'slow:srv>5ms', ignored: "), 1);
	assert_int_equal(traced_count("'TRACE2_RAW_SNAPSHOT': 'max:0', ignored: "), 1);
	assert_int_equal(traced_count("'TRACE2_RAW_SNAPSHOT': 'KILL', ignored"), 1);
	assert_int_equal(count_causes(), 1);
}

static int run_other_policy(void *unused)
{
	trace2_initialize();
	request(1, 5);
	return unused != NULL;
}

static void test_trigger_under_another_policy_is_none(void **state)
{
	(void)state;
	record(run_other_policy, NULL, (const char *const[]){ "TRACE2_RAW_SNAPSHOT=slow:srv/request>1ms", NULL });
	assert_int_equal(count_causes(), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_leave, "request"), 1);
}

/* ---- under load ---------------------------------------------------------------------------------- */

enum { THREADS = 4 };

static int run_load(void *data)
{
	pthread_t threads[THREADS];

	trace2_initialize();
	flood_begin(threads, THREADS, (long)data);
	flood_join(threads, THREADS);
	return 0;
}

/* Looks take nothing from anybody: all checkpoints are stored or counted, as without triggers. */
static void test_trigger_looks_lose_nothing_of_threads_that_overwrite(void **state)
{
	const long n = 200000;

	(void)state;
	record(run_load, (void *)n,
	       SETTINGS("value:test/i>199990,max:5,window:1ms,1ms", "TRACE2_RAW_RING=256k", "TRACE2_RAW_THREAD=init"));
	/* of main version and atexit; the thread "trigger" may have any id */
	assert_int_equal(file.hits + file.lost, THREADS * (n + 2) + 2 + (long)count_causes());
}

/* ---- a forked child ------------------------------------------------------------------------------ */

static int run_fork(void *data)
{
	int status;
	pid_t child;

	trace2_initialize();
	child = fork();
	if (!child) {
		request(1, (long)data);
		_exit(wait_for_file(0));
	}
	return waitpid(child, &status, 0) != child || status;
}

static void test_trigger_works_in_a_forked_child(void **state)
{
	(void)state;
	traced_run(&t, run_fork, (void *)60, SETTINGS("slow:srv/request>30ms,memory>100g", NULL));
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_cause("slow:srv/request>30ms: srv/request ", " in thread main");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_trigger_slow_region_is_written_with_its_cause),
		TRACED_TEST(test_trigger_slow_is_for_its_region_alone),
		TRACED_TEST(test_trigger_slow_region_that_hangs_is_written_while_it_is_open),
		TRACED_TEST(test_trigger_region_that_was_written_open_is_written_to_its_end),
		TRACED_TEST(test_trigger_window_leaves_out_what_is_older),
		TRACED_TEST(test_trigger_window_has_what_comes_after_its_cause),
		TRACED_TEST(test_trigger_value_above_its_bound_is_a_cause),
		TRACED_TEST(test_trigger_rate_above_its_bound_is_a_cause),
		TRACED_TEST(test_trigger_rate_below_its_bound_is_none),
		TRACED_TEST(test_trigger_p99_is_a_multiple_of_what_is_usual),
		TRACED_TEST(test_trigger_every_interval_is_a_cause),
		TRACED_TEST(test_trigger_memory_that_grows_is_a_cause),
		TRACED_TEST(test_trigger_exit_code_is_a_cause_unless_it_is_0),
		TRACED_TEST(test_trigger_exit_code_alone_needs_no_looks),
		TRACED_TEST(test_trigger_max_bounds_the_snapshots),
		TRACED_TEST(test_trigger_quiet_keeps_later_causes_back),
		TRACED_TEST(test_trigger_that_is_wrong_is_reported_and_the_others_work),
		TRACED_TEST(test_trigger_under_another_policy_is_none),
		TRACED_TEST(test_trigger_looks_lose_nothing_of_threads_that_overwrite),
		TRACED_TEST(test_trigger_works_in_a_forked_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
