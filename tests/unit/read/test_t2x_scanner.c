/* SPDX-License-Identifier: MIT */
/* What lies inside of a bad block: a text of it, or whole traces behind a torn one. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "sixblocks.h"

enum { EVENT = TLG_EVENT_SIZE, BLOCK_BYTES = SIXBLOCKS_BYTES };

/* The text ends where its bad block says that it ends itself; only other streams follow, which show no number. */
static void test_scanner_text_up_to_the_end_of_a_bad_block_is_refused_where_others_follow(void **state)
{
	struct tlg_event head = { .flags = TLG_BLOCK, .pid = 1234, .sequence = 4 };
	struct tlgmake make, text, other;
	struct sixblocks_read result;
	unsigned char *bytes, *end;
	size_t at;

	(void)state;
	sixblocks_make(&make, 77);
	sixblocks_make(&text, 99);
	sixblocks_make(&other, 55);
	at = sixblocks_hits_at(&make, 2);
	head.u.block.magic = TLG_BLOCK_MAGIC;
	head.u.block.encoding = TLG_PACKED;
	head.u.block.size = (uint16_t)(text.n / EVENT);
	head.u.block.count = head.u.block.size + 1;
	bytes = malloc(at + EVENT + text.n + other.n);
	assert_non_null(bytes);
	end = mempcpy(mempcpy(bytes, make.bytes, at), &head, EVENT);
	memcpy(mempcpy(end, text.bytes, text.n), other.bytes, other.n);
	sixblocks_read(&result, bytes, at + EVENT + text.n + other.n);
	assert_int_equal(result.blocks, 3 + 6);
	assert_int_equal(result.stream, 55);
	free(bytes);
	tlgmake_free(&make);
	tlgmake_free(&text);
	tlgmake_free(&other);
}

enum { SHORT_STREAMS = 12 };

/* Streams of three blocks each, one behind the other. */
static size_t make_short_streams(unsigned char *to)
{
	struct tlgmake make;
	size_t n = 0;

	for (unsigned i = 0; i < SHORT_STREAMS; i++) {
		tlgmake_init(&make, 1000 + i, 2000 + i);
		tlgmake_cycle(&make);
		tlgmake_begin(&make, 0);
		for (unsigned k = 0; k <= i % 4; k++)
			tlgmake_hit(&make, 1 + k, 1);
		tlgmake_seal(&make);
		tlgmake_end(&make);
		memcpy(to + n, make.bytes, make.n);
		n += make.n;
		tlgmake_free(&make);
	}
	return n;
}

/* A process is killed in write(2), and others go on in the file: its block is torn anywhere. */
static void test_scanner_whole_streams_behind_a_torn_block_are_read(void **state)
{
	static unsigned char bytes[65536];
	struct tlgmake make;
	struct sixblocks_read result;

	(void)state;
	sixblocks_make(&make, 77);
	for (size_t kept = 1; kept < BLOCK_BYTES; kept++) {
		size_t at = sixblocks_hits_at(&make, 2) + kept;

		memcpy(bytes, make.bytes, at);
		sixblocks_read(&result, bytes, at + make_short_streams(bytes + at));
		assert_int_equal(result.stream, 1000 + SHORT_STREAMS - 1);
		assert_int_equal(result.blocks, 3 + 3 * SHORT_STREAMS);
	}
	tlgmake_free(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scanner_text_up_to_the_end_of_a_bad_block_is_refused_where_others_follow),
		cmocka_unit_test(test_scanner_whole_streams_behind_a_torn_block_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
