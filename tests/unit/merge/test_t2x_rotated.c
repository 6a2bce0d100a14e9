/* SPDX-License-Identifier: MIT */
/* test_t2x_rotated.c - the files of a process that rotates its trace: one process, and what is open is shown once. */
#include "t2test.h"

#include <string.h>

#include "record.h"
#include "tlgmake.h"
#include "merge/t2x_rotated.h"

enum { SCOPE = 1, STYLE = TLG_STYLE_step };

/* A file whose first cycle has this number: a region that is open, and a checkpoint at this time. */
static const char *make_file(uint32_t id, unsigned pid, uint32_t cycle, uint64_t ns)
{
	struct tlgmake make;
	const char *path;

	tlgmake_init(&make, id, pid);
	make.cycle = cycle - 1;
	make.next[0] = 100 * (cycle - 1);
	tlgmake_cycle(&make);
	tlgmake_begin(&make, 0);
	tlgmake_thread(&make, "main", 1);
	if (cycle > 1)
		tlgmake_open_region(&make, 4, SCOPE);
	tlgmake_scope(&make, SCOPE, STYLE, 0, "step");
	tlgmake_hit(&make, ns, SCOPE);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	path = tlgmake_path(make.bytes, make.n);
	tlgmake_free(&make);
	return path;
}

/* Read two files in this order. */
static struct t2x_process expect(const char *first, const char *second, const char *text)
{
	struct record record = { .text = NULL };
	const char *paths[2] = { first, second };

	record_run(&record, paths, 2, NULL);
	assert_string_equal(record.text, text);
	record_free(&record);
	tlgmake_close(first);
	tlgmake_close(second);
	return record.process;
}

static void test_rotated_files_of_a_process_are_one_stream(void **state)
{
	struct t2x_process process;

	(void)state;
	process = expect(make_file(77, 1234, 1, 10), make_file(78, 1234, 2, 20),
			 "open main\nopen main 4\nhit main 10 step\nhit main 20 step\n");
	assert_int_equal(process.stream, 77);
	assert_int_equal(process.file, 78);
}

static void test_rotated_files_read_in_another_order_are_one_stream(void **state)
{
	struct t2x_process process;

	(void)state;
	process = expect(make_file(78, 1234, 2, 20), make_file(77, 1234, 1, 10),
			 "open main 4\nopen main\nhit main 10 step\nhit main 20 step\n");
	assert_int_equal(process.stream, 78);
	assert_int_equal(process.file, 78);
}

static void test_rotated_files_of_two_processes_are_two_streams(void **state)
{
	struct t2x_process process;

	(void)state;
	process = expect(make_file(77, 1234, 1, 10), make_file(78, 1235, 2, 20),
			 "open main\nopen main 4:step\nhit main 10 step\nhit main 20 step\n");
	assert_int_equal(process.stream, 78);
}

static void test_rotated_files_without_the_first_show_what_is_open_once(void **state)
{
	struct t2x_process process;

	(void)state;
	process = expect(make_file(78, 1234, 2, 20), make_file(79, 1234, 3, 30),
			 "open main 4:step\nopen main 4\nhit main 20 step\nhit main 30 step\n");
	assert_int_equal(process.stream, 78);
}

/* As many processes as the table has places for, each of which has a file, and later its next one. */
static void test_rotated_table_knows_the_processes_that_had_files_lately(void **state)
{
	static struct t2x_rotated_table table;
	unsigned known = 0;

	(void)state;
	for (uint32_t i = 0; i < T2X_MAX_SEEN / 2; i++)
		assert_int_equal(t2x_rotated_add(&table, i * UINT64_C(0x9e3779b97f4a7c15), i, 1), i);
	for (uint32_t i = 0; i < T2X_MAX_SEEN / 2; i++)
		known += t2x_rotated_add(&table, i * UINT64_C(0x9e3779b97f4a7c15), i + 1000000, 2) == i;
	assert_int_equal(known, T2X_MAX_SEEN / 2);
}

static void test_rotated_table_that_is_full_forgets_the_process_that_was_idle_for_longest(void **state)
{
	static struct t2x_rotated_table table;

	(void)state;
	for (uint32_t i = 0; i <= 16; i++)
		t2x_rotated_add(&table, i * (uint64_t)T2X_MAX_SEEN, i, 1);      /* all for the same places */
	assert_int_equal(t2x_rotated_add(&table, 16 * (uint64_t)T2X_MAX_SEEN, 100, 2), 16);
	assert_int_equal(t2x_rotated_add(&table, 1 * (uint64_t)T2X_MAX_SEEN, 101, 2), 1);
	assert_false(t2x_rotated_has_earlier(&table, 0, 2));
	assert_int_equal(t2x_rotated_add(&table, 0, 102, 2), 102);
	assert_false(t2x_rotated_has_earlier(&table, 0, 2));
	assert_true(t2x_rotated_has_earlier(&table, 0, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rotated_files_of_a_process_are_one_stream),
		cmocka_unit_test(test_rotated_files_read_in_another_order_are_one_stream),
		cmocka_unit_test(test_rotated_files_of_two_processes_are_two_streams),
		cmocka_unit_test(test_rotated_files_without_the_first_show_what_is_open_once),
		cmocka_unit_test(test_rotated_table_knows_the_processes_that_had_files_lately),
		cmocka_unit_test(test_rotated_table_that_is_full_forgets_the_process_that_was_idle_for_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
