/* SPDX-License-Identifier: MIT */
/* The ring by itself: order, chunks, abandoned reservations, dropped events. */
#include "t2test.h"

#include <string.h>
#include <errno.h>

#include "ring/tr2_ring_read.h"
#include "ringfile.h"

enum { FEW_CHUNKS = 3, TID = 5 };

static struct trace2_hot hot;
static struct tr2_ring ring;
static struct tr2_reader reader;
static uint64_t now;

static int create_memory(void **state)
{
	return ringfile_create(state) || tr2_pool_init(0);
}

/* A new ring, its first chunk open. */
static int open_ring(unsigned pages)
{
	static unsigned next;

	memset(&ring, 0, sizeof(ring));
	memset(&reader, 0, sizeof(reader));
	memset(&hot, 0, sizeof(hot));
	ring.index = next++;
	ring.head = tr2_shm_ring(ring.index);
	ring.hot = &hot;
	reader.ring = &ring;
	ring.max_pages = FEW_CHUNKS * TR2_WHOLE_PAGES;
	if (tr2_shm_commit(ring.head, sizeof(*ring.head)))
		return -1;
	return tr2_ring_open_chunk(&ring, TID, pages);
}

static int setup(void **state)
{
	(void)state;
	return open_ring(TR2_WHOLE_PAGES);
}

static int setup_short(void **state)
{
	(void)state;
	return open_ring(TR2_SHORT_PAGES);
}

/* Reserve as the library does; NULL if the chunk is full. */
static struct tlg_event *reserve(unsigned events)
{
	uintptr_t position = tr2_local_add(&hot.cur, events * sizeof(struct tlg_event));

	return tr2_in_chunk(position, events * sizeof(struct tlg_event)) ? (struct tlg_event *)position : NULL;
}

static void commit_hit(struct tlg_event *event, uint32_t scope)
{
	event->u.hit = (struct tlg_hit){ 1, scope, TID };
	tr2_ring_commit(event, TLG_HIT);
}

/* Write one event, in the next chunk if need be. */
static void write_hit(uint32_t scope)
{
	struct tlg_event *event = reserve(1);

	if (!event) {
		assert_int_equal(tr2_ring_open_chunk(&ring, TID, TR2_WHOLE_PAGES), 0);
		event = reserve(1);
	}
	commit_hit(event, scope);
}

/* The scope of the next event, 0 if there is none now; goes through chunks. */
static uint32_t read_hit(unsigned timeout)
{
	struct tr2_chain chain;
	enum tr2_peek peek;
	uint32_t scope, finished;

	while ((peek = tr2_ring_peek(&reader, ++now, timeout, &chain)) == TR2_PEEK_CHUNK) {
		finished = tr2_ring_leave_chunk(&reader);
		if (finished)
			tr2_ring_release_chunk(&reader, finished - 1);
	}
	if (peek != TR2_PEEK_CHAIN)
		return 0;
	scope = chain.events->u.hit.scopeIndex;
	tr2_ring_consume(&reader, chain.count);
	return scope;
}

static void test_ring_new_is_empty(void **state)
{
	(void)state;
	assert_int_equal(read_hit(0), 0);
}

static void test_ring_gives_back_in_order_across_many_laps(void **state)
{
	const uint32_t n = 5 * FEW_CHUNKS * TLG_CHUNK_EVENTS;

	(void)state;
	for (uint32_t i = 1; i <= n; i++) {
		write_hit(i);
		assert_int_equal(read_hit(0), i);
	}
	assert_int_equal(read_hit(0), 0);
}

static void test_ring_first_chunk_is_short_and_the_next_is_whole(void **state)
{
	uint32_t first = ring.chunk;

	(void)state;
	for (uint32_t i = 1; i <= TR2_SHORT_EVENTS; i++)
		write_hit(i);
	assert_int_equal(ring.chunk, first);
	assert_int_equal(tr2_ring_pages(&ring), TR2_SHORT_PAGES);
	write_hit(TR2_SHORT_EVENTS + 1);
	assert_int_not_equal(ring.chunk, first);
	assert_int_equal(tr2_ring_pages(&ring), TR2_SHORT_PAGES + TR2_WHOLE_PAGES);
	for (uint32_t i = 1; i <= TR2_SHORT_EVENTS + 1; i++)
		assert_int_equal(read_hit(0), i);
	assert_int_equal(tr2_ring_pages(&ring), TR2_WHOLE_PAGES);
}

static void test_ring_takes_the_chunk_that_was_released_last(void **state)
{
	uint32_t first = ring.chunk;

	(void)state;
	for (uint32_t i = 1; i <= TLG_CHUNK_EVENTS + 1; i++)
		write_hit(i);
	for (uint32_t i = 1; i <= TLG_CHUNK_EVENTS + 1; i++)
		assert_int_equal(read_hit(0), i);
	for (uint32_t i = 1; i <= TLG_CHUNK_EVENTS; i++)
		write_hit(i);
	assert_int_equal(ring.chunk, first);
}

static void test_ring_full_refuses_until_a_chunk_is_released(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= FEW_CHUNKS * TLG_CHUNK_EVENTS; i++)
		write_hit(i);
	assert_null(reserve(1));
	assert_int_equal(tr2_ring_open_chunk(&ring, TID, TR2_WHOLE_PAGES), -ENOSPC);
	for (uint32_t i = 1; i <= TLG_CHUNK_EVENTS + 1; i++)
		assert_int_equal(read_hit(0), i);
	assert_int_equal(tr2_ring_open_chunk(&ring, TID, TR2_WHOLE_PAGES), 0);
	write_hit(1000000);
	for (uint32_t i = TLG_CHUNK_EVENTS + 2; i <= FEW_CHUNKS * TLG_CHUNK_EVENTS; i++)
		assert_int_equal(read_hit(0), i);
	assert_int_equal(read_hit(0), 1000000);
}

static void test_ring_position_out_of_bounds_never_becomes_valid(void **state)
{
	uintptr_t chunk = (uintptr_t)tr2_shm_chunk(7);

	(void)state;
	assert_true(tr2_in_chunk(chunk + 64, 24));
	assert_true(tr2_in_chunk(chunk + 65536 - 24, 24));
	assert_false(tr2_in_chunk(chunk + 65536 - 24, 48));
	for (uintptr_t past = 0; past < 65536; past += 24)
		assert_false(tr2_in_chunk(chunk + 65536 + past, 24));
	for (uintptr_t zero = 0; zero < 65536; zero += 24)   /* a forked child's */
		assert_false(tr2_in_chunk(zero, 24));
}

/* However many handlers interrupt each other there. */
static void test_ring_long_chains_leave_the_position_in_its_chunk(void **state)
{
	const size_t bytes = TR2_CHAIN_EVENTS * sizeof(struct tlg_event);
	uintptr_t chunk = (uintptr_t)tr2_shm_chunk(ring.chunk - 1), position;
	unsigned n = 0;

	(void)state;
	while (tr2_ring_reserve_long(&hot, bytes, &position))
		n++;
	assert_int_equal(n, TLG_CHUNK_EVENTS / TR2_CHAIN_EVENTS);
	assert_int_equal(position, chunk + 64 + n * bytes);
	for (int i = 0; i < 100; i++) {
		assert_false(tr2_ring_reserve_long(&hot, bytes, &position));
		assert_int_equal(position, chunk + TLG_CHUNK_BYTES);
		assert_int_equal(hot.cur, chunk + TLG_CHUNK_BYTES);
	}
	hot.cur = 0;   /* a forked child's */
	assert_false(tr2_ring_reserve_long(&hot, bytes, &position));
	assert_int_equal(hot.cur, 0);
}

static void test_ring_uncommitted_event_holds_back_later_ones(void **state)
{
	struct tlg_event *first = reserve(1), *second = reserve(1);

	(void)state;
	commit_hit(second, 2);
	assert_int_equal(read_hit(10), 0);
	commit_hit(first, 1);
	assert_int_equal(read_hit(10), 1);
	assert_int_equal(read_hit(10), 2);
}

static void test_ring_abandoned_reservation_is_passed_in_time_and_taken_late(void **state)
{
	struct tlg_event *left = reserve(1);
	struct tr2_chain chain;

	(void)state;
	write_hit(2);
	for (int i = 0; i < 3; i++)
		assert_int_equal(read_hit(3), 0);
	assert_int_equal(read_hit(3), 2);
	assert_int_equal(reader.nabandoned, 1);
	assert_false(tr2_ring_late(&reader, &chain));
	commit_hit(left, 1);
	assert_true(tr2_ring_late(&reader, &chain));
	assert_int_equal(chain.events->u.hit.scopeIndex, 1);
	assert_int_equal(tr2_ring_late_taken(&reader, &chain), 0);   /* still being read */
	assert_int_equal(reader.nabandoned, 0);
	assert_false(tr2_ring_late(&reader, &chain));
	tr2_ring_forget_all(&reader);
	assert_int_equal(reader.ndead, 0);
}

/* A writer that has filled other chunks since does not wait for the chunk of an abandoned reservation. */
static void test_ring_abandoned_reservation_far_behind_is_passed_at_once(void **state)
{
	(void)state;
	reserve(1);
	for (uint32_t i = 2; i <= TLG_CHUNK_EVENTS; i++)
		write_hit(i);
	assert_int_equal(read_hit(1000), 0);
	write_hit(1);                              /* in the second chunk of two */
	assert_int_equal(read_hit(1000), 2);
}

static void test_ring_abandoned_reservation_of_several_chains_is_taken_in_any_order(void **state)
{
	struct tlg_event *left[4];
	struct tr2_chain chain;
	static const int order[] = { 2, 0, 3 };

	(void)state;
	for (int i = 0; i < 4; i++)
		left[i] = reserve(1);
	write_hit(9);
	assert_int_equal(read_hit(0), 9);
	for (int i = 0; i < 3; i++) {
		commit_hit(left[order[i]], (uint32_t)order[i] + 1);
		assert_true(tr2_ring_late(&reader, &chain));
		assert_ptr_equal(chain.events, left[order[i]]);
		assert_false(tr2_ring_late(&reader, &chain));
	}
	tr2_ring_forget_all(&reader);
	assert_int_equal(reader.ndead, 1);   /* the one that was never filled */
}

static void test_ring_chunk_is_released_when_all_of_it_is_committed(void **state)
{
	uint32_t held = ring.chunk;
	struct tlg_event *left = reserve(1);
	struct tr2_chain chain;

	(void)state;
	for (uint32_t i = 2; i <= TLG_CHUNK_EVENTS + 1; i++)
		write_hit(i);
	for (uint32_t i = 2; i <= TLG_CHUNK_EVENTS + 1; i++)
		assert_int_equal(read_hit(0), i);
	assert_int_equal(tr2_shm_chunk(held - 1)->state, TLG_CHUNK_HELD);
	commit_hit(left, 1);
	assert_true(tr2_ring_late(&reader, &chain));
	assert_int_equal(tr2_ring_late_taken(&reader, &chain), held);
}

static void test_ring_chunk_with_abandoned_reservation_is_held_until_its_thread_ends(void **state)
{
	uint32_t held = ring.chunk;

	(void)state;
	reserve(1);
	for (uint32_t i = 2; i <= TLG_CHUNK_EVENTS + 1; i++)
		write_hit(i);
	for (uint32_t i = 2; i <= TLG_CHUNK_EVENTS + 1; i++)
		assert_int_equal(read_hit(0), i);
	for (uint32_t i = 1; i <= 4 * FEW_CHUNKS * TLG_CHUNK_EVENTS; i++) {
		write_hit(i);
		assert_int_equal(read_hit(0), i);
		assert_int_not_equal(ring.chunk, held);
	}
	assert_int_equal(tr2_ring_forget_all(&reader), held);
	assert_int_equal(reader.ndead, 1);
}

/* Holes that nobody will fill must not use up the ring of a thread that lives on. */
static void test_ring_chunk_is_released_when_its_owner_abandons_the_rest(void **state)
{
	uint32_t held = ring.chunk, second;

	(void)state;
	reserve(1);
	for (uint32_t i = 2; i <= TLG_CHUNK_EVENTS + 1; i++)
		write_hit(i);
	assert_false(tr2_ring_is_fragmented(&ring));
	tr2_ring_abandon(&ring, 1);               /* the first chunk; the second is open */
	second = ring.chunk;
	reserve(1);
	write_hit(1);
	for (uint32_t i = 2; i <= TLG_CHUNK_EVENTS + 1; i++)
		assert_int_equal(read_hit(0), i);
	assert_int_equal(read_hit(0), 1);
	assert_true(tr2_ring_is_fragmented(&ring));
	assert_int_equal(tr2_ring_forget_dead(&reader), held);
	assert_int_equal(tr2_ring_forget_dead(&reader), 0);
	assert_int_equal(reader.ndead, 1);
	assert_int_equal(reader.nabandoned, 1);
	assert_int_equal(tr2_shm_chunk(second - 1)->state, TLG_CHUNK_HELD);
	assert_int_equal(tr2_ring_forget_all(&reader), 0);   /* the reader is still in it */
	assert_int_equal(tr2_shm_chunk(second - 1)->state, TLG_CHUNK_OPEN);
}

static void test_ring_chain_that_does_not_fit_is_padded_over(void **state)
{
	uintptr_t position;

	(void)state;
	for (uint32_t i = 1; i < TLG_CHUNK_EVENTS; i++)
		write_hit(i);
	position = tr2_local_add(&hot.cur, 2 * sizeof(struct tlg_event));   /* one event is left */
	assert_false(tr2_in_chunk(position, 2 * sizeof(struct tlg_event)));
	tr2_ring_pad(position);
	write_hit(5000);
	for (uint32_t i = 1; i < TLG_CHUNK_EVENTS; i++)
		assert_int_equal(read_hit(0), i);
	assert_int_equal(read_hit(0), 5000);
}

static void test_ring_chain_is_seen_whole_or_not_at_all(void **state)
{
	struct tlg_event *event = reserve(3);
	struct tr2_chain chain;

	(void)state;
	event[0].u.hit = (struct tlg_hit){ 1, 9, TID };
	tr2_ring_commit(&event[1], TLG_VALUE);
	tr2_ring_commit(&event[2], TLG_INFO | TLG_INFO_END);
	assert_int_equal(tr2_ring_peek(&reader, ++now, 10, &chain), TR2_PEEK_CHUNK);
	assert_int_equal(tr2_ring_leave_chunk(&reader), 0);
	assert_int_equal(tr2_ring_peek(&reader, ++now, 10, &chain), TR2_PEEK_BUSY);
	tr2_ring_commit(&event[0], TLG_HIT | TLG_HAS_INFO);
	assert_int_equal(tr2_ring_peek(&reader, ++now, 10, &chain), TR2_PEEK_CHAIN);
	assert_ptr_equal(chain.events, event);
	assert_int_equal(chain.count, 3);
}

static void test_ring_dropped_events_are_seen_where_they_happened(void **state)
{
	(void)state;
	tr2_ring_drop(&ring, 3);
	tr2_ring_drop(&ring, 1);
	assert_int_equal(tr2_ring_lost(&reader, 0), 0);   /* not before the chunk behind them */
	assert_int_equal(tr2_ring_open_chunk(&ring, TID, TR2_WHOLE_PAGES), 0);
	tr2_ring_drop(&ring, 1);
	for (int i = 0; i < 2; i++) {
		reader.event = TLG_CHUNK_EVENTS;
		tr2_ring_leave_chunk(&reader);
	}
	assert_int_equal(tr2_ring_lost(&reader, 0), 4);
	assert_int_equal(tr2_ring_lost(&reader, 1), 1);
	assert_int_equal(tr2_ring_lost(&reader, 1), 0);
}

static void commit_text(struct tlg_event *event, unsigned infos)
{
	for (unsigned i = 1; i <= infos; i++)
		event[i].flags = (uint16_t)(TLG_INFO | (i == infos ? TLG_INFO_END : 0));
	event->u.hit = (struct tlg_hit){ 1, 9, TID };
	tr2_ring_commit(event, TLG_HIT | TLG_HAS_INFO);
}

/* The run at the reading position; its first event, which is then copied. */
static unsigned take_run(unsigned most, uint32_t first_scope)
{
	const struct tlg_event *events;
	unsigned n = tr2_ring_run(&reader, most, &events);

	if (n)
		assert_int_equal(events->u.hit.scopeIndex, first_scope);
	tr2_ring_consume(&reader, n);
	return n;
}

static void test_ring_run_is_whole_chains_up_to_what_is_none(void **state)
{
	struct tlg_event *thread, *late;

	(void)state;
	write_hit(1);
	assert_int_equal(take_run(100, 0), 0);   /* not entered yet */
	assert_int_equal(read_hit(0), 1);
	assert_int_equal(take_run(100, 0), 0);
	write_hit(2);
	commit_text(reserve(4), 3);
	write_hit(3);
	assert_int_equal(take_run(2, 2), 5);     /* a chain is not cut */
	assert_int_equal(take_run(100, 3), 1);
	write_hit(4);
	thread = reserve(1);
	tr2_ring_commit(thread, TLG_THREAD);
	write_hit(5);
	late = reserve(1);
	write_hit(6);
	assert_int_equal(take_run(100, 4), 1);
	assert_int_equal(take_run(100, 0), 0);
	tr2_ring_consume(&reader, 1);
	assert_int_equal(take_run(100, 5), 1);
	assert_int_equal(take_run(100, 0), 0);   /* not committed */
	commit_hit(late, 7);
	assert_int_equal(take_run(100, 7), 2);
}

static void test_ring_run_ends_with_its_chunk(void **state)
{
	struct tr2_chain chain;

	(void)state;
	for (uint32_t i = 1; i <= TLG_CHUNK_EVENTS + 2; i++)
		write_hit(i);
	assert_int_equal(read_hit(0), 1);
	assert_int_equal(take_run(2 * TLG_CHUNK_EVENTS, 2), TLG_CHUNK_EVENTS - 1);
	assert_int_equal(take_run(1, 0), 0);
	assert_int_equal(tr2_ring_peek(&reader, 1, 0, &chain), TR2_PEEK_CHUNK);
	tr2_ring_leave_chunk(&reader);
	assert_int_equal(tr2_ring_peek(&reader, 1, 0, &chain), TR2_PEEK_CHAIN);
	assert_true(chain.is_first);
	tr2_ring_consume(&reader, 1);
	assert_int_equal(tr2_ring_peek(&reader, 1, 0, &chain), TR2_PEEK_CHAIN);
	assert_false(chain.is_first);
	assert_int_equal(take_run(9, TLG_CHUNK_EVENTS + 2), 1);
}

/* It must have another one to leave the one that it has, however long that is. */
static void test_ring_with_one_long_chunk_finds_another_when_others_have_the_rest(void **state)
{
	enum { HOLDS_MORE = 2 * TR2_WHOLE_PAGES, ALL = 64 << 20 };
	uint32_t others;

	(void)state;
	tr2_pool_count_thread(1);
	tr2_pool_set_bound(tr2_pool_taken() * 4096);
	others = tr2_pool_acquire(TR2_SHORT_PAGES, HOLDS_MORE);
	assert_int_not_equal(others, 0);
	assert_int_equal(tr2_pool_acquire(TR2_SHORT_PAGES, HOLDS_MORE), 0);
	assert_int_equal(tr2_ring_open_chunk(&ring, TID, TR2_WHOLE_PAGES), 0);
	assert_int_equal(tr2_ring_pages(&ring), TR2_WHOLE_PAGES + TR2_SHORT_PAGES);
	tr2_pool_release(others - 1);
	tr2_pool_set_bound(ALL);
	tr2_pool_count_thread(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ring_new_is_empty, setup),
		cmocka_unit_test_setup(test_ring_gives_back_in_order_across_many_laps, setup),
		cmocka_unit_test_setup(test_ring_first_chunk_is_short_and_the_next_is_whole, setup_short),
		cmocka_unit_test_setup(test_ring_takes_the_chunk_that_was_released_last, setup),
		cmocka_unit_test_setup(test_ring_full_refuses_until_a_chunk_is_released, setup),
		cmocka_unit_test(test_ring_position_out_of_bounds_never_becomes_valid),
		cmocka_unit_test_setup(test_ring_long_chains_leave_the_position_in_its_chunk, setup),
		cmocka_unit_test_setup(test_ring_uncommitted_event_holds_back_later_ones, setup),
		cmocka_unit_test_setup(test_ring_abandoned_reservation_is_passed_in_time_and_taken_late, setup),
		cmocka_unit_test_setup(test_ring_abandoned_reservation_far_behind_is_passed_at_once, setup),
		cmocka_unit_test_setup(test_ring_abandoned_reservation_of_several_chains_is_taken_in_any_order, setup),
		cmocka_unit_test_setup(test_ring_chunk_is_released_when_all_of_it_is_committed, setup),
		cmocka_unit_test_setup(test_ring_chunk_with_abandoned_reservation_is_held_until_its_thread_ends, setup),
		cmocka_unit_test_setup(test_ring_chunk_is_released_when_its_owner_abandons_the_rest, setup),
		cmocka_unit_test_setup(test_ring_chain_that_does_not_fit_is_padded_over, setup),
		cmocka_unit_test_setup(test_ring_chain_is_seen_whole_or_not_at_all, setup),
		cmocka_unit_test_setup(test_ring_dropped_events_are_seen_where_they_happened, setup),
		cmocka_unit_test_setup(test_ring_run_is_whole_chains_up_to_what_is_none, setup),
		cmocka_unit_test_setup(test_ring_with_one_long_chunk_finds_another_when_others_have_the_rest, setup),
		cmocka_unit_test_setup(test_ring_run_ends_with_its_chunk, setup),
	};

	return cmocka_run_group_tests(tests, create_memory, ringfile_remove);
}
