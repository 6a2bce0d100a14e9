/* SPDX-License-Identifier: MIT */
/* Inputs: open while they are read, closed before and after. */
#include "t2test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg_ring.h"
#include "tlgmake.h"
#include "read/t2x_input.h"

static struct t2x_report report;

/* Two cycles and an end, as a file. */
static const char *make_trace(size_t noise)
{
	static const char zeros[512];
	unsigned char bytes[8192];
	struct tlgmake make;
	const char *path;

	tlgmake_init(&make, 0x1234, 77);
	make.sid = "sid";
	tlgmake_cycle(&make);
	tlgmake_cycle(&make);
	tlgmake_end(&make);
	assert_true(noise + make.n <= sizeof(bytes) && noise <= sizeof(zeros));
	memcpy(bytes, zeros, noise);
	memcpy(bytes + noise, make.bytes, make.n);
	path = tlgmake_path(bytes, noise + make.n);
	tlgmake_free(&make);
	return path;
}

static struct t2x_input input_of(const char *path)
{
	report = (struct t2x_report){ .to = NULL };
	return (struct t2x_input){ .path = path, .report = &report };
}

/* Numbers of all blocks that are left */
static unsigned read_blocks(struct t2x_input *input, uint32_t first)
{
	struct t2x_block block;
	unsigned n = 0;

	while (t2x_input_next(&input->blocks, &block)) {
		assert_int_equal(block.number, first + n);
		assert_int_equal(block.stream, 0x1234);
		n++;
	}
	return n;
}

static void test_input_file_is_closed_between_its_first_blocks(void **state)
{
	const char *path = make_trace(0);
	struct t2x_input input = input_of(path);
	struct t2x_block block;

	(void)state;
	assert_true(t2x_input_check(&input, 1));
	assert_false(input.is_open);
	assert_int_equal(input.good, 1);
	assert_true(t2x_input_next(&input.blocks, &block));
	assert_int_equal(block.number, 1);
	assert_int_equal(block.tid, TLG_NO_THREAD);
	assert_int_equal(tlg_event_type(&block.events[0]), TLG_PROLOGUE);
	assert_false(input.is_open);
	assert_true(t2x_input_next(&input.blocks, &block));
	assert_int_equal(block.number, 2);
	assert_true(input.is_open);
	assert_int_equal(read_blocks(&input, 3), 1);
	assert_false(input.is_open);
	assert_false(t2x_input_next(&input.blocks, &block));
	assert_int_equal(input.good, 3);
	assert_string_equal(input.fault, "");
	assert_int_equal(report.damages, 0);
	t2x_input_close(&input);
	tlgmake_close(path);
}

static void test_input_raw_first_block_is_read_when_asked_for(void **state)
{
	const char *path = make_trace(0);
	struct t2x_input input = input_of(path);
	struct t2x_block block;

	(void)state;
	assert_true(t2x_input_check(&input, 0));
	assert_true(t2x_input_next(&input.blocks, &block));
	assert_true(input.is_open);
	assert_non_null(block.raw);
	assert_int_equal(block.number, 1);
	assert_int_equal(read_blocks(&input, 2), 2);
	t2x_input_close(&input);
	tlgmake_close(path);
}

static void test_input_damage_is_reported_once(void **state)
{
	const char *path = make_trace(50);
	struct t2x_input input = input_of(path);

	(void)state;
	assert_true(t2x_input_check(&input, 1));
	assert_int_equal(report.damages, 0);
	assert_int_equal(read_blocks(&input, 1), 3);
	assert_int_equal(report.damages, 1);
	t2x_input_close(&input);
	tlgmake_close(path);
}

static void expect_fault(const char *bytes, size_t n, const char *fault)
{
	const char *path = tlgmake_path(bytes, n);
	struct t2x_input input = input_of(path);
	struct t2x_block block;

	assert_true(t2x_input_check(&input, 1));
	assert_int_equal(input.good, 0);
	assert_false(t2x_input_next(&input.blocks, &block));
	assert_string_equal(input.fault, fault);
	t2x_input_close(&input);
	tlgmake_close(path);
}

static void test_input_without_blocks_says_why(void **state)
{
	(void)state;
	expect_fault("", 0, "empty");
	expect_fault("text", 4, "not a .tlg file, or nothing in it is whole");
}

/* It is as long as there are addresses, and has no trace; so it is not looked through. */
static void test_input_that_is_a_ring_file_is_refused_at_once(void **state)
{
	const uint64_t magic = TLG_RING_MAGIC;
	const char *path = tlgmake_path((const unsigned char *)&magic, sizeof(magic));
	struct t2x_input input = input_of(path);
	struct t2x_block block;

	(void)state;
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	assert_true(t2x_input_check(&input, 1));
	assert_int_equal(input.good, 0);
	assert_false(t2x_input_next(&input.blocks, &block));
	assert_string_equal(input.fault, "not a .tlg file, or nothing in it is whole");
	t2x_input_close(&input);
	tlgmake_close(path);
}

static void test_input_that_is_missing_says_why(void **state)
{
	struct t2x_input input = input_of("/nothing/here");

	(void)state;
	assert_false(t2x_input_check(&input, 1));
	assert_string_equal(input.fault, strerror(ENOENT));
	t2x_input_close(&input);
}

static void test_input_that_vanishes_says_why(void **state)
{
	const char *path = make_trace(0);
	struct t2x_input input = input_of(path);

	(void)state;
	assert_true(t2x_input_check(&input, 1));
	input.path = "/nothing/here";
	assert_int_equal(read_blocks(&input, 1), 1);
	assert_string_equal(input.fault, strerror(ENOENT));
	t2x_input_close(&input);
	tlgmake_close(path);
}

static void test_input_for_which_no_descriptor_is_left_is_left_out(void **state)
{
	const char *path = make_trace(0);
	struct t2x_input input = input_of(path);
	struct rlimit limit, none;

	(void)state;
	assert_true(t2x_input_check(&input, 1));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(read_blocks(&input, 1), 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(input.left_out);
	assert_string_equal(input.fault, "");
	t2x_input_close(&input);
	tlgmake_close(path);
}

static void test_input_pipe_stays_open(void **state)
{
	const char *path = make_trace(0);
	char bytes[8192], name[32];
	struct t2x_input input;
	struct t2x_block block;
	FILE *file = fopen(path, "re");
	size_t n;
	int ends[2];

	(void)state;
	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, n), n);
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	input = input_of(name);
	assert_true(t2x_input_check(&input, 1));
	assert_true(input.is_open);
	assert_false(input.is_regular);
	assert_true(t2x_input_next(&input.blocks, &block));
	assert_int_equal(block.number, 1);
	assert_int_equal(read_blocks(&input, 2), 2);
	t2x_input_close(&input);
	close(ends[0]);
	tlgmake_close(path);
}

/* The trace as a file that has a name of its own, which may come to stand for something else. */
static void name_trace(char *name, size_t size)
{
	const char *path = make_trace(0);
	char bytes[8192];
	FILE *from = fopen(path, "r");
	int fd;
	size_t n;

	assert_non_null(from);
	n = fread(bytes, 1, sizeof(bytes), from);
	fclose(from);
	tlgmake_close(path);
	snprintf(name, size, "/tmp/test_t2x_input.XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

/* Opening a FIFO would wait for a writer: alarm(2) ends the test then. */
static void test_input_file_that_became_a_fifo_says_so_and_waits_for_nobody(void **state)
{
	struct t2x_input input;
	char path[64];

	(void)state;
	name_trace(path, sizeof(path));
	input = input_of(path);
	assert_true(t2x_input_check(&input, 1));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_int_equal(read_blocks(&input, 1), 1);   /* the one that is kept */
	alarm(0);
	assert_string_equal(input.fault, "replaced while it was read");
	t2x_input_close(&input);
	unlink(path);
}

static void test_input_file_that_was_replaced_by_another_says_so(void **state)
{
	struct t2x_input input;
	char path[64], other[64];

	(void)state;
	name_trace(path, sizeof(path));
	name_trace(other, sizeof(other));
	input = input_of(path);
	assert_true(t2x_input_check(&input, 1));
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(read_blocks(&input, 1), 1);
	assert_string_equal(input.fault, "replaced while it was read");
	t2x_input_close(&input);
	unlink(path);
}

static void test_input_that_has_to_be_a_file_and_is_a_fifo_is_refused(void **state)
{
	struct t2x_input input;
	char path[64];

	(void)state;
	name_trace(path, sizeof(path));
	input = input_of(path);
	input.needs_file = 1;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_false(t2x_input_check(&input, 1));
	alarm(0);
	assert_string_equal(input.fault, "not a regular file");
	assert_string_equal(input.in.name, path);
	t2x_input_close(&input);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_input_file_is_closed_between_its_first_blocks),
		cmocka_unit_test(test_input_raw_first_block_is_read_when_asked_for),
		cmocka_unit_test(test_input_damage_is_reported_once),
		cmocka_unit_test(test_input_without_blocks_says_why),
		cmocka_unit_test(test_input_that_is_a_ring_file_is_refused_at_once),
		cmocka_unit_test(test_input_that_is_missing_says_why),
		cmocka_unit_test(test_input_that_vanishes_says_why),
		cmocka_unit_test(test_input_file_that_became_a_fifo_says_so_and_waits_for_nobody),
		cmocka_unit_test(test_input_file_that_was_replaced_by_another_says_so),
		cmocka_unit_test(test_input_that_has_to_be_a_file_and_is_a_fifo_is_refused),
		cmocka_unit_test(test_input_for_which_no_descriptor_is_left_is_left_out),
		cmocka_unit_test(test_input_pipe_stays_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
