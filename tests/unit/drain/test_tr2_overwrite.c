/* SPDX-License-Identifier: MIT */
/* test_tr2_overwrite.c - the two readers of a flight recorder's ring, and requests for snapshots. */
#include "t2test.h"

#include <string.h>
#include <time.h>

#include "drain/tr2_collect.h"
#include "drain/tr2_overwrite.h"
#include "ringfile.h"
#include "settings/tr2_env.h"
#include "tlg_chain.h"

enum { TID = 7, CHUNKS = 4 };

static struct tr2_thread g_thread;        /* a ring, as far as its lock goes; from set_up_ring() on a whole one */
static struct trace2_hot g_hot;
static struct tr2_track g_ahead;

static int set_up(void **state)
{
	(void)state;
	memset(&g_thread, 0, sizeof(g_thread));
	tr2_g_settings.policy = TR2_POLICY_OVERWRITE;
	tr2_snapshot_reset();
	return 0;
}

static void announce(uint64_t entered);

/* A ring with one chunk, in which its thread TID is announced. */
static int set_up_ring(void **state)
{
	static unsigned next;
	struct tr2_ring *ring = &g_thread.ring;

	set_up(state);
	memset(&g_hot, 0, sizeof(g_hot));
	memset(&g_ahead, 0, sizeof(g_ahead));
	g_thread.tid = TID;
	g_thread.start = 1;
	g_thread.reader.ring = ring;
	ring->index = next++;
	ring->head = tr2_shm_ring(ring->index);
	ring->hot = &g_hot;
	ring->max_pages = CHUNKS * TR2_WHOLE_PAGES;
	if (tr2_shm_commit(ring->head, sizeof(*ring->head)) || tr2_ring_open_chunk(ring, TID, TR2_WHOLE_PAGES))
		return -1;
	announce(0);
	return 0;
}

static int create_memory(void **state)
{
	return ringfile_create(state) || tr2_pool_init(0);
}

/* Reserve as the library does, in the next chunk if need be. */
static struct tlg_event *reserve(unsigned events)
{
	uintptr_t position = tr2_local_add(&g_hot.cur, events * sizeof(struct tlg_event));

	if (tr2_in_chunk(position, events * sizeof(struct tlg_event)))
		return (struct tlg_event *)position;
	if (tr2_in_chunk(position, sizeof(struct tlg_event)))
		tr2_ring_pad(position);
	assert_int_equal(tr2_ring_open_chunk(&g_thread.ring, TID, TR2_WHOLE_PAGES), 0);
	return reserve(events);
}

/* The two events of a checkpoint that says its style itself. */
static void commit(struct tlg_event *event, unsigned style, uint64_t when)
{
	event[1].u.value.value = style;
	tr2_ring_commit(&event[1], TLG_VALUE | TLG_INFO_END);
	event->u.hit = (struct tlg_hit){ .when = when, .tid = TID };
	tr2_ring_commit(event, TLG_HIT | TLG_HAS_INFO);
}

static void record(unsigned style, uint64_t when)
{
	commit(reserve(2), style, when);
}

/* THREAD, with a region that was entered then; 0: with none */
static void announce(uint64_t entered)
{
	const struct tlg_announce announce = { .tid = TID, .start = 1, .nopen = entered != 0, .name = "th07:some" };
	unsigned n = tlg_announce_events(&announce);
	struct tlg_event *events = reserve(n);

	for (unsigned i = n; i--;)
		tr2_ring_commit(&events[i], tlg_announce_fill(&announce, &entered, i, &events[i]));
}

static void fill_chunks(unsigned n)
{
	for (uint32_t upto = g_thread.ring.opened + n; g_thread.ring.opened < upto;)
		record(TLG_STYLE_data, 5);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_overwrite_hold_keeps_the_owner_out_until_the_last_release(void **state)
{
	(void)state;
	assert_true(tr2_overwrite_hold(&g_thread));
	assert_true(tr2_overwrite_hold(&g_thread));   /* a write in the middle of a snapshot */
	tr2_overwrite_release(&g_thread);
	assert_false(tr2_overwrite_make_room(&g_thread));
	tr2_overwrite_release(&g_thread);
	assert_int_equal(g_thread.reader.lock, 0);
}

/* Whoever holds the drain's lock must not wait for it without an end. */
static void test_overwrite_hold_gives_up_when_the_owner_is_stopped(void **state)
{
	double begun = seconds();

	(void)state;
	g_thread.reader.lock = 1;
	assert_false(tr2_overwrite_hold(&g_thread));
	assert_int_equal(tr2_collect_snapshot(&g_thread, 0, 1), 0);
	tr2_overwrite_skip(&g_thread);
	assert_true(seconds() - begun < 10);
	assert_int_equal(g_thread.reader.lock, 1);
}

static void test_overwrite_other_policies_have_nothing_to_lock(void **state)
{
	(void)state;
	tr2_g_settings.policy = TR2_POLICY_BLOCK;
	g_thread.reader.lock = 1;
	assert_true(tr2_overwrite_hold(&g_thread));
	tr2_overwrite_release(&g_thread);
	assert_int_equal(g_thread.reader.lock, 1);
	assert_false(tr2_overwrite_make_room(&g_thread));
}

static void test_snapshot_asked_for_while_one_is_taken_is_the_next(void **state)
{
	uint32_t requests;
	uint64_t since;

	(void)state;
	assert_true(tr2_snapshot_request());
	requests = tr2_snapshot_begin(&since);
	assert_true(tr2_snapshot_request());
	tr2_snapshot_end(requests);
	assert_true(tr2_snapshot_is_requested());
	tr2_snapshot_end(tr2_snapshot_begin(&since));
	assert_false(tr2_snapshot_is_requested());
}

/* Somebody else wants all: that a trigger wants less does not matter. */
static void test_snapshot_begins_where_a_trigger_wants_it_unless_others_want_all(void **state)
{
	uint64_t since;

	(void)state;
	tr2_snapshot_request_since(4711);
	assert_true(tr2_snapshot_is_requested());
	tr2_snapshot_end(tr2_snapshot_begin(&since));
	assert_int_equal(since, 4711);
	tr2_snapshot_request_since(4711);
	assert_true(tr2_snapshot_request());
	tr2_snapshot_end(tr2_snapshot_begin(&since));
	assert_int_equal(since, 0);
	tr2_snapshot_request_since(815);
	tr2_snapshot_end(tr2_snapshot_begin(&since));
	assert_int_equal(since, 815);
	assert_false(tr2_snapshot_is_requested());
}

static void test_snapshot_without_the_policy_is_none(void **state)
{
	(void)state;
	tr2_g_settings.policy = TR2_POLICY_BLOCK;
	assert_false(tr2_snapshot_request());
	assert_false(tr2_snapshot_is_requested());
}

/* ---- looking ahead -------------------------------------------------------------------------------- */

/* What another thread, or the reader, may see of a ring and its chunks. */
struct shared {
	struct tr2_ring ring;
	struct tr2_reader reader;
	uint32_t states[CHUNKS], links[CHUNKS];
};

static void look_at(struct shared *shared, uint32_t first)
{
	memset(shared, 0, sizeof(*shared));
	memcpy(&shared->ring, &g_thread.ring, sizeof(shared->ring));
	memcpy(&shared->reader, &g_thread.reader, sizeof(shared->reader));
	for (uint32_t i = 0, chunk = first; chunk; chunk = tr2_shm_chunk(chunk - 1)->next, i++) {
		shared->states[i] = tr2_shm_chunk(chunk - 1)->state;
		shared->links[i] = tr2_pool_next(chunk - 1);
	}
}

/* fork() in a handler that has interrupted a checkpoint: this is committed later, and its chunk is like any other. */
static void test_look_ahead_changes_nothing_of_a_ring_with_an_open_reservation(void **state)
{
	uint32_t first = g_thread.ring.chunk;
	struct shared before, after;

	(void)state;
	reserve(2);
	fill_chunks(CHUNKS - 1);
	look_at(&before, first);
	tr2_overwrite_look_ahead(&g_thread, &g_ahead);
	look_at(&after, first);
	assert_memory_equal(&after, &before, sizeof(before));
}

static void test_look_ahead_leaves_a_chunk_that_can_be_overwritten(void **state)
{
	uint32_t first = g_thread.ring.chunk, pages;
	struct tlg_event *slow = reserve(2);

	(void)state;
	fill_chunks(CHUNKS - 1);
	tr2_overwrite_look_ahead(&g_thread, &g_ahead);
	commit(slow, TLG_STYLE_data, 4);
	pages = tr2_ring_pages(&g_thread.ring);
	assert_true(tr2_overwrite_make_room(&g_thread));
	assert_int_equal(tr2_shm_chunk(first - 1)->state, TLG_CHUNK_FREE);
	assert_int_equal(tr2_ring_pages(&g_thread.ring), pages - TR2_WHOLE_PAGES);
	assert_int_equal(g_thread.reader.held, 0);
	assert_int_equal(g_thread.ring.nheld, 0);
}

/* The ring's reader has left a chunk that is held, and is in the next one, which will be. */
static void test_look_ahead_changes_nothing_of_chunks_that_are_held(void **state)
{
	struct tr2_reader *reader = &g_thread.reader;
	uint32_t first = g_thread.ring.chunk;
	struct shared before, after;
	struct tr2_chain chain;
	enum tr2_peek peek;

	(void)state;
	reserve(2);
	fill_chunks(1);
	reserve(2);
	fill_chunks(CHUNKS - 2);
	while ((peek = tr2_ring_peek(reader, 1, 0, &chain)) != TR2_PEEK_EMPTY && reader->nabandoned < 2) {
		if (peek == TR2_PEEK_CHUNK)
			tr2_ring_leave_chunk(reader);
		else
			tr2_ring_consume(reader, chain.count);
	}
	assert_int_equal(reader->held, first);
	look_at(&before, first);
	tr2_overwrite_look_ahead(&g_thread, &g_ahead);
	look_at(&after, first);
	assert_memory_equal(&after, &before, sizeof(before));
}

/* Open regions as a child begins with them. */
static unsigned list_open(uint64_t *when)
{
	struct tlg_open open;
	unsigned n = 0;

	for (; tr2_track_open_region(&g_ahead, n, TR2_REPEATED_REGIONS, &open); n++)
		when[n] = open.when;
	return n;
}

static void test_look_ahead_sees_the_regions_of_a_thread_that_nobody_has_read(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	record(TLG_STYLE_region_enter, 10);
	record(TLG_STYLE_region_enter, 20);
	fill_chunks(1);
	record(TLG_STYLE_region_leave, 30);
	record(TLG_STYLE_region_enter, 40);
	tr2_overwrite_look_ahead(&g_thread, &g_ahead);
	assert_int_equal(list_open(when), 2);
	assert_int_equal(when[0], 10);
	assert_int_equal(when[1], 40);
}

/* ... as one that was forked has them from its parent */
static void test_look_ahead_sees_the_regions_that_a_thread_was_announced_with(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	announce(8);
	record(TLG_STYLE_region_enter, 10);
	tr2_overwrite_look_ahead(&g_thread, &g_ahead);
	assert_int_equal(list_open(when), 2);
	assert_int_equal(when[0], 8);
	assert_int_equal(when[1], 10);
}

/* Nobody knows what the reservation was for: the regions behind it are known, and that one may be missing. */
static void test_look_ahead_sees_regions_behind_an_abandoned_reservation(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	record(TLG_STYLE_region_enter, 10);
	reserve(2);
	record(TLG_STYLE_region_enter, 20);
	tr2_overwrite_look_ahead(&g_thread, &g_ahead);
	assert_int_equal(list_open(when), 3);
	assert_int_equal(when[0], 10);
	assert_int_equal(when[1], TLG_OPEN_ASSUMED);
	assert_int_equal(when[2], 20);
}

static void test_look_ahead_ends_in_front_of_what_is_not_committed(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	record(TLG_STYLE_region_enter, 10);
	reserve(2);
	tr2_overwrite_look_ahead(&g_thread, &g_ahead);
	assert_int_equal(list_open(when), 1);
	assert_int_equal(when[0], 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_overwrite_hold_keeps_the_owner_out_until_the_last_release, set_up),
		cmocka_unit_test_setup(test_overwrite_hold_gives_up_when_the_owner_is_stopped, set_up),
		cmocka_unit_test_setup(test_overwrite_other_policies_have_nothing_to_lock, set_up),
		cmocka_unit_test_setup(test_snapshot_asked_for_while_one_is_taken_is_the_next, set_up),
		cmocka_unit_test_setup(test_snapshot_begins_where_a_trigger_wants_it_unless_others_want_all, set_up),
		cmocka_unit_test_setup(test_snapshot_without_the_policy_is_none, set_up),
		cmocka_unit_test_setup(test_look_ahead_changes_nothing_of_a_ring_with_an_open_reservation, set_up_ring),
		cmocka_unit_test_setup(test_look_ahead_leaves_a_chunk_that_can_be_overwritten, set_up_ring),
		cmocka_unit_test_setup(test_look_ahead_changes_nothing_of_chunks_that_are_held, set_up_ring),
		cmocka_unit_test_setup(test_look_ahead_sees_the_regions_of_a_thread_that_nobody_has_read, set_up_ring),
		cmocka_unit_test_setup(test_look_ahead_sees_the_regions_that_a_thread_was_announced_with, set_up_ring),
		cmocka_unit_test_setup(test_look_ahead_sees_regions_behind_an_abandoned_reservation, set_up_ring),
		cmocka_unit_test_setup(test_look_ahead_ends_in_front_of_what_is_not_committed, set_up_ring),
	};

	return cmocka_run_group_tests(tests, create_memory, ringfile_remove);
}
