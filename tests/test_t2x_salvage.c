/* SPDX-License-Identifier: MIT */
/* test_t2x_salvage.c - ring files as a process that went astray, or a forger, may leave them. */
#include "t2test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t2x_salvage.h"

enum { CHUNKS = 64, NUMBER = 5, EVENT = 10 };

static void put(int fd, uint64_t at, const void *bytes, size_t n)
{
	assert_int_equal(pwrite(fd, bytes, n, (off_t)at), n);
}

/* One ring, whose chunks all have the same number, and as many holes in a chunk of this number as can be. */
static int make_ring_file(void)
{
	struct tlg_ring_file head = {
		.magic = TLG_RING_MAGIC, .layout = TLG_RING_LAYOUT, .entry_size = TLG_EVENT_SIZE, .start = 1,
		.chunks_at = 65536, .tables_at = 65536 + (uint64_t)TLG_MAX_CHUNKS * TLG_CHUNK_STRIDE,
		.chunks_used = CHUNKS, .rings_used = 1, .written = 1, .states = { { .write = 1 } },
	};
	struct tlg_ring ring = {
		.tails = { { .write = 1, .chunk = NUMBER, .event = EVENT, .nholes = TLG_MAX_HOLES } },
	};
	const struct tlg_chunk chunk = { .number = NUMBER, .state = TLG_CHUNK_OPEN };
	int fd = memfd_create("ring", 0);

	assert_true(fd >= 0);
	for (uint32_t i = 0; i < TLG_MAX_HOLES; i++)
		ring.tails[0].holes[i] = (struct tlg_ring_hole){ NUMBER, i, i + 1 };
	put(fd, 0, &head, sizeof(head));
	put(fd, tlg_ring_at(head.tables_at, 0), &ring, sizeof(ring));
	for (uint64_t i = 0; i < CHUNKS; i++)
		put(fd, head.chunks_at + i * TLG_CHUNK_STRIDE + TLG_CHUNK_BYTES, &chunk, sizeof(chunk));
	return fd;
}

static void test_salvage_holes_count_once_though_many_chunks_have_their_number(void **state)
{
	struct t2x_ring ring;
	struct t2x_salvage *salvage;
	struct t2x_block block;

	(void)state;
	assert_null(t2x_ring_take(&ring, make_ring_file(), "ring", 0));
	salvage = t2x_salvage_new(&ring);
	assert_non_null(salvage);
	while (t2x_salvage_next(salvage, &block))
		assert_in_range(block.count, 1, TLG_BLOCK_LIMIT);
	assert_int_equal(t2x_salvage_sum(salvage)->hits, 0);
	/* behind the last chunk's events nothing follows */
	assert_int_equal(t2x_salvage_sum(salvage)->in_flight,
			 TLG_MAX_HOLES + (CHUNKS - 1) * (TLG_CHUNK_EVENTS - EVENT));
	t2x_salvage_free(salvage);
	t2x_ring_close(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_salvage_holes_count_once_though_many_chunks_have_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
