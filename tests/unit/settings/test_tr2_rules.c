/* SPDX-License-Identifier: MIT */
/* What the words of TRACE2_RAW_SNAPSHOT stand for. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "settings/tr2_rules.h"

static struct tr2_rules rules;

static int setup(void **state)
{
	(void)state;
	tr2_rules_begin(&rules);
	return 0;
}

static enum tr2_word add(const char *word)
{
	const char *why = NULL;
	enum tr2_word found = tr2_rules_add(&rules, word, &why);

	if (found == TR2_WORD_BAD)
		assert_true(strlen(why) > 10);
	return found;
}

static const struct tr2_rule *last(void)
{
	return &rules.rule[rules.n - 1];
}

static void assert_rule(const char *word, enum tr2_rule_kind kind, int64_t bound)
{
	unsigned n = rules.n;

	assert_int_equal(add(word), TR2_WORD_ADDED);
	assert_int_equal(rules.n, n + 1);
	assert_string_equal(last()->text, word);
	assert_int_equal(last()->kind, kind);
	assert_int_equal(last()->bound, bound);
}

static void test_rules_each_kind_has_its_bound(void **state)
{
	(void)state;
	assert_rule("slow:db/query>500ms", TR2_RULE_SLOW, 500000000);
	assert_string_equal(last()->category, "db");
	assert_string_equal(last()->label, "query");
	assert_rule("slow:a/b>1.5us", TR2_RULE_SLOW, 1500);
	assert_rule("p99:*/query>2.5x", TR2_RULE_P99, 2500);
	assert_rule("rate:db/*>1000/s", TR2_RULE_RATE, 1000);
	assert_rule("value:cache/size>-2k", TR2_RULE_VALUE, -2048);
	assert_rule("memory>1.5g", TR2_RULE_MEMORY, INT64_C(3) << 29);
	assert_rule("every:60s", TR2_RULE_EVERY, INT64_C(60000000000));
	assert_rule("error", TR2_RULE_ERROR, 0);
	assert_rule("exit", TR2_RULE_EXIT, 0);
	assert_rule("exit!=0", TR2_RULE_EXIT_CODE, 0);
	assert_rule("lost", TR2_RULE_LOST, 0);
	assert_false(rules.is_modified);
}

/* A label may have the operator, and slashes. */
static void test_rules_names_end_at_the_last_operator(void **state)
{
	(void)state;
	assert_rule("slow:c/a->b/c>2s", TR2_RULE_SLOW, INT64_C(2000000000));
	assert_string_equal(last()->category, "c");
	assert_string_equal(last()->label, "a->b/c");
	assert_true(tr2_rule_matches(last(), "c", "a->b/c"));
	assert_false(tr2_rule_matches(last(), "c", "a->b"));
}

static void test_rules_bad_words_are_refused_with_a_reason(void **state)
{
	static const char *const words[] = {
		"slow:", "slow:db>5ms", "slow:/q>5ms", "slow:db/>5ms", "slow:db/q>", "slow:db/q>5", "slow:db/q>-5ms",
		"slow:db/q>5msx", "slow:db/q>99999999999999999999s", "slow:db/q=5ms", "p99:a/b>3", "p99:a/b>0x",
		"rate:a/b>5", "rate:a/b>5/m", "value:a/b>x", "value:a/b>", "memory>", "memory>5q", "every:", "every:0",
		"every:5", "every:10us", "exit!=1", "exited", "errors", "lost>5", "max:0", "max:", "max:x", "max:-1",
		"quiet:", "quiet:5", "window:", "window:1s,", "window:1s,2", "window:x,1s", "window:1s,1s,1s",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (add(words[i]) != TR2_WORD_BAD)
			fail_msg("'%s' was not refused", words[i]);
	assert_int_equal(rules.n, 0);
	assert_int_equal(rules.max, TR2_RULES_MAX);
	assert_false(rules.is_modified || rules.has_window || rules.quiet_ns);
}

static void test_rules_signals_are_other_words(void **state)
{
	(void)state;
	assert_int_equal(add("USR1"), TR2_WORD_OTHER);
	assert_int_equal(add("RTMIN+3"), TR2_WORD_OTHER);
	assert_int_equal(add("37"), TR2_WORD_OTHER);
	assert_int_equal(add("slow"), TR2_WORD_OTHER);
}

static void test_rules_modifiers_hold_for_the_list(void **state)
{
	(void)state;
	assert_int_equal(add("max:20"), TR2_WORD_ADDED);
	assert_int_equal(add("quiet:10s"), TR2_WORD_ADDED);
	assert_int_equal(add("window:2s,200ms"), TR2_WORD_ADDED);
	assert_int_equal(rules.max, 20);
	assert_int_equal(rules.quiet_ns, UINT64_C(10000000000));
	assert_int_equal(rules.before_ns, UINT64_C(2000000000));
	assert_int_equal(rules.after_ns, 200000000);
	assert_true(rules.has_window && rules.is_modified);
	assert_int_equal(add("window:5ms"), TR2_WORD_ADDED);
	assert_int_equal(rules.before_ns, 5000000);
	assert_int_equal(rules.after_ns, 0);
}

static void test_rules_more_than_there_is_room_for_are_refused(void **state)
{
	(void)state;
	for (int i = 0; i < TR2_RULES; i++)
		assert_int_equal(add("slow:a/b>1s"), TR2_WORD_ADDED);
	assert_int_equal(add("lost"), TR2_WORD_BAD);
	assert_int_equal(add("max:3"), TR2_WORD_ADDED);
}

static void test_rules_words_end_at_commas_and_blanks_but_for_a_window(void **state)
{
	static const char *const words[] = { "slow:a/b>1s", "window:2s,200ms", "USR1", "window:1s", "max:3", "7" };
	const char *list = " slow:a/b>1s,window:2s,200ms,USR1\twindow:1s,max:3 ,,7, ";
	char word[TR2_RULE_WORD];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_true(tr2_rules_next_word(&list, word));
		assert_string_equal(word, words[i]);
	}
	assert_false(tr2_rules_next_word(&list, word));
}

/* Whoever steers a process writes what he likes: a long word is cut, and then is no rule, whatever it begins with. */
static void test_rules_word_that_is_cut_is_no_rule(void **state)
{
	char list[1000], word[TR2_RULE_WORD];
	const char *at = list;

	(void)state;
	memset(list, 'x', sizeof(list) - 1);
	list[sizeof(list) - 1] = '\0';
	memcpy(list, "slow:", 5);
	list[20] = '/';
	memcpy(&list[TR2_RULE_WORD - 4], ">1s", 3);
	assert_true(tr2_rules_next_word(&at, word));
	assert_string_equal(&word[TR2_RULE_WORD - 4], ">1s");
	assert_int_equal(add(word), TR2_WORD_BAD);
	assert_false(tr2_rules_next_word(&at, word));
}

/* No list of bytes crashes the parser, or makes a rule that has no end. */
static void test_rules_random_lists_are_parsed_to_their_end(void **state)
{
	static const char pieces[][12] = {
		"slow:", "p99:", "rate:", "value:", "memory>", "every:", "window:", "max:", "quiet:", "exit!=0", "/",
		">", ",", " ", "5ms", "3x", "1000/s", "*", "\377", "-", ".", "9999999999", "s", "[a", "\\", "error", "",
	};
	char list[400], word[TR2_RULE_WORD];

	(void)state;
	srand(4711);
	for (int turn = 0; turn < 20000; turn++) {
		const char *at = list;
		list[0] = '\0';
		for (int i = rand() % 30; i; i--)
			strcat(list, pieces[(size_t)rand() % (sizeof(pieces) / sizeof(pieces[0]))]);
		tr2_rules_begin(&rules);
		while (tr2_rules_next_word(&at, word)) {
			assert_in_range(strlen(word), 1, TR2_RULE_WORD - 1);
			add(word);
		}
		assert_int_equal(*at, '\0');
		assert_in_range(rules.n, 0, TR2_RULES);
		for (unsigned i = 0; i < rules.n; i++)
			tr2_rule_matches(&rules.rule[i], "db", "query");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rules_each_kind_has_its_bound, setup),
		cmocka_unit_test_setup(test_rules_names_end_at_the_last_operator, setup),
		cmocka_unit_test_setup(test_rules_bad_words_are_refused_with_a_reason, setup),
		cmocka_unit_test_setup(test_rules_signals_are_other_words, setup),
		cmocka_unit_test_setup(test_rules_modifiers_hold_for_the_list, setup),
		cmocka_unit_test_setup(test_rules_more_than_there_is_room_for_are_refused, setup),
		cmocka_unit_test_setup(test_rules_words_end_at_commas_and_blanks_but_for_a_window, setup),
		cmocka_unit_test_setup(test_rules_word_that_is_cut_is_no_rule, setup),
		cmocka_unit_test_setup(test_rules_random_lists_are_parsed_to_their_end, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
