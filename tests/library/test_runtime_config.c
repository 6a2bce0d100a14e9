/* SPDX-License-Identifier: MIT */
/* Programs that go by git's configuration; directories that get too many files. */
#include "t2test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "configured.h"
#include "gitask.h"
#include "trace2.h"
#include "traced.h"

/* ---- settings ----------------------------------------------------------------------------------- */

static void test_config_target_is_used_only_if_the_program_asks(void **state)
{
	(void)state;
	config_target("global", "rawTarget", "one.tlg", "rawLz4 = 0\n");
	assert_int_equal(config_run(run_plain, NULL), UNTRACED);
	assert_int_equal(config_run(run_configured, NULL), TRACED);
	assert_string_equal(t.said, "");
	assert_int_equal(raw_read(traced_path("one.tlg"), &file), 0);
	assert_int_equal(file.hits, 4);
	assert_int_equal(file.ends, 1);
}

static void test_config_environment_switches_a_configured_target_off(void **state)
{
	(void)state;
	config_target("global", "rawTarget", "one.tlg", "");
	assert_int_equal(config_run(run_configured, (const char *const[]){ "TRACE2_RAW=0", NULL }), UNTRACED);
	assert_string_equal(config_read("one.tlg"), "");
	config_target("global", "rawTarget", "one.tlg", "[trace2]\nrawTarget =\n");
	assert_int_equal(config_run(run_configured, NULL), UNTRACED);
}

static void test_config_global_target_overrides_the_systems(void **state)
{
	(void)state;
	config_target("system", "perfTarget", "system.txt", "perfBrief = true\n");
	config_target("global", "perfTarget", "global.txt", "");
	assert_int_equal(config_run(run_configured, NULL), TRACED);
	assert_string_equal(config_read("system.txt"), "");
	assert_non_null(strstr(config_read("global.txt"), "d0 | main                     | version"));
	assert_int_equal(strncmp(config_read("global.txt"), "d0 |", 4), 0);
}

static void test_config_bad_file_is_reported_only_on_request(void **state)
{
	char expected[256];

	(void)state;
	config_target("global", "rawTarget", "one.tlg", "bad line\n");
	assert_int_equal(config_run(run_configured, NULL), TRACED);
	assert_string_equal(t.said, "");
	snprintf(expected, sizeof(expected), "warning: trace2: bad config line 3 in file %s\n", traced_path("global"));
	assert_int_equal(config_run(run_configured, (const char *const[]){ "TRACE2_DST_DEBUG=1", NULL }), TRACED);
	assert_string_equal(t.said, expected);
	config_target("global", "rawTarget", "one.tlg", "destinationDebug = 1\nbad line\n");
	snprintf(expected, sizeof(expected), "warning: trace2: bad config line 4 in file %s\n", traced_path("global"));
	assert_int_equal(config_run(run_configured, NULL), TRACED);
	assert_string_equal(t.said, expected);
}

/* ---- too many files ----------------------------------------------------------------------------- */

/* How many files there are in the directory "traces", and whether the sentinel is one of them. */
static unsigned count_traces(int *has_sentinel)
{
	DIR *dir = opendir(traced_path("traces"));
	unsigned n = 0;

	assert_non_null(dir);
	*has_sentinel = 0;
	for (struct dirent *e; (e = readdir(dir));) {
		n += e->d_name[0] != '.';
		*has_sentinel |= !strcmp(e->d_name, "git-trace2-discard");
	}
	closedir(dir);
	return n;
}

static int run_into_traces(const char *target, const char *max_files)
{
	char setting[192];

	snprintf(setting, sizeof(setting), "%s=%s", target, traced_path("traces"));
	return config_run(run_plain, (const char *const[]){
		setting, max_files, "TRACE2_DST_DEBUG=1", "TRACE2_RAW_LZ4=0", NULL });
}

static void test_sentinel_is_the_last_file_of_a_full_directory(void **state)
{
	char expected[256];
	int has_sentinel;

	(void)state;
	mkdir(traced_path("traces"), 0700);
	for (unsigned i = 1; i <= 4; i++) {
		assert_int_equal(run_into_traces("TRACE2_RAW", "TRACE2_MAX_FILES=5"), TRACED);
		assert_string_equal(t.said, "");
		assert_int_equal(count_traces(&has_sentinel), i);
		assert_int_equal(has_sentinel, i == 4);   /* "." and ".." count too */
	}
	assert_int_equal(raw_read(traced_path("traces/git-trace2-discard"), &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.ends, 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_too_many_files, NULL), 1);
	assert_int_equal(file.hits, 5);
	snprintf(expected, sizeof(expected), "warning: trace2: not opening TRACE2_RAW trace file due to too many "
		 "files in target directory %s\n", traced_path("traces"));
	for (int i = 0; i < 2; i++) {
		const char *limit = i ? "TRACE2_MAX_FILES=100" : "TRACE2_MAX_FILES=5";
		assert_int_equal(run_into_traces("TRACE2_RAW", limit), UNTRACED);
		assert_string_equal(t.said, expected);
		assert_int_equal(count_traces(&has_sentinel), 4);
	}
}

static void test_sentinel_event_follows_version_in_its_place(void **state)
{
	const char *text, *version, *too_many;

	(void)state;
	mkdir(traced_path("traces"), 0700);
	assert_int_equal(run_into_traces("TRACE2_EVENT", "TRACE2_MAX_FILES=1"), TRACED);
	text = config_read("traces/git-trace2-discard");
	version = strstr(text, "{\"event\":\"version\"");
	too_many = strstr(text, "{\"event\":\"too_many_files\"");
	assert_true(version == text && too_many);
	assert_ptr_equal(too_many, text + strcspn(text, "\n") + 1);
	assert_non_null(strstr(too_many, "\"file\":\"main.c\",\"line\":1}\n"));
	assert_non_null(strstr(too_many, "\"event\":\"atexit\""));
}

static void test_sentinel_without_a_limit_is_ignored(void **state)
{
	static const char *const limits[] = { "TRACE2_MAX_FILES=", "TRACE2_MAX_FILES=0", "TRACE2_MAX_FILES=-1" };
	int has_sentinel;

	(void)state;
	mkdir(traced_path("traces"), 0700);
	config_write("traces/git-trace2-discard", "");
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(run_into_traces("TRACE2_RAW", limits[i]), TRACED);
		assert_int_equal(count_traces(&has_sentinel), 2 + i);
	}
}

static void test_sentinel_is_for_directories_only(void **state)
{
	(void)state;
	config_target("global", "rawTarget", "one.tlg", "maxFiles = 1\nrawLz4 = 0\n");
	assert_int_equal(config_run(run_configured, NULL), TRACED);
	assert_int_equal(raw_read(traced_path("one.tlg"), &file), 0);
	assert_int_equal(file.hits, 4);
}

static int run_rotation(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_rotate();
	trace2_region_enter("test", "after", NULL);
	return 0;
}

static void test_sentinel_is_not_rotated(void **state)
{
	char setting[192];
	int has_sentinel;

	(void)state;
	mkdir(traced_path("traces"), 0700);
	snprintf(setting, sizeof(setting), "TRACE2_RAW=%s", traced_path("traces"));
	config_run(run_rotation, (const char *const[]){ setting, "TRACE2_MAX_FILES=2", "TRACE2_RAW_LZ4=0", NULL });
	assert_int_equal(count_traces(&has_sentinel), 1);
	assert_int_equal(raw_read(traced_path("traces/git-trace2-discard"), &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "after"), 1);
	assert_int_equal(file.ends, 1);
}

static void test_sentinel_of_one_target_does_not_affect_another(void **state)
{
	char raw[192], event[192];
	int has_sentinel;

	(void)state;
	mkdir(traced_path("traces"), 0700);
	snprintf(raw, sizeof(raw), "TRACE2_RAW=%s", traced_path("traces"));
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s", traced_path("event.txt"));
	for (int i = 0; i < 2; i++) {   /* the raw target makes the sentinel, finds it */
		assert_int_equal(config_run(run_plain, (const char *const[]){ raw, event, "TRACE2_MAX_FILES=2", NULL }),
				 TRACED);
		assert_non_null(strstr(config_read("event.txt"), "\"version\""));
		assert_null(strstr(config_read("event.txt"), "too_many_files"));
		assert_int_equal(count_traces(&has_sentinel), 1);
		assert_int_equal(has_sentinel, 1);
	}
}

static void test_sentinel_of_the_event_target_is_in_the_raw_trace_beside_it(void **state)
{
	char raw[192], event[192];

	(void)state;
	mkdir(traced_path("traces"), 0700);
	snprintf(raw, sizeof(raw), "TRACE2_RAW=%s", traced_path("raw.tlg"));
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s", traced_path("traces"));
	assert_int_equal(config_run(run_plain, (const char *const[]){
		raw, event, "TRACE2_MAX_FILES=2", "TRACE2_RAW_LZ4=0", NULL }), TRACED);
	assert_int_equal(raw_read(traced_path("raw.tlg"), &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_too_many_files, NULL), 1);
	assert_non_null(strstr(config_read("traces/git-trace2-discard"), "too_many_files"));
}

static void test_sentinel_is_made_when_git_makes_it(void **state)
{
	char settings[512], answer[64], setting[64];
	int ours[8], gits[8];
	size_t bytes;

	(void)state;
	if (!gitask_is_there())
		skip();
	for (int limit = 1; limit <= 6; limit++) {
		mkdir(traced_path("traces"), 0700);
		snprintf(settings, sizeof(settings), "GIT_TRACE2_EVENT=%s GIT_TRACE2_MAX_FILES=%d",
			 traced_path("traces"), limit);
		for (int i = 0; i < 8; i++) {
			gitask(t.dir, settings, "version", answer, sizeof(answer), &bytes);
			count_traces(&gits[i]);
		}
		assert_int_equal(rename(traced_path("traces"), traced_path("gits")), 0);
		mkdir(traced_path("traces"), 0700);
		snprintf(setting, sizeof(setting), "TRACE2_MAX_FILES=%d", limit);
		for (int i = 0; i < 8; i++) {
			run_into_traces("TRACE2_EVENT", setting);
			count_traces(&ours[i]);
		}
		assert_memory_equal(ours, gits, sizeof(ours));
		assert_true(gits[7]);
		assert_int_equal(system(strcat(strcpy(settings, "rm -rf "), traced_path("gits"))), 0);
		assert_int_equal(system(strcat(strcpy(settings, "rm -rf "), traced_path("traces"))), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_config_target_is_used_only_if_the_program_asks),
		TRACED_TEST(test_config_environment_switches_a_configured_target_off),
		TRACED_TEST(test_config_global_target_overrides_the_systems),
		TRACED_TEST(test_config_bad_file_is_reported_only_on_request),
		TRACED_TEST(test_sentinel_is_the_last_file_of_a_full_directory),
		TRACED_TEST(test_sentinel_event_follows_version_in_its_place),
		TRACED_TEST(test_sentinel_without_a_limit_is_ignored),
		TRACED_TEST(test_sentinel_is_for_directories_only),
		TRACED_TEST(test_sentinel_is_not_rotated),
		TRACED_TEST(test_sentinel_of_one_target_does_not_affect_another),
		TRACED_TEST(test_sentinel_of_the_event_target_is_in_the_raw_trace_beside_it),
		TRACED_TEST(test_sentinel_is_made_when_git_makes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
