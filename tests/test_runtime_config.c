/* SPDX-License-Identifier: MIT */
/* Programs that go by git's configuration; directories that get too many files. */
#include "t2test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gitask.h"
#include "trace2.h"
#include "traced.h"

static void write_text(const char *name, const char *text)
{
	FILE *out = fopen(traced_path(name), "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, strlen(text), out), strlen(text));
	assert_int_equal(fclose(out), 0);
}

/* A whole file of the directory; "" if there is none.  Overwritten by the next call. */
static const char *read_text(const char *name)
{
	static char text[1 << 16];
	FILE *in = fopen(traced_path(name), "r");
	size_t n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

	if (in)
		fclose(in);
	text[n] = '\0';
	return text;
}

/* ---- programs ----------------------------------------------------------------------------------- */

static int run_plain(void *data)
{
	(void)data;
	trace2_initialize_fl("main.c", 1);
	trace2_cmd_name_fl("main.c", 2, "name");
	trace2_cmd_name_fl("main.c", 3, "again");
	return trace2_is_enabled() ? TRACED : UNTRACED;
}

static int run_configured(void *data)
{
	trace2_use_git_config();
	return run_plain(data);
}

/* Run with the files system and global of the directory, and no raw target but what is configured or in more. */
static int run(int (*program)(void *), const char *const *more)
{
	const char *settings[12] = { "TRACE2_RAW=", "GIT_CONFIG_NOSYSTEM=" };
	char system[192], global[192], home[192];
	unsigned n = 2;

	snprintf(system, sizeof(system), "GIT_CONFIG_SYSTEM=%s", traced_path("system"));
	snprintf(global, sizeof(global), "GIT_CONFIG_GLOBAL=%s", traced_path("global"));
	snprintf(home, sizeof(home), "HOME=%s", t.dir);
	settings[n++] = system;
	settings[n++] = global;
	settings[n++] = home;
	while (more && *more)
		settings[n++] = *more++;
	traced_run(&t, program, NULL, settings);
	assert_true(WIFEXITED(t.status));
	return WEXITSTATUS(t.status);
}

/* Into the file name: the section trace2 with one target, and more lines. */
static void configure(const char *name, const char *key, const char *target, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text), "[trace2]\n%s = %s\n%s", key, traced_path(target), more);
	write_text(name, text);
}

/* ---- settings ----------------------------------------------------------------------------------- */

static void test_config_target_counts_only_if_the_program_says_so(void **state)
{
	(void)state;
	configure("global", "rawTarget", "one.tlg", "rawLz4 = 0\n");
	assert_int_equal(run(run_plain, NULL), UNTRACED);
	assert_int_equal(run(run_configured, NULL), TRACED);
	assert_string_equal(t.said, "");
	assert_int_equal(raw_read(traced_path("one.tlg"), &file), 0);
	assert_int_equal(file.hits, 4);
	assert_int_equal(file.ends, 1);
}

static void test_config_environment_switches_a_configured_target_off(void **state)
{
	(void)state;
	configure("global", "rawTarget", "one.tlg", "");
	assert_int_equal(run(run_configured, (const char *const[]){ "TRACE2_RAW=0", NULL }), UNTRACED);
	assert_string_equal(read_text("one.tlg"), "");
	configure("global", "rawTarget", "one.tlg", "[trace2]\nrawTarget =\n");
	assert_int_equal(run(run_configured, NULL), UNTRACED);
}

static void test_config_global_target_wins_over_the_systems(void **state)
{
	(void)state;
	configure("system", "perfTarget", "system.txt", "perfBrief = true\n");
	configure("global", "perfTarget", "global.txt", "");
	assert_int_equal(run(run_configured, NULL), TRACED);
	assert_string_equal(read_text("system.txt"), "");
	assert_non_null(strstr(read_text("global.txt"), "d0 | main                     | version"));
	assert_int_equal(strncmp(read_text("global.txt"), "d0 |", 4), 0);
}

static void test_config_bad_file_is_told_on_request_only(void **state)
{
	char expected[256];

	(void)state;
	configure("global", "rawTarget", "one.tlg", "bad line\n");
	assert_int_equal(run(run_configured, NULL), TRACED);
	assert_string_equal(t.said, "");
	snprintf(expected, sizeof(expected), "warning: trace2: bad config line 3 in file %s\n", traced_path("global"));
	assert_int_equal(run(run_configured, (const char *const[]){ "TRACE2_DST_DEBUG=1", NULL }), TRACED);
	assert_string_equal(t.said, expected);
	configure("global", "rawTarget", "one.tlg", "destinationDebug = 1\nbad line\n");
	snprintf(expected, sizeof(expected), "warning: trace2: bad config line 4 in file %s\n", traced_path("global"));
	assert_int_equal(run(run_configured, NULL), TRACED);
	assert_string_equal(t.said, expected);
}

/* ---- parameters --------------------------------------------------------------------------------- */

/* The lines of a brief or full normal text that define parameters, without the time in front of each. */
static const char *params_of(const char *text)
{
	static char params[1 << 14];
	size_t n = 0;

	params[0] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		int length = (int)strcspn(line, "\n") + 1;
		if (memmem(line, (size_t)length, "def_param", 9))
			n += (size_t)snprintf(params + n, sizeof(params) - n, "%.*s", length, line);
	}
	return params;
}

static void test_config_params_are_listed_in_order_and_once(void **state)
{
	(void)state;
	write_text("system", "[a]b = s\n[other]x = 1\n[user]name = N\n");
	configure("global", "normalTarget", "normal.txt", "normalBrief = 1\nconfigParams = A.*, user.* ,*.deep,\n"
		  "[a]b\n[a \"X/y\"]Deep = https://u:secret@h\n[include]path=more\n");
	write_text("more", "[user]name = M\n");
	assert_int_equal(run(run_configured, NULL), TRACED);
	assert_string_equal(params_of(read_text("normal.txt")),
			    "def_param scope:system a.b=s\n"
			    "def_param scope:system user.name=N\n"
			    "def_param scope:global a.b\n"
			    "def_param scope:global a.X/y.deep=https://u:<REDACTED>@h\n"
			    "def_param scope:global user.name=M\n");
}

static void test_config_params_are_located_where_git_lists_them(void **state)
{
	const char *text;

	(void)state;
	write_text("global", "[a]b = 1\n");
	run(run_configured, (const char *const[]){ "TRACE2_CONFIG_PARAMS=a.b", "TRACE2_ENV_VARS=T2_SET", "T2_SET=2",
						   "TRACE2_PERF=2", NULL });
	text = params_of(t.said);
	assert_non_null(strstr(text, " trace2.c:439 "));
	assert_non_null(strstr(text, "| scope:global | a.b:1\n"));
	assert_non_null(strstr(text, " trace2.c:440 "));
	assert_non_null(strstr(text, "| scope:comman | T2_SET:2\n"));
}

static void test_config_params_without_configuration_are_none(void **state)
{
	(void)state;
	write_text("global", "[a]b = 1\n");
	assert_int_equal(run(run_plain, (const char *const[]){ "TRACE2_CONFIG_PARAMS=*", "TRACE2=2", NULL }), TRACED);
	assert_string_equal(params_of(t.said), "");
}

static int run_set_config(void *data)
{
	(void)data;
	trace2_initialize();
	unsetenv("TRACE2_CONFIG_PARAMS");   /* as another thread may at any time: it is not read again */
	trace2_cmd_list_config_fl("main.c", 2);
	trace2_cmd_set_config_fl("main.c", 3, "a.B.c", "1");
	trace2_cmd_set_config_fl("main.c", 4, "b.c", "2");
	trace2_cmd_set_config_fl("main.c", 5, "A.d", NULL);
	return 0;
}

static void test_config_set_param_is_reported_if_a_pattern_matches(void **state)
{
	(void)state;
	run(run_set_config, (const char *const[]){ "TRACE2_CONFIG_PARAMS=x,a.*", "TRACE2=2", "TRACE2_BRIEF=1", NULL });
	assert_string_equal(params_of(t.said), "def_param scope:unknown a.B.c=1\ndef_param scope:unknown A.d\n");
}

static void test_config_params_are_those_that_git_lists(void **state)
{
	static char answer[1 << 14], expected[1 << 14];
	char settings[512];
	size_t bytes;

	(void)state;
	if (!gitask_is_there())
		skip();
	write_text("system", "[a]b = \"x ; y\"\n[core]editor = vi\n[a \"s/p\"]k=1\n");
	write_text("global", "[trace2]normalBrief = 1\nconfigParams = a.*,CORE.[d-f]*,user.?ame\n"
		   "[include]path=more\n[a]b=\n");
	write_text("more", "[user]Name = \xc3\x84 B\n[color]ui = 1\n");
	snprintf(settings, sizeof(settings), "GIT_TRACE2=3 GIT_CONFIG_SYSTEM=%s GIT_CONFIG_GLOBAL=%s",
		 traced_path("system"), traced_path("global"));
	assert_int_equal(gitask(t.dir, settings, "version 3>&1", answer, sizeof(answer), &bytes), 0);
	strcpy(expected, params_of(answer));
	assert_int_equal(run(run_configured, (const char *const[]){ "TRACE2=2", NULL }), TRACED);
	assert_string_equal(params_of(t.said), expected);
	assert_non_null(strstr(expected, "user.name"));
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
	return run(run_plain, (const char *const[]){ setting, max_files, "TRACE2_DST_DEBUG=1", "TRACE2_RAW_LZ4=0",
						     NULL });
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
	text = read_text("traces/git-trace2-discard");
	version = strstr(text, "{\"event\":\"version\"");
	too_many = strstr(text, "{\"event\":\"too_many_files\"");
	assert_true(version == text && too_many);
	assert_ptr_equal(too_many, text + strcspn(text, "\n") + 1);
	assert_non_null(strstr(too_many, "\"file\":\"main.c\",\"line\":1}\n"));
	assert_non_null(strstr(too_many, "\"event\":\"atexit\""));
}

static void test_sentinel_without_limit_does_not_matter(void **state)
{
	static const char *const limits[] = { "TRACE2_MAX_FILES=", "TRACE2_MAX_FILES=0", "TRACE2_MAX_FILES=-1" };
	int has_sentinel;

	(void)state;
	mkdir(traced_path("traces"), 0700);
	write_text("traces/git-trace2-discard", "");
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(run_into_traces("TRACE2_RAW", limits[i]), TRACED);
		assert_int_equal(count_traces(&has_sentinel), 2 + i);
	}
}

static void test_sentinel_is_for_directories_only(void **state)
{
	(void)state;
	configure("global", "rawTarget", "one.tlg", "maxFiles = 1\nrawLz4 = 0\n");
	assert_int_equal(run(run_configured, NULL), TRACED);
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
	run(run_rotation, (const char *const[]){ setting, "TRACE2_MAX_FILES=2", "TRACE2_RAW_LZ4=0", NULL });
	assert_int_equal(count_traces(&has_sentinel), 1);
	assert_int_equal(raw_read(traced_path("traces/git-trace2-discard"), &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "after"), 1);
	assert_int_equal(file.ends, 1);
}

static void test_sentinel_of_one_target_does_not_speak_for_another(void **state)
{
	char raw[192], event[192];
	int has_sentinel;

	(void)state;
	mkdir(traced_path("traces"), 0700);
	snprintf(raw, sizeof(raw), "TRACE2_RAW=%s", traced_path("traces"));
	snprintf(event, sizeof(event), "TRACE2_EVENT=%s", traced_path("event.txt"));
	for (int i = 0; i < 2; i++) {   /* the raw target makes the sentinel, finds it */
		assert_int_equal(run(run_plain, (const char *const[]){ raw, event, "TRACE2_MAX_FILES=2", NULL }),
				 TRACED);
		assert_non_null(strstr(read_text("event.txt"), "\"version\""));
		assert_null(strstr(read_text("event.txt"), "too_many_files"));
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
	assert_int_equal(run(run_plain, (const char *const[]){ raw, event, "TRACE2_MAX_FILES=2", "TRACE2_RAW_LZ4=0",
							       NULL }), TRACED);
	assert_int_equal(raw_read(traced_path("raw.tlg"), &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_too_many_files, NULL), 1);
	assert_non_null(strstr(read_text("traces/git-trace2-discard"), "too_many_files"));
}

static void test_sentinel_comes_when_git_makes_it(void **state)
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
		TRACED_TEST(test_config_target_counts_only_if_the_program_says_so),
		TRACED_TEST(test_config_environment_switches_a_configured_target_off),
		TRACED_TEST(test_config_global_target_wins_over_the_systems),
		TRACED_TEST(test_config_bad_file_is_told_on_request_only),
		TRACED_TEST(test_config_params_are_listed_in_order_and_once),
		TRACED_TEST(test_config_params_are_located_where_git_lists_them),
		TRACED_TEST(test_config_params_without_configuration_are_none),
		TRACED_TEST(test_config_set_param_is_reported_if_a_pattern_matches),
		TRACED_TEST(test_config_params_are_those_that_git_lists),
		TRACED_TEST(test_sentinel_is_the_last_file_of_a_full_directory),
		TRACED_TEST(test_sentinel_event_follows_version_in_its_place),
		TRACED_TEST(test_sentinel_without_limit_does_not_matter),
		TRACED_TEST(test_sentinel_is_for_directories_only),
		TRACED_TEST(test_sentinel_is_not_rotated),
		TRACED_TEST(test_sentinel_of_one_target_does_not_speak_for_another),
		TRACED_TEST(test_sentinel_of_the_event_target_is_in_the_raw_trace_beside_it),
		TRACED_TEST(test_sentinel_comes_when_git_makes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
