/* SPDX-License-Identifier: MIT */
/* Settings that are wrong: what counts instead, and what is said of it. */
#include "t2test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

static int run_plain(void *data)
{
	(void)data;
	trace2_initialize();
	return trace2_is_enabled() ? TRACED : UNTRACED;
}

/* "NAME=value" -> "warning: trace2: TROUBLE for 'NAME': 'value', INSTEAD\n" */
static const char *warning_of(const char *setting, const char *trouble, const char *instead)
{
	static char warning[256];
	int length = (int)strcspn(setting, "=");

	snprintf(warning, sizeof(warning), "warning: trace2: %s for '%.*s': '%s', %s\n", trouble, length, setting,
		 setting + length + 1, instead);
	return warning;
}

/* Run with these settings; the program must end by itself, with this status. */
static void run(int expected, const char *const *settings)
{
	traced_run(&t, run_plain, NULL, settings);
	assert_true(WIFEXITED(t.status));
	assert_int_equal(WEXITSTATUS(t.status), expected);
}

/* Each setting alone, with DST_DEBUG and without. */
static void assert_told(const char *setting, const char *warning)
{
	run(TRACED, (const char *const[]){ setting, "TRACE2_DST_DEBUG=1", NULL });
	assert_string_equal(t.said, warning);
	run(TRACED, (const char *const[]){ setting, NULL });
	assert_string_equal(t.said, "");
	unlink(t.raw);
}

static void test_settings_that_are_invalid_are_reported_with_the_value_used(void **state)
{
	static const char *const rows[][2] = {
		{ "TRACE2_RAW_RING=banana", "using 'all'" }, { "TRACE2_RAW_RING=1t", "using 'all'" },
		{ "TRACE2_RAW_RING=99999999999999999999", "using 'all'" }, { "TRACE2_RAW_CYCLE=4kb", "using '1m'" },
		{ "TRACE2_RAW_WAIT=1m", "using '1s'" }, { "TRACE2_RAW_WAIT=soon", "using '1s'" },
		{ "TRACE2_RAW_POLICY=oops", "using 'discard'" }, { "TRACE2_RAW_ENCODING=zip", "using 'packed'" },
		{ "TRACE2_RAW_POLICY=discard block", "using 'discard'" },
		{ "TRACE2_RAW_LZ4=maybe", "using 'true'" }, { "TRACE2_REDACT=bad", "using 'true'" },
		{ "TRACE2_BRIEF=x", "using 'false'" }, { "TRACE2_PERF_BRIEF=x", "using 'false'" },
		{ "TRACE2_EVENT_BRIEF=x", "using 'false'" }, { "TRACE2_EVENT_NESTING=x", "using '2'" },
		{ "TRACE2_MAX_FILES=many", "using '0'" }, { "TRACE2_SIGNALS=none", "ignored" },
		{ "TRACE2_SIGNALS=KILL", "ignored" }, { "TRACE2_SIGNALS=4294967311", "ignored" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_told(rows[i][0], warning_of(rows[i][0], "unknown value", rows[i][1]));
}

static void test_settings_out_of_bounds_are_reported_with_the_value_used(void **state)
{
	static const char *const rows[][2] = {
		{ "TRACE2_RAW_RING=1", "using '128k'" }, { "TRACE2_RAW_RING=64k", "using '128k'" },
		{ "TRACE2_RAW_RING=0", "using 'all'" }, { "TRACE2_RAW_RING=-1", "using 'all'" },
		{ "TRACE2_RAW_RING=9000000g", "using '8g'" },
		{ "TRACE2_RAW_CYCLE=1", "using '4k'" }, { "TRACE2_RAW_CYCLE=2g", "using '1g'" },
		{ "TRACE2_RAW_WAIT=61s", "using '60s'" }, { "TRACE2_RAW_WAIT=0", "using '1s'" },
		{ "TRACE2_EVENT_NESTING=0", "using '2'" }, { "TRACE2_EVENT_NESTING=-3", "using '2'" },
		{ "TRACE2_MAX_FILES=-1", "using '0'" }, { "TRACE2_MAX_FILES=99999999999", "using '2147483647'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_told(rows[i][0], warning_of(rows[i][0], "value out of range", rows[i][1]));
}

static void test_settings_that_are_valid_are_not_reported(void **state)
{
	static const char *const rows[] = {
		"TRACE2_RAW_RING=128k", "TRACE2_RAW_RING=0x30000", "TRACE2_RAW_RING=4m", "TRACE2_RAW_CYCLE=4K",
		"TRACE2_RAW_CYCLE=1g", "TRACE2_RAW_WAIT=250", "TRACE2_RAW_WAIT=250ms", "TRACE2_RAW_WAIT=60s",
		"TRACE2_RAW_POLICY=Block", "TRACE2_RAW_ENCODING=PLAIN", "TRACE2_RAW_LZ4=0x0", "TRACE2_BRIEF=ON",
		"TRACE2_REDACT=no", "TRACE2_EVENT_NESTING=1000", "TRACE2_EVENT_NESTING=3x",
		"TRACE2_MAX_FILES=12x", "TRACE2_MAX_FILES=0", "TRACE2_RAW_LZ4=",
		"TRACE2_SIGNALS=TERM, SIGINT 15", "TRACE2_CONFIG_PARAMS=a.*", "TRACE2_ENV_VARS=HOME",
		"TRACE2_PERF=0", "GIT_TRACE2_PARENT_SID=a", "GIT_TRACE2_PARENT_NAME=b", "TRACE2X=1", "TRACE=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_told(rows[i], "");
}

static void test_settings_of_the_flight_recorder_are_reported_word_by_word(void **state)
{
	(void)state;
	run(TRACED, (const char *const[]){
		"TRACE2_RAW_POLICY=overwrite", "TRACE2_DST_DEBUG=1",
		"TRACE2_RAW_SNAPSHOT=error,USR1 nothing exit,KILL,a-word-that-is-longer-than-any", NULL });
	assert_string_equal(t.said,
			    "warning: trace2: unknown value for 'TRACE2_RAW_SNAPSHOT': 'nothing', ignored\n"
			    "warning: trace2: unknown value for 'TRACE2_RAW_SNAPSHOT': 'KILL', ignored\n"
			    "warning: trace2: unknown value for 'TRACE2_RAW_SNAPSHOT': "
			    "'a-word-that-is-longer-than-any', ignored\n");
}

static void test_settings_that_are_unknown_are_reported_by_name(void **state)
{
	(void)state;
	run(TRACED, (const char *const[]){
		"TRACE2_RAW_POLCY=block", "TRACE2_DST_DEBUG=1", "TRACE2_PARENT_SID=x", NULL });
	assert_int_equal(traced_count("\n"), 2);
	assert_non_null(strstr(t.said, "warning: trace2: unknown setting 'TRACE2_RAW_POLCY'\n"));
	assert_non_null(strstr(t.said, "warning: trace2: unknown setting 'TRACE2_PARENT_SID'\n"));
}

/* The only target is misspelt: nothing is traced, and that is why. */
static void test_settings_are_reported_though_nothing_is_traced(void **state)
{
	(void)state;
	run(UNTRACED, (const char *const[]){ "TRACE2_RAW=", "TRACE2_PREF=1", "TRACE2_RAW_RING=x", NULL });
	assert_string_equal(t.said, "");
	run(UNTRACED, (const char *const[]){
		"TRACE2_RAW=", "TRACE2_PREF=1", "TRACE2_RAW_RING=x", "TRACE2_DST_DEBUG=1", NULL });
	assert_string_equal(t.said, "warning: trace2: unknown value for 'TRACE2_RAW_RING': 'x', using 'all'\n"
			    "warning: trace2: unknown setting 'TRACE2_PREF'\n");
}

static int run_of_git(void *data)
{
	trace2_set_env_prefix("GIT_TRACE2");
	return run_plain(data);
}

static void test_settings_of_another_prefix_are_reported_by_its_names(void **state)
{
	(void)state;
	traced_run(&t, run_of_git, NULL, (const char *const[]){
		"GIT_TRACE2_RAW_RING=x", "GIT_TRACE2_DST_DEBUG=1",
		"GIT_TRACE2_PARENT_SID=a", "GIT_TRACE2_PARENT_NAME=b",
		"GIT_TRACE2_EVNT=1", "GIT_TRACE_SETUP=1", "TRACE2_RAW_LZ4=x", NULL });
	assert_string_equal(t.said, "warning: trace2: unknown value for 'GIT_TRACE2_RAW_RING': 'x', using 'all'\n"
			    "warning: trace2: unknown setting 'GIT_TRACE2_EVNT'\n");
}

static int run_without_reader(void *data)
{
	int ends[2];

	if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
		return 1;
	close(ends[0]);
	close(ends[1]);
	signal(SIGPIPE, SIG_DFL);
	return run_plain(data);
}

/* A warning is no reason to end somebody's program. */
static void test_settings_that_are_wrong_without_reader_of_stderr_end_nothing(void **state)
{
	static const char *const wrong[] = { "TRACE2_RAW_RING=x", "TRACE2_PREF=1", "TRACE2_DST_DEBUG=1", NULL };

	(void)state;
	traced_run(&t, run_without_reader, NULL, wrong);
	assert_true(WIFEXITED(t.status));
	assert_int_equal(WEXITSTATUS(t.status), TRACED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_settings_that_are_invalid_are_reported_with_the_value_used),
		TRACED_TEST(test_settings_out_of_bounds_are_reported_with_the_value_used),
		TRACED_TEST(test_settings_that_are_valid_are_not_reported),
		TRACED_TEST(test_settings_of_the_flight_recorder_are_reported_word_by_word),
		TRACED_TEST(test_settings_that_are_unknown_are_reported_by_name),
		TRACED_TEST(test_settings_are_reported_though_nothing_is_traced),
		TRACED_TEST(test_settings_of_another_prefix_are_reported_by_its_names),
		TRACED_TEST(test_settings_that_are_wrong_without_reader_of_stderr_end_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
