/* SPDX-License-Identifier: MIT */
/* tr2_missing.c - looking for the thread on a schedule, and writing in its place. */
#include "tr2_missing.h"

#include <errno.h>

#include "tr2_drain.h"
#include "tr2_lock.h"
#include "tr2_wake.h"
#include "tr2_young.h"
#include "base/tr2_atomic.h"
#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "ring/tr2_shm.h"
#include "ring/tr2_thread.h"

enum {
	LOOK_NS = 8000,           /* a look is paid by so much time: fifty times what it takes */
	ASK_NS = 250000,          /* one that asks about handlers */
	ASK_AGAIN_NS = 10000000,  /* they may have changed, though the mask has not */
	LOOKS_NS = 16000000,      /* so much may be owed */
};

static uint64_t g_write_at;   /* raw clock: what is recorded is old enough to be written; 0: nobody has looked yet */

void tr2_missing_await_call(void)
{
	uint64_t mask;

	tr2_mask_all(&mask);
	if (tr2_lock_briefly()) {
		for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
			tr2_ring_park(&thread->reader);
		tr2_lock_release();
	}
	tr2_mask_restore(&mask);
}

void tr2_missing_reset(void)
{
	tr2_store_rlx(&g_write_at, 0); /* relaxed: a time by itself */
}

void tr2_missing_mind(struct tr2_thread *self)
{
	if (tr2_wake_is_missing() || tr2_young_is())
		tr2_ring_set_aside(&self->ring);
	else if (tr2_ring_take_back(&self->ring))
		tr2_wake_now();
}

void tr2_missing_mind_self(void)
{
	uint64_t mask;

	if (!tr2_wake_is_missing() && !tr2_young_is())
		return;
	tr2_mask_all(&mask);
	if (tr2_thread_has_self())
		tr2_missing_mind(tr2_self);
	tr2_mask_restore(&mask);
}

int tr2_missing_is_time_to_look(const struct tr2_look *look)
{
	if (tr2_young_is())
		return tr2_young_is_outgrown();
	return tr2_wake_is_running() || tr2_clock_raw() >= look->next;
}

/* Of two threads that find it due one writes. */
static void write_if_due(uint64_t now, int may_be_handler)
{
	const uint64_t period = tr2_clock_ticks(tr2_wake_longest_ms() * UINT64_C(1000000));
	uint64_t at = tr2_load_rlx(&g_write_at); /* relaxed: a time by itself */

	/* relaxed: as above */
	if ((!at || now >= at) && tr2_cas_rlx(&g_write_at, at, now + period) && at)
		tr2_drain_in_passing(may_be_handler);
}

/* What a look takes of the thread's time is owed from then on; it may owe LOOKS_NS at most. */
static void pay(struct tr2_look *look, uint64_t now, unsigned ns)
{
	const uint64_t least = now - tr2_clock_ticks(LOOKS_NS);

	look->next = (look->next > least ? look->next : least) + tr2_clock_ticks(ns);
}

/*
 * Handlers are asked about if the thread blocks others than before, or after a while.  If it blocks the same, it is
 * where it was, and may be in a handler.
 */
void tr2_missing_look(struct tr2_look *look, uint64_t mask)
{
	const uint64_t now = tr2_clock_raw();
	int may_be_handler = 1;

	if (!tr2_shm_is_own())
		return;
	pay(look, now, LOOK_NS);
	if (mask != look->mask || now >= look->next_ask) {
		pay(look, now, ASK_NS);
		look->mask = mask;
		look->next_ask = now + tr2_clock_ticks(ASK_AGAIN_NS);
		may_be_handler = tr2_mask_may_be_handler(mask);
	}
	if (!may_be_handler)
		tr2_wake_start();
	if (tr2_wake_is_missing())
		write_if_due(now, may_be_handler);
}

void tr2_missing_start(void)
{
	int saved = errno;

	if (tr2_wake_is_missing() && !tr2_mask_may_be_handler(tr2_mask_now()))
		tr2_wake_start();
	errno = saved;
}
