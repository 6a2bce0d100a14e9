/* SPDX-License-Identifier: MIT */
/* Words that may have been meant. */
#include "t2test.h"

#include "cli/t2x_suggest.h"

static const char *const words[] = { "record", "show", "summary", "diff", "tree", "export", "recover", "live" };

/* Return  "": nothing is like it */
static const char *suggest(const char *word)
{
	struct t2x_suggestion suggestion = { .word = word };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		t2x_suggest_try(&suggestion, words[i]);
	return suggestion.best ? suggestion.best : "";
}

static void test_suggest_a_misspelt_word_finds_the_nearest(void **state)
{
	static const struct { const char *word, *meant; } cases[] = {
		{ "sumary", "summary" }, { "summmary", "summary" }, { "summery", "summary" }, { "usmmary", "summary" },
		{ "shwo", "show" }, { "recrod", "record" }, { "recove", "recover" }, { "recoer", "recover" },
		{ "dif", "diff" }, { "tre", "tree" }, { "lvie", "live" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(suggest(cases[i].word), cases[i].meant);
}

static void test_suggest_a_beginning_finds_what_begins_so(void **state)
{
	(void)state;
	assert_string_equal(suggest("su"), "summary");
	assert_string_equal(suggest("exp"), "export");
	assert_string_equal(suggest("reco"), "record");   /* the first of two */
	assert_string_equal(suggest("recov"), "recover");
}

static void test_suggest_a_word_like_no_other_finds_nothing(void **state)
{
	(void)state;
	assert_string_equal(suggest(""), "");
	assert_string_equal(suggest("x"), "");
	assert_string_equal(suggest("zz"), "");
	assert_string_equal(suggest("run.tlg"), "");
	assert_string_equal(suggest("summarisation"), "");
	assert_string_equal(suggest("a word that is longer than each command and each option is"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suggest_a_misspelt_word_finds_the_nearest),
		cmocka_unit_test(test_suggest_a_beginning_finds_what_begins_so),
		cmocka_unit_test(test_suggest_a_word_like_no_other_finds_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
