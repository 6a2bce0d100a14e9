/* SPDX-License-Identifier: MIT */
/* tr2_overwrite.c - requests for snapshots, what is passed over to overwrite it, and who may read. */
#include "tr2_overwrite.h"

#include <string.h>
#include <time.h>

#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_scope.h"
#include "settings/tr2_env.h"

enum {
	RUN_EVENTS = 256,                      /* looked at, then followed: they stay in the nearest cache */
	HOLD_TRIES = 250, HOLD_PAUSE_NS = 20000,   /* ... or what the system makes of that */
};

/* ---- requests for snapshots --------------------------------------------------------------------- */

static struct requests {
	uint32_t asked, served;           /* so far */
	uint32_t wanted_upto;             /* number of the latest chunk that one of them wants; 0: none */
	uint32_t wants_all;               /* one of them is no trigger's */
	int by_trigger;                   /* a trigger has made one of them: */
	uint64_t since;                   /* raw clock: it wants what is younger */
} g_requests;

/* The order does not matter: a thread that does not see the request yet overwrites one more chunk, and counts that. */
int tr2_snapshot_request(void)
{
	if (!tr2_is_flight_recorder())
		return 0;
	tr2_store_rlx(&g_requests.wants_all, 1); /* relaxed: who comes too late for this snapshot gets the next one */
	tr2_store_rlx(&g_requests.wanted_upto, tr2_ring_latest()); /* relaxed: see above */
	tr2_add_rlx(&g_requests.asked, 1); /* relaxed: a request that is missed now is seen at the next look */
	return 1;
}

void tr2_snapshot_request_since(uint64_t since)
{
	if (!g_requests.by_trigger || since < g_requests.since)
		g_requests.since = since;
	g_requests.by_trigger = 1;
	tr2_store_rlx(&g_requests.wanted_upto, tr2_ring_latest()); /* relaxed: as above */
	tr2_add_rlx(&g_requests.asked, 1); /* relaxed: as above */
}

static uint32_t asked(void)
{
	return tr2_load_rlx(&g_requests.asked); /* relaxed: see tr2_snapshot_request() */
}

int tr2_snapshot_is_requested(void)
{
	return tr2_is_flight_recorder() && asked() != tr2_load_rlx(&g_requests.served); /* relaxed: as above */
}

uint32_t tr2_snapshot_begin(uint64_t *since)
{
	uint32_t requests = asked();

	/* relaxed: as in tr2_snapshot_request() */
	*since = tr2_exchange_rlx(&g_requests.wants_all, 0) ? 0 : g_requests.since;
	g_requests.since = 0;
	g_requests.by_trigger = 0;

	tr2_store_rlx(&g_requests.wanted_upto, tr2_ring_latest()); /* relaxed: as above */
	return requests;
}

void tr2_snapshot_end(uint32_t requests)
{
	tr2_store_rlx(&g_requests.served, requests); /* relaxed: as above */
	if (asked() == requests)
		tr2_store_rlx(&g_requests.wanted_upto, 0); /* relaxed: as above */
}

void tr2_snapshot_reset(void)
{
	g_requests = (struct requests){ 0 };
}

/* ---- the tail's lock ----------------------------------------------------------------------------- */

static int lock_tail(struct tr2_thread *thread)
{
	/* [M12] acquire: how far the ring has been read.  Pairs with unlock_tail() */
	return tr2_cas_acq_rel(&thread->reader.lock, 0, 1);
}

static void unlock_tail(struct tr2_thread *thread)
{
	tr2_store_rel(&thread->reader.lock, 0); /* [M12] release: how far it has been read.  Pairs with lock_tail() */
}

int tr2_overwrite_hold(struct tr2_thread *thread)
{
	if (!tr2_is_flight_recorder() || thread->reader.holds)
		return ++thread->reader.holds;
	for (int tries = 0; !lock_tail(thread); tries++) {
		if (tries == HOLD_TRIES)
			return 0;
		tr2_sys_sleep(HOLD_PAUSE_NS);
	}
	return ++thread->reader.holds;
}

void tr2_overwrite_release(struct tr2_thread *thread)
{
	if (!--thread->reader.holds && tr2_is_flight_recorder())
		unlock_tail(thread);
}

/* ---- passing over ------------------------------------------------------------------------------- */

static void count_overwritten(struct tr2_track *track)
{
	tr2_losses_add(track->tid, TLG_LOSS_OVERWRITTEN, track->overwritten);
	track->overwritten = 0;
}

/* No snapshot has come for it. */
static void count_pinned(struct tr2_thread *thread)
{
	if (thread->reader.pinned.chunk)
		tr2_losses_add(thread->reader.pinned.tid, TLG_LOSS_OVERWRITTEN, thread->reader.pinned.hits);
	thread->reader.pinned = (struct tr2_pinned){ .chunk = 0 };
}

static void skip_chain(struct tr2_thread *thread, struct tr2_track *track, const struct tr2_chain *chain)
{
	if (tlg_event_type(chain->events) == TLG_THREAD) {
		count_overwritten(track);
		tr2_track_change_thread(thread, track, chain);
		return;
	}
	if (tlg_event_type(chain->events) == TLG_GAP) {
		tr2_track_follow_gap(track, &chain->events->u.gap);
		return;
	}
	if (track->tid != chain->events->u.hit.tid)
		count_overwritten(track);
	tr2_track_check_thread(track, chain->events->u.hit.tid);
	tr2_track_skip(track, chain->events, chain->count);
}

static void skip_late(struct tr2_thread *thread, struct tr2_track *track)
{
	struct tr2_chain chain;
	uint32_t freed;

	while (tr2_ring_late(&thread->reader, &chain)) {
		skip_chain(thread, track, &chain);
		freed = tr2_ring_late_taken(&thread->reader, &chain);
		if (freed)
			tr2_ring_release_chunk(&thread->reader, freed - 1);
	}
}

/* How many of these events, whole chains, were recorded before that time.  A step is as old as what is before it. */
static unsigned count_older(const struct tlg_event *events, unsigned n, uint64_t until)
{
	unsigned at = 0;

	while (at < n && events[at].u.hit.when < until)
		at += tlg_chain_length(&events[at], n - at);
	return at;
}

/* The usual case, in one go: checkpoints of the thread that is known. */
static void skip_run(struct tr2_thread *thread, struct tr2_track *track, uint64_t until)
{
	const struct tlg_event *events;
	unsigned n = tr2_ring_run(&thread->reader, RUN_EVENTS, &events);

	if (until != UINT64_MAX)
		n = count_older(events, n, until);
	if (n && track->start)
		n = tr2_track_skip(track, events, n);
	if (n && track->start)
		tr2_ring_consume(&thread->reader, n);
}

static void fill_recovery_point(struct tlg_ring_point *point, const struct tr2_reader *reader,
				const struct tr2_track *track)
{
	struct tlg_open open;

	point->chunk = reader->number;
	point->event = reader->event;
	point->tid = track->tid;
	point->ostid = track->ostid;
	point->start = track->start;
	point->seen_events = reader->seen_events;
	point->position = track->position;
	point->counted = tr2_losses_of(track->tid, TLG_LOSS_OVERWRITTEN);
	point->uncounted = track->overwritten;
	memcpy(point->name, track->name, sizeof(point->name));
	point->nopen = 0;
	for (; tr2_track_open_region(track, point->nopen, TLG_POINT_REGIONS, &open); point->nopen++) {
		point->open[point->nopen].when = open.when;
		point->open[point->nopen].scope = open.scopeIndex;
	}
}

/* Should the process be killed, this is all that is left of what was passed over. */
static void store_recovery_point(const struct tr2_thread *thread, const struct tr2_track *track)
{
	struct tlg_ring_point *point = thread->ring.head->points;
	unsigned older = point[1].turn < point[0].turn;

	fill_recovery_point(&point[older], &thread->reader, track);
	/* [M8] release: the rest of it.  Pairs with the readers of the ring file */
	tr2_store_rel(&point[older].turn, point[!older].turn + 1);
}

int tr2_overwrite_is_identity(const struct tr2_chain *chain)
{
	const struct tlg_ring_scope *scope = tr2_scope_get(chain->events->u.hit.scopeIndex);

	return tlg_event_type(chain->events) == TLG_HIT && scope && tlg_style_is_identity(scope->style);
}

/* How many checkpoints of the chunk say what process this is: pinned with it, they are not overwritten. */
static uint64_t count_identity(uint32_t chunk)
{
	struct tr2_chain chain;
	uint32_t event = tr2_shm_chunk(chunk)->first;
	uint64_t hits = 0;

	while ((event = tr2_ring_read_pinned(chunk, event, &chain)))
		hits += tlg_event_type(chain.events) == TLG_HIT && tr2_overwrite_is_identity(&chain);
	return hits;
}

/* The chunk has been passed over from its first event on, and stays; but not if it is held: freed is 0. */
static uint32_t pin(struct tr2_thread *thread, struct tr2_track *track, uint32_t freed)
{
	struct tr2_pinned *pinned = &thread->reader.pinned;

	pinned->hits = freed && pinned->is_passing ? count_identity(freed - 1) : 0;
	if (!pinned->hits || pinned->hits > track->overwritten) {
		*pinned = (struct tr2_pinned){ .chunk = 0 };
		return freed;
	}
	pinned->tid = track->tid;
	track->overwritten -= pinned->hits;
	pinned->is_passing = 0;
	pinned->is_passed = 1;
	tr2_ring_pin_chunk(&thread->reader, freed - 1);
	return 0;
}

/* THREAD and GAP go with what follows them. */
static int is_older(const struct tr2_chain *chain, uint64_t until)
{
	const unsigned type = tlg_event_type(chain->events);

	return (type != TLG_HIT && type != TLG_MORE) || chain->events->u.hit.when < until;
}

/*
 * Go through what is left of a chunk, up to that time.
 * Return  1: it is finished; 0: there is nothing more that could be passed over
 */
static int skip_rest(struct tr2_thread *thread, struct tr2_track *track, uint64_t now, uint64_t until, uint32_t *freed)
{
	struct tr2_reader *reader = &thread->reader;
	struct tr2_chain chain;
	uint32_t left;

	for (;;) {
		skip_run(thread, track, until);
		switch (tr2_ring_peek(reader, now, 0, &chain)) {
		case TR2_PEEK_CHUNK:
			tr2_track_skip_missing(track, chain.skipped);
			left = reader->chunk;
			*freed = tr2_ring_leave_chunk(reader);
			if (left && left == thread->reader.pinned.chunk && !thread->reader.pinned.is_passed)
				*freed = pin(thread, track, *freed);
			if (left)
				return 1;
			continue;
		case TR2_PEEK_CHAIN:
			break;
		default:
			tr2_track_skip_missing(track, chain.skipped);
			return 0;
		}
		tr2_track_skip_missing(track, chain.skipped);
		if (!is_older(&chain, until))
			return 0;
		thread->reader.pinned.is_passing |= chain.is_first && reader->chunk == thread->reader.pinned.chunk;
		tr2_track_count_missing(thread, track, &chain);
		skip_chain(thread, track, &chain);
		tr2_ring_consume(reader, chain.count);
	}
}

/*
 * Pass over what is left of a chunk, and of those behind it that are held, up to that time.
 * Return  1: one is given up; 0: there is nothing more that could be passed over
 */
static int skip_chunk(struct tr2_thread *thread, struct tr2_track *track, uint64_t now, uint64_t until)
{
	uint32_t freed = 0;

	do {
		if (!skip_rest(thread, track, now, until, &freed))
			return 0;
	} while (!freed && !thread->reader.pinned.is_passed);
	store_recovery_point(thread, track);
	if (freed)
		tr2_ring_release_chunk(&thread->reader, freed - 1);
	return 1;
}

/* Chunks up to the one that a request wants stay. */
static int may_overwrite(struct tr2_thread *self)
{
	uint32_t wanted_upto = tr2_load_rlx(&g_requests.wanted_upto); /* relaxed: as in tr2_snapshot_request() */

	return !wanted_upto || (int32_t)(tr2_ring_oldest(&self->reader) - wanted_upto) > 0;
}

int tr2_overwrite_make_room(struct tr2_thread *self)
{
	struct tr2_track *track;
	int freed = 0;

	if (!tr2_is_flight_recorder() || !lock_tail(self))
		return 0;
	track = tr2_track_of(self);
	if (track && may_overwrite(self)) {
		skip_late(self, track);
		freed = skip_chunk(self, track, tr2_clock_raw(), UINT64_MAX);
		count_overwritten(track);
	}
	unlock_tail(self);
	return freed;
}

void tr2_overwrite_skip(struct tr2_thread *thread)
{
	struct tr2_track *track;

	if (!tr2_overwrite_hold(thread))
		return;
	track = tr2_track_of(thread);
	if (track) {
		skip_late(thread, track);
		while (skip_chunk(thread, track, tr2_clock_raw(), UINT64_MAX))
			;
		count_overwritten(track);
		count_pinned(thread);
	}
	tr2_overwrite_release(thread);
}

/* The process's first chunk is being read, or comes next, and something in it is not older. */
static int is_in_first_chunk(const struct tr2_reader *reader, uint64_t since)
{
	const uint32_t first = reader->pinned.chunk, next = first ? tr2_shm_chunk(first - 1)->next : 0;

	if (!first || reader->pinned.is_passed || (reader->chunk && reader->chunk != first))
		return 0;
	return !next || tr2_shm_chunk(next - 1)->opened > since;
}

void tr2_overwrite_skip_until(struct tr2_thread *thread, uint64_t since)
{
	struct tr2_track *track = tr2_track_of(thread);

	if (!since || !track || is_in_first_chunk(&thread->reader, since))
		return;
	while (skip_chunk(thread, track, tr2_clock_raw(), since))
		;
	count_overwritten(track);
}

static void look_at_chain(struct tr2_thread *view, struct tr2_track *track, const struct tr2_chain *chain)
{
	tr2_track_skip_missing(track, chain->skipped);
	tr2_track_count_missing(view, track, chain);
	if (tlg_event_type(chain->events) == TLG_THREAD) {
		tr2_track_change_thread(view, track, chain);
		return;
	}
	if (tlg_event_type(chain->events) == TLG_GAP) {
		tr2_track_follow_gap(track, &chain->events->u.gap);
		return;
	}
	tr2_track_check_thread(track, chain->events->u.hit.tid);
	tr2_track_skip(track, chain->events, chain->count);
}

/* The owner looks at its own ring: a reservation that is not committed now belongs to code that it has interrupted. */
void tr2_overwrite_look_ahead(struct tr2_thread *self, struct tr2_track *track)
{
	TR2_LARGE static struct tr2_thread view;   /* as far as following goes: a copy of self's reader */
	struct tr2_chain chain;

	memset(track, 0, sizeof(*track));
	if (!tr2_overwrite_hold(self))
		return;
	view.reader = self->reader;
	if (self->reader.track)
		*track = *self->reader.track;
	while (tr2_ring_look(&view.reader, &chain)) {
		look_at_chain(&view, track, &chain);
		tr2_ring_consume(&view.reader, chain.count);
	}
	tr2_overwrite_release(self);
}
