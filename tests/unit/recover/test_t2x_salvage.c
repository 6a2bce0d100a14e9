/* SPDX-License-Identifier: MIT */
/* test_t2x_salvage.c - ring files that are made up: rare ones, and as a corrupted process may leave them. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recover/t2x_salvage.h"

enum { CHUNKS = 64, NUMBER = 5, EVENT = 10, START = 7 };

static void put(int fd, uint64_t at, const void *bytes, size_t n)
{
	assert_int_equal(pwrite(fd, bytes, n, (off_t)at), n);
}

/*
 * A ring file with one ring, and so many chunks, which are all the same.  Where the first chunk has a place of its own
 * nothing is at its place among the others.
 */
static int make_file_of(uint32_t layout, uint64_t first_chunk_at, const struct tlg_ring *ring,
			const struct tlg_chunk *chunk, unsigned chunks)
{
	const struct tlg_ring_file head = {
		.magic = TLG_RING_MAGIC, .layout = layout, .entry_size = TLG_EVENT_SIZE, .start = START,
		.first_chunk_at = first_chunk_at,
		.chunks_at = 65536, .tables_at = 65536 + (uint64_t)TLG_MAX_CHUNKS * TLG_CHUNK_STRIDE,
		.rings_at = 65536 + (uint64_t)TLG_MAX_CHUNKS * TLG_CHUNK_STRIDE + TLG_TABLES_BYTES,
		.chunks_used = chunks, .rings_used = 1, .written = 1, .states = { { .write = 1 } },
	};
	int fd = memfd_create("ring", 0);

	assert_true(fd >= 0);
	put(fd, 0, &head, sizeof(head));
	put(fd, tlg_ring_at(head.rings_at, 0), ring, sizeof(*ring));
	for (uint64_t i = 0; i < chunks; i++)
		put(fd, i || !first_chunk_at ? head.chunks_at + i * TLG_CHUNK_STRIDE + TLG_CHUNK_BYTES : first_chunk_at,
		    chunk, sizeof(*chunk));
	return fd;
}

static int make_ring_file(const struct tlg_ring *ring, const struct tlg_chunk *chunk, unsigned chunks)
{
	return make_file_of(TLG_RING_LAYOUT, 0, ring, chunk, chunks);
}

/* The name of the thread that a block defines, NUL-terminated. */
static void take_name(const struct t2x_block *block, char name[64])
{
	unsigned i = 0;

	while (i < block->count && tlg_event_type(&block->events[i]) != TLG_THREAD)
		i++;
	while (++i < block->count && tlg_event_type(&block->events[i]) == TLG_INFO && strlen(name) <= TLG_TEXT_SIZE)
		strncat(name, block->events[i].u.info.text.c, TLG_TEXT_SIZE);
}

/* Read all of the file, which is closed.  name  see above */
static struct t2x_salvage_totals read_ring_file(int fd, char name[64])
{
	struct t2x_ring ring;
	struct t2x_salvage_totals sum;
	struct t2x_salvage *salvage;
	struct t2x_block block;

	assert_null(t2x_ring_adopt(&ring, fd, "ring", 0));
	salvage = t2x_salvage_new(&ring);
	assert_non_null(salvage);
	memset(name, 0, 64);
	while (t2x_salvage_next(salvage, &block))
		take_name(&block, name);
	sum = *t2x_salvage_totals(salvage);
	t2x_salvage_free(salvage);
	t2x_ring_close(&ring);
	return sum;
}

/* As many as can be. */
static void test_salvage_abandoned_reservations_count_once_though_many_chunks_have_their_number(void **state)
{
	struct tlg_ring ring = {
		.tails = { { .write = 1, .chunk = NUMBER, .event = EVENT, .nabandoned = TLG_MAX_ABANDONED } },
	};
	const struct tlg_chunk chunk = { .number = NUMBER, .state = TLG_CHUNK_OPEN };
	struct t2x_salvage_totals sum;
	char name[64];

	(void)state;
	for (uint32_t i = 0; i < TLG_MAX_ABANDONED; i++)
		ring.tails[0].abandoned[i] = (struct tlg_ring_abandoned){ NUMBER, i, i + 1 };
	sum = read_ring_file(make_ring_file(&ring, &chunk, CHUNKS), name);
	assert_int_equal(sum.hits, 0);
	/* behind the last chunk's events nothing follows */
	assert_int_equal(sum.in_flight, TLG_MAX_ABANDONED + (CHUNKS - 1) * (TLG_CHUNK_EVENTS - EVENT));
}

/* The next event of the chunk, committed. */
static struct tlg_event *add(struct tlg_chunk *chunk, unsigned *at, unsigned flags)
{
	struct tlg_event *event = &chunk->events[(*at)++];

	event->flags = (uint16_t)flags;
	event->sequence = NUMBER;
	return event;
}

static void test_salvage_thread_has_its_whole_name(void **state)
{
	static const char longest[] = "th01:as_long_as_a_name_i";
	const struct tlg_ring ring = { .first = 1, .tails = { { .write = 1 } } };
	static struct tlg_chunk chunk = { .number = NUMBER, .state = TLG_CHUNK_OPEN };
	struct t2x_salvage_totals sum;
	unsigned at = 0;
	char name[64];

	(void)state;
	add(&chunk, &at, TLG_THREAD | TLG_HAS_INFO)->u.thread = (struct tlg_thread){ 1, 2, 3 };
	add(&chunk, &at, TLG_VALUE);
	add(&chunk, &at, TLG_VALUE);
	memcpy(add(&chunk, &at, TLG_INFO)->u.info.text.c, longest, TLG_TEXT_SIZE);
	memcpy(add(&chunk, &at, TLG_INFO | TLG_INFO_END)->u.info.text.c, longest + TLG_TEXT_SIZE,
	       strlen(longest) - TLG_TEXT_SIZE);
	add(&chunk, &at, TLG_HIT)->u.hit = (struct tlg_hit){ 4, 0, 1 };
	sum = read_ring_file(make_ring_file(&ring, &chunk, 1), name);
	assert_int_equal(sum.hits, 1);
	assert_string_equal(name, longest);
}

/* A process could store nothing, because its limit on files was 0, say.  Readers take its end from the last MARK. */
static void test_salvage_without_checkpoints_ends_no_earlier_than_it_began(void **state)
{
	const struct tlg_ring ring = { .tails = { { .write = 1 } } };
	const struct tlg_chunk chunk = { .number = NUMBER, .state = TLG_CHUNK_OPEN };
	struct t2x_ring opened;
	struct t2x_salvage *salvage;
	struct t2x_block block;
	uint64_t marked = 0;

	(void)state;
	assert_null(t2x_ring_adopt(&opened, make_ring_file(&ring, &chunk, 1), "ring", 0));
	salvage = t2x_salvage_new(&opened);
	assert_non_null(salvage);
	while (t2x_salvage_next(salvage, &block))
		for (unsigned i = 0; i < block.count; i++)
			if (tlg_event_type(&block.events[i]) == TLG_MARK)
				marked = block.events[i].u.mark.when;
	assert_int_equal(marked, START);
	t2x_salvage_free(salvage);
	t2x_ring_close(&opened);
}

/* A chunk with an event that has not been committed in front of one that has. */
static struct tlg_chunk chunk_in_flight(void)
{
	struct tlg_chunk chunk = { .number = NUMBER, .state = TLG_CHUNK_OPEN };
	unsigned at = 1;

	add(&chunk, &at, TLG_PAD);
	return chunk;
}

static void test_salvage_finds_the_first_chunk_at_its_own_place(void **state)
{
	const struct tlg_ring ring = { .first = 1, .tails = { { .write = 1 } } };
	const struct tlg_chunk chunk = chunk_in_flight();
	char name[64];

	(void)state;
	assert_int_equal(read_ring_file(make_file_of(TLG_RING_LAYOUT, 8192, &ring, &chunk, 1), name).in_flight, 1);
}

static void test_salvage_of_an_older_writer_finds_the_first_chunk_among_the_others(void **state)
{
	const struct tlg_ring ring = { .first = 1, .tails = { { .write = 1 } } };
	const struct tlg_chunk chunk = chunk_in_flight();
	char name[64];

	(void)state;
	assert_int_equal(read_ring_file(make_file_of(TLG_RING_OLDEST_LAYOUT, 0, &ring, &chunk, 1), name).in_flight, 1);
}

static void test_salvage_of_an_unknown_layout_is_refused(void **state)
{
	static const uint32_t unknown[] = { TLG_RING_OLDEST_LAYOUT - 1, TLG_RING_LAYOUT + 1 };
	const struct tlg_ring ring = { .first = 1 };
	const struct tlg_chunk chunk = { .number = NUMBER };
	struct t2x_ring read;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		int fd = make_file_of(unknown[i], 0, &ring, &chunk, 1);
		assert_non_null(t2x_ring_adopt(&read, fd, "ring", 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_salvage_abandoned_reservations_count_once_though_many_chunks_have_their_number),
		cmocka_unit_test(test_salvage_thread_has_its_whole_name),
		cmocka_unit_test(test_salvage_without_checkpoints_ends_no_earlier_than_it_began),
		cmocka_unit_test(test_salvage_finds_the_first_chunk_at_its_own_place),
		cmocka_unit_test(test_salvage_of_an_older_writer_finds_the_first_chunk_among_the_others),
		cmocka_unit_test(test_salvage_of_an_unknown_layout_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
