/* SPDX-License-Identifier: MIT */
/* tr2_overwrite.c - what is passed over, and who may read. */
#include "tr2_overwrite.h"

#include <string.h>
#include <time.h>

#include "tr2_reader.h"
#include "base/tr2_clock.h"
#include "ring/tr2_losses.h"
#include "settings/tr2_env.h"

enum {
	RUN_EVENTS = 256,                      /* looked at, then followed: they stay in the nearest cache */
	HOLD_TRIES = 250,                      /* 20 us each, or what the system makes of that */
};

static int lock_tail(struct tr2_thread *thread)
{
	/* [M12] acquire: how far the ring has been read.  Pairs with unlock_tail() */
	return tr2_cas_acq_rel(&thread->tail_lock, 0, 1);
}

static void unlock_tail(struct tr2_thread *thread)
{
	tr2_store_rel(&thread->tail_lock, 0); /* [M12] release: how far it has been read.  Pairs with lock_tail() */
}

int tr2_overwrite_hold(struct tr2_thread *thread)
{
	const struct timespec pause = { 0, 20000 };

	if (!tr2_is_flight_recorder() || thread->tail_holds)
		return ++thread->tail_holds;
	for (int tries = 0; !lock_tail(thread); tries++) {
		if (tries == HOLD_TRIES)
			return 0;
		nanosleep(&pause, NULL);
	}
	return ++thread->tail_holds;
}

void tr2_overwrite_release(struct tr2_thread *thread)
{
	if (!--thread->tail_holds && tr2_is_flight_recorder())
		unlock_tail(thread);
}

static void count_overwritten(struct tr2_post_thread *post)
{
	tr2_losses_add(post->tid, TLG_LOSS_OVERWRITTEN, post->overwritten);
	post->overwritten = 0;
}

/* No snapshot has come for it. */
static void count_pinned(struct tr2_thread *thread)
{
	if (thread->pinned.chunk)
		tr2_losses_add(thread->pinned.tid, TLG_LOSS_OVERWRITTEN, thread->pinned.hits);
	thread->pinned = (struct tr2_pinned){ .chunk = 0 };
}

static void skip_chain(struct tr2_thread *thread, struct tr2_post_thread *post, const struct tr2_chain *chain)
{
	if (tlg_event_type(chain->events) == TLG_THREAD) {
		count_overwritten(post);
		tr2_reader_change_thread(thread, post, chain);
		return;
	}
	if (tlg_event_type(chain->events) == TLG_GAP) {
		tr2_post_skip_lost(post, chain->events);
		return;
	}
	if (post->tid != chain->events->u.hit.tid)
		count_overwritten(post);
	tr2_reader_check_thread(post, chain->events->u.hit.tid);
	tr2_post_skip(post, chain->events, chain->count);
}

static void skip_late(struct tr2_thread *thread, struct tr2_post_thread *post)
{
	struct tr2_chain chain;
	uint32_t freed;

	while (tr2_ring_late(&thread->ring, &chain)) {
		skip_chain(thread, post, &chain);
		freed = tr2_ring_late_taken(&thread->ring, &chain);
		if (freed)
			tr2_ring_release_chunk(&thread->ring, freed - 1);
	}
}

/* The usual case, in one go: checkpoints of the thread that is known. */
static void skip_run(struct tr2_thread *thread, struct tr2_post_thread *post)
{
	const struct tlg_event *events;
	unsigned n = tr2_ring_run(&thread->ring, RUN_EVENTS, &events);

	if (n && post->start)
		n = tr2_post_skip(post, events, n);
	if (n && post->start)
		tr2_ring_consume(&thread->ring, n);
}

static void fill_kept(struct tlg_ring_kept *kept, const struct tr2_ring *ring, const struct tr2_post_thread *post)
{
	struct tlg_open open;

	kept->chunk = ring->rd_number;
	kept->event = ring->rd_event;
	kept->tid = post->tid;
	kept->ostid = post->ostid;
	kept->start = post->start;
	kept->seen_events = ring->seen_events;
	kept->position = post->position;
	kept->counted = tr2_losses_of(post->tid, TLG_LOSS_OVERWRITTEN);
	kept->uncounted = post->overwritten;
	memcpy(kept->name, post->name, sizeof(kept->name));
	kept->nopen = 0;
	for (; tr2_post_open_region(post, kept->nopen, TLG_KEPT_REGIONS, &open); kept->nopen++) {
		kept->open[kept->nopen].when = open.when;
		kept->open[kept->nopen].scope = open.scopeIndex;
	}
}

/* Should the process be killed, this is all that is left of what was passed over. */
static void keep_context(const struct tr2_thread *thread, const struct tr2_post_thread *post)
{
	struct tlg_ring_kept *kept = thread->ring.head->kept;
	unsigned older = kept[1].turn < kept[0].turn;

	fill_kept(&kept[older], &thread->ring, post);
	/* [M8] release: the rest of it.  Pairs with the readers of the ring file */
	tr2_store_rel(&kept[older].turn, kept[!older].turn + 1);
}

/* How many checkpoints of the chunk are not lost, for they are pinned: those that tell what process this is. */
static uint64_t count_identity(uint32_t chunk)
{
	struct tr2_chain chain;
	uint32_t event = tr2_shm_chunk(chunk)->first;
	uint64_t hits = 0;

	while ((event = tr2_ring_read_pinned(chunk, event, &chain)))
		hits += tlg_event_type(chain.events) == TLG_HIT && tr2_reader_is_identity(&chain);
	return hits;
}

/* The chunk has been passed over from its first event on, and stays; but not if it is held for a hole: freed is 0. */
static uint32_t pin(struct tr2_thread *thread, struct tr2_post_thread *post, uint32_t freed)
{
	struct tr2_pinned *pinned = &thread->pinned;

	pinned->hits = freed && pinned->is_passing ? count_identity(freed - 1) : 0;
	if (!pinned->hits || pinned->hits > post->overwritten) {
		*pinned = (struct tr2_pinned){ .chunk = 0 };
		return freed;
	}
	pinned->tid = post->tid;
	post->overwritten -= pinned->hits;
	pinned->is_passing = 0;
	pinned->is_passed = 1;
	tr2_ring_pin_chunk(&thread->ring, freed - 1);
	return 0;
}

/* Go through what is left of a chunk.  Return  1: it is finished; 0: there is nothing more that could be passed over */
static int skip_rest(struct tr2_thread *thread, struct tr2_post_thread *post, uint64_t now, uint32_t *freed)
{
	struct tr2_ring *ring = &thread->ring;
	struct tr2_chain chain;
	uint32_t left;

	for (;;) {
		skip_run(thread, post);
		switch (tr2_ring_peek(ring, now, 0, &chain)) {
		case TR2_PEEK_CHUNK:
			tr2_post_gap(post, chain.skipped);
			left = ring->rd_chunk;
			*freed = tr2_ring_leave_chunk(ring);
			if (left && left == thread->pinned.chunk && !thread->pinned.is_passed)
				*freed = pin(thread, post, *freed);
			if (left)
				return 1;
			continue;
		case TR2_PEEK_CHAIN:
			break;
		default:
			tr2_post_gap(post, chain.skipped);
			return 0;
		}
		tr2_post_gap(post, chain.skipped);
		thread->pinned.is_passing |= chain.is_first && ring->rd_chunk == thread->pinned.chunk;
		tr2_reader_count_gap(thread, post, &chain);
		skip_chain(thread, post, &chain);
		tr2_ring_consume(ring, chain.count);
	}
}

/*
 * Pass over what is left of a chunk, and of those behind it that are held for a hole.
 * Return  1: one is given up; 0: there is nothing more that could be passed over
 */
static int skip_chunk(struct tr2_thread *thread, struct tr2_post_thread *post, uint64_t now)
{
	uint32_t freed = 0;

	do {
		if (!skip_rest(thread, post, now, &freed))
			return 0;
	} while (!freed && !thread->pinned.is_passed);
	keep_context(thread, post);
	if (freed)
		tr2_ring_release_chunk(&thread->ring, freed - 1);
	return 1;
}

int tr2_overwrite_oldest(struct tr2_thread *self, uint32_t kept_upto)
{
	struct tr2_post_thread *post;
	int freed = 0;

	if (!lock_tail(self))
		return 0;
	post = tr2_reader_post(self);
	if (post && (!kept_upto || (int32_t)(tr2_ring_oldest(&self->ring) - kept_upto) > 0)) {
		skip_late(self, post);
		freed = skip_chunk(self, post, tr2_clock_raw());
		count_overwritten(post);
	}
	unlock_tail(self);
	return freed;
}

void tr2_overwrite_skip(struct tr2_thread *thread)
{
	struct tr2_post_thread *post;

	if (!tr2_overwrite_hold(thread))
		return;
	post = tr2_reader_post(thread);
	if (post) {
		skip_late(thread, post);
		while (skip_chunk(thread, post, tr2_clock_raw()))
			;
		count_overwritten(post);
		count_pinned(thread);
	}
	tr2_overwrite_release(thread);
}

void tr2_overwrite_look_ahead(struct tr2_thread *self, struct tr2_post_thread *post)
{
	struct tr2_ring ring;
	struct tr2_chain chain;
	enum tr2_peek peek;

	memset(post, 0, sizeof(*post));
	if (!tr2_overwrite_hold(self))
		return;
	ring = self->ring;
	if (self->post)
		*post = *(const struct tr2_post_thread *)self->post;
	while ((peek = tr2_ring_peek(&ring, 0, UINT64_MAX, &chain)) == TR2_PEEK_CHAIN || peek == TR2_PEEK_CHUNK) {
		if (peek == TR2_PEEK_CHUNK) {
			tr2_ring_leave_chunk(&ring);
			continue;
		}
		if (tlg_event_type(chain.events) == TLG_THREAD)
			post->depth = post->is_below_root = post->missing = post->doubt = 0;
		else if (tlg_event_type(chain.events) == TLG_GAP)
			tr2_post_skip_lost(post, chain.events);
		else
			tr2_post_skip(post, chain.events, chain.count);
		tr2_ring_consume(&ring, chain.count);
	}
	tr2_overwrite_release(self);
}
