/* SPDX-License-Identifier: MIT */
/* Patterns for names: as git matches them, and in bounded time. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "gitask.h"
#include "traced.h"
#include "settings/tr2_config_parse.h"

static void assert_matches(const char *pattern, const char *text)
{
	if (!tr2_wildmatch(pattern, text))
		fail_msg("'%s' does not match '%s'", pattern, text);
}

static void assert_differs(const char *pattern, const char *text)
{
	if (tr2_wildmatch(pattern, text))
		fail_msg("'%s' matches '%s'", pattern, text);
}

static void test_wildmatch_plain_text_matches_itself_in_any_case(void **state)
{
	(void)state;
	assert_matches("", "");
	assert_matches("User.Name", "user.name");
	assert_matches("user.name", "User.NAME");
	assert_differs("user.name", "user.name2");
	assert_differs("user.name2", "user.name");
	assert_differs("", "a");
	assert_differs("a", "");
	assert_differs("\xc4", "\xe4");   /* bytes, whatever the locale */
}

static void test_wildmatch_stars_match_any_run(void **state)
{
	(void)state;
	assert_matches("*", "");
	assert_matches("*", "remote.a/b.c.url");
	assert_matches("remote.*.url", "remote.a/b.c.url");
	assert_matches("**.url", "remote..url");
	assert_matches("a*b*c", "aXbXbXc");
	assert_matches("*abc", "ababc");
	assert_differs("remote.*.url", "remote.a/b.c.urls");
	assert_differs("a*b*c", "aXbXbX");
	assert_matches("a?c", "a/c");
	assert_differs("a?c", "ac");
}

static void test_wildmatch_sets_hold_bytes_ranges_and_classes(void **state)
{
	(void)state;
	assert_matches("[abc]x", "bx");
	assert_matches("[a-c]x", "Bx");
	assert_matches("[A-C]x", "bx");
	assert_differs("[c-a]x", "bx");
	assert_differs("[!a-c]x", "bx");
	assert_matches("[^a-c]x", "dx");
	assert_matches("[]a]x", "]x");
	assert_matches("[!]a]x", "bx");
	assert_matches("[a-]x", "-x");
	assert_matches("[-a]x", "-x");
	assert_matches("[a\\]]x", "]x");
	assert_matches("[\\a-\\c]x", "bx");
	assert_matches("[[:alpha:]_-]x", "_x");
	assert_matches("[[:digit:]a]x", "7x");
	assert_differs("[[:digit:]a]x", "bx");
	assert_matches("[[:alpha]x", ":x");
	assert_matches("[[:]x", ":x");
}

static void test_wildmatch_capitals_alone_match_nothing_as_in_git(void **state)
{
	(void)state;
	assert_differs("[A]x", "ax");
	assert_differs("[A]x", "Ax");
	assert_differs("\\Ax", "ax");
	assert_matches("\\ax", "Ax");
}

static void test_wildmatch_bad_patterns_match_nothing(void **state)
{
	(void)state;
	assert_differs("[", "[");
	assert_differs("[a", "a");
	assert_differs("*[a", "a");
	assert_differs("[!a", "b");
	assert_differs("[a\\", "a");
	assert_differs("[a-\\", "a");
	assert_differs("[[:alpha:]", "a");
	assert_differs("[[:letter:]]", "a");
	assert_differs("[[:letter:]]", "l]");
	assert_differs("a\\", "a");
	assert_differs("a\\", "a\\");
	assert_matches("a\\\\", "a\\");
}

static void test_wildmatch_many_stars_end_soon(void **state)
{
	static char pattern[2001], text[20001];

	(void)state;
	for (size_t i = 0; i < 2000; i += 2)
		memcpy(pattern + i, "*a", 2);
	memset(text, 'a', 20000);
	assert_matches(pattern, text);
	pattern[1999] = 'b';
	assert_differs(pattern, text);   /* by trying all ways this would take for ever */
}

/* ---- as git ------------------------------------------------------------------------------------- */

static const char *const names[] = {
	"a/b", "A", "Z", "m", "0", "9", "f", "g", "_", "-", "]", "[", "[a]", "^", "!", "*", "?", ":", ".", "a.b", " ",
	"\t", "\v", "\x01", "\x7f", "\xe4", "{", "@", "alpha", "a]",
};
static const char *const patterns[] = {
	"x.*", "x.?.k", "X.*.K", "x.a/?.k", "x.a?b.k", "x.[!a].k", "x.[^a].k", "x.[a-f].k", "x.[A-F].k", "x.[A].k",
	"x.[m].k", "x.\\M.k", "x.\\m.k", "x.[]].k", "x.[[].k", "x.[]-a].k", "x.[!-~].k", "x.[a-].k", "x.[\\]].k",
	"x.[[:alnum:]].k", "x.[[:alpha:]].k", "x.[[:blank:]].k", "x.[[:cntrl:]].k", "x.[[:digit:]].k",
	"x.[[:graph:]].k", "x.[[:lower:]].k", "x.[[:print:]].k", "x.[[:punct:]].k", "x.[[:space:]].k",
	"x.[[:upper:]].k",
	"x.[[:xdigit:]].k", "x.[![:alnum:]].k", "x.[[:no:]].k", "x.[[:alpha].k", "x.[[:].k", "x.[[:alpha:]-z].k",
	"x.[0-9a-].k", "x.[a", "x.[a-",
	"x.[", "x.*\\", "*]*", "*\\]*", "x.\\*.k", "x.[*].k", "x.[?].k", "x.\\?.k", "x.[]", "x.[]a-z].k", "x.[a-c-e].k",
	"x.[--0].k", "x.[\xe4].k", "x.\xe4.k", "x.[[-\\]].k", "**/*", "x.*.*.k", "*a*", "*A*",
};
enum { NAMES = sizeof(names) / sizeof(names[0]), PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

/* "x.NAME.k" is what the pattern sees. */
static void write_names(const char *path)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (size_t i = 0; i < NAMES; i++)
		fprintf(out, "[x \"%s\"]\nk=%zu\n", names[i], i);
	assert_int_equal(fclose(out), 0);
}

static void test_wildmatch_patterns_match_what_they_match_for_git(void **state)
{
	static char answer[8192];
	char path[128], settings[512], param[128], key[64];
	unsigned matches = 0;
	size_t bytes;

	(void)state;
	if (!gitask_is_there())
		skip();
	traced_init(&t);
	snprintf(path, sizeof(path), "%s/config", t.dir);
	write_names(path);
	for (size_t p = 0; p < PATTERNS; p++) {
		snprintf(settings, sizeof(settings), "GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=%s GIT_TRACE2_BRIEF=1 "
			 "GIT_TRACE2=3 GIT_TRACE2_CONFIG_PARAMS='%s'", path, patterns[p]);
		assert_int_equal(gitask(t.dir, settings, "version 3>&1", answer, sizeof(answer), &bytes), 0);
		for (size_t n = 0; n < NAMES; n++) {
			snprintf(key, sizeof(key), "x.%s.k", names[n]);
			snprintf(param, sizeof(param), " %s=%zu\n", key, n);
			if (tr2_wildmatch(patterns[p], key) != (strstr(answer, param) != NULL))
				fail_msg("'%s' and '%s': git says otherwise", patterns[p], key);
			matches += strstr(answer, param) != NULL;
		}
	}
	assert_in_range(matches, 200, PATTERNS * NAMES / 2);   /* else git was not asked what we think */
	traced_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wildmatch_plain_text_matches_itself_in_any_case),
		cmocka_unit_test(test_wildmatch_stars_match_any_run),
		cmocka_unit_test(test_wildmatch_sets_hold_bytes_ranges_and_classes),
		cmocka_unit_test(test_wildmatch_capitals_alone_match_nothing_as_in_git),
		cmocka_unit_test(test_wildmatch_bad_patterns_match_nothing),
		cmocka_unit_test(test_wildmatch_many_stars_end_soon),
		cmocka_unit_test(test_wildmatch_patterns_match_what_they_match_for_git),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
