/* SPDX-License-Identifier: MIT */
/* Which of git's configuration files are read, what they include, and which setting wins. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitask.h"
#include "traced.h"
#include "settings/tr2_config.h"
#include "settings/tr2_env.h"

/* ---- surroundings ------------------------------------------------------------------------------- */

static int g_secure;

unsigned long __wrap_getauxval(unsigned long type);
unsigned long __real_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE && g_secure ? 1 : __real_getauxval(type);
}

static void write_bytes(const char *name, const char *text, size_t bytes)
{
	FILE *out = fopen(traced_path(name), "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, bytes, out), bytes);
	assert_int_equal(fclose(out), 0);
}

static void write_text(const char *name, const char *text)
{
	write_bytes(name, text, strlen(text));
}

/* Settings "NAME" to a file of the directory. */
static void point(const char *variable, const char *name)
{
	assert_int_equal(setenv(variable, traced_path(name), 1), 0);
}

static int setup(void **state)
{
	traced_setup(state);
	unsetenv("GIT_CONFIG_NOSYSTEM");
	unsetenv("XDG_CONFIG_HOME");
	setenv("TRACE2_CONFIG_PARAMS", "*", 1);
	point("HOME", "");
	point("GIT_CONFIG_SYSTEM", "system");
	point("GIT_CONFIG_GLOBAL", "global");
	return 0;
}

static int teardown(void **state)
{
	tr2_config_forget();
	return traced_teardown(state);
}

/* ---- what was read, as a text ------------------------------------------------------------------- */

static char listed[1 << 16];

/* "system a.b=1\n", "global c.d\n" for each setting. */
static void list(void)
{
	struct tr2_config_item item;
	size_t at = 0, n = 0;

	listed[0] = '\0';
	while (tr2_config_next(&at, &item)) {
		const char *scope = item.scope == TRACE2_SCOPE_SYSTEM ? "system" :
				    item.scope == TRACE2_SCOPE_GLOBAL ? "global" : "?";
		n += (size_t)snprintf(listed + n, sizeof(listed) - n, "%s %s%s%s\n", scope, item.key,
				      item.value ? "=" : "", item.value ? item.value : "");
		assert_true(n < sizeof(listed));
	}
}

static void assert_read(const char *expected)
{
	tr2_config_forget();
	tr2_config_read();
	list();
	assert_string_equal(listed, expected);
}

/* ---- which files -------------------------------------------------------------------------------- */

static void test_config_system_comes_before_global(void **state)
{
	(void)state;
	write_text("system", "[a]b=1\n[a]c\n");
	write_text("global", "[a]b=2\n[a \"X\"]c=\n");
	assert_read("system a.b=1\nsystem a.c\nglobal a.b=2\nglobal a.X.c=\n");
}

static void test_config_nosystem_is_a_boolean(void **state)
{
	static const struct { const char *value; int reads; } cases[] = {
		{ "1", 0 }, { "true", 0 }, { "YES", 0 }, { "on", 0 }, { "1k", 0 },
		{ "0", 1 }, { "false", 1 }, { "", 1 }, { "nonsense", 1 },
	};

	(void)state;
	write_text("system", "[a]b=1\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("GIT_CONFIG_NOSYSTEM", cases[i].value, 1);
		assert_read(cases[i].reads ? "system a.b=1\n" : "");
	}
}

static void test_config_global_is_found_below_home(void **state)
{
	(void)state;
	unsetenv("GIT_CONFIG_GLOBAL");
	write_text(".gitconfig", "[a]b=home\n");
	assert_read("global a.b=home\n");
	mkdir(traced_path(".config"), 0700);
	mkdir(traced_path(".config/git"), 0700);
	write_text(".config/git/config", "[a]b=config\n");
	assert_read("global a.b=config\nglobal a.b=home\n");
	mkdir(traced_path("git"), 0700);
	write_text("git/config", "[a]b=xdg\n");
	point("XDG_CONFIG_HOME", "");
	assert_read("global a.b=xdg\nglobal a.b=home\n");
	setenv("XDG_CONFIG_HOME", "", 1);
	assert_read("global a.b=config\nglobal a.b=home\n");
	unsetenv("HOME");
	assert_read("");
}

static void test_config_named_file_replaces_all_global_ones(void **state)
{
	(void)state;
	write_text(".gitconfig", "[a]b=home\n");
	assert_read("");
	setenv("GIT_CONFIG_GLOBAL", "", 1);
	assert_read("");
	write_text("global", "[a]b=named\n");
	point("GIT_CONFIG_GLOBAL", "global");
	assert_read("global a.b=named\n");
}

static void test_config_what_is_no_plain_file_is_empty(void **state)
{
	static char text[(1 << 20) + 2];

	(void)state;
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	assert_read("");
	point("GIT_CONFIG_SYSTEM", "");                    /* a directory */
	assert_read("");
	assert_int_equal(mkfifo(traced_path("global"), 0600), 0);      /* nobody writes: opening it would wait */
	assert_read("");
	memset(text, '\n', sizeof(text));
	memcpy(text, "[a]b=1", 6);
	write_bytes("system", text, 1 << 20);
	point("GIT_CONFIG_SYSTEM", "system");
	assert_read("system a.b=1\n");
	write_bytes("system", text, (1 << 20) + 1);
	assert_read("");
}

static void test_config_privileged_program_reads_nothing(void **state)
{
	(void)state;
	write_text("system", "[a]b=1\n");
	g_secure = 1;
	assert_read("");
	g_secure = 0;
	assert_read("system a.b=1\n");
}

static void test_config_bad_line_ends_only_its_file(void **state)
{
	(void)state;
	write_text("system", "[a]b=1\nbad line\n[a]c=2\n");
	write_text("global", "[a]d=3\n[include]path=more\n[a]f=5\n");
	write_text("more", "[a]e=4\n[");
	assert_read("system a.b=1\nglobal a.d=3\nglobal include.path=more\nglobal a.e=4\nglobal a.f=5\n");
}

/* ---- includes ----------------------------------------------------------------------------------- */

static void test_config_include_stands_where_it_is_named(void **state)
{
	char text[256];

	(void)state;
	mkdir(traced_path("sub"), 0700);
	snprintf(text, sizeof(text), "[a]b=1\n[include]\npath=sub/one\npath=~/two\npath=%s\n[a]b=5\n",
		 traced_path("three"));
	write_text("system", text);
	write_text("sub/one", "[include]path=beside\n");
	write_text("sub/beside", "[a]b=2\n");
	write_text("two", "[a]b=3\n");
	write_text("three", "[a]b=4\n");
	snprintf(text, sizeof(text),
		 "system a.b=1\nsystem include.path=sub/one\nsystem include.path=beside\nsystem a.b=2\n"
		 "system include.path=~/two\nsystem a.b=3\nsystem include.path=%s\nsystem a.b=4\nsystem a.b=5\n",
		 traced_path("three"));
	assert_read(text);
}

static void test_config_include_beside_a_relative_file_is_found(void **state)
{
	char *here = getcwd(NULL, 0);

	(void)state;
	write_text("global", "[include]path=more\n");
	write_text("more", "[a]b=1\n");
	setenv("GIT_CONFIG_GLOBAL", "global", 1);
	assert_int_equal(chdir(t.dir), 0);
	tr2_config_read();
	list();
	assert_int_equal(chdir(here), 0);
	free(here);
	assert_string_equal(listed, "global include.path=more\nglobal a.b=1\n");
}

static void test_config_include_of_nothing_is_silent(void **state)
{
	(void)state;
	write_text("global", "[include]\npath=absent\npath\npath=\npath=/\npath=~nobody/x\n"
		   "[includeIf \"gitdir:/\"]path=more\n[include \"x\"]path=more\n[a]b=1\n");
	write_text("more", "[a]b=2\n");
	assert_read("global include.path=absent\nglobal include.path\nglobal include.path=\nglobal include.path=/\n"
		    "global include.path=~nobody/x\nglobal includeif.gitdir:/.path=more\nglobal include.x.path=more\n"
		    "global a.b=1\n");
	unsetenv("HOME");
	write_text("global", "[include]path=~/more\n");
	assert_read("global include.path=~/more\n");
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void test_config_include_of_itself_ends(void **state)
{
	(void)state;
	write_text("global", "[include]path=global\n");
	tr2_config_read();
	list();
	assert_int_equal(count_lines(listed), 11);   /* git too includes ten deep, but then dies */
	tr2_config_forget();
	write_text("global", "[include]\npath=global\npath=global\npath=global\n");
	tr2_config_read();
	list();
	assert_int_equal(count_lines(listed), 300);
}

static void test_config_include_ten_deep_is_read(void **state)
{
	char name[16], text[64];

	(void)state;
	write_text("global", "[include]path=1\n");
	for (int i = 1; i <= 11; i++) {
		snprintf(name, sizeof(name), "%d", i);
		snprintf(text, sizeof(text), "[x]y%d\n[include]path=%d\n", i, i + 1);
		write_text(name, text);
	}
	tr2_config_read();
	list();
	assert_non_null(strstr(listed, "global x.y10\n"));
	assert_null(strstr(listed, "global x.y11\n"));
}

static void test_config_no_more_is_kept_than_a_mebibyte(void **state)
{
	static char text[1 << 20];
	struct tr2_config_item item;
	size_t at = 0, kept = 0, n = 0;

	(void)state;
	n = (size_t)sprintf(text, "[a \"");
	memset(text + n, 'x', 900);
	n += 900;
	n += (size_t)sprintf(text + n, "\"]\n");
	while (n + 3 < sizeof(text))
		n += (size_t)sprintf(text + n, "b\n");   /* each stands for a key of 900 bytes */
	write_bytes("global", text, n);
	tr2_config_read();
	while (tr2_config_next(&at, &item))
		kept += strlen(item.key) + 4;
	assert_in_range(kept, (1 << 20) - 2000, 1 << 20);
}

/* ---- as git ------------------------------------------------------------------------------------- */

/* The answer of `config --list --show-scope -z` in our form. */
static void list_as_git(const char *answer, size_t bytes, char *to)
{
	for (size_t at = 0; at < bytes; at += strlen(answer + at) + 1) {
		const char *scope = answer + at, *item, *value;
		at += strlen(scope) + 1;
		item = answer + at;
		value = strchr(item, '\n');
		to += value ? sprintf(to, "%s %.*s=%s\n", scope, (int)(value - item), item, value + 1)
			    : sprintf(to, "%s %s\n", scope, item);
	}
	*to = '\0';
}

static void assert_read_as_git(const char *settings)
{
	static char answer[1 << 14], expected[1 << 15];
	size_t bytes;

	assert_int_equal(gitask(t.dir, settings, "config --list --show-scope --includes -z", answer, sizeof(answer),
				&bytes), 0);
	list_as_git(answer, bytes, expected);
	assert_read(expected);
	assert_true(*expected);
}

static void test_config_files_are_those_that_git_reads(void **state)
{
	char settings[512];

	(void)state;
	if (!gitask_is_there())
		skip();
	mkdir(traced_path(".config"), 0700);
	mkdir(traced_path(".config/git"), 0700);
	mkdir(traced_path("sub"), 0700);
	write_text("system", "[include]\n\tpath = sub/more\n[user \"X\"]\n\tName = \"a # b\" ; c\n\tflag\n");
	write_text("sub/more", "[More]it=sub\n[include]path=next\n[includeIf \"onbranch:x\"]path=next\n");
	write_text("sub/next", "[more]it=next\n");
	write_text(".config/git/config", "[xdg]it\n[include]path=~/sub/next\n");
	write_text(".gitconfig", "\xef\xbb\xbf[home]\r\nit = 1\r\n");
	write_text("global", "[named]it=1\n");
	snprintf(settings, sizeof(settings), "GIT_CONFIG_SYSTEM='%s' GIT_CONFIG_GLOBAL='%s'", traced_path("system"),
		 traced_path("global"));
	assert_read_as_git(settings);
	unsetenv("GIT_CONFIG_GLOBAL");
	snprintf(settings, sizeof(settings), "GIT_CONFIG_SYSTEM='%s'", traced_path("system"));
	assert_read_as_git(settings);
	setenv("GIT_CONFIG_NOSYSTEM", "true", 1);
	snprintf(settings, sizeof(settings), "GIT_CONFIG_SYSTEM='%s' GIT_CONFIG_NOSYSTEM=true", traced_path("system"));
	assert_read_as_git(settings);
	point("XDG_CONFIG_HOME", ".config");
	snprintf(settings, sizeof(settings), "XDG_CONFIG_HOME='%s' GIT_CONFIG_NOSYSTEM=true", traced_path(".config"));
	assert_read_as_git(settings);
}

/* ---- settings ----------------------------------------------------------------------------------- */

static void assert_setting(const char *name, const char *expected)
{
	const char *value = tr2_env_get(name);

	if (expected) {
		assert_non_null(value);
		assert_string_equal(value, expected);
	} else {
		assert_null(value);
	}
}

static void test_config_nothing_is_kept_that_nobody_lists(void **state)
{
	(void)state;
	unsetenv("TRACE2_CONFIG_PARAMS");
	write_text("global", "[a]b=1\n");
	assert_read("");
	write_text("global", "[a]b=1\n[trace2]configParams=x\n");
	assert_read("global a.b=1\nglobal trace2.configparams=x\n");
}

static void test_config_keys_stand_behind_all_variables(void **state)
{
	static const char *const rows[][2] = {
		{ "", "normalTarget" }, { "PERF", "perfTarget" }, { "EVENT", "eventTarget" }, { "RAW", "rawTarget" },
		{ "BRIEF", "normalBrief" }, { "PERF_BRIEF", "perfBrief" }, { "EVENT_BRIEF", "eventBrief" },
		{ "EVENT_NESTING", "eventNesting" }, { "RAW_LZ4", "rawLz4" }, { "RAW_CYCLE", "rawCycle" },
		{ "RAW_MEMORY", "rawMemory" }, { "RAW_RING", "rawRing" }, { "RAW_POLICY", "rawPolicy" },
		{ "RAW_WAIT", "rawWait" },
		{ "RAW_SNAPSHOT", "rawSnapshot" },
		{ "RAW_ENCODING", "rawEncoding" },
		{ "CONFIG_PARAMS", "configParams" }, { "ENV_VARS", "envVars" },
		{ "DST_DEBUG", "destinationDebug" }, { "MAX_FILES", "maxFiles" },
	};
	char text[64];

	(void)state;
	unsetenv("TRACE2_CONFIG_PARAMS");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "[trace2]%s=v%zu\n", rows[i][1], i);
		write_text("global", text);
		tr2_config_read();
		tr2_config_forget();
		snprintf(text, sizeof(text), "v%zu", i);
		assert_setting(rows[i][0], text);
		setenv("TRACE2_PERF", "mine", 1);
		assert_setting("PERF", "mine");
		unsetenv("TRACE2_PERF");
	}
	assert_setting("REDACT", NULL);
}

static void test_config_later_values_win_and_the_environment_over_all(void **state)
{
	(void)state;
	write_text("system", "[trace2]maxfiles=1\nenvVars=A\n");
	write_text("global", "[trace2]maxfiles=2\n[include]path=more\n");
	write_text("more", "[trace2]MaxFiles=3\n[trace2 \"x\"]maxfiles=4\n[trace2.maxfiles]x=5\n");
	tr2_config_read();
	assert_setting("MAX_FILES", "3");
	assert_setting("ENV_VARS", "A");
	setenv("TRACE2_MAX_FILES", "", 1);
	assert_setting("MAX_FILES", "3");
	setenv("TRACE2_MAX_FILES", "9", 1);
	assert_setting("MAX_FILES", "9");
	unsetenv("TRACE2_MAX_FILES");
	write_text("more", "[trace2]maxfiles\nenvvars=\n");   /* without a value: not a setting */
	tr2_config_read();
	assert_setting("MAX_FILES", "2");
	assert_setting("ENV_VARS", "");
}

static void test_config_settings_are_read_as_those_of_the_environment(void **state)
{

	(void)state;
	write_text("global", "[trace2]rawlz4=off\nrawcycle=64k\nrawring=128k\ndestinationdebug=true\nmaxfiles=12x\n");
	tr2_config_read();
	tr2_env_read();
	assert_int_equal(tr2_g_settings.raw_lz4, 0);
	assert_int_equal(tr2_g_settings.cycle_bytes, 65536);
	assert_int_equal(tr2_g_settings.ring_bytes, 2 << 16);
	assert_int_equal(tr2_g_settings.memory_bytes, sizeof(void *) < 8 ? 32 << 20 : 64 << 20);
	assert_int_equal(tr2_g_settings.dst_debug, 0);         /* atoi, as in git */
	assert_int_equal(tr2_g_settings.max_files, 12);
	write_text("global", "[trace2]rawlz4=2\nrawcycle=x\ndestinationdebug=1\nmaxfiles=-1\n");
	tr2_config_read();
	tr2_env_read();
	assert_int_equal(tr2_g_settings.raw_lz4, 1);
	assert_int_equal(tr2_g_settings.cycle_bytes, 1 << 20);
	assert_int_equal(tr2_g_settings.dst_debug, 1);
	assert_int_equal(tr2_g_settings.max_files, 0);
	write_text("global", "[trace2]rawlz4=\nmaxfiles=99999999999999999999\n");
	tr2_config_read();
	tr2_env_read();
	assert_int_equal(tr2_g_settings.raw_lz4, 0);
	assert_int_equal(tr2_g_settings.max_files, 0x7fffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_config_system_comes_before_global),
		TEST(test_config_nosystem_is_a_boolean),
		TEST(test_config_global_is_found_below_home),
		TEST(test_config_named_file_replaces_all_global_ones),
		TEST(test_config_what_is_no_plain_file_is_empty),
		TEST(test_config_privileged_program_reads_nothing),
		TEST(test_config_bad_line_ends_only_its_file),
		TEST(test_config_include_stands_where_it_is_named),
		TEST(test_config_include_beside_a_relative_file_is_found),
		TEST(test_config_include_of_nothing_is_silent),
		TEST(test_config_include_of_itself_ends),
		TEST(test_config_include_ten_deep_is_read),
		TEST(test_config_no_more_is_kept_than_a_mebibyte),
		TEST(test_config_files_are_those_that_git_reads),
		TEST(test_config_nothing_is_kept_that_nobody_lists),
		TEST(test_config_keys_stand_behind_all_variables),
		TEST(test_config_later_values_win_and_the_environment_over_all),
		TEST(test_config_settings_are_read_as_those_of_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
