/* SPDX-License-Identifier: MIT */
/* tr2_ring_read.c - the reader: chunks are followed, read and given back. */
#include "tr2_ring.h"

#include <string.h>

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
	tr2_store_rlx(&chunk->state, TLG_CHUNK_HELD); /* relaxed: as in is_held() */
	chain->skipped += end - ring->rd_event;
	ring->rd_event = end;
	return 1;
}

/* 1 if the writer has gone on so far that waiting for what it left behind would cost it, or others, new events. */
static int is_far_behind(const struct tr2_ring *ring)
{
	/* relaxed: hints, all of them */
	uint32_t most = tr2_load_rlx(&ring->max_pages), bound = most ? most : tr2_pool_bound();
	/* relaxed: as above */
	uint32_t opened = tr2_load_rlx(&ring->pages_opened), reading = tr2_pool_pages(ring->rd_chunk - 1);

	/* relaxed: as above */
	return opened - tr2_load_rlx(&ring->pages_released) - reading >= bound / 3 || (!most && tr2_pool_is_short());
}

/* The event at the reading position is reserved and not committed.  1: it has waited long enough. */
static int has_waited(struct tr2_ring *ring, uint64_t now, uint64_t timeout)
{
	if (!ring->rd_since)
		ring->rd_since = now;
	return now - ring->rd_since >= timeout || is_far_behind(ring);
}

/* The writer's. */
static uintptr_t position_of(const struct tr2_ring *ring)
{
	return tr2_load_rlx(&ring->hot->cur); /* relaxed: from a stale one the next look follows */
}

/* 1 if the writer's position is at event, or was when it was put away. */
static int is_at(const struct tr2_ring *ring, const struct tlg_event *event)
{
	uintptr_t position = position_of(ring);

	return position == (uintptr_t)event || tr2_is_parked(position);
}

enum tr2_peek tr2_ring_peek(struct tr2_ring *ring, uint64_t now, uint64_t timeout, struct tr2_chain *chain)
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
		if (is_at(ring, event))
			return TR2_PEEK_EMPTY;
		if (!has_waited(ring, now, timeout) || !skip_hole(ring, chunk, chain))
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

static int is_held(uint32_t chunk)
{
	return tr2_load_rlx(&tr2_shm_chunk(chunk)->state) == TLG_CHUNK_HELD; /* relaxed: only the reader holds */
}

static void count_held(struct tr2_ring *ring, uint32_t change)
{
	tr2_store_rlx(&ring->nheld, ring->nheld + change); /* relaxed: a hint to the writer */
}

/* Finished, but it has holes: it waits until they are filled, or forgotten. */
static void hold(struct tr2_ring *ring, uint32_t chunk)
{
	*tr2_pool_link(chunk) = ring->held;
	ring->held = chunk + 1;
	count_held(ring, 1);
}

static void unhold(struct tr2_ring *ring, uint32_t chunk)
{
	uint32_t *link = &ring->held;

	while (*link && *link != chunk + 1)
		link = tr2_pool_link(*link - 1);
	if (*link) {
		*link = *tr2_pool_link(chunk);
		count_held(ring, -1u);
	}
}

uint32_t tr2_ring_leave_chunk(struct tr2_ring *ring)
{
	uint32_t finished = ring->rd_chunk;
	const struct tlg_chunk *chunk;

	ring->rd_chunk = next_chunk(ring);
	ring->rd_is_new = 1;
	if (ring->rd_chunk) {
		chunk = tr2_shm_chunk(ring->rd_chunk - 1);
		ring->rd_event = chunk->first;
		ring->rd_number = chunk->number;
	}
	if (!finished || !is_held(finished - 1))
		return finished;
	hold(ring, finished - 1);
	return 0;
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
	tr2_store_rlx(&chunk->state, TLG_CHUNK_OPEN); /* relaxed: as in is_held() */
	unhold(ring, index);
	return index + 1 == ring->rd_chunk ? 0 : index + 1;
}

/* Numbers wrap; a ring is never so long idle that it matters. */
static int is_upto(const struct tlg_chunk *chunk, uint32_t number)
{
	return (int32_t)(chunk->number - number) <= 0;
}

static void forget_holes(struct tr2_ring *ring, uint32_t number)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < ring->nholes; i++) {
		if (is_upto(tr2_shm_chunk(ring->holes[i].chunk), number))
			ring->abandoned++;
		else
			ring->holes[kept++] = ring->holes[i];
	}
	ring->nholes = kept;
}

/* Forget the holes in chunks up to this number.  Return  the list of those that were held for them and are finished */
static uint32_t forget_upto(struct tr2_ring *ring, uint32_t number)
{
	uint32_t chunk, next, released = 0, held = ring->held;

	forget_holes(ring, number);
	if (ring->rd_chunk && is_held(ring->rd_chunk - 1) && is_upto(tr2_shm_chunk(ring->rd_chunk - 1), number))
		tr2_store_rlx(&tr2_shm_chunk(ring->rd_chunk - 1)->state, TLG_CHUNK_OPEN); /* relaxed: as in is_held() */
	ring->held = 0;
	ring->has_lost_hole = ring->rd_chunk && is_held(ring->rd_chunk - 1) && !has_hole(ring, ring->rd_chunk - 1);
	for (chunk = held; chunk; chunk = next) {
		uint32_t *link = tr2_pool_link(chunk - 1);
		int is_over = is_upto(tr2_shm_chunk(chunk - 1), number);
		next = *link;
		*link = is_over ? released : ring->held;
		*(is_over ? &released : &ring->held) = chunk;
		ring->has_lost_hole |= !is_over && !has_hole(ring, chunk - 1);
		count_held(ring, is_over ? -1u : 0);
	}
	return released;
}

uint32_t tr2_ring_forget_abandoned(struct tr2_ring *ring)
{
	uint32_t number = tr2_load_rlx(&ring->dead_upto); /* relaxed: only says what will not be written any more */

	if (number == ring->forgotten_upto)
		return 0;
	ring->forgotten_upto = number;
	return forget_upto(ring, number);
}

uint32_t tr2_ring_forget_holes(struct tr2_ring *ring)
{
	return forget_upto(ring, tr2_ring_latest());   /* the owner, which is gone, has seen less */
}

void tr2_ring_release_chunk(struct tr2_ring *ring, uint32_t chunk)
{
	tr2_add_rlx(&ring->pages_released, tr2_pool_pages(chunk)); /* relaxed: the writer may see it late */
	tr2_store_rlx(&tr2_shm_chunk(chunk)->state, TLG_CHUNK_FREE); /* relaxed: its readers look at the tails, too */
	tr2_pool_give(chunk);
}

void tr2_ring_pin_chunk(struct tr2_ring *ring, uint32_t chunk)
{
	tr2_add_rlx(&ring->pages_released, tr2_pool_pages(chunk)); /* relaxed: the writer may see it late */
	tr2_store_rlx(&tr2_shm_chunk(chunk)->state, TLG_CHUNK_PINNED); /* relaxed: as above */
}

void tr2_ring_unpin_chunk(struct tr2_ring *ring, uint32_t chunk)
{
	tr2_add_rlx(&ring->pages_released, -(uint32_t)tr2_pool_pages(chunk)); /* relaxed: as above */
}

uint32_t tr2_ring_read_pinned(uint32_t chunk, uint32_t event, struct tr2_chain *chain)
{
	const struct tlg_chunk *at = tr2_shm_chunk(chunk);
	uint32_t begin = is_chain(at, event) ? event : find_chain(at, event, TLG_CHUNK_EVENTS);

	if (begin >= TLG_CHUNK_EVENTS || (head_flags(committed_head(at, begin)) & TLG_TYPE_MASK) == TLG_PAD)
		return 0;
	*chain = (struct tr2_chain){ &at->events[begin], chain_length(at, begin), begin - event, 0 };
	return begin + chain->count;
}

/* None of the events from the reading position to *end, the writer's, is committed.  Return  0: some are, or a next */
static int find_rest(const struct tr2_ring *ring, const struct tlg_chunk *chunk, uint32_t *end)
{
	uintptr_t position = position_of(ring);   /* who has moved it has given the ring up */

	*end = TLG_CHUNK_EVENTS;
	if (tr2_in_chunk(position, sizeof(struct tlg_event)) && tr2_chunk_of(position) == chunk)
		*end = (uint32_t)((struct tlg_event *)position - chunk->events);
	return !next_chunk(ring) && (ring->rd_event == *end || (!committed_head(chunk, ring->rd_event) &&
								 find_chain(chunk, ring->rd_event, *end) == *end));
}

uint32_t tr2_ring_close(struct tr2_ring *ring, int is_dead, unsigned *skipped)
{
	uint32_t closed = ring->rd_chunk, end;

	*skipped = 0;
	tr2_ring_unpark(ring);
	if (!closed || closed != tr2_ring_current(ring) || is_held(closed - 1) ||
	    !find_rest(ring, tr2_shm_chunk(closed - 1), &end) || (ring->rd_event != end && !is_dead))
		return 0;
	*skipped = end - ring->rd_event;
	ring->abandoned += *skipped != 0;
	ring->rd_event = end;
	ring->rd_chunk = 0;
	tr2_store_rlx(&ring->chunk, 0); /* relaxed: as in link_chunk() */
	ring->rd_since = 0;
	tr2_store_rlx(&ring->hot->cur, 0); /* relaxed: nobody records here now */
	tr2_store_rlx(&ring->head->first, 0); /* relaxed: the next owner links the next one */
	return closed;
}

void tr2_ring_park(struct tr2_ring *ring)
{
	struct tlg_chunk *chunk = ring->rd_chunk ? tr2_shm_chunk(ring->rd_chunk - 1) : NULL;
	uintptr_t end = chunk ? (uintptr_t)&chunk->events[ring->rd_event] : 0;

	if (!end || position_of(ring) != end)
		return;
	ring->parked_at = end;   /* not read before the position says so */
	/* [M15] release: where it was.  Pairs with tr2_ring_unpark() */
	tr2_cas_acq_rel(&ring->hot->cur, end, TR2_PARKED);
}

int tr2_ring_is_away(const struct tr2_ring *ring)
{
	return !tr2_in_chunk(position_of(ring), sizeof(struct tlg_event));
}

int tr2_ring_is_quiet(const struct tr2_ring *ring)
{
	const struct tlg_chunk *chunk = ring->rd_chunk ? tr2_shm_chunk(ring->rd_chunk - 1) : NULL;

	return (chunk ? is_at(ring, &chunk->events[ring->rd_event]) : !next_chunk(ring)) && !ring->nholes &&
	       tr2_load_rlx(&ring->dead_upto) == ring->forgotten_upto && /* relaxed: as above */
	       tr2_load_rlx(&ring->head->lost_events) == ring->seen_events; /* relaxed: as above */
}
