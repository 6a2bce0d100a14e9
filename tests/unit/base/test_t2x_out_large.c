/* SPDX-License-Identifier: MIT */
/* Output in large writes: each ends with a line, a short text needs no large buffer, without memory they are small. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "base/t2x_out.h"

enum {
	LINE = 33, SHORT = T2X_OUT_BLOCK / LINE, MANY = 3 * T2X_OUT_LARGE / LINE + 1000,
	BYTES = 4 * T2X_OUT_LARGE, WRITES = 128,
};

/* What has been written. */
static struct {
	char text[BYTES];
	size_t used;
	unsigned writes;
	size_t ends[WRITES];   /* how long the text was behind each write */
} sink;

static int is_without_memory;

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_realloc(void *old, size_t bytes)
{
	return is_without_memory ? NULL : __real_realloc(old, bytes);
}

static int take(void *unused, const char *text, size_t n)
{
	(void)unused;
	assert_true(n <= sizeof(sink.text) - sink.used && sink.writes < WRITES);
	memcpy(sink.text + sink.used, text, n);
	sink.used += n;
	sink.ends[sink.writes++] = sink.used;
	return 0;
}

static void open_out(struct t2x_out *out)
{
	memset(&sink, 0, sizeof(sink));
	assert_int_equal(t2x_out_init_fn(out, take, NULL), 0);
	t2x_out_in_large_writes(out);
}

static void put_lines(struct t2x_out *out, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		t2x_out_literal(out, "a line of thirty-two bytes .....");
		t2x_out_end_line(out);
	}
}

/* So many lines have arrived, and each write ended with one; ends the test of out. */
static void expect_lines(struct t2x_out *out, unsigned count)
{
	assert_int_equal(t2x_out_flush(out), 0);
	t2x_out_free(out);
	assert_int_equal(sink.used, count * LINE);
	for (unsigned i = 0; i < count; i++)
		assert_memory_equal(sink.text + i * LINE, "a line of thirty-two bytes .....\n", LINE);
	for (unsigned i = 0; i < sink.writes; i++)
		assert_int_equal(sink.ends[i] % LINE, 0);
}

static void test_out_large_each_write_ends_with_a_line(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	put_lines(&out, MANY);
	expect_lines(&out, MANY);
	assert_int_equal(sink.writes, 4);
	assert_in_range(sink.ends[0], T2X_OUT_LARGE - T2X_OUT_ROOM - LINE, T2X_OUT_LARGE);
}

static void test_out_large_short_text_keeps_the_small_buffer(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	put_lines(&out, SHORT);
	assert_int_equal(out.end - out.buf, T2X_OUT_BYTES);
	assert_int_equal(sink.writes, 0);
	expect_lines(&out, SHORT);
}

static void test_out_large_buffer_stays_large_when_it_is_flushed(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	put_lines(&out, 2 * SHORT);
	t2x_out_flush(&out);
	assert_int_equal(out.end - out.buf, T2X_OUT_LARGE);
	put_lines(&out, 2 * SHORT);
	expect_lines(&out, 4 * SHORT);
	assert_int_equal(sink.writes, 2);
}

static void test_out_large_line_longer_than_the_buffer_arrives_whole(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	put_lines(&out, 1);
	t2x_out_repeat(&out, 'x', 2 * T2X_OUT_LARGE);
	t2x_out_end_line(&out);
	assert_int_equal(t2x_out_flush(&out), 0);
	t2x_out_free(&out);
	assert_int_equal(sink.used, LINE + 2 * T2X_OUT_LARGE + 1);
	assert_memory_equal(sink.text + LINE - 1, "\nx", 2);
	assert_memory_equal(sink.text + sink.used - 2, "x\n", 2);
}

static void test_out_large_without_memory_is_small_and_loses_nothing(void **state)
{
	struct t2x_out out;

	(void)state;
	open_out(&out);
	is_without_memory = 1;
	put_lines(&out, MANY);
	is_without_memory = 0;
	expect_lines(&out, MANY);
	assert_true(sink.writes > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_large_each_write_ends_with_a_line),
		cmocka_unit_test(test_out_large_short_text_keeps_the_small_buffer),
		cmocka_unit_test(test_out_large_buffer_stays_large_when_it_is_flushed),
		cmocka_unit_test(test_out_large_line_longer_than_the_buffer_arrives_whole),
		cmocka_unit_test(test_out_large_without_memory_is_small_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
