/* SPDX-License-Identifier: MIT */
/* test_tr2_encode.c - blocks as they are written: packed where that pays, plain elsewhere, within the limit. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "tlg_block.h"
#include "tlg_pack.h"
#include "output/tr2_encode.h"
#include "settings/tr2_env.h"

enum { STREAM = 77, PID = 1234, EVENTS = 100, BLOCKS = 12, ENTRIES = BLOCKS * (EVENTS + 1) };

/* A block of regions, or of noise that nothing can be expected of, or of the process. */
enum kind { REGIONS, NOISE, PROCESS, KINDS };

static struct tlg_event g_blocks[ENTRIES];
static uint32_t g_noise = 1;

static uint32_t noise(void)
{
	return g_noise = g_noise * 1664525 + 1013904223;
}

static void make_block(struct tlg_event *block, unsigned number, enum kind kind)
{
	memset(block, 0, (EVENTS + 1) * sizeof(*block));
	for (unsigned i = 1; i <= EVENTS; i++) {
		block[i].pid = PID;
		block[i].sequence = i;
		block[i].u.hit = (struct tlg_hit){ 1000000 + 300 * i, 1 + i % 9, 3 };
		for (unsigned k = 0; kind == NOISE && k < TLG_EVENT_SIZE; k++)
			((unsigned char *)&block[i])[k] = (unsigned char)(1 + (noise() >> 24) % 255);
	}
	tlg_block_describe(block, PID, number, kind == PROCESS ? TLG_NO_THREAD : 3, EVENTS);
}

static void make_blocks(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		make_block(&g_blocks[i * (EVENTS + 1)], i + 1, i % KINDS);
}

/* The block is in order, and holds the events of the one it was made of.  Return  its entries */
static unsigned check_block(const struct tlg_event *block, const struct tlg_event *original, int is_packed)
{
	static struct tlg_event events[EVENTS];
	const struct tlg_pack_key key = { PID, block->u.block.tid };
	size_t bytes = (block->u.block.size + 1u) * sizeof(*block);

	assert_int_equal(block->u.block.crc, tlg_block_crc(block, bytes, TLG_BLOCK_CRC_AT, STREAM));
	assert_int_equal(block->sequence, original->sequence);
	assert_int_equal(block->u.block.count, EVENTS);
	assert_int_equal(block->u.block.encoding, is_packed ? TLG_PACKED : TLG_PLAIN);
	if (is_packed)
		assert_true(tlg_unpack(&key, block + 1, bytes - sizeof(*block), 0, events, EVENTS));
	else
		memcpy(events, block + 1, sizeof(events));
	assert_memory_equal(events, original + 1, sizeof(events));
	return block->u.block.size + 1u;
}

/* Everything, piece by piece. */
static void check_all(int packs, size_t limit)
{
	unsigned number = 0;

	tr2_g_settings.raw_packed = packs;
	assert_int_equal(tr2_encode_init(), 0);
	make_blocks();
	for (size_t at = 0; at < sizeof(g_blocks);) {
		size_t taken = sizeof(g_blocks) - at, encoded, n = 0;
		struct tlg_event *blocks = &g_blocks[at / sizeof(*blocks)], *kept = malloc(taken);
		const struct tlg_event *to;
		assert_non_null(kept);
		memcpy(kept, blocks, taken);
		to = tr2_encode(blocks, &taken, limit, STREAM, &encoded);
		assert_true(taken > 0 && taken % ((EVENTS + 1) * sizeof(*to)) == 0);
		assert_true(encoded <= limit || taken == (EVENTS + 1) * sizeof(*to));
		for (unsigned i = 0; n < encoded / sizeof(*to); i++, number++)
			n += check_block(to + n, &kept[i * (EVENTS + 1)], packs && number % KINDS == REGIONS);
		at += taken;
		free(kept);
	}
	assert_int_equal(number, BLOCKS);
}

static void test_encode_packs_what_gets_shorter(void **state)
{
	(void)state;
	check_all(1, TLG_FRAME_BYTES);
}

static void test_encode_plain_leaves_blocks_as_they_are(void **state)
{
	(void)state;
	check_all(0, TLG_FRAME_BYTES);
}

static void test_encode_keeps_the_limit_unless_one_block_is_longer(void **state)
{
	(void)state;
	for (size_t limit = 24; limit < 12000; limit += 500) {
		check_all(1, limit);
		check_all(0, limit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode_packs_what_gets_shorter),
		cmocka_unit_test(test_encode_plain_leaves_blocks_as_they_are),
		cmocka_unit_test(test_encode_keeps_the_limit_unless_one_block_is_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
