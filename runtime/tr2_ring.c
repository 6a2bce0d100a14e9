/* SPDX-License-Identifier: MIT */
/* tr2_ring.c - chunks: taking, linking, reading, freeing. */
#include "tr2_ring.h"

#include <errno.h>
#include <string.h>

#include "tr2_clock.h"

static uint32_t g_chunk_number;

static int is_held(uint32_t chunk)
{
	return tr2_load_rlx(&tr2_shm_chunk(chunk)->state) == TLG_CHUNK_HELD; /* relaxed: only the reader holds */
}

/* ---- writer ------------------------------------------------------------------------------------- */

/*
 * Of a ring's first chunk only the last page is used, for most threads of short processes need no more: committing
 * all of it would be a fifth of what they pay for being traced (40 us of 200).
 */
static int commit_short(struct tlg_chunk *chunk)
{
	int error = tr2_shm_commit(chunk, sizeof(chunk->head));

	return error ? error : tr2_shm_commit(&chunk->events[TLG_CHUNK_EVENTS - TR2_SHORT_EVENTS],
					      TR2_SHORT_EVENTS * sizeof(struct tlg_event));
}

/*
 * A chunk that nobody has used yet, committed; index + 1, or 0.  Memory comes first, so that no index is used up while
 * the file system is full.
 */
static uint32_t take_new_chunk(struct tr2_ring *ring, unsigned most_chunks)
{
	const int is_short = !ring->nchunks && most_chunks > 1;
	uint32_t *used = &tr2_g_shm.head->chunks_used, i;

	if (ring->nchunks >= most_chunks || ring->nchunks >= TR2_RING_CHUNKS)
		return 0;
	do {
		i = tr2_load_rlx(used); /* relaxed: only the number matters */
		if (i >= tr2_g_shm.max_chunks)
			return 0;
		if (is_short ? commit_short(tr2_shm_chunk(i)) : tr2_shm_commit(tr2_shm_chunk(i), TLG_CHUNK_BYTES))
			return 0;
	} while (!tr2_cas_rlx(used, i, i + 1)); /* relaxed: as above */
	if (is_short)
		tr2_shm_chunk(i)->first = TLG_CHUNK_EVENTS - TR2_SHORT_EVENTS;
	ring->chunks[ring->nchunks] = i;
	tr2_store_rel(&ring->nchunks, ring->nchunks + 1); /* [M10] release: the index.  Pairs with count_chunks() */
	return i + 1;
}

/* A chunk of the ring that the drain has freed, else a new one; index + 1, or 0. */
static uint32_t take_chunk(struct tr2_ring *ring, unsigned most_chunks)
{
	for (uint32_t k = 0; k < ring->nchunks; k++) {
		struct tlg_chunk *chunk = tr2_shm_chunk(ring->chunks[k]);
		/* [M2] acquire: the chunk's last reader is done.  Pairs with tr2_ring_release_chunk() */
		if (tr2_load_acq(&chunk->state) != TLG_CHUNK_FREE)
			continue;
		if (chunk->first && tr2_shm_commit(chunk, TLG_CHUNK_BYTES))
			continue;
		chunk->first = 0;
		return ring->chunks[k] + 1;
	}
	return take_new_chunk(ring, most_chunks);
}

int tr2_ring_open_chunk(struct tr2_ring *ring, uint32_t tid, unsigned most_chunks)
{
	uint32_t taken = take_chunk(ring, most_chunks);
	uint32_t *link = ring->chunk ? &tr2_shm_chunk(ring->chunk - 1)->next : &ring->head->first;
	struct tr2_anchor now;
	struct tlg_chunk *chunk;

	if (!taken) {
		/* relaxed: the reader takes any position but its own for "reserved" */
		tr2_store_rlx(&ring->hot->cur, 0);
		return -ENOSPC;
	}
	now = tr2_clock_anchor();
	chunk = tr2_shm_chunk(taken - 1);
	/* relaxed: only the number matters */
	tr2_store_rlx(&chunk->number, tr2_add_rlx(&g_chunk_number, 1) + 1);
	tr2_fence_rel(); /* [M13] release: the number.  Pairs with copy_chunk() of t2expand --live */
	chunk->head = tlg_head(0, tr2_g_shm.head->pid, chunk->number);
	chunk->tid = tid;
	chunk->next = 0;
	chunk->ring = ring->index;
	chunk->opened = now.raw;
	chunk->opened_ns = now.ns;
	chunk->lost_hits = ring->head->lost_hits;
	chunk->lost_events = ring->head->lost_events;
	tr2_store_rlx(&chunk->state, TLG_CHUNK_OPEN); /* relaxed: only this ring's threads look for free chunks */
	/* relaxed: before the link, so that the reader never takes the new chunk's first event for reserved */
	tr2_store_rlx(&ring->hot->cur, (uintptr_t)&chunk->events[chunk->first]);
	tr2_store_rel(link, taken); /* [M3] release: the chunk's head.  Pairs with next_chunk() */
	ring->chunk = taken;
	return 0;
}

int tr2_ring_is_worn(const struct tr2_ring *ring)
{
	uint32_t held = 0;

	for (uint32_t k = 0; k < ring->nchunks; k++)
		held += is_held(ring->chunks[k]) ? 1 : 0;
	return held > ring->nchunks / 4;
}

void tr2_ring_renounce(struct tr2_ring *ring, int but_last)
{
	uint32_t last = ring->chunk ? tr2_shm_chunk(ring->chunk - 1)->number : 0;

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

void tr2_ring_drop(struct tr2_ring *ring, unsigned hits, unsigned events)
{
	tr2_add_rlx(&ring->head->lost_hits, hits); /* relaxed: a statistic, exact once the thread is quiet */
	tr2_add_rlx(&ring->head->lost_events, events); /* relaxed: as above */
}

/* ---- reader ------------------------------------------------------------------------------------- */

static uint32_t head_sequence(uint64_t head)
{
	struct tlg_event event;

	memcpy(&event, &head, sizeof(head));
	return event.sequence;
}

static unsigned head_flags(uint64_t head)
{
	struct tlg_event event;

	memcpy(&event, &head, sizeof(head));
	return event.flags;
}

/* The header word at event, 0 while it is not committed. */
static uint64_t committed_head(const struct tlg_chunk *chunk, uint32_t event)
{
	/* [M1] acquire: the event's bytes.  Pairs with tr2_ring_commit() and the inline path */
	uint64_t head = tr2_load_acq((const uint64_t *)(const void *)&chunk->events[event]);

	return head_sequence(head) == chunk->number ? head : 0;
}

static uint32_t next_chunk(const struct tr2_ring *ring)
{
	const uint32_t *link = ring->rd_chunk ? &tr2_shm_chunk(ring->rd_chunk - 1)->next : &ring->head->first;

	return tr2_load_acq(link); /* [M3] acquire: the next chunk's head.  Pairs with tr2_ring_open_chunk() */
}

/* Events of the committed chain that begins at event, never past the chunk. */
static unsigned chain_length(const struct tlg_chunk *chunk, uint32_t event)
{
	return tlg_chain_length(&chunk->events[event], TLG_CHUNK_EVENTS - event);
}

/* 1 if a chain begins at event and is committed.  Committed arguments without their HIT belong to a hole. */
static int is_chain(const struct tlg_chunk *chunk, uint32_t event)
{
	uint64_t head = committed_head(chunk, event);

	return head && !tlg_is_argument(head_flags(head) & TLG_TYPE_MASK);
}

/* The first committed chain behind event, or limit. */
static uint32_t find_chain(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit)
{
	while (++event < limit && !is_chain(chunk, event))
		;
	return event;
}

static void watch_hole(struct tr2_ring *ring, uint32_t chunk, uint32_t event, uint32_t end)
{
	if (ring->nholes < TLG_MAX_HOLES) {
		ring->holes[ring->nholes++] = (struct tr2_hole){ chunk, event, end };
	} else {
		ring->abandoned++;
		ring->has_lost_hole = 1;
	}
}

/*
 * Go around the hole at the reading position, if there is one: the thread commits while we look.  Once
 * something behind is seen committed, what is not committed in front of it is code that was interrupted; so the
 * second look finds where the hole ends.
 * Return  0: there is nothing behind it yet
 */
static int skip_hole(struct tr2_ring *ring, struct tlg_chunk *chunk, struct tr2_chain *chain)
{
	uint32_t end = find_chain(chunk, ring->rd_event, TLG_CHUNK_EVENTS);

	if (end == TLG_CHUNK_EVENTS && !next_chunk(ring))
		return 0;
	ring->rd_since = 0;
	if (committed_head(chunk, ring->rd_event))
		return 1;   /* it was only slow */
	end = find_chain(chunk, ring->rd_event, end);
	watch_hole(ring, ring->rd_chunk - 1, ring->rd_event, end);
	tr2_store_rlx(&chunk->state, TLG_CHUNK_HELD); /* relaxed: the writer only looks for FREE */
	chain->skipped += end - ring->rd_event;
	ring->rd_event = end;
	return 1;
}

/* How many chunks the ring has, seen from the reader. */
static uint32_t count_chunks(const struct tr2_ring *ring)
{
	return tr2_load_acq(&ring->nchunks); /* [M10] acquire: their indexes.  Pairs with take_new_chunk() */
}

/* 1 if the writer has gone on so far that waiting for what it left behind would cost it new events. */
static int is_far_behind(const struct tr2_ring *ring)
{
	uint32_t chunk = ring->rd_chunk, far = count_chunks(ring) / 3;

	for (uint32_t i = 0; chunk && i <= far; i++)
		chunk = tr2_load_acq(&tr2_shm_chunk(chunk - 1)->next); /* [M3] acquire: as in next_chunk() */
	return chunk != 0;
}

/* The event at the reading position is reserved and not committed.  1: it has waited long enough. */
static int has_waited(struct tr2_ring *ring, uint64_t now, uint64_t patience)
{
	if (!ring->rd_since)
		ring->rd_since = now;
	return now - ring->rd_since >= patience || is_far_behind(ring);
}

enum tr2_peek tr2_ring_peek(struct tr2_ring *ring, uint64_t now, uint64_t patience, struct tr2_chain *chain)
{
	chain->skipped = 0;
	for (;;) {
		struct tlg_chunk *chunk = ring->rd_chunk ? tr2_shm_chunk(ring->rd_chunk - 1) : NULL;
		const struct tlg_event *event = chunk ? &chunk->events[ring->rd_event] : NULL;
		uint64_t head;

		if (!chunk || ring->rd_event == TLG_CHUNK_EVENTS)
			return next_chunk(ring) ? TR2_PEEK_CHUNK : TR2_PEEK_EMPTY;
		head = committed_head(chunk, ring->rd_event);
		if (head && (head_flags(head) & TLG_TYPE_MASK) == TLG_PAD) {
			ring->rd_event = TLG_CHUNK_EVENTS;
			continue;
		}
		if (head) {
			chain->events = event;
			chain->count = chain_length(chunk, ring->rd_event);
			chain->is_first = ring->rd_is_new;
			ring->rd_since = 0;
			return TR2_PEEK_CHAIN;
		}
		/* relaxed: a stale position only makes this look empty for one more pass */
		if (tr2_load_rlx(&ring->hot->cur) == (uintptr_t)event)
			return TR2_PEEK_EMPTY;
		if (!has_waited(ring, now, patience) || !skip_hole(ring, chunk, chain))
			return TR2_PEEK_BUSY;
	}
}

unsigned tr2_ring_run(const struct tr2_ring *ring, unsigned most, const struct tlg_event **events)
{
	const struct tlg_chunk *chunk = ring->rd_chunk && !ring->rd_is_new ? tr2_shm_chunk(ring->rd_chunk - 1) : NULL;
	uint32_t at = ring->rd_event, end = at + most < TLG_CHUNK_EVENTS ? at + most : TLG_CHUNK_EVENTS;

	if (!chunk)
		return 0;
	*events = &chunk->events[at];
	while (at < end) {
		uint64_t head = committed_head(chunk, at);
		unsigned type = head_flags(head) & TLG_TYPE_MASK;
		if (!head || (type != TLG_HIT && type != TLG_MORE))
			break;
		at += chain_length(chunk, at);
	}
	return at - ring->rd_event;
}

void tr2_ring_consume(struct tr2_ring *ring, unsigned events)
{
	ring->rd_event += events;
	ring->rd_is_new = 0;
	ring->rd_since = 0;
}

uint32_t tr2_ring_oldest(const struct tr2_ring *ring)
{
	uint32_t chunk = ring->rd_chunk ? ring->rd_chunk : next_chunk(ring);

	return chunk ? tr2_shm_chunk(chunk - 1)->number : 0;
}

uint64_t tr2_ring_lost(struct tr2_ring *ring, int up_to_now)
{
	const struct tlg_chunk *chunk = ring->rd_chunk ? tr2_shm_chunk(ring->rd_chunk - 1) : NULL;
	uint64_t total = ring->seen_events, lost;

	if (up_to_now)
		total = tr2_load_rlx(&ring->head->lost_events); /* relaxed: a statistic */
	else if (chunk)
		total = chunk->lost_events;
	if (total < ring->seen_events)
		total = ring->seen_events;
	lost = total - ring->seen_events;
	ring->seen_events = total;
	return lost;
}

uint32_t tr2_ring_leave_chunk(struct tr2_ring *ring)
{
	uint32_t finished = ring->rd_chunk;

	ring->rd_chunk = next_chunk(ring);
	ring->rd_is_new = 1;
	ring->rd_event = ring->rd_chunk ? tr2_shm_chunk(ring->rd_chunk - 1)->first : 0;
	return finished && !is_held(finished - 1) ? finished : 0;
}

int tr2_ring_late(struct tr2_ring *ring, struct tr2_chain *chain)
{
	for (uint32_t i = 0; i < ring->nholes; i++) {
		struct tr2_hole hole = ring->holes[i];
		const struct tlg_chunk *chunk = tr2_shm_chunk(hole.chunk);
		uint32_t event = is_chain(chunk, hole.event) ? hole.event : find_chain(chunk, hole.event, hole.end);

		if (event == hole.end)
			continue;
		chain->events = &chunk->events[event];
		chain->count = chain_length(chunk, event);
		chain->skipped = 0;
		ring->holes[i] = ring->holes[--ring->nholes];
		if (hole.event < event)
			watch_hole(ring, hole.chunk, hole.event, event);
		if (event + chain->count < hole.end)
			watch_hole(ring, hole.chunk, event + chain->count, hole.end);
		return 1;
	}
	return 0;
}

static int has_hole(const struct tr2_ring *ring, uint32_t chunk)
{
	for (uint32_t i = 0; i < ring->nholes; i++)
		if (ring->holes[i].chunk == chunk)
			return 1;
	return 0;
}

uint32_t tr2_ring_late_taken(struct tr2_ring *ring, const struct tr2_chain *chain)
{
	struct tlg_chunk *chunk = tr2_chunk_of((uintptr_t)chain->events);
	uint32_t index = (uint32_t)(((unsigned char *)chunk - tr2_g_shm.chunks) / TLG_CHUNK_STRIDE);

	if (has_hole(ring, index) || ring->has_lost_hole)
		return 0;
	tr2_store_rlx(&chunk->state, TLG_CHUNK_OPEN); /* relaxed: the writer only looks for FREE */
	return index + 1 == ring->rd_chunk ? 0 : index + 1;
}

/* Numbers wrap; a ring is never so long idle that it matters. */
static int is_upto(const struct tlg_chunk *chunk, uint32_t number)
{
	return (int32_t)(chunk->number - number) <= 0;
}

/* Forget the holes in chunks up to this number, and which of these were held, to be released. */
static uint64_t forget_upto(struct tr2_ring *ring, uint32_t number)
{
	uint64_t released = 0;
	uint32_t kept = 0, nchunks = count_chunks(ring);

	static_assert(TR2_RING_CHUNKS <= 64, "a bit for each chunk");
	for (uint32_t i = 0; i < ring->nholes; i++) {
		if (is_upto(tr2_shm_chunk(ring->holes[i].chunk), number))
			ring->abandoned++;
		else
			ring->holes[kept++] = ring->holes[i];
	}
	ring->nholes = kept;
	ring->has_lost_hole = 0;
	for (uint32_t k = 0; k < nchunks; k++) {
		struct tlg_chunk *chunk = tr2_shm_chunk(ring->chunks[k]);
		if (!is_held(ring->chunks[k]))
			continue;
		if (!is_upto(chunk, number)) {
			ring->has_lost_hole |= !has_hole(ring, ring->chunks[k]);
			continue;
		}
		tr2_store_rlx(&chunk->state, TLG_CHUNK_OPEN); /* relaxed: the writer only looks for FREE */
		if (ring->chunks[k] + 1 != ring->rd_chunk)
			released |= UINT64_C(1) << k;
	}
	return released;
}

uint64_t tr2_ring_forget_renounced(struct tr2_ring *ring)
{
	uint32_t number = tr2_load_rlx(&ring->dead_upto); /* relaxed: only says what will not be written any more */

	if (number == ring->forgotten_upto)
		return 0;
	ring->forgotten_upto = number;
	return forget_upto(ring, number);
}

uint64_t tr2_ring_forget_holes(struct tr2_ring *ring)
{
	return forget_upto(ring, tr2_load_rlx(&g_chunk_number)); /* relaxed: the owner, which is gone, has seen less */
}

void tr2_ring_release_chunk(uint32_t chunk)
{
	/* [M2] release: all reading of it.  Pairs with take_chunk() */
	tr2_store_rel(&tr2_shm_chunk(chunk)->state, TLG_CHUNK_FREE);
}
