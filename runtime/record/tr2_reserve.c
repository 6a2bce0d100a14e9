/* SPDX-License-Identifier: MIT */
/* tr2_reserve.c - reserving when it is not simple. */
#include "tr2_reserve.h"

#include <errno.h>

#include "tr2_late.h"
#include "tr2_session.h"
#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_sys.h"
#include "drain/tr2_collect.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_missing.h"
#include "drain/tr2_overwrite.h"
#include "drain/tr2_trigger.h"
#include "drain/tr2_wake.h"
#include "drain/tr2_young.h"
#include "ring/tr2_detach.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_scope.h"
#include "settings/tr2_env.h"

enum {
	LOOK_AGAIN = 1024,        /* dropped checkpoints */
	MAX_TRIES = 16,           /* chunks to overwrite for a new one: others may be quicker to take them */
};

/* A chain that did not fit where its thread writes. */
struct request {
	unsigned events;
	uint32_t what;            /* see TR2_CHAIN_MORE */
	uintptr_t position;       /* what the add gave; 0: nothing, or it has been dealt with */
	uint32_t progress;        /* tr2_collect_progress() before the last look */
	uint64_t deadline_ms;     /* of waiting; 0: it has not waited */
	int has_timed_out;
};

static struct tr2_thread *find_self(int by_system)
{
	uint64_t mask;
	int saved = errno;

	if (tr2_thread_has_self() && !tr2_is_detached())
		return tr2_self;
	if (tr2_mask_is_inside())
		return NULL;
	tr2_mask_all(&mask);
	if (tr2_session_ensure_masked(mask) && !tr2_self)
		by_system ? tr2_thread_begin_by_system() : tr2_thread_begin_unknown();
	if (tr2_self) {
		tr2_young_note_thread(mask);
		tr2_missing_mind(tr2_self);
		tr2_wake_now();
	}
	tr2_mask_restore(&mask);
	if (tr2_self)
		tr2_late_introduce();
	errno = saved;
	return tr2_self;
}

struct tr2_thread *tr2_self_or_new(void)
{
	return find_self(0);
}

struct tr2_thread *tr2_self_or_new_by_system(void)
{
	return find_self(1);
}

/* Further arguments change no region, whatever their checkpoint does. */
static enum tlg_style style_of(uint32_t what)
{
	const struct tlg_ring_scope *scope = what && what != TR2_CHAIN_MORE ? tr2_scope_get(what) : NULL;

	if (what == TR2_CHAIN_MORE)
		return TLG_STYLE_data;
	return scope ? (enum tlg_style)scope->style : TLG_STYLE_none;
}

/* Count the drop for the next event of the ring, for the ring's reader, and for the totals of the process. */
static void drop(struct tr2_thread *self, const struct request *request, unsigned reason)
{
	tr2_gap_count(&self->gap, style_of(request->what), request->events);
	tr2_ring_drop(&self->ring, request->events);
	tr2_losses_add(self->tid, request->what != TR2_CHAIN_MORE ? reason : TLG_LOSS_CUT, 1);
}

/*
 * The ring was full, and the drain has freed nothing since: drop without looking again.  Look all the same now and
 * then, because the file system, not the ring, may have had no room.
 */
static int drop_quickly(struct tr2_thread *self, const struct request *request)
{
	const uintptr_t position = request->position;

	if (self->drop_mark != tr2_collect_progress() || tr2_in_chunk(position, sizeof(struct tlg_event)) ||
	    tr2_is_parked(position) || tr2_is_aside(position) || ++self->quick_drops % LOOK_AGAIN == 0)
		return 0;
	if (!tr2_local_cas(&self->ring.hot->cur, position + request->events * sizeof(struct tlg_event), 0))
		return 0;   /* a handler has come between, and may have found room */
	drop(self, request, tr2_g_settings.policy == TR2_POLICY_BLOCK ? TLG_LOSS_WAIT : TLG_LOSS_FULL);
	return 1;
}

/* ---- reserving, by policy ---------------------------------------------------------------------- */

/* A thread keeps its chunks.  When memory is used up, a thread with more than its share releases some. */
static int has_too_much(const struct tr2_thread *self)
{
	return tr2_pool_is_used_up() && tr2_ring_pages(&self->ring) > tr2_pool_lasting_share();
}

/* Overwrite: in the place of the oldest that the thread holds. */
static struct tlg_event *reserve_overwriting(struct tr2_thread *self, unsigned events, uint64_t mask, int *opened)
{
	struct tlg_event *event = tr2_thread_reserve(self, events, opened);

	for (int tries = 0; !event && (tries < MAX_TRIES || has_too_much(self)); tries++) {
		if (!tr2_overwrite_make_room(self))
			break;
		event = tr2_thread_reserve(self, events, opened);
	}
	if (*opened && has_too_much(self))
		tr2_overwrite_make_room(self);
	if (*opened && tr2_trigger_is_on())
		tr2_wake_opened(mask);   /* which looks before this is overwritten */
	return event;
}

/* Policies discard and block: reserve in a new chunk, and notify the drain. */
static struct tlg_event *reserve_drained(struct tr2_thread *self, unsigned events, uint64_t mask, int *opened)
{
	struct tlg_event *event = tr2_thread_reserve(self, events, opened);

	if (*opened)
		tr2_young_end(mask);
	if (event && *opened && (tr2_ring_is_busy(&self->ring) || tr2_wake_is_running()))
		tr2_wake_opened(mask);
	return event;
}

/* Any, without a free chunk: in one that is drained here, where there is no consumer thread to do it. */
static struct tlg_event *reserve_by_draining(struct tr2_thread *self, unsigned events, uint64_t mask, int *opened)
{
	tr2_wake_wanted(mask);
	if (tr2_wake_is_running() || !tr2_drain_instead(tr2_mask_may_be_handler(mask)))
		return NULL;
	return tr2_thread_reserve(self, events, opened);
}

/* Signals masked. */
static struct tlg_event *reserve_by_policy(struct tr2_thread *self, unsigned events, uint64_t mask)
{
	int opened = 0;
	struct tlg_event *event = tr2_is_flight_recorder() ? reserve_overwriting(self, events, mask, &opened) :
							     reserve_drained(self, events, mask, &opened);

	if (!event)
		event = reserve_by_draining(self, events, mask, &opened);
	if (tr2_ring_is_fragmented(&self->ring) && !tr2_mask_may_be_handler(mask))
		tr2_ring_abandon(&self->ring, opened);
	return event;
}

/* ---- waiting ------------------------------------------------------------------------------------ */

/*
 * Under the policy block: not in a handler, for the code that it interrupted may be what the drain needs; not where
 * no drain runs, as in a new child; not in the drain itself; not for what no drain will free, on a full file system.
 */
static int may_wait(const struct tr2_thread *self, const struct request *request, uint64_t mask)
{
	const int is_ordinary = request->deadline_ms != 0;   /* it has waited already: it is known to be no handler */

	return tr2_g_settings.policy == TR2_POLICY_BLOCK && !request->has_timed_out &&
	       (self->ring.opened || tr2_pool_is_used_up()) && tr2_wake_is_coming() && tr2_drain_may_come() &&
	       (is_ordinary || !tr2_mask_may_be_handler(mask & ~self->ordinary_mask));
}

/* Until chunks are freed, or the deadline.  Signals are not masked: the program's handlers run. */
static void wait_for_chunks(struct request *request)
{
	/* a missed wake-up costs no more; thousands of threads that look all the time would starve the drain */
	const unsigned slice = 20 + tr2_pool_threads() / 8;
	uint64_t now = tr2_clock_ms(), left;

	if (!request->deadline_ms)
		request->deadline_ms = now + tr2_g_settings.wait_ms;
	request->has_timed_out = now >= request->deadline_ms;
	if (request->has_timed_out)
		return;
	left = request->deadline_ms - now;
	tr2_wake_now();
	tr2_collect_await(request->progress, left < slice ? (unsigned)left : slice);
}

/* ---- while the drain's thread is missing, or the process young --------------------------------------- */

/*
 * Then nobody writes what few events there are, and each call has to look whether the thread can be started, or is
 * wanted by now: so the position is aside, and all calls come here.
 * Return  NULL: it is time to look, or the chunk is full
 */
static struct tlg_event *reserve_aside(uintptr_t position, unsigned events)
{
	const size_t bytes = events * sizeof(struct tlg_event);
	struct tr2_thread *self = tr2_self;
	uintptr_t at;

	if (!self)
		return NULL;   /* a handler has ended the thread since */
	tr2_local_cas(&self->ring.hot->cur, position + bytes, TR2_ASIDE);   /* what was added goes */
	if (tr2_is_detached() || tr2_missing_is_time_to_look(&self->look))
		return NULL;
	at = tr2_ring_reserve_aside(&self->ring, bytes);
	if (at && tr2_wake_is_running())
		tr2_wake_now();   /* since the look: it may have taken this ring for one that nobody writes to */
	return (struct tlg_event *)at;
}

/* ---- until it is reserved or dropped ------------------------------------------------------------ */

static void drop_for_good(struct tr2_thread *self, const struct request *request)
{
	drop(self, request, request->has_timed_out ? TLG_LOSS_WAIT : TLG_LOSS_FULL);
	if (request->has_timed_out || tr2_g_settings.policy == TR2_POLICY_DISCARD || !tr2_drain_may_come())
		self->drop_mark = request->progress;
}

/* One look.  Return  1: *event is set, or the checkpoint is dropped; 0: wait, then look again */
static int try_to_reserve(struct tr2_thread *self, struct request *request, struct tlg_event **event)
{
	uint64_t mask;
	int waits;

	request->progress = tr2_collect_progress();   /* before looking: what is freed behind the look counts as new */
	tr2_mask_all(&mask);
	if (tr2_in_chunk(request->position, sizeof(struct tlg_event)))
		tr2_ring_pad(request->position);
	request->position = 0;
	if (tr2_young_is() && tr2_young_is_outgrown())
		tr2_young_end(mask);
	if (tr2_wake_is_missing())
		tr2_missing_look(&self->look, mask);
	*event = reserve_by_policy(self, request->events, mask);
	tr2_missing_mind(self);
	waits = !*event && may_wait(self, request, mask);
	if (!*event && !waits)
		drop_for_good(self, request);
	tr2_mask_restore(&mask);
	return !waits;
}

/*
 * A call that meets itself goes no further, and what it, and the inline path before it, have added goes: a position out
 * of bounds would in the end be in another chunk, or in memory that is none.  The ranges of such positions begin at
 * multiples of TLG_CHUNK_STRIDE.
 */
static void take_back(void)
{
	struct tr2_thread *self = tr2_self;
	uintptr_t at = self ? tr2_load_rlx(&self->ring.hot->cur) : 0; /* relaxed: only this thread changes it */

	if (self && !tr2_in_chunk(at, sizeof(struct tlg_event)))
		tr2_local_cas(&self->ring.hot->cur, at, at & ~(uintptr_t)(TLG_CHUNK_STRIDE - 1));
}

struct tlg_event *tr2_reserve_slow(uintptr_t position, unsigned events, uint32_t what)
{
	struct request request = { .events = events, .what = what, .position = position };
	struct tr2_thread *self;
	struct tlg_event *event = NULL;
	int saved = errno;

	if (tr2_mask_is_inside()) {
		if (tr2_in_chunk(position, sizeof(struct tlg_event)))
			tr2_ring_pad(position);
		take_back();
		return NULL;   /* the library's own call of a function that somebody stands in front of: not counted */
	}
	if (tr2_is_aside(position))
		event = reserve_aside(position, events);
	if (event)
		return event;
	self = tr2_self_or_new();
	if (!self && !tr2_is_forked_child() && tr2_g_shm.head && !tr2_mask_is_newborn())
		tr2_losses_note(what != TR2_CHAIN_MORE ? TLG_LOSS_NORING : TLG_LOSS_CUT);
	if (!self || drop_quickly(self, &request))
		return NULL;
	while (self && !try_to_reserve(self, &request, &event)) {
		wait_for_chunks(&request);
		self = tr2_self_or_new();   /* a handler may have forked meanwhile, or ended the thread */
	}
	errno = saved;
	return event;
}

struct tlg_event *tr2_reserve_long(unsigned events, uint32_t what)
{
	struct tr2_thread *self = tr2_self;
	uintptr_t position = 0;

	if (self && tr2_ring_reserve_long(self->ring.hot, events * sizeof(struct tlg_event), &position))
		return (struct tlg_event *)position;
	return tr2_reserve_slow(position, events, what);
}
