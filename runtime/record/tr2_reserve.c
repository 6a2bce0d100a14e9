/* SPDX-License-Identifier: MIT */
/* tr2_reserve.c - reserving when it is not simple. */
#include "tr2_reserve.h"

#include <errno.h>
#include <time.h>

#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "drain/tr2_collect.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_overwrite.h"
#include "drain/tr2_wake.h"
#include "output/tr2_sink.h"
#include "ring/tr2_handler.h"
#include "ring/tr2_losses.h"
#include "settings/tr2_env.h"

enum {
	LOOK_AGAIN = 1024,        /* dropped checkpoints */
	ROOM_TRIES = 16,          /* chunks to overwrite for a new one: others may be quicker to take them */
};

void (*tr2_g_after_fork)(void);

/* ---- after a fork ------------------------------------------------------------------------------- */

/* Another thread of the child is setting it up.  Return  0: it cannot, or needs too long */
static int await_settled(void)
{
	const struct timespec pause = { 0, 100000 };

	for (int i = 0; i < 10000 && tr2_is_forked_child() && tr2_is_enabled(); i++)
		nanosleep(&pause, NULL);
	return !tr2_is_forked_child();
}

/* Signals masked.  The child is set up, by whoever comes first; and who was its parent's thread goes on as that. */
static void leave_parent(uint64_t mask)
{
	TR2_LARGE static uint64_t enters[TR2_KEPT_REGIONS];   /* of the one thread that has forked */
	const struct tr2_thread *parent = tr2_self;
	unsigned open = parent ? tr2_drain_open_regions(parent, enters) : 0;

	tr2_self = NULL;   /* from here on nothing of the parent's can be written to, whatever fails */
	tr2_hot_v1 = NULL;
	if (tr2_is_forked_child() && tr2_thread_claim()) {
		tr2_g_after_fork();
		if (tr2_g_shm.head && tr2_wake_is_for_all())
			tr2_wake_wanted(mask);
	}
	if (await_settled() && parent && tr2_thread_inherit(parent, enters, open))
		tr2_wake_now();
}

/* Signals masked. */
static int leave_parent_if_needed(uint64_t mask)
{
	if (!tr2_thread_has_self() && (tr2_self || tr2_is_forked_child()))
		leave_parent(mask);
	return tr2_g_shm.head && !tr2_is_forked_child();
}

int tr2_settle(void)
{
	uint64_t mask;
	int saved = errno, is_traced;

	if (tr2_thread_has_self())
		return 1;
	tr2_mask_all(&mask);
	is_traced = leave_parent_if_needed(mask);
	tr2_mask_restore(&mask);
	errno = saved;
	return is_traced;
}

/* ---- reserving ---------------------------------------------------------------------------------- */

struct tr2_thread *tr2_self_or_new(void)
{
	uint64_t mask;
	int saved = errno;

	if (tr2_thread_has_self())
		return tr2_self;
	tr2_mask_all(&mask);
	if (leave_parent_if_needed(mask) && !tr2_self)
		tr2_thread_begin("unknown");
	if (tr2_self)
		tr2_wake_now();
	tr2_mask_restore(&mask);
	errno = saved;
	return tr2_self;
}

static void drop(struct tr2_thread *self, unsigned events, uint32_t what, unsigned reason)
{
	if (what != TR2_CHAIN_MORE)
		tr2_gap_count(&self->gap, what);
	tr2_ring_drop(&self->ring, what != TR2_CHAIN_MORE, events);
	tr2_losses_add(self->tid, what != TR2_CHAIN_MORE ? reason : TLG_LOSS_CUT, 1);
}

/*
 * The ring is full and the drain has freed nothing since that was found: no need to look again.  But now and then,
 * for what had no room may have been the file system.
 */
static int drop_quickly(struct tr2_thread *self, uintptr_t position, unsigned events, uint32_t what)
{
	if (self->drop_mark != tr2_collect_progress() || tr2_in_chunk(position, sizeof(struct tlg_event)) ||
	    tr2_is_parked(position) || ++self->quick_drops % LOOK_AGAIN == 0)
		return 0;
	if (!tr2_local_cas(&self->ring.hot->cur, position + events * sizeof(struct tlg_event), 0))
		return 0;   /* a handler has come between, and may have found room */
	drop(self, events, what, tr2_g_settings.policy == TR2_POLICY_BLOCK ? TLG_LOSS_WAIT : TLG_LOSS_FULL);
	return 1;
}

/* A flight recorder's thread keeps what it holds: when all is taken, who has more than its share gives back. */
static int has_too_much(const struct tr2_thread *self)
{
	return tr2_pool_is_used_up() && tr2_ring_pages(&self->ring) > tr2_pool_lasting_share();
}

/*
 * Signals masked.  In a new chunk; in one that is drained on the spot, if nobody else drains and the drain's thread
 * cannot be started from here; or not at all.
 */
static struct tlg_event *find_room(struct tr2_thread *self, unsigned events, uint64_t mask)
{
	int opened = 0, is_flight = tr2_is_flight_recorder();
	struct tlg_event *event = tr2_thread_reserve(self, events, &opened);

	for (int tries = 0; !event && tries < ROOM_TRIES && tr2_overwrite_make_room(self); tries++)
		event = tr2_thread_reserve(self, events, &opened);
	if (opened && is_flight && has_too_much(self))
		tr2_overwrite_make_room(self);
	if (!event)
		tr2_wake_wanted(mask);
	else if (opened && !is_flight && (tr2_ring_is_busy(&self->ring) || tr2_wake_is_running()))
		tr2_wake_opened(mask);
	if (!event && !tr2_wake_is_running() && tr2_drain_instead(tr2_handler_may_run(mask)))
		event = tr2_thread_reserve(self, events, &opened);
	if (tr2_ring_is_fragmented(&self->ring) && !tr2_handler_may_run(mask))
		tr2_ring_abandon(&self->ring, opened);
	return event;
}

/* ---- waiting ------------------------------------------------------------------------------------ */

/*
 * Under the policy block: not in a handler, for the code that it interrupted may be what the drain needs; not where
 * no drain runs, as in a new child; not in the drain itself; not for what no drain will free, on a full file system.
 * is_ordinary  the caller has waited already: it is known to be no handler
 */
static int may_wait(const struct tr2_thread *self, uint64_t mask, int is_ordinary)
{
	return tr2_g_settings.policy == TR2_POLICY_BLOCK && (self->ring.opened || tr2_pool_is_used_up()) &&
	       tr2_wake_is_coming() && tr2_drain_may_come() &&
	       (is_ordinary || !tr2_handler_may_run(mask & ~self->ordinary_mask));
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Signals are not masked: the program's handlers run.  Return  0: the bound is reached.  *until: 0 at first */
static int wait_for_room(uint32_t seen, uint64_t *until)
{
	/* a missed wake-up costs no more; thousands that look again all the time would keep the drain from running */
	const unsigned slice = 20 + tr2_pool_threads() / 8;
	uint64_t now = now_ms();

	if (!*until)
		*until = now + tr2_g_settings.wait_ms;
	if (now >= *until)
		return 0;
	tr2_wake_now();
	tr2_collect_await(seen, *until - now < slice ? (unsigned)(*until - now) : slice);
	return 1;
}

/* One look.  Return  1: *event is set, or the checkpoint is dropped; 0: it may wait */
static int settle(struct tr2_thread *self, uintptr_t position, unsigned events, uint32_t what,
		  int has_waited, uint64_t until, struct tlg_event **event)
{
	uint32_t seen = tr2_collect_progress();   /* before looking: what is freed behind the look counts as new */
	uint64_t mask;
	int may;

	tr2_mask_all(&mask);
	if (tr2_in_chunk(position, sizeof(struct tlg_event)))
		tr2_ring_pad(position);
	*event = find_room(self, events, mask);
	may = !*event && !has_waited && may_wait(self, mask, until != 0);
	if (!*event && !may) {
		drop(self, events, what, has_waited ? TLG_LOSS_WAIT : TLG_LOSS_FULL);
		if (has_waited || tr2_g_settings.policy == TR2_POLICY_DISCARD)
			self->drop_mark = seen;
	}
	tr2_mask_restore(&mask);
	return !may;
}

struct tlg_event *tr2_reserve_slow(uintptr_t position, unsigned events, uint32_t what)
{
	struct tr2_thread *self = tr2_self_or_new();
	struct tlg_event *event = NULL;
	uint64_t until = 0;
	uint32_t seen = tr2_collect_progress();
	int saved = errno, has_waited = 0;

	if (!self && tr2_g_shm.head)
		tr2_losses_note(what != TR2_CHAIN_MORE ? TLG_LOSS_NORING : TLG_LOSS_CUT);
	if (!self || drop_quickly(self, position, events, what))
		return NULL;
	while (self && !settle(self, position, events, what, has_waited, until, &event)) {
		has_waited = !wait_for_room(seen, &until);
		seen = tr2_collect_progress();
		position = 0;
		self = tr2_self_or_new();   /* a handler may have forked meanwhile, or ended the thread */
	}
	errno = saved;
	return event;
}

struct tlg_event *tr2_reserve_long(unsigned events, uint32_t what)
{
	struct tr2_thread *self = tr2_self;
	uintptr_t position = 0;

	if (self && tr2_ring_take_room(self->ring.hot, events * sizeof(struct tlg_event), &position))
		return (struct tlg_event *)position;
	return tr2_reserve_slow(position, events, what);
}
