/* SPDX-License-Identifier: MIT */
/* test_t2x_lz4.c - frames, ours and others', whole and damaged, as t2x_in gives out their bytes. */
#include "t2test.h"

#include <fcntl.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tlgmake.h"
#include "read/t2x_in.h"
#include "read/t2x_lz4_unit.h"

enum { SEEN = 200000 };

struct result {
	struct t2x_report report;
	char said[4096];
	unsigned char *bytes;     /* all pieces, one behind the other */
	size_t n;
	unsigned pieces;
	int is_lz4;
};

static void read_all(struct result *result, const void *bytes, size_t n)
{
	const char *path = tlgmake_path(bytes, n);
	FILE *said = fmemopen(result->said, sizeof(result->said), "w");
	const unsigned char *p;
	struct t2x_in in;
	size_t got;

	memset(result, 0, sizeof(*result));
	result->report.to = said;
	assert_int_equal(t2x_in_open(&in, path, SEEN, &result->report), 0);
	result->is_lz4 = in.lz4 != NULL;
	result->bytes = malloc(100000000);
	assert_non_null(result->bytes);
	do {
		result->pieces++;
		while ((got = t2x_window_peek(in.bytes, SEEN, &p))) {
			memcpy(result->bytes + result->n, p, got);
			result->n += got;
			t2x_window_skip(in.bytes, got);
		}
	} while (t2x_in_next_piece(&in));
	t2x_in_close(&in);
	tlgmake_close(path);
	fclose(said);
}

static void free_result(struct result *result)
{
	free(result->bytes);
}

/* Before each test: some blocks, and the same as frames of two or three blocks each. */
static struct tlgmake make;
static unsigned char *framed;
static size_t framed_bytes;

static int setup(void **state)
{
	(void)state;
	tlgmake_init(&make, 77, 1234);
	tlgmake_cycle(&make);
	for (unsigned i = 0; i < 12; i++) {
		tlgmake_begin(&make, 0);
		for (unsigned k = 0; k < 40; k++)
			tlgmake_hit(&make, 1 + 1000 * i + k * k, k);
		tlgmake_seal(&make);
	}
	framed = tlgmake_lz4(&make, 3000, &framed_bytes);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(framed);
	tlgmake_free(&make);
	return 0;
}

/* Offset of the i-th mark. */
static size_t mark_at(unsigned i)
{
	size_t at = 0;

	for (;; at++) {
		assert_true(at + 4 < framed_bytes);
		if (!memcmp(framed + at, "\x54\x2a\x4d\x18", 4) && !i--)
			return at;
	}
}

static unsigned mark_count(void)
{
	unsigned count = 0;

	for (size_t at = 0; at + 4 < framed_bytes; at++)
		count += !memcmp(framed + at, "\x54\x2a\x4d\x18", 4);
	return count;
}

static void test_lz4_frames_of_ours_give_the_bytes(void **state)
{
	struct result result;

	(void)state;
	read_all(&result, framed, framed_bytes);
	assert_true(result.is_lz4);
	assert_int_equal(result.n, make.n);
	assert_memory_equal(result.bytes, make.bytes, make.n);
	assert_int_equal(result.report.damages, 0);
	assert_int_equal(result.pieces, 1);
	free_result(&result);
}

static void test_lz4_plain_file_is_seen_as_plain(void **state)
{
	struct result result;

	(void)state;
	read_all(&result, make.bytes, make.n);
	assert_false(result.is_lz4);
	assert_memory_equal(result.bytes, make.bytes, make.n);
	free_result(&result);
}

/* The lz4 program's default: 4 MiB blocks that refer to each other, no size. */
static void test_lz4_large_frame_of_others_gives_the_bytes(void **state)
{
	enum { N = 20000000 };
	LZ4F_preferences_t how = { .frameInfo = { .blockSizeID = LZ4F_max4MB } };
	unsigned char *plain = malloc(N), *frame = malloc(N + N / 100);
	struct result result;
	uint32_t value = 1;
	size_t n;

	(void)state;
	assert_non_null(plain);
	assert_non_null(frame);
	for (unsigned i = 0; i < N; i++) {
		value = value * 1103515245 + 12345;
		plain[i] = (unsigned char)(value >> 30);
	}
	n = LZ4F_compressFrame(frame, N + N / 100, plain, N, &how);
	assert_false(LZ4F_isError(n));
	read_all(&result, frame, n);
	assert_int_equal(result.n, N);
	assert_memory_equal(result.bytes, plain, N);
	assert_int_equal(result.report.damages, 0);
	free_result(&result);
	free(frame);
	free(plain);
}

static void test_lz4_foreign_skippable_frame_is_stepped_over(void **state)
{
	struct result result;
	unsigned char *bytes;

	(void)state;
	bytes = calloc(1, framed_bytes + 500008);
	assert_non_null(bytes);
	memcpy(bytes, "\x5a\x2a\x4d\x18\x20\xa1\x07\x00", 8);   /* 500000 bytes of something */
	memcpy(bytes + 500008, framed, framed_bytes);
	read_all(&result, bytes, framed_bytes + 500008);
	assert_int_equal(result.n, make.n);
	assert_int_equal(result.report.damages, 0);
	free_result(&result);
	free(bytes);
}

static void test_lz4_damage_anywhere_costs_its_frame_only(void **state)
{
	struct result result;
	size_t from, to, i;

	(void)state;
	from = mark_at(1);
	to = mark_at(2);
	for (i = from; i < to; i++) {
		if (i >= from + 8 && i < from + 20)
			continue;   /* what the mark says is not needed but for its checksum */
		framed[i] ^= 0x81;
		read_all(&result, framed, framed_bytes);
		framed[i] ^= 0x81;
		/* the rest is there, whatever became of the frame; a bit that nothing depends on costs
		 * nothing */
		assert_true(result.n == make.n || result.report.damages >= 1);
		assert_true(result.n >= make.n - 3000);
		assert_memory_equal(result.bytes + result.n - 6000, make.bytes + make.n - 6000, 6000);
		assert_true(result.report.damages <= 2);
		free_result(&result);
	}
}

static void test_lz4_damage_is_reported_and_breaks_the_bytes(void **state)
{
	struct result result;
	char expected[64];
	size_t at;

	(void)state;
	at = mark_at(2) - 1;     /* the last byte of a frame's checksum */
	framed[at] ^= 1;
	read_all(&result, framed, framed_bytes);
	assert_int_equal(result.pieces, 2);
	assert_int_equal(result.report.damages, 1);
	snprintf(expected, sizeof(expected), ": byte %zu: ", mark_at(1) + 24);
	assert_non_null(strstr(result.said, expected));
	assert_non_null(strstr(result.said, "skipped"));
	free_result(&result);
}

static void test_lz4_truncated_frame_gives_what_can_be_decoded(void **state)
{
	struct result result;

	(void)state;
	for (size_t cut = 1; cut < 40; cut++) {
		read_all(&result, framed, framed_bytes - cut);
		assert_int_equal(result.report.damages, 1);
		assert_true(result.n <= make.n);
		assert_memory_equal(result.bytes, make.bytes, result.n);
		free_result(&result);
	}
}

/* A header whose checksum is right by chance, of a frame with blocks longer than the file. */
static void test_lz4_frame_that_is_not_its_marks_swallows_nothing(void **state)
{
	const LZ4F_preferences_t large = { .frameInfo.blockSizeID = LZ4F_max4MB };
	static unsigned char noise[100000], forged[200000];
	uint32_t random = 1, plain;
	struct result result;
	size_t from, to;

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (unsigned char)((random = random * 1103515245 + 12345) >> 16);
	assert_false(LZ4F_isError(LZ4F_compressFrame(forged, sizeof(forged), noise, sizeof(noise), &large)));
	from = mark_at(1);
	to = mark_at(2);
	plain = (uint32_t)framed[from + 16] | (uint32_t)framed[from + 17] << 8 | (uint32_t)framed[from + 18] << 16 |
		(uint32_t)framed[from + 19] << 24;
	memcpy(framed + from + 24, forged, to - from - 24);
	read_all(&result, framed, framed_bytes);
	assert_int_equal(result.report.damages, 1);
	assert_int_equal(result.n, make.n - plain);
	free_result(&result);
}

/* Frames of another stream. */
static unsigned char *make_planted(size_t *n)
{
	struct tlgmake other;
	unsigned char *planted;

	tlgmake_init(&other, 99, 4321);
	for (unsigned i = 0; i < 5; i++)
		tlgmake_cycle(&other);
	planted = tlgmake_lz4(&other, 500, n);
	tlgmake_free(&other);
	return planted;
}

/* Texts of the traced program lie open in a frame that is damaged. */
static void test_lz4_text_like_frames_in_a_damaged_frame_is_refused(void **state)
{
	size_t from = mark_at(1), to = mark_at(2), n, lost, planted_n;
	unsigned char *planted = make_planted(&planted_n), *bytes = malloc(framed_bytes + planted_n + 100);
	struct result result;

	(void)state;
	assert_non_null(bytes);
	lost = (size_t)framed[from + 16] | (size_t)framed[from + 17] << 8;
	/* from the first byte of what is planted, and in front of it the mark, and half of a header */
	for (unsigned head = 0; head <= 34; head += 34) {
		n = (size_t)((unsigned char *)mempcpy(bytes, framed, from + head) - bytes);
		memcpy(bytes + n, "?", 1);
		memcpy(bytes + n + 1, planted, planted_n);
		n += 1 + planted_n;
		memcpy(bytes + n, "its checksum", 12);
		memcpy(bytes + n + 12, framed + to, framed_bytes - to);
		read_all(&result, bytes, n + 12 + framed_bytes - to);
		assert_int_equal(result.n, make.n - lost);
		assert_int_equal(result.report.damages, 1);
		free_result(&result);
		/* as the last frame of the file */
		read_all(&result, bytes, n + 12);
		assert_true(result.n < lost * 2);
		assert_int_equal(result.report.damages, 1);
		free_result(&result);
	}
	free(planted);
	free(bytes);
}

/* In front of other damage, and nothing is known but what comes. */
static void test_lz4_new_stream_behind_damage_is_read(void **state)
{
	size_t from = mark_at(1), planted_n;
	unsigned char *planted = make_planted(&planted_n), *bytes = malloc(framed_bytes + planted_n + 1);
	struct result result;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, framed, from);
	bytes[from] = '?';
	memcpy(bytes + from + 1, planted, planted_n);
	memcpy(bytes + from + 1 + planted_n, framed + from, framed_bytes - from);
	read_all(&result, bytes, framed_bytes + planted_n + 1);
	assert_true(result.n > make.n);
	assert_int_equal(result.report.damages, 1);
	free_result(&result);
	/* the first frame is damaged, so no stream was known before */
	framed[30] ^= 1;
	read_all(&result, framed, framed_bytes);
	assert_true(result.n > make.n / 2);
	assert_int_equal(result.report.damages, 1);
	free_result(&result);
	free(planted);
	free(bytes);
}

static void test_lz4_plain_file_with_frames_in_its_texts_is_plain(void **state)
{
	size_t planted_n;
	unsigned char *planted = make_planted(&planted_n), *bytes = malloc(make.n + planted_n + make.n);
	struct result result;

	(void)state;
	assert_non_null(bytes);
	memcpy(mempcpy(mempcpy(bytes, make.bytes, make.n), planted, planted_n), make.bytes, make.n);
	read_all(&result, bytes, make.n + planted_n + make.n);
	assert_false(result.is_lz4);
	free_result(&result);
	free(planted);
	free(bytes);
}

/* The first bytes say what a file is, unless they are damaged. */
static void test_lz4_damaged_beginning_is_still_lz4(void **state)
{
	struct result result;

	(void)state;
	for (size_t bit = 0; bit < 64; bit++) {
		framed[bit / 8] ^= (unsigned char)(1U << bit % 8);
		read_all(&result, framed, framed_bytes);
		assert_true(result.is_lz4);
		assert_int_equal(result.report.damages, 1);
		assert_int_equal(result.n, make.n);
		assert_memory_equal(result.bytes, make.bytes, make.n);
		free_result(&result);
		framed[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
}

static void test_lz4_noise_behind_the_magic_ends(void **state)
{
	enum { N = 1000000 };
	unsigned char *bytes = malloc(N);
	struct result result;
	uint32_t value = 1;

	(void)state;
	assert_non_null(bytes);
	for (unsigned i = 0; i < N; i++) {
		value = value * 1103515245 + 12345;
		bytes[i] = (unsigned char)(value >> 24);
	}
	memcpy(bytes, "\x04\x22\x4d\x18", 4);
	read_all(&result, bytes, N);
	assert_int_equal(result.n, 0);
	assert_int_equal(result.report.damages, 1);
	free_result(&result);
	free(bytes);
}

/* Step through a file that ends after n bytes.  Return  how the steps end, see t2x_lz4_unit_at() */
static int step_through(int fd, size_t n, unsigned *units)
{
	struct t2x_lz4_steps steps = { .fd = fd };
	struct t2x_lz4_unit unit;
	uint64_t at = 0, plain = 0;
	int result;

	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	for (*units = 0; (result = t2x_lz4_unit_at(&steps, at, &unit)) > 0; ++*units) {
		assert_int_equal(unit.stream, 77);
		at += unit.bytes;
		plain += unit.plain_bytes;
		assert_int_equal(at, *units + 1 < mark_count() ? mark_at(*units + 1) : framed_bytes);
	}
	assert_int_equal(t2x_lz4_is_end(&steps, at), at >= n);
	assert_true(plain == make.n || n < framed_bytes);
	return result;
}

/* What a read brings ends anywhere in a mark, in a header, between two frames.  The last 4 bytes are no header. */
static void test_lz4_units_of_a_file_cut_anywhere_are_those_in_front_of_the_cut(void **state)
{
	const char *path = tlgmake_path(framed, framed_bytes);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned units, whole = mark_count();

	(void)state;
	assert_true(fd >= 0 && framed_bytes > 3 * T2X_LZ4_STEP_BYTES);
	for (size_t n = framed_bytes; n; n--) {
		if (whole && n + 4 < (whole < mark_count() ? mark_at(whole) : framed_bytes))
			whole--;
		assert_int_equal(step_through(fd, n, &units), 0);
		assert_int_equal(units, whole);
	}
	close(fd);
	tlgmake_close(path);
}

/* So many that a read ends in each part of a header, and the file goes on behind it. */
static void test_lz4_units_of_all_sizes_are_stepped_over(void **state)
{
	unsigned units;
	const char *path;
	int fd;

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		tlgmake_begin(&make, 0);
		for (unsigned k = 0; k < 1 + i % 37; k++)
			tlgmake_hit(&make, 1 + 1000 * i + k * k, k);
		tlgmake_seal(&make);
	}
	free(framed);
	framed = tlgmake_lz4(&make, 1, &framed_bytes);
	path = tlgmake_path(framed, framed_bytes);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(step_through(fd, framed_bytes, &units), 0);
	assert_int_equal(units, 1 + 12 + 400);
	close(fd);
	tlgmake_close(path);
}

static void test_lz4_units_end_where_something_else_begins(void **state)
{
	size_t at = mark_at(2);
	const char *path;
	struct t2x_lz4_steps steps = { .fd = -1 };
	struct t2x_lz4_unit unit;

	(void)state;
	framed[at + 8]++;
	path = tlgmake_path(framed, framed_bytes);
	assert_int_equal(t2x_lz4_unit_at(&steps, 0, &unit), -1);
	steps.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(t2x_lz4_unit_at(&steps, mark_at(1), &unit), 1);
	assert_int_equal(t2x_lz4_unit_at(&steps, at, &unit), -1);
	assert_int_equal(t2x_lz4_unit_at(&steps, 0, &unit), 1);     /* back again */
	assert_int_equal(t2x_lz4_unit_at(&steps, framed_bytes + 5000, &unit), 0);
	assert_true(t2x_lz4_is_end(&steps, framed_bytes));
	assert_false(t2x_lz4_is_end(&steps, framed_bytes - 1));
	close(steps.fd);
	tlgmake_close(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define WITH_FILE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		WITH_FILE(test_lz4_frames_of_ours_give_the_bytes),
		WITH_FILE(test_lz4_plain_file_is_seen_as_plain),
		cmocka_unit_test(test_lz4_large_frame_of_others_gives_the_bytes),
		WITH_FILE(test_lz4_foreign_skippable_frame_is_stepped_over),
		WITH_FILE(test_lz4_damage_anywhere_costs_its_frame_only),
		WITH_FILE(test_lz4_damage_is_reported_and_breaks_the_bytes),
		WITH_FILE(test_lz4_truncated_frame_gives_what_can_be_decoded),
		WITH_FILE(test_lz4_frame_that_is_not_its_marks_swallows_nothing),
		WITH_FILE(test_lz4_text_like_frames_in_a_damaged_frame_is_refused),
		WITH_FILE(test_lz4_new_stream_behind_damage_is_read),
		WITH_FILE(test_lz4_plain_file_with_frames_in_its_texts_is_plain),
		WITH_FILE(test_lz4_damaged_beginning_is_still_lz4),
		cmocka_unit_test(test_lz4_noise_behind_the_magic_ends),
		WITH_FILE(test_lz4_units_of_a_file_cut_anywhere_are_those_in_front_of_the_cut),
		WITH_FILE(test_lz4_units_of_all_sizes_are_stepped_over),
		WITH_FILE(test_lz4_units_end_where_something_else_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
