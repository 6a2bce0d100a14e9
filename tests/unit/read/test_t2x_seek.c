/* SPDX-License-Identifier: MIT */
/* Seeking: from where a file is read that is wanted from a moment on. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "tlgmake.h"
#include "read/t2x_input.h"
#include "read/t2x_seek.h"

enum { CYCLES = 40, CYCLE_HITS = 300, SECOND = 1000000000 };
#define NS(seconds) ((uint64_t)(((double)TLGMAKE_SECOND + (seconds)) * 1e9))

/* A file that is being put together, frame by frame, and streams in it. */
static struct { unsigned char *bytes; size_t n; } file;
static struct tlgmake one, other;

static int setup(void **state)
{
	(void)state;
	tlgmake_init(&one, 0x1111, 11);
	tlgmake_init(&other, 0x2222, 22);
	one.sid = "one";
	other.sid = "other";
	file.n = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tlgmake_free(&one);
	tlgmake_free(&other);
	free(file.bytes);
	file.bytes = NULL;
	return 0;
}

/* What the stream has made since the last time, as frames of at most limit plain bytes. */
static void append(struct tlgmake *make, size_t limit)
{
	size_t n;
	unsigned char *frames = tlgmake_lz4(make, limit, &n);

	file.bytes = realloc(file.bytes, file.n + n);
	assert_non_null(file.bytes);
	memcpy(file.bytes + file.n, frames, n);
	file.n += n;
	free(frames);
	make->n = 0;
}

/* A cycle that begins at a second and has events in it, in several blocks. */
static void make_cycle(struct tlgmake *make, unsigned second)
{
	make->cycle_ns = (uint64_t)second * SECOND;
	tlgmake_cycle(make);
	tlgmake_begin(make, 1);
	tlgmake_thread(make, "main", 0);
	tlgmake_scope(make, 1, TLG_STYLE_region_enter, 0, "region");
	for (unsigned i = 0; i < CYCLE_HITS; i++) {
		if (i % 100 == 99) {
			tlgmake_seal(make);
			tlgmake_begin(make, 1);
		}
		tlgmake_hit(make, make->cycle_ns + i * 3000000ULL, 1);
	}
	tlgmake_seal(make);
	tlgmake_mark(make, make->cycle_ns + CYCLE_HITS * 3000000ULL);
}

/* The first block of a stream, and the first cycle's number, that is read from an offset on. */
static uint32_t first_cycle(const char *path, uint64_t offset, uint32_t stream)
{
	struct t2x_report silent = { .to = NULL };
	struct t2x_input input = { .path = path, .report = &silent, .begin_at = offset };
	struct t2x_block block;
	uint32_t found = 0;

	assert_true(t2x_input_check(&input, 0));
	while (!found && t2x_input_next(&input.blocks, &block))
		for (unsigned i = 0; !found && i < block.count; i++)
			if (block.stream == stream && tlg_event_type(&block.events[i]) == TLG_CYCLE)
				found = block.events[i].u.cycle.writeCount;
	t2x_input_close(&input);
	return found;
}

static const char *path_of_file(void)
{
	return tlgmake_path(file.bytes, file.n);
}

/* The cycle of second s has number s + 1. */
static void test_seek_finds_the_last_cycle_that_is_old_enough(void **state)
{
	const char *path;

	(void)state;
	for (unsigned i = 0; i < CYCLES; i++)
		make_cycle(&one, i);
	append(&one, 4096);
	path = path_of_file();
	for (unsigned i = 0; i < CYCLES; i++) {
		assert_int_equal(first_cycle(path, t2x_seek(path, NULL, NS(i + 0.5)), 0x1111), i + 1);
		assert_int_equal(first_cycle(path, t2x_seek(path, NULL, NS(i)), 0x1111), i + 1);
	}
	assert_int_equal(first_cycle(path, t2x_seek(path, NULL, NS(CYCLES + 1000)), 0x1111), CYCLES);
	assert_int_equal(t2x_seek(path, NULL, NS(-5)), 0);
	assert_int_equal(t2x_seek(path, NULL, 0), 0);
	tlgmake_close(path);
}

static void test_seek_in_a_file_that_was_cut_finds_it_too(void **state)
{
	const char *path;

	(void)state;
	for (unsigned i = 0; i < CYCLES; i++)
		make_cycle(&one, i);
	append(&one, 4096);
	for (size_t cut = 1; cut < 2000; cut += 97) {
		path = tlgmake_path(file.bytes, file.n - cut);
		assert_int_equal(first_cycle(path, t2x_seek(path, NULL, NS(30.5)), 0x1111), 31);
		tlgmake_close(path);
	}
}

/* The other one writes little: its latest cycle lies far in front, and is needed. */
static void test_seek_begins_where_every_stream_has_what_it_needs(void **state)
{
	const char *path;

	(void)state;
	for (unsigned i = 0; i < CYCLES; i++) {
		make_cycle(&one, i);
		append(&one, 4096);
		if (i == 10)
			make_cycle(&other, i);
		else if (i > 10)
			tlgmake_mark(&other, i * (uint64_t)SECOND);
		if (i >= 10)
			append(&other, 4096);
	}
	path = path_of_file();
	assert_int_equal(first_cycle(path, t2x_seek(path, NULL, NS(30.5)), 0x2222), 1);
	assert_in_range(first_cycle(path, t2x_seek(path, NULL, NS(30.5)), 0x1111), 11, 12);
	tlgmake_close(path);
}

static void test_seek_leaves_out_a_stream_that_ended_long_before(void **state)
{
	const char *path;

	(void)state;
	make_cycle(&other, 0);
	tlgmake_end(&other);
	append(&other, 4096);
	for (unsigned i = 0; i < CYCLES; i++)
		make_cycle(&one, i);
	append(&one, 4096);
	path = path_of_file();
	assert_int_equal(first_cycle(path, t2x_seek(path, NULL, NS(30.5)), 0x1111), 31);
	assert_int_equal(t2x_seek(path, NULL, NS(5)), 0);
	tlgmake_close(path);
}

/* The one that ended has the last event. */
static void test_seek_to_the_end_keeps_every_stream(void **state)
{
	const char *path;
	size_t other_bytes;

	(void)state;
	make_cycle(&other, 0);
	append(&other, 4096);
	other_bytes = file.n;
	for (unsigned i = 0; i < CYCLES; i++)
		make_cycle(&one, i);
	tlgmake_end(&one);
	append(&one, 4096);
	path = path_of_file();
	assert_int_equal(first_cycle(path, t2x_seek(path, NULL, T2X_SEEK_END), 0x1111), 1);
	tlgmake_close(path);
	path = tlgmake_path(file.bytes + other_bytes, file.n - other_bytes);
	assert_int_equal(first_cycle(path, t2x_seek(path, NULL, T2X_SEEK_END), 0x1111), CYCLES);
	tlgmake_close(path);
}

/* The first mark behind an offset. */
static void break_mark(size_t at)
{
	static const unsigned char magic[] = { 0x54, 0x2a, 0x4d, 0x18 };

	while (memcmp(file.bytes + at, &magic, sizeof(magic)) != 0)
		at++;
	file.bytes[at + 9] ^= 0xff;
}

static void test_seek_without_good_marks_reads_all(void **state)
{
	const char *path;

	(void)state;
	for (unsigned i = 0; i < CYCLES; i++)
		make_cycle(&one, i);
	path = tlgmake_path(one.bytes, one.n);
	assert_int_equal(t2x_seek(path, NULL, NS(30.5)), 0);
	tlgmake_close(path);
	append(&one, 4096);
	break_mark(file.n / 2);
	path = path_of_file();
	assert_int_equal(t2x_seek(path, NULL, NS(30.5)), 0);
	tlgmake_close(path);
	path = tlgmake_path("", 0);
	assert_int_equal(t2x_seek(path, NULL, NS(30.5)), 0);
	tlgmake_close(path);
	assert_int_equal(t2x_seek("/nonexistent", NULL, NS(30.5)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_seek_finds_the_last_cycle_that_is_old_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(test_seek_in_a_file_that_was_cut_finds_it_too, setup, teardown),
		cmocka_unit_test_setup_teardown(test_seek_begins_where_every_stream_has_what_it_needs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_seek_leaves_out_a_stream_that_ended_long_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_seek_to_the_end_keeps_every_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(test_seek_without_good_marks_reads_all, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
