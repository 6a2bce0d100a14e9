/* SPDX-License-Identifier: MIT */
/* Totals of regions that lie in regions of the same row.  (test_t2x_totals_join.c: of parts of a trace.) */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>

#include "feed.h"
#include "summing.h"
#include "query/t2x_summary.h"
#include "text/t2x_formats.h"

/* a in b in a: the outermost has the time; the mean, 5 us, is that of all three. */
static void test_totals_region_in_one_of_its_row_counts_once_in_the_total(void **state)
{
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	enter(&f, "b", 11);
	enter(&f, "a", 12);
	leave(&f, "a", 14);
	leave(&f, "b", 15);
	leave(&f, "a", 20);
	enter(&f, "a", 30);
	leave(&f, "a", 33);
	feed_expect(&f, SUMMING_HEAD
		    "region,,\"\",\"c\",\"a\",3,13000,11000,5000,2000,3000,10000,10000,10000,,,0,0,0,,0,,,\n"
		    "region,,\"\",\"c\",\"b\",1,4000,2000,4000,4000,4000,4000,4000,4000,,,0,0,0,,0,,,\n"
		    "thread,7,\"main\",\"\",\"main\",8,23000,,,,,,,,1795230403000010999,1795230403000033999,,,,,,,,\n");
}

static void test_totals_region_of_another_thread_is_not_around(void **state)
{
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 2000);
	f.current = 1;
	f.thread[1].number = 2;
	enter(&f, "a", 2010);
	leave(&f, "a", 2020);
	f.current = 0;
	leave(&f, "a", 2030);
	feed_expect(&f, SUMMING_HEAD
		    "region,,\"\",\"c\",\"a\",2,40000,40000,20000,10000,10000,30000,30000,30000,,,0,0,0,,0,,,\n"
		    "thread,7,\"main\",\"\",\"main\",2,30000,,,,,,,,1795230403002000999,1795230403002030999,,,,,,,,\n"
		    "thread,7,\"th01:worker\",\"\",\"th01:worker\",2,10000,,,,,,,,"
		    "1795230403002010999,1795230403002020999,,,,,,,,\n");
}

/* Of 38 rows some share a bit: what is around has the bit, but is another row. */
static void test_totals_row_that_shares_its_bit_is_not_nested(void **state)
{
	enum { N = 38 };
	char labels[N][2] = { "" }, row[128], *text;
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	for (unsigned i = 0; i < N; i++) {
		labels[i][0] = (char)('A' + i);
		enter(&f, labels[i], 10 + i);
	}
	for (unsigned i = N; i--;)
		leave(&f, labels[i], 1000);
	text = feed_finish(&f);
	for (unsigned i = 0; i < N; i++) {
		snprintf(row, sizeof(row), "\"c\",\"%s\",1,%u,", labels[i], (990 - i) * 1000);
		assert_non_null(strstr(text, row));
	}
	free(text);
}

/* z shares the bit of x.  Around it is a, first in x, then in another z, which only comparing tells. */
static void test_totals_region_in_another_one_of_the_same_row_is_compared_again(void **state)
{
	char labels[29][2] = { "" }, *text;
	struct feed f;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "x", 10);
	for (unsigned i = 0; i < 29; i++) {
		labels[i][0] = (char)('A' + i);
		enter(&f, labels[i], 11);
		leave(&f, labels[i], 11);
	}
	enter(&f, "a", 12);
	enter(&f, "z", 13);
	leave(&f, "z", 14);
	enter(&f, "z", 15);
	leave(&f, "z", 17);
	leave(&f, "a", 18);
	leave(&f, "x", 19);
	enter(&f, "z", 20);
	enter(&f, "a", 21);
	enter(&f, "z", 22);
	leave(&f, "z", 25);
	leave(&f, "a", 26);
	leave(&f, "z", 30);
	text = feed_finish(&f);
	assert_non_null(strstr(text, "\"c\",\"z\",4,13000,"));
	assert_non_null(strstr(text, "\"c\",\"a\",2,11000,"));
	free(text);
}

/* Between the two is one whose enter is missing: it is around as well. */
static void test_totals_region_beyond_one_whose_enter_is_missing_is_around(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	feed_gap(&f, 20, (struct t2x_gap){ .events = 1, .entered = 1, .is_known = 1 });
	enter(&f, "a", 30);
	leave(&f, "a", 40);
	leave(&f, "e", 50);
	leave(&f, "a", 60);
	text = feed_finish(&f);
	assert_non_null(strstr(text, "\"c\",\"a\",2,50000,"));
	free(text);
}

/* What was in it is in no duration but its own: 5 us, and 7 us, of which 2 us are nested. */
static void test_totals_region_in_one_of_its_row_that_is_never_left_counts(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	enter(&f, "b", 11);
	enter(&f, "a", 20);
	leave(&f, "a", 25);
	enter(&f, "a", 30);
	enter(&f, "a", 31);
	leave(&f, "a", 33);
	leave(&f, "a", 37);
	text = feed_finish(&f);
	assert_non_null(strstr(text, "\"c\",\"a\",3,12000,12000,"));
	free(text);
}

/* The outer one was left where events are missing; around it is another one, which is left. */
static void test_totals_region_in_one_of_its_row_whose_leave_is_missing_is_in_the_next_around(void **state)
{
	struct feed f;
	char *text;

	(void)state;
	summing_open(&f, NULL);
	enter(&f, "a", 10);
	enter(&f, "a", 20);
	enter(&f, "a", 21);
	leave(&f, "a", 25);
	feed_gap(&f, 30, (struct t2x_gap){ .events = 1, .left = 1, .is_known = 1 });
	leave(&f, "a", 40);
	enter(&f, "a", 50);
	enter(&f, "a", 51);
	leave(&f, "a", 55);
	feed_gap(&f, 60, (struct t2x_gap){ .events = 1, .left = 1, .is_known = 1 });
	enter(&f, "c", 70);
	leave(&f, "c", 71);
	text = feed_finish(&f);
	assert_non_null(strstr(text, "\"c\",\"a\",3,34000,"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals_region_in_one_of_its_row_counts_once_in_the_total),
		cmocka_unit_test(test_totals_region_of_another_thread_is_not_around),
		cmocka_unit_test(test_totals_row_that_shares_its_bit_is_not_nested),
		cmocka_unit_test(test_totals_region_in_another_one_of_the_same_row_is_compared_again),
		cmocka_unit_test(test_totals_region_beyond_one_whose_enter_is_missing_is_around),
		cmocka_unit_test(test_totals_region_in_one_of_its_row_that_is_never_left_counts),
		cmocka_unit_test(test_totals_region_in_one_of_its_row_whose_leave_is_missing_is_in_the_next_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
