/* SPDX-License-Identifier: MIT */
/* `t2 record': which words of a list are for the start of a program, and which seconds are a time. */
#include "t2test.h"

#include "cli/t2x_record_words.h"

static void test_record_words_split_keeps_for_start_what_cannot_change(void **state)
{
	char start[128], later[128];

	(void)state;
	t2x_record_split("cpu=100,frames=30,heap,threads=USR2,unwind=fp,leaks,block=1ms", start, later, sizeof(start));
	assert_string_equal(start, "frames=30,threads=USR2,unwind=fp,leaks");
	assert_string_equal(later, "cpu=100,heap,block=1ms");
	t2x_record_split("", start, later, sizeof(start));
	assert_string_equal(start, "");
	assert_string_equal(later, "");
}

static void test_record_words_split_leaves_unknown_word_for_start(void **state)
{
	char start[64], later[64];

	(void)state;
	t2x_record_split("nothing=1,,cpu", start, later, sizeof(start));
	assert_string_equal(start, "nothing=1");
	assert_string_equal(later, "cpu");
}

static void test_record_words_split_of_long_list_stays_in_bounds(void **state)
{
	char start[8], later[8];

	(void)state;
	t2x_record_split("cpu=100,heap=512k,wall", start, later, sizeof(start));
	assert_string_equal(start, "");
	assert_string_equal(later, "cpu=100");
}

static void test_record_words_stops_names_each_word(void **state)
{
	char stops[64];

	(void)state;
	t2x_record_stops("cpu=100,heap,block=1ms", stops, sizeof(stops));
	assert_string_equal(stops, "cpu=off,heap=off,block=off");
	t2x_record_stops("", stops, sizeof(stops));
	assert_string_equal(stops, "");
}

static void test_record_words_ms_of_seconds_is_exact(void **state)
{
	uint64_t ms;

	(void)state;
	assert_true(t2x_record_ms("3", &ms) && ms == 3000);
	assert_true(t2x_record_ms("0.5", &ms) && ms == 500);
	assert_true(t2x_record_ms("0.0019", &ms) && ms == 1);
	assert_true(t2x_record_ms("12.345", &ms) && ms == 12345);
	assert_true(t2x_record_ms("0", &ms) && ms == 0);
	assert_true(t2x_record_ms("1000000000", &ms) && ms == UINT64_C(1000000000000));
}

static void test_record_words_ms_of_other_text_is_refused(void **state)
{
	static const char *const texts[] = { "", ".", ".5", "1.", "-1", "+1", "1e3", "1s", " 1", "1000000001", "0x1",
					     "99999999999999999999999" };
	uint64_t ms;

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(t2x_record_ms(texts[i], &ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_words_split_keeps_for_start_what_cannot_change),
		cmocka_unit_test(test_record_words_split_leaves_unknown_word_for_start),
		cmocka_unit_test(test_record_words_split_of_long_list_stays_in_bounds),
		cmocka_unit_test(test_record_words_stops_names_each_word),
		cmocka_unit_test(test_record_words_ms_of_seconds_is_exact),
		cmocka_unit_test(test_record_words_ms_of_other_text_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
