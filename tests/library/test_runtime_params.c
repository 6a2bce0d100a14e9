/* SPDX-License-Identifier: MIT */
/* Settings of the program that become events: which, with what scope, in what order. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configured.h"
#include "gitask.h"
#include "trace2.h"
#include "traced.h"

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
	config_write("system", "[a]b = s\n[other]x = 1\n[user]name = N\n");
	config_target("global", "normalTarget", "normal.txt", "normalBrief = 1\nconfigParams = A.*, user.* ,*.deep,\n"
		  "[a]b\n[a \"X/y\"]Deep = https://u:secret@h\n[include]path=more\n");
	config_write("more", "[user]name = M\n");
	assert_int_equal(config_run(run_configured, NULL), TRACED);
	assert_string_equal(params_of(config_read("normal.txt")),
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
	config_write("global", "[a]b = 1\n");
	config_run(run_configured, (const char *const[]){
		"TRACE2_CONFIG_PARAMS=a.b", "TRACE2_ENV_VARS=T2_SET", "T2_SET=2", "TRACE2_PERF=2", NULL });
	text = params_of(t.said);
	assert_non_null(strstr(text, " trace2.c:439 "));
	assert_non_null(strstr(text, "| scope:global | a.b:1\n"));
	assert_non_null(strstr(text, " trace2.c:440 "));
	assert_non_null(strstr(text, "| scope:comman | T2_SET:2\n"));
}

static void test_config_params_without_configuration_are_none(void **state)
{
	(void)state;
	config_write("global", "[a]b = 1\n");
	assert_int_equal(config_run(run_plain, (const char *const[]){
		"TRACE2_CONFIG_PARAMS=*", "TRACE2=2", NULL }), TRACED);
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
	config_run(run_set_config, (const char *const[]){
		"TRACE2_CONFIG_PARAMS=x,a.*", "TRACE2=2", "TRACE2_BRIEF=1", NULL });
	assert_string_equal(params_of(t.said), "def_param scope:unknown a.B.c=1\ndef_param scope:unknown A.d\n");
}

static int run_config_param(void *data)
{
	static const struct trace2_key_value_info local = { TRACE2_SCOPE_LOCAL }, command = { TRACE2_SCOPE_COMMAND };

	(void)data;
	trace2_cmd_config_param_fl("main.c", 1, "a.early", "0", &local);
	trace2_initialize();
	trace2_cmd_config_param_fl("main.c", 2, "a.B", "https://u:secret@h", &local);
	trace2_cmd_config_param_fl("main.c", 3, "A.c", NULL, &command);
	trace2_cmd_config_param_fl("main.c", 4, "b.c", "2", &command);
	trace2_cmd_config_param_fl("main.c", 5, "a.d", "3", NULL);
	trace2_cmd_config_param_fl("main.c", 6, NULL, "4", &command);
	return 0;
}

static void test_config_param_has_its_scope_if_a_pattern_matches(void **state)
{
	(void)state;
	config_run(run_config_param, (const char *const[]){
		"TRACE2_CONFIG_PARAMS=x,a.*", "TRACE2=2", "TRACE2_BRIEF=1", NULL });
	assert_string_equal(params_of(t.said), "def_param scope:local a.B=https://u:<REDACTED>@h\n"
			    "def_param scope:command A.c\ndef_param scope:unknown a.d=3\n");
	config_run(run_config_param, (const char *const[]){ "TRACE2=2", "TRACE2_BRIEF=1", NULL });
	assert_string_equal(params_of(t.said), "");
}

static int times_listed;

/* What a program like git knows beyond the files of the system and the user. */
static void list_own(const char *path, int line)
{
	static const struct trace2_key_value_info local = { TRACE2_SCOPE_LOCAL }, command = { TRACE2_SCOPE_COMMAND };

	times_listed++;
	trace2_cmd_config_param_fl(path, line, "a.local", "l", &local);
	trace2_cmd_config_param_fl(path, line, "other.local", "no", &local);
	trace2_cmd_config_param_fl(path, line, "a.command", "c", &command);
}

static int run_lister(void *data)
{
	trace2_set_config_lister(list_own);
	return run_configured(data);
}

/* Lines of a text with the scope of environment variables as it is since git 2.45. */
static void keep_params(char *to, const char *said)
{
	const char *line = params_of(said), *unknown;
	size_t n = 0;

	for (; *line; line += strcspn(line, "\n") + 1) {
		int length = (int)strcspn(line, "\n") + 1;
		unknown = memmem(line, (size_t)length, "scope:unknown", 13);
		n += (size_t)(unknown ? sprintf(to + n, "%.*sscope:command%.*s", (int)(unknown - line), line,
						length - (int)(unknown - line) - 13, unknown + 13)
				      : sprintf(to + n, "%.*s", length, line));
	}
	to[n] = '\0';
}

static void test_config_params_of_the_program_come_where_git_lists_them(void **state)
{
	static char answer[1 << 14], gits[1 << 14], ours[1 << 14];
	static const char expected[] =
		"def_param scope:system a.system=s\ndef_param scope:global a.global=g\n"
		"def_param scope:local a.local=l\ndef_param scope:command a.command=c\n"
		"def_param scope:command T2_SET=1\n";
	char settings[512], arguments[256];
	size_t bytes;

	(void)state;
	config_write("system", "[a]system=s\n");
	config_write("global", "[trace2]normalBrief=1\nconfigParams=a.*\nenvVars=T2_SET\n[a]global=g\n");
	assert_int_equal(config_run(run_lister, (const char *const[]){ "TRACE2=2", "T2_SET=1", NULL }), TRACED);
	keep_params(ours, t.said);
	assert_string_equal(ours, expected);
	if (!gitask_is_there())
		skip();
	snprintf(settings, sizeof(settings), "GIT_CONFIG_SYSTEM=%s GIT_CONFIG_GLOBAL=%s T2_SET=1",
		 traced_path("system"), traced_path("global"));
	snprintf(arguments, sizeof(arguments), "init -q %s && git -C %s config a.local l", traced_path("repo"),
		 traced_path("repo"));
	assert_int_equal(gitask(t.dir, settings, arguments, answer, sizeof(answer), &bytes), 0);
	strcat(settings, " GIT_TRACE2=3");
	snprintf(arguments, sizeof(arguments), "-C %s -c a.command=c version 3>&1", traced_path("repo"));
	assert_int_equal(gitask(t.dir, settings, arguments, answer, sizeof(answer), &bytes), 0);
	keep_params(gits, answer);
	assert_string_equal(gits, expected);
}

static int run_lister_twice(void *data)
{
	trace2_set_config_lister(list_own);
	trace2_use_git_config();
	trace2_initialize_fl("main.c", 1);
	trace2_cmd_list_env_vars_fl("main.c", 2);
	trace2_cmd_list_config_fl("main.c", 3);
	trace2_cmd_list_config_fl("main.c", 4);
	trace2_cmd_name_fl("main.c", 5, "name");
	(void)data;
	return times_listed;
}

static void test_config_lister_is_called_once_and_only_if_needed(void **state)
{
	static const char *const wanted = "TRACE2_CONFIG_PARAMS=a.*", *const brief = "TRACE2_BRIEF=1";

	(void)state;
	assert_int_equal(config_run(run_lister_twice, (const char *const[]){ wanted, "TRACE2=2", brief, NULL }), 1);
	assert_string_equal(params_of(t.said),
			    "def_param scope:local a.local=l\ndef_param scope:command a.command=c\n");
	assert_int_equal(config_run(run_lister_twice, (const char *const[]){ "TRACE2=2", brief, NULL }), 0);
	assert_int_equal(config_run(run_lister_twice, (const char *const[]){ wanted, NULL }), 0);
}

static void test_config_params_are_those_that_git_lists(void **state)
{
	static char answer[1 << 14], expected[1 << 14];
	char settings[512];
	size_t bytes;

	(void)state;
	if (!gitask_is_there())
		skip();
	config_write("system", "[a]b = \"x ; y\"\n[core]editor = vi\n[a \"s/p\"]k=1\n");
	config_write("global", "[trace2]normalBrief = 1\nconfigParams = a.*,CORE.[d-f]*,user.?ame\n"
		   "[include]path=more\n[a]b=\n");
	config_write("more", "[user]Name = \xc3\x84 B\n[color]ui = 1\n");
	snprintf(settings, sizeof(settings), "GIT_TRACE2=3 GIT_CONFIG_SYSTEM=%s GIT_CONFIG_GLOBAL=%s",
		 traced_path("system"), traced_path("global"));
	assert_int_equal(gitask(t.dir, settings, "version 3>&1", answer, sizeof(answer), &bytes), 0);
	strcpy(expected, params_of(answer));
	assert_int_equal(config_run(run_configured, (const char *const[]){ "TRACE2=2", NULL }), TRACED);
	assert_string_equal(params_of(t.said), expected);
	assert_non_null(strstr(expected, "user.name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_config_params_are_listed_in_order_and_once),
		TRACED_TEST(test_config_params_are_located_where_git_lists_them),
		TRACED_TEST(test_config_params_without_configuration_are_none),
		TRACED_TEST(test_config_set_param_is_reported_if_a_pattern_matches),
		TRACED_TEST(test_config_param_has_its_scope_if_a_pattern_matches),
		TRACED_TEST(test_config_params_of_the_program_come_where_git_lists_them),
		TRACED_TEST(test_config_lister_is_called_once_and_only_if_needed),
		TRACED_TEST(test_config_params_are_those_that_git_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
