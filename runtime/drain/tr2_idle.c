/* SPDX-License-Identifier: MIT */
/* tr2_idle.c - see tr2_idle.h. */
#include "tr2_idle.h"

#include "tr2_collect.h"
#include "tr2_lock.h"
#include "tr2_snapshot.h"
#include "settings/tr2_env.h"

void tr2_idle_park(void)
{
	if (tr2_is_flight_recorder() || !tr2_lock_try())
		return;   /* of a flight recorder nothing is read unasked */
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		tr2_ring_park(&thread->ring);
	tr2_lock_release();
}

/* A thread that begins wakes the drain's: rings without an owner do not matter. */
static int is_away(const struct tr2_thread *thread)
{
	return !tr2_load_rlx(&thread->ring.head->has_owner) || tr2_ring_is_away(&thread->ring); /* relaxed: a hint */
}

int tr2_idle_is_parked(void)
{
	int is_parked = 1;

	if (tr2_is_flight_recorder())
		return !tr2_snapshot_is_requested();
	if (!tr2_lock_try())
		return 0;
	for (struct tr2_thread *thread = tr2_thread_first(); thread && is_parked; thread = tr2_thread_next(thread))
		is_parked = is_away(thread);
	is_parked &= tr2_collect_has_written();
	tr2_lock_release();
	return is_parked;
}
