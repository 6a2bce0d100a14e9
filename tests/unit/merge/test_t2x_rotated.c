/* SPDX-License-Identifier: MIT */
/* test_t2x_rotated.c - the files of a process that rotates its trace: one process, and what is open is shown once. */
#include "t2test.h"

#include <string.h>

#include "record.h"
#include "tlgmake.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rotated_files_of_a_process_are_one_stream),
		cmocka_unit_test(test_rotated_files_read_in_another_order_are_one_stream),
		cmocka_unit_test(test_rotated_files_of_two_processes_are_two_streams),
		cmocka_unit_test(test_rotated_files_without_the_first_show_what_is_open_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
