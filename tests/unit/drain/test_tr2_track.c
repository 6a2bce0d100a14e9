/* SPDX-License-Identifier: MIT */
/* test_tr2_track.c - what is known about a thread by following its events: numbers, open regions, what is missing. */
#include "t2test.h"

#include <string.h>

#include "drain/tr2_track.h"

enum { TID = 3 };

static struct tr2_track g_track;

static int set_up(void **state)
{
	(void)state;
	memset(&g_track, 0, sizeof(g_track));
	tr2_track_check_thread(&g_track, TID);
	g_track.start = 1;   /* of a clock that runs */
	return 0;
}

static void follow(unsigned style, uint64_t when)
{
	const struct tlg_event event = { .flags = TLG_HIT, .u.hit = { .when = when, .tid = TID } };

	tr2_track_follow(&g_track, &event, 1, style);
}

static void enter(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		follow(TLG_STYLE_region_enter, 100 + i);
}

static void leave(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		follow(TLG_STYLE_region_leave, 1000 + i);
}

/* OPEN events of the track, their times into when. */
static unsigned list_open(uint64_t when[TR2_TRACK_OPENS])
{
	struct tlg_open open;
	unsigned n = 0;

	for (; tr2_track_open_region(&g_track, n, TR2_TRACK_OPENS, &open); n++)
		when[n] = open.when;
	return n;
}

static void test_track_unknown_thread_has_a_question_mark_for_a_name(void **state)
{
	(void)state;
	assert_string_equal(g_track.name, "?");
	assert_int_equal(g_track.tid, TID);
	enter(1);
	tr2_track_check_thread(&g_track, TID);
	assert_int_equal(g_track.depth, 1);   /* it is the same */
	tr2_track_check_thread(&g_track, TID + 1);
	assert_int_equal(g_track.depth, 0);
}

static void test_track_regions_open_are_those_not_left(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	enter(3);
	leave(1);
	assert_int_equal(list_open(when), 2);
	assert_int_equal(when[0], 100);
	assert_int_equal(when[1], 101);
}

static void test_track_leave_without_a_region_is_below_the_root(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	leave(1);
	enter(1);
	assert_int_equal(list_open(when), 2);
	assert_int_equal(when[0], 0);
	assert_int_equal(when[1], 100);
}

static void test_track_regions_beyond_the_known_are_counted(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	enter(TR2_OPEN_REGIONS + 10);
	assert_int_equal(g_track.depth, TR2_OPEN_REGIONS + 10);
	assert_int_equal(list_open(when), TR2_OPEN_REGIONS);
	leave(11);
	assert_int_equal(list_open(when), TR2_OPEN_REGIONS - 1);
	assert_int_equal(when[TR2_OPEN_REGIONS - 2], 100 + TR2_OPEN_REGIONS - 2);
}

static void test_track_gap_says_which_regions_are_open(void **state)
{
	const struct tlg_gap gap = { .events = 7, .left = 1, .entered = 2 };
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	enter(2);
	tr2_track_skip_missing(&g_track, 7);
	tr2_track_follow_gap(&g_track, &gap);
	tr2_track_assume_missing(&g_track);
	assert_int_equal(g_track.position, 7);
	assert_int_equal(list_open(when), 3);
	assert_int_equal(when[0], 100);
	assert_int_equal(when[1], TLG_OPEN_LOST);
	assert_int_equal(when[2], TLG_OPEN_LOST);
}

static void test_track_regions_behind_what_nobody_knows_are_assumed(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	enter(2);
	tr2_track_skip_missing(&g_track, 7);
	tr2_track_assume_missing(&g_track);
	assert_int_equal(g_track.missing, 0);
	assert_int_equal(list_open(when), 3);
	assert_int_equal(when[2], TLG_OPEN_ASSUMED);
}

static void unwind_to(uint64_t mark, uint32_t scope)
{
	const struct tlg_event events[2] = {
		{ .flags = TLG_HIT | TLG_HAS_INFO, .u.hit = { .when = 2000, .tid = TID, .scopeIndex = scope } },
		{ .flags = TLG_VALUE | TLG_INFO_END, .u.value = { .value = (int64_t)mark, .argtype = TLG_ARG_INT } },
	};

	tr2_track_follow(&g_track, events, 2, TLG_STYLE_region_unwind);
}

static void test_track_unwind_leaves_what_was_entered_since_the_mark(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	enter(5);
	unwind_to(103, 1);
	assert_int_equal(list_open(when), 3);
	assert_int_equal(when[2], 102);
	unwind_to(103, 1);
	assert_int_equal(list_open(when), 3);
	unwind_to(0, 1);
	assert_int_equal(list_open(when), 0);
}

static void test_track_unwind_whose_mark_is_not_there_makes_regions_assumed(void **state)
{
	uint64_t when[TR2_TRACK_OPENS];

	(void)state;
	enter(2);
	unwind_to(101, 0);
	assert_int_equal(list_open(when), 3);
	assert_int_equal(when[2], TLG_OPEN_ASSUMED);
}

static void test_track_skipped_chains_are_counted_up_to_another_thread(void **state)
{
	struct tlg_event events[3] = {
		{ .flags = TLG_HIT, .u.hit = { .when = 5, .tid = TID } },
		{ .flags = TLG_HIT, .u.hit = { .when = 6, .tid = TID } },
		{ .flags = TLG_HIT, .u.hit = { .when = 7, .tid = TID + 1 } },
	};

	(void)state;
	assert_int_equal(tr2_track_skip(&g_track, events, 3), 2);
	assert_int_equal(g_track.overwritten, 2);
	assert_int_equal(g_track.position, 2);
	assert_int_equal(g_track.last_when, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_track_unknown_thread_has_a_question_mark_for_a_name, set_up),
		cmocka_unit_test_setup(test_track_regions_open_are_those_not_left, set_up),
		cmocka_unit_test_setup(test_track_leave_without_a_region_is_below_the_root, set_up),
		cmocka_unit_test_setup(test_track_regions_beyond_the_known_are_counted, set_up),
		cmocka_unit_test_setup(test_track_gap_says_which_regions_are_open, set_up),
		cmocka_unit_test_setup(test_track_regions_behind_what_nobody_knows_are_assumed, set_up),
		cmocka_unit_test_setup(test_track_unwind_leaves_what_was_entered_since_the_mark, set_up),
		cmocka_unit_test_setup(test_track_unwind_whose_mark_is_not_there_makes_regions_assumed, set_up),
		cmocka_unit_test_setup(test_track_skipped_chains_are_counted_up_to_another_thread, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
