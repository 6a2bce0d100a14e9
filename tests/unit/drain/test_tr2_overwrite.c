/* SPDX-License-Identifier: MIT */
/* test_tr2_overwrite.c - the two readers of a flight recorder's ring, and requests for snapshots. */
#include "t2test.h"

#include <string.h>
#include <time.h>

#include "drain/tr2_collect.h"
#include "drain/tr2_overwrite.h"
#include "settings/tr2_env.h"

static struct tr2_thread g_thread;        /* a ring, as far as its lock goes */

static int set_up(void **state)
{
	(void)state;
	memset(&g_thread, 0, sizeof(g_thread));
	tr2_g_settings.policy = TR2_POLICY_OVERWRITE;
	tr2_snapshot_reset();
	return 0;
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
	assert_int_equal(tr2_collect_snapshot(&g_thread, 1), 0);
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

	(void)state;
	assert_true(tr2_snapshot_request());
	requests = tr2_snapshot_begin();
	assert_true(tr2_snapshot_request());
	tr2_snapshot_end(requests);
	assert_true(tr2_snapshot_is_requested());
	tr2_snapshot_end(tr2_snapshot_begin());
	assert_false(tr2_snapshot_is_requested());
}

static void test_snapshot_without_the_policy_is_none(void **state)
{
	(void)state;
	tr2_g_settings.policy = TR2_POLICY_BLOCK;
	assert_false(tr2_snapshot_request());
	assert_false(tr2_snapshot_is_requested());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_overwrite_hold_keeps_the_owner_out_until_the_last_release, set_up),
		cmocka_unit_test_setup(test_overwrite_hold_gives_up_when_the_owner_is_stopped, set_up),
		cmocka_unit_test_setup(test_overwrite_other_policies_have_nothing_to_lock, set_up),
		cmocka_unit_test_setup(test_snapshot_asked_for_while_one_is_taken_is_the_next, set_up),
		cmocka_unit_test_setup(test_snapshot_without_the_policy_is_none, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
