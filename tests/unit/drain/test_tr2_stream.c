/* SPDX-License-Identifier: MIT */
/* test_tr2_stream.c - blocks and cycles in the stream's buffer, and the room that has to be made there. */
#include "t2test.h"

#include <errno.h>

#include "drain/tr2_blocks.h"
#include "drain/tr2_cycle.h"
#include "drain/tr2_stream.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

enum { TID = 3, STREAM = 77 };

static int g_error;                       /* of a write */
static unsigned g_written;                /* events, by all writes */
static unsigned g_writes;

/* The drain's: writes the buffer out, or cannot. */
static int make_room(void)
{
	size_t bytes;

	tr2_blocks_buffer(&bytes);
	g_writes++;
	if (g_error) {
		tr2_cycle_write_failed(0);
		return g_error;
	}
	g_written += (unsigned)(bytes / TLG_EVENT_SIZE);
	tr2_blocks_clear();
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	g_error = 0;
	g_written = g_writes = 0;
	tr2_g_settings.raw_packed = 1;
	tr2_g_settings.cycle_bytes = 1 << 30;
	if (!tr2_g_shm.head)
		assert_int_equal(tr2_shm_create(STREAM), 0);
	tr2_shm_unlink();
	assert_int_equal(tr2_stream_init(make_room), 0);
	tr2_cycle_set_process("sid", 0);
	tr2_cycle_new_stream(STREAM);
	return 0;
}

static unsigned in_buffer(void)
{
	size_t bytes;

	tr2_blocks_buffer(&bytes);
	return (unsigned)(bytes / TLG_EVENT_SIZE);
}

static void append_hits(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		tr2_blocks_append(TLG_HIT, i + 1);
	tr2_cycle_appended(n, n);
}

/* Blocks of one thread, as many as fit into the buffer. */
static void fill_buffer(void)
{
	while (in_buffer() + TLG_PACK_EVENTS + 1 <= TR2_BLOCKS_EVENTS) {
		assert_true(tr2_cycle_open_block(TID, TLG_PACK_EVENTS));
		append_hits(TLG_PACK_EVENTS);
	}
	assert_int_equal(g_writes, 0);
}

static void test_blocks_of_two_threads_are_two(void **state)
{
	const struct tlg_event *buffer;
	size_t bytes;

	(void)state;
	assert_true(tr2_blocks_open(TID, 1));
	append_hits(1);
	assert_true(tr2_blocks_room(TID) > 0);
	assert_int_equal(tr2_blocks_room(TID + 1), 0);
	assert_true(tr2_blocks_open(TID + 1, 2));
	append_hits(2);
	buffer = tr2_blocks_buffer(&bytes);
	assert_int_equal(bytes, 5 * TLG_EVENT_SIZE);
	assert_int_equal(buffer[0].u.block.tid, TID);
	assert_int_equal(buffer[0].u.block.count, 1);
	assert_int_equal(buffer[2].u.block.tid, TID + 1);
	assert_int_equal(buffer[2].u.block.count, 2);
	assert_int_equal(tr2_blocks_count(), 2);
}

static void test_blocks_full_buffer_is_written_and_the_cycle_goes_on(void **state)
{
	uint32_t cycle;
	unsigned before;

	(void)state;
	fill_buffer();
	cycle = tr2_cycle_number();
	before = in_buffer();
	assert_true(tr2_cycle_open_block(TID, TLG_PACK_EVENTS));
	assert_int_equal(g_writes, 1);
	assert_int_equal(g_written, before);
	assert_int_equal(tr2_cycle_number(), cycle);
	append_hits(1);
	assert_int_equal(in_buffer(), 2);
}

static void test_blocks_longer_than_the_buffer_are_not_opened(void **state)
{
	(void)state;
	assert_false(tr2_blocks_open(TID, TR2_BLOCKS_EVENTS));
}

static void test_stream_failed_write_is_counted_and_begins_a_cycle(void **state)
{
	uint32_t cycle;
	uint64_t hits;
	const struct tlg_event *buffer;
	size_t bytes;

	(void)state;
	fill_buffer();
	cycle = tr2_cycle_number();
	hits = tr2_cycle_stored();
	g_error = -ENOSPC;
	assert_true(tr2_cycle_open_block(TID, TLG_PACK_EVENTS));
	assert_int_equal(g_writes, 1);
	assert_int_equal(tr2_cycle_number(), cycle + 1);
	assert_int_equal(tr2_cycle_stored(), 0);
	assert_int_equal(tr2_losses_of(TID, TLG_LOSS_WRITE), hits);
	append_hits(1);
	buffer = tr2_blocks_buffer(&bytes);
	assert_int_equal(tlg_event_type(&buffer[1]), TLG_PROLOGUE);
}

static void test_stream_end_behind_a_failed_write_is_in_the_new_cycle(void **state)
{
	const struct tlg_event *buffer;
	size_t bytes, n;

	(void)state;
	fill_buffer();
	while (TR2_BLOCKS_EVENTS - in_buffer() > 2) {   /* no room for END */
		assert_true(tr2_blocks_open(TID, 1));
		append_hits(1);
	}
	g_error = -EIO;
	tr2_cycle_append_end(TLG_END_EXIT);
	buffer = tr2_blocks_buffer(&bytes);
	n = bytes / TLG_EVENT_SIZE;
	assert_int_equal(tlg_event_type(&buffer[1]), TLG_PROLOGUE);
	assert_int_equal(tlg_event_type(&buffer[n - 1]), TLG_END);
	assert_int_equal(buffer[n - 1].u.end.stored, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_blocks_of_two_threads_are_two, set_up),
		cmocka_unit_test_setup(test_blocks_full_buffer_is_written_and_the_cycle_goes_on, set_up),
		cmocka_unit_test_setup(test_blocks_longer_than_the_buffer_are_not_opened, set_up),
		cmocka_unit_test_setup(test_stream_failed_write_is_counted_and_begins_a_cycle, set_up),
		cmocka_unit_test_setup(test_stream_end_behind_a_failed_write_is_in_the_new_cycle, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
