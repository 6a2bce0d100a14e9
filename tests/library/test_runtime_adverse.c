/* SPDX-License-Identifier: MIT */
/* A flush, an end, a file in circumstances that work against them. */
#include "t2test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

static void sleep_ms(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

static size_t count_lines(const char *path, const char *part)
{
	char line[1024];
	FILE *in = fopen(path, "r");
	size_t n = 0;

	while (in && fgets(line, sizeof(line), in))
		n += strstr(line, part) != NULL;
	if (in)
		fclose(in);
	return n;
}

/* 1 as soon as there are so many lines; 0: not in a minute */
static int has_lines(const char *path, const char *part, size_t n)
{
	for (int i = 0; i < 6000; i++) {
		if (count_lines(path, part) >= n)
			return 1;
		sleep_ms(10);
	}
	return 0;
}

/* ---- beside threads that do not stop ------------------------------------------------------------------ */

static void *step_for_ever(void *unused)
{
	for (;;)
		trace2_step("test", "step");
	return unused;
}

static int run_beside_steps(void *data)
{
	pthread_t thread;

	trace2_initialize();
	if (pthread_create(&thread, NULL, step_for_ever, data))
		return 1;
	sleep_ms(20);
	trace2_flush();
	trace2_finish();
	_exit(0);
}

/* Steps have no times: what was recorded before the flush is known by their chunks' times. */
static void test_adverse_flush_and_finish_end_beside_a_thread_that_only_steps(void **state)
{
	(void)state;
	alarm(300);
	traced_run(&t, run_beside_steps, NULL, (const char *const[]){ "TRACE2_RAW_MEMORY=4m", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.ends, 1);
	alarm(0);
}

/* ---- descriptors that are closed ----------------------------------------------------------------------- */

static int run_closed(void *data)
{
	trace2_initialize();
	trace2_printf("before");
	syscall(SYS_close_range, 3, ~0U, 0);
	/* a call opens it, once the drain has found it closed: however late that is */
	for (int i = 0; i < 60000; i++) {
		trace2_printf("behind");
		sleep_ms(1);
		if (i > 200 && i % 10 == 0 && count_lines(data, "behind") > 100)
			return 0;
	}
	return 1;
}

static void test_adverse_closed_file_is_opened_again_before_the_end(void **state)
{
	char setting[200];

	(void)state;
	snprintf(setting, sizeof(setting), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_closed, (void *)(uintptr_t)traced_path("perf"), (const char *const[]){ setting, NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(count_lines(traced_path("perf"), "behind") >= 201, 1);
	assert_int_equal(count_lines(traced_path("perf"), "atexit"), 1);
}

static int run_closed_and_killed(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_printf("before");
	syscall(SYS_close_range, 3, ~0U, 0);
	trace2_printf("behind");
	return raise(SIGTERM);
}

static void test_adverse_signal_after_files_were_closed_loses_no_text(void **state)
{
	char setting[200];

	(void)state;
	snprintf(setting, sizeof(setting), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_closed_and_killed, NULL,
		   (const char *const[]){ setting, "TRACE2_SIGNALS=TERM", NULL });
	assert_int_equal(t.status, SIGTERM);
	assert_int_equal(count_lines(traced_path("perf"), "before"), 1);
	assert_int_equal(count_lines(traced_path("perf"), "behind"), 1);
	assert_int_equal(count_lines(traced_path("perf"), "signo:15"), 1);
}

/* ---- cancelled threads -------------------------------------------------------------------------------- */

static atomic_int has_begun;

static void *flush_cancelled(void *unused)
{
	trace2_printf("cancelled");
	has_begun = 1;
	while (has_begun < 2)
		;   /* no cancellation point */
	trace2_flush();
	pthread_testcancel();
	return unused;
}

static int run_cancelled(void *data)
{
	pthread_t thread;
	void *result;

	(void)data;
	trace2_initialize();
	for (int i = 0; i < 20; i++) {
		has_begun = 0;
		if (pthread_create(&thread, NULL, flush_cancelled, NULL))
			return 1;
		while (!has_begun)
			;
		if (pthread_cancel(thread))
			return 2;
		has_begun = 2;
		if (pthread_join(thread, &result) || result != PTHREAD_CANCELED)
			return 3;
	}
	trace2_flush();
	return 0;
}

static void test_adverse_cancelled_thread_releases_the_drain(void **state)
{
	(void)state;
	traced_run(&t, run_cancelled, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_printf, NULL), 20);
	assert_int_equal(file.ends, 1);
}

/* ---- a child that another thread has set up ------------------------------------------------------------ */

static void *record_first(void *unused)
{
	trace2_printf("first");
	return unused;
}

static int be_child(const char *path)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, record_first, NULL) || pthread_join(thread, NULL) ||
	    !has_lines(path, "first", 1))
		return 1;
	sleep_ms(600);   /* the library's thread sleeps */
	trace2_session_id();
	trace2_printf("late");
	return has_lines(path, "late", 1) ? 0 : 2;
}

static int run_late_child(void *data)
{
	int status;
	pid_t pid;

	trace2_initialize();
	pid = fork();
	if (!pid)
		_exit(be_child(data));
	return waitpid(pid, &status, 0) != pid || status;
}

static void test_adverse_forking_thread_wakes_the_drain_of_a_child_set_up_by_others(void **state)
{
	char setting[200];

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();   /* the child inherits the locks of the sanitizer's allocator, which glibc's would have in order */
#endif
	snprintf(setting, sizeof(setting), "TRACE2_PERF=%s", traced_path("perf"));
	traced_run(&t, run_late_child, (void *)(uintptr_t)traced_path("perf"),
		   (const char *const[]){ setting, "TRACE2_RAW_THREAD=init", NULL });
	assert_int_equal(t.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_adverse_flush_and_finish_end_beside_a_thread_that_only_steps),
		TRACED_TEST(test_adverse_closed_file_is_opened_again_before_the_end),
		TRACED_TEST(test_adverse_signal_after_files_were_closed_loses_no_text),
		TRACED_TEST(test_adverse_cancelled_thread_releases_the_drain),
		TRACED_TEST(test_adverse_forking_thread_wakes_the_drain_of_a_child_set_up_by_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
