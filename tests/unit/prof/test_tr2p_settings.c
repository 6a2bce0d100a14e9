/* SPDX-License-Identifier: MIT */
/* TRACE2_PROF: what its words start, and what is said of the others. */
#include "t2test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "prof/tr2p_settings.h"
#include "prof/tr2p_timers.h"

/* What a function says on stderr.  Return  text, of size bytes */
static const char *catch(void function(const char *data), const char *data, char *text, size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	function(data);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

static const char *apply(const char *list, char *text, size_t size)
{
	return catch(tr2p_settings_apply, list, text, size);
}

static void test_settings_of_profiles_start_them(void **state)
{
	char said[1000];

	(void)state;
	setenv("TRACE2_DST_DEBUG", "1", 1);
	apply("threadcreate,,heap=64k,cpu=1hz,wall=2,frames=32,unwind=libgcc", said, sizeof(said));
	assert_string_equal(said, "");
	assert_int_equal(tr2p_g_how.frames, 32);
	assert_int_equal(tr2p_g_how.way, TR2P_BY_BOTH);
	assert_int_equal(trace2_prof_set_threadcreate(0), 1);
	assert_int_equal(trace2_prof_start_cpu(1), EALREADY);
	assert_int_equal(trace2_prof_start_wall(1), EALREADY);
	assert_non_null(strstr(apply("cpu", said, sizeof(said)), "cannot start 'cpu' of 'TRACE2_PROF': "));
	assert_int_equal(trace2_prof_set_heap_rate(0), 65536);
	trace2_prof_stop_cpu();
	trace2_prof_stop_wall();
	assert_string_equal(apply("threadcreate=0,cpu=0.1KHZ", said, sizeof(said)),
			    "warning: trace2: unknown value for 'TRACE2_PROF': 'cpu=0.1KHZ', ignored\n");
	assert_int_equal(trace2_prof_set_threadcreate(0), 0);
}

static void test_settings_of_profiles_that_are_unknown_are_reported(void **state)
{
	static const char *const wrong[] = {
		"cp", "cpus=1", "cpu=", "cpu=hz", "cpu=0", "cpu=-1", "cpu=10001hz", "cpu=11khz", "cpu=1mhz", "cpu=1 hz",
		"cpu=99999999999999999999999999", "frames", "frames=0", "frames=129", "unwind", "unwind=", "unwind=1",
		"threadcreate=2", "threads", "threads=", "threads=KILL", "=", "cpu=100hz=1", "heap=2g", "heap=1t",
		"a-word-that-is-far-too-long-for-anything-that-could-be-meant-by-it=1"
	};
	char said[1000], expected[200];

	(void)state;
	setenv("TRACE2_DST_DEBUG", "1", 1);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(expected, sizeof(expected),
			 "warning: trace2: unknown value for 'TRACE2_PROF': '%.63s', ignored\n", wrong[i]);
		assert_string_equal(apply(wrong[i], said, sizeof(said)), expected);
	}
	setenv("TRACE2_DST_DEBUG", "0", 1);
	assert_string_equal(apply("cp", said, sizeof(said)), "");
}

static void test_settings_of_another_process_report_nothing(void **state)
{
	char said[1000], debug[40];

	(void)state;
	snprintf(debug, sizeof(debug), "1:%ld", (long)getpid());
	setenv("TRACE2_DST_DEBUG", debug, 1);
	assert_non_null(strstr(apply("cp", said, sizeof(said)), "'cp', ignored"));
	snprintf(debug, sizeof(debug), "1:%ld", (long)getppid());
	setenv("TRACE2_DST_DEBUG", debug, 1);
	assert_string_equal(apply("cp", said, sizeof(said)), "");
}

static void test_settings_report_without_reader_raises_no_signal(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	signal(SIGPIPE, SIG_DFL);
	setenv("TRACE2_DST_DEBUG", "1", 1);
	tr2p_settings_apply("cp");
	dup2(saved, STDERR_FILENO);
	close(saved);
}

/* As two threads that begin, of which the kernel takes no timer. */
static void begin_two(const char *unused)
{
	(void)unused;
	tr2p_timers_begin_thread();
	tr2p_timers_begin_thread();
}

static void test_settings_thread_without_a_timer_is_reported_once(void **state)
{
	struct rlimit before, none;
	char said[1000];

	(void)state;
	setenv("TRACE2_DST_DEBUG", "1", 1);
	assert_int_equal(trace2_prof_start_wall(1), 0);
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	assert_string_equal(catch(begin_two, NULL, said, sizeof(said)),
			    "warning: trace2: no timer for a thread, and perhaps others, of which no tick comes: "
			    "Resource temporarily unavailable\n");
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &before), 0);
	trace2_prof_stop_wall();
}

static void test_settings_status_names_what_runs_and_changes_nothing(void **state)
{
	char names[128], why[64];

	(void)state;
	assert_true(tr2p_settings_steer("status", names, sizeof(names), why, sizeof(why)));
	assert_string_equal(names, "");
	assert_true(tr2p_settings_steer("mutex=3,heap=64k,block=1us,cpu", names, sizeof(names), why, sizeof(why)));
	assert_true(tr2p_settings_steer("status", names, sizeof(names), why, sizeof(why)));
	assert_string_equal(names, "cpu,heap,block,mutex");
	assert_int_equal(trace2_prof_start_cpu(1), EALREADY);
	assert_int_equal(trace2_prof_set_mutex_fraction(3), 3);
	assert_true(tr2p_settings_steer("off", names, sizeof(names), why, sizeof(why)));
	assert_true(tr2p_settings_steer("status", names, sizeof(names), why, sizeof(why)));
	assert_string_equal(names, "");
	assert_false(tr2p_settings_steer("status,cpu", names, sizeof(names), why, sizeof(why)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings_of_profiles_start_them),
		cmocka_unit_test(test_settings_of_profiles_that_are_unknown_are_reported),
		cmocka_unit_test(test_settings_status_names_what_runs_and_changes_nothing),
		cmocka_unit_test(test_settings_of_another_process_report_nothing),
		cmocka_unit_test(test_settings_report_without_reader_raises_no_signal),
		cmocka_unit_test(test_settings_thread_without_a_timer_is_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
