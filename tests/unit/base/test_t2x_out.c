/* SPDX-License-Identifier: MIT */
/* Buffered output: what arrives at the descriptor, and how numbers look. */
#include "t2test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/t2x_out.h"

ssize_t __real_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n);

/* How the next writes to the descriptor under test go. */
static struct {
	int fd;                /* -1: all others, untouched */
	size_t most;           /* bytes a write takes */
	int interrupts;        /* so often EINTR comes first */
	int fails;             /* errno, once left is used up */
	int left;
	unsigned writes;
	char ends[8];          /* last byte of each of the first writes ... */
	size_t sizes[8];       /* ... and what it takes */
} disk = { .fd = -1 };

ssize_t __wrap_write(int fd, const void *data, size_t n)
{
	if (fd != disk.fd)
		return __real_write(fd, data, n);
	if (disk.interrupts) {
		disk.interrupts--;
		errno = EINTR;
		return -1;
	}
	if (disk.fails && disk.left-- <= 0) {
		errno = disk.fails;
		return -1;
	}
	if (n > disk.most)
		n = disk.most;
	if (disk.writes < sizeof(disk.ends)) {
		disk.ends[disk.writes] = ((const char *)data)[n - 1];
		disk.sizes[disk.writes] = n;
	}
	disk.writes++;
	return __real_write(fd, data, n);
}

static void open_out(struct t2x_out *out)
{
	int fd = memfd_create("out", 0);

	assert_true(fd >= 0);
	assert_int_equal(t2x_out_init(out, fd), 0);
	memset(&disk, 0, sizeof(disk));
	disk.fd = fd;
	disk.most = SIZE_MAX;
}

/* What is in the file, to be freed; ends the test of out. */
static char *close_out(struct t2x_out *out, size_t *n)
{
	off_t size;
	char *text;

	t2x_out_flush(out);
	size = lseek(out->fd, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(pread(out->fd, text, (size_t)size, 0), size);
	*n = (size_t)size;
	close(out->fd);
	t2x_out_free(out);
	disk.fd = -1;
	return text;
}

static void expect(struct t2x_out *out, const char *expected)
{
	size_t n;
	char *text = close_out(out, &n);

	assert_string_equal(text, expected);
	free(text);
}

static void test_out_numbers_print_as_printf(void **state)
{
	static const uint64_t values[] = {
		0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 12345, 999999, 1000000, UINT32_MAX, UINT64_C(9999999999),
		INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX
	};
	char expected[1024];
	size_t n = 0;
	struct t2x_out out;

	(void)state;
	open_out(&out);
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		n += (size_t)snprintf(expected + n, sizeof(expected) - n, "%" PRIu64 " %" PRId64 "\n", values[i],
				      (int64_t)values[i]);
		t2x_out_uint(&out, values[i]);
		t2x_out_char(&out, ' ');
		t2x_out_int(&out, (int64_t)values[i]);
		t2x_out_end_line(&out);
	}
	expect(&out, expected);
}

/* The same value by printf, for comparison. */
static void check_us(uint64_t us, unsigned width)
{
	char expected[64];
	struct t2x_out out;

	snprintf(expected, sizeof(expected), "%*.6f", (int)width, (double)us / 1000000.0);
	open_out(&out);
	t2x_out_seconds_us(&out, us, width);
	expect(&out, expected);
}

static void check_ns(uint64_t ns)
{
	char expected[64];
	struct t2x_out out;

	snprintf(expected, sizeof(expected), "%.6f", (double)ns / 1e9);
	open_out(&out);
	t2x_out_seconds_ns(&out, ns);
	expect(&out, expected);
}

static void test_out_seconds_of_us_print_as_doubles(void **state)
{
	static const uint64_t values[] = {
		0, 1, 999999, 1000000, 9999999, 99999999, 100000000, UINT64_C(1795230403123456),
		(UINT64_C(1) << 52) - 1, UINT64_C(1) << 52, (UINT64_C(1) << 53) + 1, UINT64_MAX - 999, UINT64_MAX
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		check_us(values[i], 0);
		check_us(values[i], 9);
	}
}

static void test_out_negative_time_prints_as_wrapped_double(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	t2x_out_seconds_us(&out, (uint64_t)-1, 9);
	expect(&out, "18446744073709.550781");
}

static void test_out_exact_seconds_are_neither_rounded_nor_wrapped(void **state)
{
	char text[T2X_MAX_SECONDS + 1];

	(void)state;
	*t2x_put_seconds_exact(text, 0, 12) = '\0';
	assert_string_equal(text, " 0.000000000");
	*t2x_put_seconds_exact(text, UINT64_C(1999999999), 0) = '\0';
	assert_string_equal(text, "1.999999999");
	*t2x_put_seconds_exact(text, (uint64_t)-1, 12) = '\0';
	assert_string_equal(text, "-0.000000001");
	*t2x_put_seconds_exact(text, UINT64_C(1) << 63, 12) = '\0';
	assert_string_equal(text, "-9223372036.854775808");
}

static void test_out_seconds_of_ns_are_rounded_as_doubles(void **state)
{
	(void)state;
	for (uint64_t us = 0; us < 300; us++) {
		check_ns(us * 1000 + 499);
		check_ns(us * 1000 + 500);
		check_ns(us * 1000 + 501);
		check_ns(us * UINT64_C(7777777777) + 500);
	}
	check_ns(UINT64_MAX);
	check_ns(999999999);
	check_ns((UINT64_C(1) << 52) + 1);
}

static void test_out_line_gets_newline_only_if_it_needs_one(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	t2x_out_end_line(&out);
	t2x_out_literal(&out, "a");
	t2x_out_end_line(&out);
	t2x_out_end_line(&out);
	t2x_out_literal(&out, "b\n");
	t2x_out_end_line(&out);
	t2x_out_literal(&out, "c\n\n");
	t2x_out_end_line(&out);
	expect(&out, "a\nb\nc\n\n");
}

static void test_out_line_flushed_in_the_middle_still_ends_right(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	t2x_out_literal(&out, "a");
	t2x_out_flush(&out);
	t2x_out_end_line(&out);
	t2x_out_literal(&out, "b\n");
	t2x_out_flush(&out);
	t2x_out_end_line(&out);
	t2x_out_end_line(&out);
	expect(&out, "a\nb\n");
}

enum { LINES = 6 * T2X_OUT_BLOCK / 33 };

/* Every third line has its newline already: it must not get a second, wherever a write has cut it. */
static void put_lines(struct t2x_out *out)
{
	for (unsigned i = 0; i < LINES; i++) {
		t2x_out_literal(out, "a line of thirty-two bytes .....");
		if (i % 3 == 0)
			t2x_out_char(out, '\n');
		t2x_out_end_line(out);
	}
}

static void expect_lines(struct t2x_out *out)
{
	size_t n;
	char *text = close_out(out, &n);

	assert_int_equal(n, LINES * 33);
	for (unsigned i = 0; i < LINES; i++)
		assert_memory_equal(text + i * 33, "a line of thirty-two bytes .....\n", 33);
	free(text);
}

static void test_out_full_buffer_leaves_at_a_line_end(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	put_lines(&out);
	assert_in_range(disk.writes, 3, sizeof(disk.ends));
	for (unsigned i = 0; i < disk.writes; i++)
		assert_int_equal(disk.ends[i], '\n');
	expect_lines(&out);
}

static void test_out_in_blocks_leaves_in_whole_blocks(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	t2x_out_in_blocks(&out);
	put_lines(&out);
	assert_in_range(disk.writes, 3, sizeof(disk.ends));
	for (unsigned i = 0; i < disk.writes; i++)
		assert_int_equal(disk.sizes[i], T2X_OUT_BLOCK);
	expect_lines(&out);
}

/* A line of 4097 bytes, and its end comes behind byte 0, 1, 2 ... of a block: also right behind what has left. */
static void test_out_in_blocks_line_cut_anywhere_ends_right(void **state)
{
	struct t2x_out out;
	size_t n;
	char *text;

	(void)state;
	for (unsigned before = T2X_OUT_BLOCK - 2; before <= T2X_OUT_BYTES + 2; before++) {
		open_out(&out);
		t2x_out_in_blocks(&out);
		t2x_out_repeat(&out, 'x', before);
		t2x_out_make_room(&out);
		t2x_out_end_line(&out);
		t2x_out_end_line(&out);
		text = close_out(&out, &n);
		assert_int_equal(n, before + 1);
		assert_memory_equal(text + before - 1, "x\n", 2);
		free(text);
	}
}

static void test_out_line_longer_than_the_buffer_arrives_whole(void **state)
{
	static char longer[3 * T2X_OUT_BYTES + 5];
	struct t2x_out out;
	size_t n;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(longer); i++)
		longer[i] = (char)('a' + i % 23);
	open_out(&out);
	t2x_out_literal(&out, "first\n");
	t2x_out_end_line(&out);
	t2x_out_bytes(&out, longer, sizeof(longer));
	t2x_out_repeat(&out, '.', T2X_OUT_BYTES + 1);
	t2x_out_end_line(&out);
	text = close_out(&out, &n);
	assert_int_equal(n, 6 + sizeof(longer) + T2X_OUT_BYTES + 2);
	assert_memory_equal(text, "first\n", 6);
	assert_memory_equal(text + 6, longer, sizeof(longer));
	assert_int_equal(text[6 + sizeof(longer)], '.');
	assert_int_equal(text[n - 2], '.');
	assert_int_equal(text[n - 1], '\n');
	free(text);
}

static int is_without_memory;

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_realloc(void *old, size_t bytes)
{
	return is_without_memory ? NULL : __real_realloc(old, bytes);
}

/* "first", a line of 5 buffers, "last"; the writes that this makes are in disk. */
static void put_long_line(struct t2x_out *out)
{
	open_out(out);
	t2x_out_in_whole_lines(out);
	t2x_out_literal(out, "first\n");
	t2x_out_end_line(out);
	t2x_out_repeat(out, 'x', 5 * T2X_OUT_BYTES);
	t2x_out_end_line(out);
	t2x_out_literal(out, "last\n");
	t2x_out_end_line(out);
	t2x_out_flush(out);
}

static void expect_long_line(struct t2x_out *out)
{
	size_t n;
	char *text = close_out(out, &n);

	assert_int_equal(n, 6 + 5 * T2X_OUT_BYTES + 1 + 5);
	assert_memory_equal(text, "first\nx", 7);
	assert_memory_equal(text + n - 7, "x\nlast\n", 7);
	free(text);
}

static void test_out_in_whole_lines_long_line_is_one_write(void **state)
{
	struct t2x_out out;

	(void)state;
	put_long_line(&out);
	assert_int_equal(disk.writes, 2);
	assert_int_equal(disk.sizes[0], 6);
	assert_int_equal(disk.sizes[1], 5 * T2X_OUT_BYTES + 1 + 5);
	assert_int_equal(out.end - out.buf, T2X_OUT_BYTES);   /* as before */
	expect_long_line(&out);
}

static void test_out_in_whole_lines_without_memory_loses_nothing(void **state)
{
	struct t2x_out out;

	(void)state;
	is_without_memory = 1;
	put_long_line(&out);
	is_without_memory = 0;
	assert_true(disk.writes > 2);
	expect_long_line(&out);
}

static void test_out_short_and_interrupted_writes_are_continued(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	disk.most = 3;
	disk.interrupts = 2;
	t2x_out_literal(&out, "ten bytes.");
	expect(&out, "ten bytes.");
}

static void test_out_error_sticks_and_drops_what_follows(void **state)
{
	struct t2x_out out;
	size_t n;
	char *text;

	(void)state;
	open_out(&out);
	disk.most = 4;
	disk.left = 1;
	disk.fails = ENOSPC;
	t2x_out_literal(&out, "12345678");
	assert_int_equal(t2x_out_flush(&out), ENOSPC);
	disk.fails = 0;
	for (unsigned i = 0; i < 3; i++)
		t2x_out_repeat(&out, 'x', T2X_OUT_BYTES);
	assert_int_equal(t2x_out_flush(&out), ENOSPC);
	text = close_out(&out, &n);
	assert_string_equal(text, "1234");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_numbers_print_as_printf),
		cmocka_unit_test(test_out_seconds_of_us_print_as_doubles),
		cmocka_unit_test(test_out_negative_time_prints_as_wrapped_double),
		cmocka_unit_test(test_out_exact_seconds_are_neither_rounded_nor_wrapped),
		cmocka_unit_test(test_out_seconds_of_ns_are_rounded_as_doubles),
		cmocka_unit_test(test_out_line_gets_newline_only_if_it_needs_one),
		cmocka_unit_test(test_out_line_flushed_in_the_middle_still_ends_right),
		cmocka_unit_test(test_out_full_buffer_leaves_at_a_line_end),
		cmocka_unit_test(test_out_in_blocks_leaves_in_whole_blocks),
		cmocka_unit_test(test_out_in_blocks_line_cut_anywhere_ends_right),
		cmocka_unit_test(test_out_line_longer_than_the_buffer_arrives_whole),
		cmocka_unit_test(test_out_in_whole_lines_long_line_is_one_write),
		cmocka_unit_test(test_out_in_whole_lines_without_memory_loses_nothing),
		cmocka_unit_test(test_out_short_and_interrupted_writes_are_continued),
		cmocka_unit_test(test_out_error_sticks_and_drops_what_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
