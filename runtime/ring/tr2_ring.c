/* SPDX-License-Identifier: MIT */
/* tr2_ring.c - the writer: chunks are opened and linked. */
#include "tr2_ring.h"

#include <errno.h>
#include <stddef.h>

#include "base/tr2_clock.h"

/* What programs have compiled in from trace2.h is the format's. */
static_assert((int)TRACE2_ENTER_V1_ == (int)TLG_STYLE_region_enter, "a kind of checkpoint");
static_assert((int)TRACE2_LEAVE_V1_ == (int)TLG_STYLE_region_leave, "a kind of checkpoint");
static_assert((int)TRACE2_STRING_V1_ == (int)TLG_STYLE_data, "a kind of checkpoint");
static_assert((int)TRACE2_INTMAX_V1_ == (int)TLG_STYLE_data_intmax, "a kind of checkpoint");
static_assert((int)TRACE2_JSON_V1_ == (int)TLG_STYLE_data_json, "a kind of checkpoint");
static_assert((int)TRACE2_PRINTF_V1_ == (int)TLG_STYLE_printf, "a kind of checkpoint");
static_assert((int)TRACE2_STEP_V1_ == (int)TLG_STYLE_step, "a kind of checkpoint");
static_assert((int)TRACE2_NO_ID_V1_ == (int)TLG_REPO_NO_ID, "a repository without an id");
static_assert((int)TRACE2_EVENT_V1_ == (int)TLG_EVENT_SIZE, "one event");
static_assert((int)TRACE2_CHUNK_V1_ == (int)TLG_CHUNK_BYTES && (int)TRACE2_STRIDE_V1_ == (int)TLG_CHUNK_STRIDE &&
	      TLG_CHUNK_STRIDE == 2 * TLG_CHUNK_BYTES, "bit 16 tells whether a position is in a chunk");
static_assert(offsetof(struct trace2_chunk, head) == offsetof(struct tlg_chunk, head) &&
	      offsetof(struct trace2_chunk, tid) == offsetof(struct tlg_chunk, tid), "a chunk begins with these");
static_assert(TLG_HIT == 0 && offsetof(struct tlg_event, u.hit.when) == 8 &&
	      offsetof(struct tlg_event, u.hit.scopeIndex) == 16 && offsetof(struct tlg_event, u.hit.tid) == 20,
	      "trace2_record_v1_() writes a HIT as three words");

static uint32_t g_chunk_number;

/* 1 if the ring may have so many pages more.  The shortest chunk is not counted. */
static int may_have(const struct tr2_ring *ring, unsigned pages)
{
	return !ring->max_pages || tr2_ring_pages(ring) + pages <= ring->max_pages + TR2_SHORT_PAGES;
}

/* The head of a new chunk.  Nobody but a reader of another process looks at it, and it may have seen the last use. */
static void fill_head(const struct tr2_ring *ring, struct tlg_chunk *chunk, uint32_t tid, unsigned pages)
{
	struct tr2_anchor now = tr2_clock_anchor();

	/* relaxed: only the number matters */
	tr2_store_rlx(&chunk->number, tr2_add_rlx(&g_chunk_number, 1) + 1);
	tr2_fence_rel(); /* [M13] release: the number.  Pairs with copy_chunk() of t2expand --live */
	chunk->head = tlg_head(0, tr2_g_shm.head->pid, chunk->number);
	chunk->tid = tid;
	chunk->next = 0;
	chunk->ring = ring->index;
	chunk->first = tlg_chunk_first(pages);
	chunk->opened = now.raw;
	chunk->opened_ns = now.ns;
	chunk->lost_events = ring->head->lost_events;
	tr2_store_rel(&chunk->state, TLG_CHUNK_OPEN); /* [M10] release: the rest.  Pairs with readers of the file */
}

static void link_chunk(struct tr2_ring *ring, uint32_t taken)
{
	uint32_t *link = &ring->head->first;

	if (tr2_ring_current(ring))
		link = &tr2_shm_chunk(tr2_ring_current(ring) - 1)->next;
	else
		tr2_store_rlx(&ring->head->first_number, tr2_shm_chunk(taken - 1)->number); /* relaxed: before first */
	tr2_store_rel(link, taken); /* [M3] release: the chunk's head.  Pairs with next_chunk() */
	tr2_store_rlx(&ring->chunk, taken); /* relaxed: to the drain, which asks whether there is one, a hint */
}

/* For tr2_pool_acquire(). */
static uint32_t held_pages(const struct tr2_ring *ring)
{
	const uint32_t pages = tr2_ring_pages(ring), current = tr2_ring_current(ring);

	return current ? pages - tr2_pool_pages(current - 1) + TR2_SHORT_PAGES : pages;
}

int tr2_ring_open_chunk(struct tr2_ring *ring, uint32_t tid, unsigned pages)
{
	uint32_t taken = may_have(ring, pages) ? tr2_pool_acquire(pages, held_pages(ring)) : 0;
	struct tlg_chunk *chunk;

	if (!taken) {
		/* relaxed: the reader takes any position but its own for "reserved" */
		tr2_store_rlx(&ring->hot->cur, 0);
		return -ENOSPC;
	}
	pages = tr2_pool_pages(taken - 1);
	chunk = tr2_shm_chunk(taken - 1);
	fill_head(ring, chunk, tid, pages);
	ring->opened++;
	tr2_store_rlx(&ring->pages_opened, ring->pages_opened + pages); /* relaxed: a hint to the reader */
	/* relaxed: before the link, so that the reader never takes the new chunk's first event for reserved */
	tr2_store_rlx(&ring->hot->cur, (uintptr_t)&chunk->events[chunk->first]);
	link_chunk(ring, taken);
	return 0;
}

int tr2_ring_reserve_long(struct trace2_hot *hot, size_t bytes, uintptr_t *position)
{
	uintptr_t end, at;

	do {
		at = tr2_load_rlx(&hot->cur); /* relaxed: only this thread and its handlers change it */
		end = at + bytes;
		if (!tr2_in_chunk(at, bytes))
			end = (at | (TLG_CHUNK_BYTES - 1)) + 1;
		*position = at;
		if (!tr2_in_chunk(at, sizeof(struct tlg_event)))
			return 0;
	} while (!tr2_local_cas(&hot->cur, at, end));
	return end == at + bytes;
}

int tr2_ring_unpark(struct tr2_ring *ring)
{
	/* [M15] acquire: where it was.  Pairs with tr2_ring_park(), whose value our own adds have only increased */
	if (!tr2_is_parked(tr2_load_acq(&ring->hot->cur)))
		return 0;
	/* relaxed: as in tr2_ring_open_chunk(); the drain may be parking it again, at the same place */
	tr2_store_rlx(&ring->hot->cur, tr2_load_rlx(&ring->parked_at));
	return 1;
}

/* Where the library is interrupted even so, by SIGSYS, a handler's inline path may add: hence the exchange. */
void tr2_ring_set_aside(struct tr2_ring *ring)
{
	uintptr_t at = tr2_load_rlx(&ring->hot->cur); /* relaxed: only this thread changes it */
	int is_set = 0;

	while (tr2_in_chunk(at, sizeof(struct tlg_event)) && !is_set) {
		tr2_store_rlx(ring->aside_at, at); /* relaxed: ordered by the exchange */

		/*
		 * [M19] release: where it is.  Pairs with position_of()
		 */
		is_set = tr2_cas_acq_rel(&ring->hot->cur, at, TR2_ASIDE);
		at = tr2_load_rlx(&ring->hot->cur); /* relaxed: as above */
	}
}

int tr2_ring_take_back(struct tr2_ring *ring)
{
	if (!tr2_is_aside(tr2_load_rlx(&ring->hot->cur))) /* relaxed: as above */
		return 0;
	tr2_store_rlx(&ring->hot->cur, tr2_load_rlx(ring->aside_at)); /* relaxed: as in tr2_ring_open_chunk() */
	tr2_store_rlx(ring->aside_at, 0); /* relaxed: for the code that a handler of this thread has interrupted */
	return 1;
}

uintptr_t tr2_ring_reserve_aside(struct tr2_ring *ring, size_t bytes)
{
	uintptr_t at;

	do {
		at = tr2_load_rlx(ring->aside_at); /* relaxed: only this thread and its handlers change it */
		if (!tr2_in_chunk(at, bytes))
			return 0;
	} while (!tr2_local_cas(ring->aside_at, at, at + bytes));
	return at;
}

int tr2_ring_is_fragmented(const struct tr2_ring *ring)
{
	/* relaxed: a hint */
	return tr2_load_rlx(&ring->nheld) * TR2_WHOLE_PAGES > tr2_ring_pages(ring) / 4;
}

void tr2_ring_abandon(struct tr2_ring *ring, int but_last)
{
	uint32_t last = tr2_ring_current(ring) ? tr2_shm_chunk(tr2_ring_current(ring) - 1)->number : 0;

	tr2_store_rlx(&ring->dead_upto, last - (but_last ? 1 : 0)); /* relaxed: it speaks of what is over */
}

uint32_t tr2_ring_latest(void)
{
	return tr2_load_rlx(&g_chunk_number); /* relaxed: only the number matters */
}

void tr2_ring_pad(uintptr_t position)
{
	struct tlg_event *event = (struct tlg_event *)position;

	event->u.pad.reserved = 0;
	tr2_ring_commit(event, TLG_PAD);
}

void tr2_ring_drop(struct tr2_ring *ring, unsigned events)
{
	tr2_local_increase(&ring->head->lost_events, events);   /* only the owner and its handlers do */
}
