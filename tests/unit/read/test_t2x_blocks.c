/* SPDX-License-Identifier: MIT */
/* test_t2x_blocks.c - which blocks are accepted, and what becomes of damage. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tlg_block.h"
#include "sixblocks.h"

enum { EVENT = TLG_EVENT_SIZE, BLOCK_BYTES = SIXBLOCKS_BYTES };

static void test_blocks_whole_file_gives_all(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;

	(void)state;
	sixblocks_make(&make, 77);
	sixblocks_read(&result, make.bytes, make.n);
	assert_int_equal(result.blocks, 6);
	assert_int_equal(result.report.damages, 0);
	assert_int_equal(result.stream, 77);
	assert_false(result.is_plain_sequence);
	tlgmake_free(&make);
}

static void test_blocks_flipped_bit_anywhere_costs_its_block_only(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;
	size_t at;

	(void)state;
	sixblocks_make(&make, 77);
	at = sixblocks_hits_at(&make, 2);
	for (unsigned i = 0; i < BLOCK_BYTES; i++) {
		make.bytes[at + i] ^= 0x20;
		sixblocks_read(&result, make.bytes, make.n);
		make.bytes[at + i] ^= 0x20;
		assert_int_equal(result.blocks, 5);
		assert_int_equal(result.report.damages, 1);
		for (unsigned k = 0; k < 5; k++)
			assert_int_not_equal(result.numbers[k], 4);
	}
	tlgmake_free(&make);
}

static void test_blocks_damage_is_reported_with_place_and_size(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;
	char expected[128];

	(void)state;
	sixblocks_make(&make, 77);
	make.bytes[sixblocks_hits_at(&make, 2) + 30] ^= 1;
	sixblocks_read(&result, make.bytes, make.n);
	snprintf(expected, sizeof(expected), ": byte %zu: block with a wrong checksum, skipped %d bytes\n",
		 sixblocks_hits_at(&make, 2), BLOCK_BYTES);
	assert_non_null(strstr(result.said, expected));
	tlgmake_free(&make);
}

static void test_blocks_inserted_and_missing_bytes_are_stepped_over(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;
	unsigned char *bytes;
	size_t at;

	(void)state;
	sixblocks_make(&make, 77);
	at = sixblocks_hits_at(&make, 3);
	bytes = calloc(1, make.n + 7);
	assert_non_null(bytes);
	memcpy(bytes, make.bytes, at);
	memcpy(bytes + at + 7, make.bytes + at, make.n - at);
	sixblocks_read(&result, bytes, make.n + 7);
	assert_int_equal(result.blocks, 6);
	assert_int_equal(result.report.damages, 1);
	assert_non_null(strstr(result.said, "no block begins here, skipped 7 bytes"));
	memmove(bytes + at - 5, make.bytes + at, make.n - at);
	sixblocks_read(&result, bytes, make.n - 5);
	assert_int_equal(result.blocks, 5);
	assert_int_equal(result.report.damages, 1);
	free(bytes);
	tlgmake_free(&make);
}

static void test_blocks_truncated_anywhere_gives_what_is_whole(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;
	size_t first;

	(void)state;
	sixblocks_make(&make, 77);
	first = sixblocks_hits_at(&make, 0);
	for (size_t n = 1; n < make.n; n++) {
		int is_whole = n >= first && (n - first) % BLOCK_BYTES == 0;
		sixblocks_read(&result, make.bytes, n);
		assert_int_equal(result.blocks, n < first ? 0 : 1 + (n - first) / BLOCK_BYTES);
		/* of a file without any good block the caller speaks */
		assert_int_equal(result.report.damages, n < first || is_whole ? 0 : 1);
	}
	tlgmake_free(&make);
}

static void test_blocks_joined_between_cycles_learns_stream_from_two_blocks(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;

	(void)state;
	sixblocks_make(&make, 77);
	for (size_t cut = 1; cut < BLOCK_BYTES; cut++) {
		sixblocks_read(&result, make.bytes + sixblocks_hits_at(&make, 0) + cut,
			       make.n - sixblocks_hits_at(&make, 0) - cut);
		assert_int_equal(result.blocks, 4);
		assert_int_equal(result.stream, 77);
		assert_int_equal(result.report.damages, 1);
	}
	sixblocks_read(&result, make.bytes + sixblocks_hits_at(&make, 4), BLOCK_BYTES);
	/* a single block of an unknown stream may be anything */
	assert_int_equal(result.blocks, 0);
	tlgmake_free(&make);
}

static void test_blocks_of_another_life_of_the_file_are_refused(void **state)
{
	struct tlgmake old, make;
	struct sixblocks_read result;

	(void)state;
	sixblocks_make(&old, 99);
	sixblocks_make(&make, 77);
	memcpy(make.bytes + sixblocks_hits_at(&make, 3), old.bytes + sixblocks_hits_at(&old, 3), BLOCK_BYTES);
	sixblocks_read(&result, make.bytes, make.n);
	assert_int_equal(result.blocks, 5);
	assert_int_equal(result.report.damages, 1);
	tlgmake_free(&make);
	tlgmake_free(&old);
}

/*
 * What stands in a file in front of block 4 (or 5, if that is missing) of a stream: bytes that are no block, all of
 * another stream, and bytes that are none.  Return  blocks that are given out
 */
static unsigned read_with(const char *before, const char *behind, int is_missing)
{
	struct tlgmake make, other;
	struct sixblocks_read result;
	unsigned char *bytes, *to;
	size_t at;

	sixblocks_make(&make, 77);
	sixblocks_make(&other, 99);
	at = sixblocks_hits_at(&make, 2);
	to = bytes = malloc(make.n + other.n + strlen(before) + strlen(behind));
	assert_non_null(bytes);
	to = mempcpy(to, make.bytes, at);
	to = mempcpy(to, before, strlen(before));
	to = mempcpy(to, other.bytes, other.n);
	to = mempcpy(to, behind, strlen(behind));
	at += is_missing ? BLOCK_BYTES : 0;
	to = mempcpy(to, make.bytes + at, make.n - at);
	sixblocks_read(&result, bytes, (size_t)(to - bytes));
	assert_int_equal(result.report.damages, *before || is_missing ? 1 : 0);
	assert_int_equal(result.stream, 77);
	free(bytes);
	tlgmake_free(&make);
	tlgmake_free(&other);
	return result.blocks;
}

static void test_blocks_text_like_a_stream_behind_a_destroyed_header_is_refused(void **state)
{
	(void)state;
	assert_int_equal(read_with("a destroyed header, and text; ", "more text", 1), 5);
	/* it ends where its block does */
	assert_int_equal(read_with("a destroyed header, and text; ", "", 1), 5);
	/* and nothing else tells that a block is missing, for it is not of this stream */
	assert_int_equal(read_with("a destroyed header, and text; ", "more text", 0), 6);
}

static void test_blocks_text_like_a_stream_in_what_a_bad_block_takes_is_refused(void **state)
{
	struct tlg_event head = { .flags = TLG_BLOCK, .pid = 1234, .sequence = 4 };
	struct tlgmake make, other;
	struct sixblocks_read result;
	unsigned char *bytes;
	size_t at;

	(void)state;
	sixblocks_make(&make, 77);
	sixblocks_make(&other, 99);
	at = sixblocks_hits_at(&make, 2);
	head.u.block.magic = TLG_BLOCK_MAGIC;
	head.u.block.encoding = TLG_PACKED;   /* a text ends with its block in a packed one only */
	head.u.block.size = (uint16_t)(other.n / EVENT);
	head.u.block.count = head.u.block.size + 1;
	bytes = malloc(at + EVENT + other.n);
	assert_non_null(bytes);
	memcpy(mempcpy(mempcpy(bytes, make.bytes, at), &head, EVENT), other.bytes, other.n);
	sixblocks_read(&result, bytes, at + EVENT + other.n);
	assert_int_equal(result.blocks, 3);
	free(bytes);
	tlgmake_free(&make);
	tlgmake_free(&other);
}

static void test_blocks_new_stream_behind_damage_is_read(void **state)
{
	struct tlgmake make, other;
	struct sixblocks_read result;
	unsigned char *bytes;
	size_t at;

	(void)state;
	/* none is missing of the other */
	assert_int_equal(read_with("bytes that are no block", "", 0), 12);
	sixblocks_make(&make, 77);
	sixblocks_make(&other, 99);
	at = sixblocks_hits_at(&make, 2);
	bytes = malloc(make.n + other.n);
	assert_non_null(bytes);
	/* the file ends behind it, and the other in the header of a block */
	memcpy(mempcpy(bytes, make.bytes, at + 20), other.bytes, other.n);
	sixblocks_read(&result, bytes, at + 20 + other.n);
	assert_int_equal(result.blocks, 9);
	/* the damaged block says that it ends where the other stream begins */
	memcpy(mempcpy(bytes, make.bytes, at + BLOCK_BYTES), other.bytes, other.n);
	memcpy(bytes + at + BLOCK_BYTES + other.n, make.bytes + at + BLOCK_BYTES, make.n - at - BLOCK_BYTES);
	bytes[at + 30] ^= 1;
	sixblocks_read(&result, bytes, make.n + other.n);
	assert_int_equal(result.blocks, 11);
	free(bytes);
	tlgmake_free(&make);
	tlgmake_free(&other);
}

/* The first block is destroyed: what is between that and another damage shall not be. */
static void test_blocks_new_stream_between_damages_far_apart_is_read(void **state)
{
	enum { MANY = 1000 };
	struct tlgmake make;
	struct t2x_blocks blocks;
	struct t2x_report report = { .to = NULL };
	struct t2x_block block;
	struct t2x_in in;
	const char *path;
	unsigned n = 0;

	(void)state;
	tlgmake_init(&make, 77, 1234);
	tlgmake_cycle(&make);
	for (unsigned i = 0; i < MANY; i++) {
		tlgmake_begin(&make, 0);
		for (unsigned k = 0; k < SIXBLOCKS_HITS; k++)
			tlgmake_hit(&make, 1 + i, 1);
		tlgmake_seal(&make);
	}
	make.bytes[0] ^= 1;
	make.bytes[make.n - 900 * BLOCK_BYTES] ^= 1;
	report.to = fmemopen(NULL, 4096, "w");
	path = tlgmake_path(make.bytes, make.n);
	assert_int_equal(t2x_in_open(&in, path, t2x_blocks_seen(NULL), &report), 0);
	assert_int_equal(t2x_blocks_init(&blocks, &in, NULL), 0);
	while (t2x_blocks_next(&blocks, &block))
		n++;
	assert_int_equal(n, MANY - 1);
	t2x_blocks_free(&blocks);
	t2x_in_close(&in);
	tlgmake_close(path);
	fclose(report.to);
	tlgmake_free(&make);
}

static void test_blocks_again_in_same_stream_are_refused(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;

	(void)state;
	sixblocks_make(&make, 77);
	memcpy(make.bytes + sixblocks_hits_at(&make, 3), make.bytes + sixblocks_hits_at(&make, 1), BLOCK_BYTES);
	sixblocks_read(&result, make.bytes, make.n);
	assert_int_equal(result.blocks, 5);
	assert_non_null(strstr(result.said, "block that was there before"));
	tlgmake_free(&make);
}

static void reseal(struct tlgmake *make, size_t at)
{
	struct tlg_event *block = (struct tlg_event *)(void *)(make->bytes + at);

	block->u.block.crc = tlg_block_crc(block, BLOCK_BYTES, TLG_BLOCK_CRC_AT, make->stream);
}

/* A later version wrote it: nothing is wrong with the file. */
static void test_blocks_unknown_encoding_is_skipped_and_counted(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;
	const uint16_t events = 100;

	(void)state;
	sixblocks_make(&make, 77);
	make.bytes[sixblocks_hits_at(&make, 1) + 8 + offsetof(struct tlg_block, encoding)] = 9;
	memcpy(&make.bytes[sixblocks_hits_at(&make, 1) + 8 + offsetof(struct tlg_block, count)], &events,
	       sizeof(events));
	reseal(&make, sixblocks_hits_at(&make, 1));
	sixblocks_read(&result, make.bytes, make.n);
	assert_int_equal(result.blocks, 5);
	assert_int_equal(result.report.damages, 0);
	assert_int_equal(result.report.skipped_blocks, 1);
	assert_int_equal(result.report.skipped_events, 100);
	assert_non_null(strstr(result.said, "1 blocks in an unknown encoding skipped: 100 raw events"));
	tlgmake_free(&make);
}

static void test_blocks_sizes_beyond_the_limit_are_refused(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;
	uint16_t large = TLG_BLOCK_LIMIT + 1;
	size_t at;

	(void)state;
	sixblocks_make(&make, 77);
	at = sixblocks_hits_at(&make, 1) + 8;
	memcpy(make.bytes + at + offsetof(struct tlg_block, count), &large, 2);
	memcpy(make.bytes + at + offsetof(struct tlg_block, size), &large, 2);
	sixblocks_read(&result, make.bytes, make.n);
	assert_int_equal(result.blocks, 5);
	assert_int_equal(result.report.damages, 1);
	tlgmake_free(&make);
}

static void test_blocks_other_byte_order_is_read_without_layout(void **state)
{
	struct tlgmake make;
	struct sixblocks_read result;

	(void)state;
	sixblocks_make(&make, 77);
	tlgmake_swap(&make);
	sixblocks_read(&result, make.bytes, make.n);
	assert_int_equal(result.blocks, 6);
	assert_int_equal(result.stream, 77);
	assert_int_equal(result.numbers[5], 6);
	assert_int_equal(result.report.damages, 0);
	tlgmake_free(&make);
}

static void test_blocks_text_file_gives_nothing_and_ends(void **state)
{
	enum { N = 3000000 };
	unsigned char *bytes = malloc(N);
	struct sixblocks_read result;

	(void)state;
	assert_non_null(bytes);
	for (unsigned i = 0; i < N; i++)
		bytes[i] = (unsigned char)("this is LT not TL a trace\n"[i % 26]);
	sixblocks_read(&result, bytes, N);
	assert_int_equal(result.blocks, 0);
	free(bytes);
}

/* Every 24 bytes something like the header of the longest block: bounded work, not quadratic. */
static void test_blocks_hostile_headers_end_soon(void **state)
{
	enum { N = 400000 };
	struct tlg_event *events = calloc(N + 1, sizeof(*events));
	struct sixblocks_read result;

	(void)state;
	assert_non_null(events);
	for (unsigned i = 0; i + 1 < N; i++) {
		tlg_block_seal(&events[i], 5, 1234, i, 1, 1);
		events[i].u.block.count = events[i].u.block.size = TLG_BLOCK_LIMIT;
	}
	sixblocks_read(&result, events, N * sizeof(*events));
	assert_int_equal(result.blocks, 0);
	free(events);
}

static void test_blocks_without_blocks_gives_runs_of_events(void **state)
{
	struct tlg_event events[300] = { { 0 } };
	struct sixblocks_read result;

	(void)state;
	events[0].flags = TLG_PROLOGUE;
	events[0].u.prologue = (struct tlg_prologue){ TLG_MAGIC, 0x100, 16, 24, 8, 0, 0 };
	sixblocks_read(&result, events, sizeof(events));
	assert_true(result.is_plain_sequence);
	/* the context, 128, 128, and 43 HITs */
	assert_int_equal(result.blocks, 4);
	assert_int_equal(result.report.damages, 0);
	sixblocks_read(&result, events, sizeof(events) - 1);
	assert_int_equal(result.report.damages, 1);
	assert_non_null(strstr(result.said, "event cut off"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_whole_file_gives_all),
		cmocka_unit_test(test_blocks_flipped_bit_anywhere_costs_its_block_only),
		cmocka_unit_test(test_blocks_damage_is_reported_with_place_and_size),
		cmocka_unit_test(test_blocks_inserted_and_missing_bytes_are_stepped_over),
		cmocka_unit_test(test_blocks_truncated_anywhere_gives_what_is_whole),
		cmocka_unit_test(test_blocks_joined_between_cycles_learns_stream_from_two_blocks),
		cmocka_unit_test(test_blocks_of_another_life_of_the_file_are_refused),
		cmocka_unit_test(test_blocks_text_like_a_stream_behind_a_destroyed_header_is_refused),
		cmocka_unit_test(test_blocks_text_like_a_stream_in_what_a_bad_block_takes_is_refused),
		cmocka_unit_test(test_blocks_new_stream_behind_damage_is_read),
		cmocka_unit_test(test_blocks_new_stream_between_damages_far_apart_is_read),
		cmocka_unit_test(test_blocks_again_in_same_stream_are_refused),
		cmocka_unit_test(test_blocks_unknown_encoding_is_skipped_and_counted),
		cmocka_unit_test(test_blocks_sizes_beyond_the_limit_are_refused),
		cmocka_unit_test(test_blocks_other_byte_order_is_read_without_layout),
		cmocka_unit_test(test_blocks_text_file_gives_nothing_and_ends),
		cmocka_unit_test(test_blocks_hostile_headers_end_soon),
		cmocka_unit_test(test_blocks_without_blocks_gives_runs_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
