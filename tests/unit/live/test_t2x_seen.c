/* SPDX-License-Identifier: MIT */
/* test_t2x_seen.c - what comes a second time is removed, what was skipped comes late, and definitions stay. */
#include "t2test.h"

#include <string.h>

#include "live/t2x_seen.h"

enum { MAX_EVENTS = 64 };

static struct tlg_event made[MAX_EVENTS], kept[MAX_EVENTS];
static unsigned nmade;

static void add(unsigned type, uint32_t sequence)
{
	assert_true(nmade < MAX_EVENTS);
	memset(&made[nmade], 0, sizeof(made[0]));
	made[nmade].flags = (uint16_t)type;
	made[nmade++].sequence = sequence;
}

/* Deliver what was added.  Return  how many events are left of it */
static int deliver(struct t2x_seen *seen, uint32_t tid)
{
	const struct t2x_block block = { .is_framed = 1, .tid = tid, .events = made, .count = nmade };
	int n = t2x_seen_filter(seen, &block, kept);

	nmade = 0;
	return n;
}

/* Checkpoints of one event each. */
static int deliver_hits(struct t2x_seen *seen, uint32_t from, uint32_t to)
{
	for (uint32_t sequence = from; sequence != to; sequence++)
		add(TLG_HIT, sequence);
	return deliver(seen, 1);
}

static void test_seen_again_is_removed(void **state)
{
	struct t2x_seen seen = { 0 };

	(void)state;
	assert_int_equal(deliver_hits(&seen, 1, 11), 10);
	assert_int_equal(deliver_hits(&seen, 6, 16), 5);
	assert_int_equal(kept[0].sequence, 11);
	assert_int_equal(deliver_hits(&seen, 1, 16), 0);
	assert_int_equal(t2x_seen_next(&seen, 1), 16);
	t2x_seen_free(&seen);
}

static void test_seen_threads_are_apart(void **state)
{
	struct t2x_seen seen = { 0 };

	(void)state;
	assert_int_equal(deliver_hits(&seen, 1, 11), 10);
	add(TLG_HIT, 1);
	assert_int_equal(deliver(&seen, 2), 1);
	assert_int_equal(t2x_seen_next(&seen, 2), 2);
	assert_int_equal(t2x_seen_next(&seen, 3), 1);
	t2x_seen_free(&seen);
}

static void test_seen_chain_counts_its_arguments(void **state)
{
	struct t2x_seen seen = { 0 };

	(void)state;
	add(TLG_HIT, 1);
	add(TLG_VALUE, 1);
	add(TLG_INFO, 1);
	add(TLG_HIT, 4);
	assert_int_equal(deliver(&seen, 1), 4);
	assert_int_equal(t2x_seen_next(&seen, 1), 5);
	add(TLG_HIT, 1);
	add(TLG_VALUE, 1);
	add(TLG_INFO, 1);
	add(TLG_HIT, 5);
	assert_int_equal(deliver(&seen, 1), 1);
	assert_int_equal(kept[0].sequence, 5);
	t2x_seen_free(&seen);
}

static void test_seen_definitions_stay_and_repeated_regions_go(void **state)
{
	struct t2x_seen seen = { 0 };

	(void)state;
	assert_int_equal(deliver_hits(&seen, 1, 4), 3);
	add(TLG_THREAD, 2);
	add(TLG_INFO, 2);
	add(TLG_OPEN, 2);
	add(TLG_FLOC, 2);
	add(TLG_INFO, 2);
	add(TLG_SLOC, 2);
	add(TLG_INFO, 2);
	add(TLG_HIT, 2);
	assert_int_equal(deliver(&seen, 1), 4);
	assert_int_equal(tlg_event_type(&kept[0]), TLG_FLOC);
	assert_int_equal(tlg_event_type(&kept[2]), TLG_SLOC);
	add(TLG_THREAD, 4);
	add(TLG_OPEN, 4);
	add(TLG_HIT, 4);
	assert_int_equal(deliver(&seen, 1), 3);
	t2x_seen_free(&seen);
}

static void test_seen_skipped_comes_late_and_once(void **state)
{
	struct t2x_seen seen = { 0 };

	(void)state;
	assert_int_equal(deliver_hits(&seen, 1, 4), 3);
	assert_int_equal(deliver_hits(&seen, 10, 14), 4);
	assert_int_equal(deliver_hits(&seen, 6, 8), 2);
	assert_int_equal(deliver_hits(&seen, 6, 8), 0);
	assert_int_equal(deliver_hits(&seen, 4, 14), 4);
	assert_int_equal(deliver_hits(&seen, 1, 14), 0);
	t2x_seen_free(&seen);
}

static void test_seen_sequence_wraps(void **state)
{
	struct t2x_seen seen = { 0 };

	(void)state;
	assert_int_equal(deliver_hits(&seen, UINT32_MAX - 5, UINT32_MAX), 5);
	add(TLG_HIT, UINT32_MAX);
	assert_int_equal(deliver(&seen, 1), 1);
	assert_int_equal(deliver_hits(&seen, UINT32_MAX - 2, 0), 0);
	t2x_seen_free(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen_again_is_removed),
		cmocka_unit_test(test_seen_threads_are_apart),
		cmocka_unit_test(test_seen_chain_counts_its_arguments),
		cmocka_unit_test(test_seen_definitions_stay_and_repeated_regions_go),
		cmocka_unit_test(test_seen_skipped_comes_late_and_once),
		cmocka_unit_test(test_seen_sequence_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
