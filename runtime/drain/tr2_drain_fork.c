/* SPDX-License-Identifier: MIT */
/* tr2_drain_fork.c - the drain around fork(): what it knows of the thread that forks goes into the child. */
#include "tr2_drain.h"

#include "tr2_collect.h"
#include "tr2_lock.h"
#include "tr2_overwrite.h"
#include "tr2_recovery.h"
#include "tr2_track.h"
#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "settings/tr2_env.h"

/* The calling thread has acquired the lock for its fork().  Another thread that forks at the same time has not. */
static __thread int g_held __attribute__((tls_model("initial-exec")));
static __thread int g_looks_ahead __attribute__((tls_model("initial-exec")));   /* nothing may be moved now */
TR2_LARGE static struct tr2_track g_ahead;         /* what is known then of the thread that forks */

void tr2_drain_before_fork(void)
{
	uint64_t mask;

	if (!tr2_is_forked_child() && tr2_g_shm.head)
		tr2_recovery_pid_space();   /* readers need our id, should the child outlive us with our ring mapped */
	if (g_held || !tr2_thread_has_self())
		return;
	tr2_mask_all(&mask);
	g_held = tr2_lock_briefly();
	g_looks_ahead = tr2_is_flight_recorder() || (g_held && !tr2_drain_is_over() && !tr2_drain_may_write());
	if (g_held && g_looks_ahead)
		tr2_overwrite_look_ahead(tr2_self, &g_ahead);
	else if (g_held && !tr2_drain_is_over())
		tr2_collect_ring(tr2_self, tr2_clock_raw(), 0);
	tr2_mask_restore(&mask);
}

void tr2_drain_after_fork_parent(void)
{
	if (!g_held || tr2_is_forked_child())
		return;
	g_held = 0;
	tr2_lock_release();
}

/* The child's copy says that it has the lock, which its parent has. */
void tr2_drain_after_fork_child(void)
{
	tr2_lock_leave();
}

unsigned tr2_drain_open_regions(const struct tr2_thread *parent, uint64_t enters[TR2_REPEATED_REGIONS])
{
	const struct tr2_track *track = parent->reader.track;
	struct tlg_open open;
	unsigned n = 0;

	static_assert((int)TR2_REPEATED_REGIONS == (int)TR2_OPEN_REGIONS, "all that is kept is repeated");
	if (tr2_is_flight_recorder() || g_looks_ahead)   /* a bare clone(2) has not looked */
		track = g_held ? &g_ahead : NULL;
	g_held = 0;
	if (!track)
		return 0;
	for (; tr2_track_open_region(track, n, TR2_REPEATED_REGIONS, &open); n++)
		enters[n] = open.when;
	return n;
}
