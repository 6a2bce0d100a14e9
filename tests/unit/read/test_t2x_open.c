/* SPDX-License-Identifier: MIT */
/* test_t2x_open.c - regions that a cycle repeats: who is told, and which are to be shown. */
#include "t2test.h"

#include "record.h"
#include "tlgmake.h"

enum { SCOPE = 1, STYLE = TLG_STYLE_step };
#define OUTERMOST_LEFT (0 - TLGMAKE_RAW)      /* the time for which the raw clock is 0 */

enum { NONE = 1 };
/* Open a block of the main thread, with a region, or two, the inner one without a name. */
static void begin_in_region(struct tlgmake *make, uint64_t entered, uint64_t inner)
{
	tlgmake_cycle(make);
	tlgmake_begin(make, 0);
	tlgmake_thread(make, "main", 1);
	tlgmake_open_region(make, entered, SCOPE);
	if (inner != NONE)
		tlgmake_open_region(make, inner, 0);
	tlgmake_scope(make, SCOPE, STYLE, 0, "step");
}

/* A file with one checkpoint so far. */
static void begin(struct tlgmake *make)
{
	tlgmake_init(make, 77, 1234);
	tlgmake_cycle(make);
	tlgmake_begin(make, 0);
	tlgmake_thread(make, "main", 1);
	tlgmake_scope(make, SCOPE, STYLE, 0, "step");
	tlgmake_hit(make, 10, SCOPE);
	tlgmake_seal(make);
}

static void expect(struct tlgmake *make, const char *text)
{
	struct record record = { .text = NULL };

	tlgmake_seal(make);
	tlgmake_end(make);
	record_bytes(&record, make->bytes, make->n);
	assert_string_equal(record.text, text);
	assert_int_equal(record.context.used_bytes, 0);
	record_free(&record);
	tlgmake_free(make);
}

static void test_open_is_not_told_to_who_has_seen_all(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	begin_in_region(&make, 4, NONE);
	tlgmake_hit(&make, 20, SCOPE);
	expect(&make, "open main\nhit main 10 step\nhit main 20 step\n");
}

static void test_open_is_told_behind_a_gap(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_lose(&make, 0, 3);
	begin_in_region(&make, 4, 6);
	tlgmake_hit(&make, 20, SCOPE);
	expect(&make, "open main\nhit main 10 step\nopen main 4:step 6\ngap main 3 -0 +0\nhit main 20 step\n");
}

/* What was missed within a cycle counts, too; once is enough. */
static void test_open_is_told_once_behind_an_earlier_gap(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_lose(&make, 0, 1);
	tlgmake_begin(&make, 0);
	tlgmake_hit(&make, 20, SCOPE);
	tlgmake_seal(&make);
	for (unsigned i = 0; i < 2; i++) {
		begin_in_region(&make, 4, NONE);
		tlgmake_hit(&make, 30 + i, SCOPE);
		tlgmake_seal(&make);
	}
	expect(&make, "open main\nhit main 10 step\ngap main 1\nhit main 20 step\nopen main 4:step\nhit main 30 step\n"
		      "hit main 31 step\n");
}

/* It may have been an enter. */
static void test_open_is_told_behind_what_was_not_resolved(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_begin(&make, 0);
	tlgmake_hit(&make, 15, SCOPE + 1);
	tlgmake_seal(&make);
	begin_in_region(&make, 4, NONE);
	tlgmake_hit(&make, 20, SCOPE);
	expect(&make, "open main\nhit main 10 step\nhit main 15 ?2\nopen main 4:step\nhit main 20 step\n");
}

static void test_open_may_say_that_the_outermost_level_was_left(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_lose(&make, 0, 1);
	begin_in_region(&make, OUTERMOST_LEFT, 6);
	tlgmake_hit(&make, 20, SCOPE);
	expect(&make, "open main\nhit main 10 step\nopen main 0:step 6\ngap main 1 -0 +0\nhit main 20 step\n");
}

/* A file that goes on where another one of the same process ended. */
static void make_second_file(struct tlgmake *make)
{
	tlgmake_init(make, 78, 1234);
	make->cycle = 1;
	make->next[0] = 100;
	begin_in_region(make, 4, NONE);
	tlgmake_hit(make, 20, SCOPE);
	tlgmake_seal(make);
}

static void test_open_in_a_rotated_file_is_shown_and_nothing_is_missing(void **state)
{
	struct tlgmake make;

	(void)state;
	make_second_file(&make);
	expect(&make, "open main 4:step\nhit main 20 step\n");
}

static void test_open_in_a_rotated_file_is_not_shown_twice(void **state)
{
	struct tlgmake first, second;
	struct record record = { .text = NULL };
	const char *paths[2];

	(void)state;
	begin(&first);
	tlgmake_end(&first);
	make_second_file(&second);
	tlgmake_end(&second);
	paths[0] = tlgmake_path(second.bytes, second.n);
	paths[1] = tlgmake_path(first.bytes, first.n);
	record_run(&record, paths, 2, NULL);
	assert_string_equal(record.text, "open main 4\nopen main\nhit main 10 step\nhit main 20 step\n");
	record_free(&record);
	tlgmake_close(paths[0]);
	tlgmake_close(paths[1]);
	tlgmake_free(&first);
	tlgmake_free(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_is_not_told_to_who_has_seen_all),
		cmocka_unit_test(test_open_is_told_behind_a_gap),
		cmocka_unit_test(test_open_is_told_once_behind_an_earlier_gap),
		cmocka_unit_test(test_open_is_told_behind_what_was_not_resolved),
		cmocka_unit_test(test_open_may_say_that_the_outermost_level_was_left),
		cmocka_unit_test(test_open_in_a_rotated_file_is_shown_and_nothing_is_missing),
		cmocka_unit_test(test_open_in_a_rotated_file_is_not_shown_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
