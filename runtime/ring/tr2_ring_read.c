/* SPDX-License-Identifier: MIT */
/* tr2_ring_read.c - see tr2_ring_read.h. */
#include "tr2_ring_read.h"

#include "tlg_chain.h"

static unsigned head_type(uint64_t head)
{
	return tlg_head_flags(head) & TLG_TYPE_MASK;
}

/* The header word at event, 0 while it is not committed. */
static uint64_t committed_head(const struct tlg_chunk *chunk, uint32_t event)
{
	/* [M1] acquire: the event's bytes.  Pairs with tr2_ring_commit() and the inline path */
	uint64_t head = tr2_load_acq((const uint64_t *)(const void *)&chunk->events[event]);

	return tlg_is_committed(chunk, tlg_head_sequence(head)) ? head : 0;
}

static uint32_t next_chunk(const struct tr2_reader *reader)
{
	const uint32_t *link = reader->chunk ? &tr2_shm_chunk(reader->chunk - 1)->next : &reader->ring->head->first;

	return tr2_load_acq(link); /* [M3] acquire: the next chunk's head.  Pairs with tr2_ring_open_chunk() */
}

/* Events of the committed chain that begins at event, never past the chunk. */
static unsigned chain_length(const struct tlg_chunk *chunk, uint32_t event)
{
	return tlg_chain_length(&chunk->events[event], TLG_CHUNK_EVENTS - event);
}

/* 1 if a chain begins at event and is committed. */
static int is_chain(const struct tlg_chunk *chunk, uint32_t event)
{
	uint64_t head = committed_head(chunk, event);

	return head && tlg_begins_chain(head_type(head));
}

/* The first committed chain behind event, or limit. */
static uint32_t find_chain(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit)
{
	while (++event < limit && !is_chain(chunk, event))
		;
	return event;
}

static void list_abandoned(struct tr2_reader *reader, uint32_t chunk, uint32_t event, uint32_t end)
{
	if (reader->nabandoned < TLG_MAX_ABANDONED) {
		reader->abandoned[reader->nabandoned++] = (struct tr2_abandoned){ chunk, event, end };
	} else {
		reader->ndead++;
		reader->has_unlisted = 1;
	}
}

/*
 * Pass the reservation at the reading position, if it is still uncommitted: the thread commits while we look.  Once
 * something behind it is seen committed, what is not committed in front of that is code that was interrupted; so the
 * second look finds where the reservation ends.
 * Return  0: there is nothing behind it yet
 */
static int pass_abandoned(struct tr2_reader *reader, struct tlg_chunk *chunk, struct tr2_chain *chain)
{
	uint32_t end = find_chain(chunk, reader->event, TLG_CHUNK_EVENTS);

	if (end == TLG_CHUNK_EVENTS && !next_chunk(reader))
		return 0;
	reader->since = 0;
	if (committed_head(chunk, reader->event))
		return 1;   /* it was only slow */
	end = find_chain(chunk, reader->event, end);
	list_abandoned(reader, reader->chunk - 1, reader->event, end);
	tr2_store_rlx(&chunk->state, TLG_CHUNK_HELD); /* relaxed: as in is_held() */
	chain->skipped += end - reader->event;
	reader->event = end;
	return 1;
}

/* 1 if the writer has gone on so far that waiting for what it left behind would cost it, or others, new events. */
static int is_far_behind(const struct tr2_reader *reader)
{
	const struct tr2_ring *ring = reader->ring;
	/* relaxed: hints, all of them */
	uint32_t max = tr2_load_rlx(&ring->max_pages), bound = max ? max : tr2_pool_bound();
	/* relaxed: as above */
	uint32_t opened = tr2_load_rlx(&ring->pages_opened), reading = tr2_pool_pages(reader->chunk - 1);

	/* relaxed: as above */
	return opened - tr2_load_rlx(&ring->pages_released) - reading >= bound / 3 || (!max && tr2_pool_is_short());
}

/* The event at the reading position is reserved and not committed.  1: it has waited long enough. */
static int has_waited(struct tr2_reader *reader, uint64_t now, uint64_t timeout)
{
	if (!reader->since)
		reader->since = now;
	return now - reader->since >= timeout || is_far_behind(reader);
}

/* The writer's. */
static uintptr_t position_of(const struct tr2_reader *reader)
{
	/* [M19] acquire: where it is if it is aside.  Pairs with tr2_ring_set_aside() */
	uintptr_t position = tr2_load_acq(&reader->ring->hot->cur);

	/* relaxed: from a stale one the next look follows */
	return tr2_is_aside(position) ? tr2_load_rlx(reader->ring->aside_at) : position;
}

/* 1 if the writer's position is at event, or was when it was parked. */
static int is_at(const struct tr2_reader *reader, const struct tlg_event *event)
{
	uintptr_t position = position_of(reader);

	return position == (uintptr_t)event || tr2_is_parked(position);
}

enum tr2_peek tr2_ring_peek(struct tr2_reader *reader, uint64_t now, uint64_t timeout, struct tr2_chain *chain)
{
	chain->skipped = 0;
	for (;;) {
		struct tlg_chunk *chunk = reader->chunk ? tr2_shm_chunk(reader->chunk - 1) : NULL;
		const struct tlg_event *event = chunk ? &chunk->events[reader->event] : NULL;
		uint64_t head;

		if (!chunk || reader->event == TLG_CHUNK_EVENTS)
			return next_chunk(reader) ? TR2_PEEK_CHUNK : TR2_PEEK_EMPTY;
		head = committed_head(chunk, reader->event);
		if (head && head_type(head) == TLG_PAD) {
			reader->event = TLG_CHUNK_EVENTS;
			continue;
		}
		if (head) {
			chain->events = event;
			chain->count = chain_length(chunk, reader->event);
			chain->is_first = reader->is_new;
			reader->since = 0;
			return TR2_PEEK_CHAIN;
		}
		if (is_at(reader, event))
			return TR2_PEEK_EMPTY;
		if (!has_waited(reader, now, timeout) || !pass_abandoned(reader, chunk, chain))
			return TR2_PEEK_BUSY;
	}
}

unsigned tr2_ring_run(const struct tr2_reader *reader, unsigned max, const struct tlg_event **events)
{
	const struct tlg_chunk *chunk = reader->chunk && !reader->is_new ? tr2_shm_chunk(reader->chunk - 1) : NULL;
	uint32_t at = reader->event, end = at + max < TLG_CHUNK_EVENTS ? at + max : TLG_CHUNK_EVENTS;

	if (!chunk)
		return 0;
	*events = &chunk->events[at];
	while (at < end) {
		uint64_t head = committed_head(chunk, at);
		unsigned type = head_type(head);
		if (!head || (type != TLG_HIT && type != TLG_MORE))
			break;
		at += chain_length(chunk, at);
	}
	return at - reader->event;
}

void tr2_ring_consume(struct tr2_reader *reader, unsigned events)
{
	reader->event += events;
	reader->is_new = 0;
	reader->since = 0;
}

uint32_t tr2_ring_oldest(const struct tr2_reader *reader)
{
	uint32_t chunk = reader->chunk ? reader->chunk : next_chunk(reader);

	return chunk ? tr2_shm_chunk(chunk - 1)->number : 0;
}

uint64_t tr2_ring_lost(struct tr2_reader *reader, int up_to_now)
{
	const struct tlg_chunk *chunk = reader->chunk ? tr2_shm_chunk(reader->chunk - 1) : NULL;
	uint64_t total = reader->seen_events, lost;

	if (up_to_now)
		total = tr2_load_rlx(&reader->ring->head->lost_events); /* relaxed: a statistic */
	else if (chunk)
		total = chunk->lost_events;
	if (total < reader->seen_events)
		total = reader->seen_events;
	lost = total - reader->seen_events;
	reader->seen_events = total;
	return lost;
}

static int is_held(uint32_t chunk)
{
	return tr2_load_rlx(&tr2_shm_chunk(chunk)->state) == TLG_CHUNK_HELD; /* relaxed: only the reader holds */
}

static void count_held(struct tr2_reader *reader, uint32_t change)
{
	tr2_store_rlx(&reader->ring->nheld, reader->ring->nheld + change); /* relaxed: a hint to the writer */
}

/* Finished, but it has abandoned reservations: it waits until they are committed, or forgotten. */
static void hold(struct tr2_reader *reader, uint32_t chunk)
{
	tr2_pool_link(chunk, reader->held);
	reader->held = chunk + 1;
	count_held(reader, 1);
}

static void unhold(struct tr2_reader *reader, uint32_t chunk)
{
	uint32_t before = 0, at = reader->held;

	for (; at && at != chunk + 1; at = tr2_pool_next(at - 1))
		before = at;
	if (!at)
		return;
	if (before)
		tr2_pool_link(before - 1, tr2_pool_next(chunk));
	else
		reader->held = tr2_pool_next(chunk);
	count_held(reader, -1u);
}

static void enter_next(struct tr2_reader *reader)
{
	const struct tlg_chunk *chunk;

	reader->chunk = next_chunk(reader);
	reader->is_new = 1;
	if (reader->chunk) {
		chunk = tr2_shm_chunk(reader->chunk - 1);
		reader->event = chunk->first;
		reader->number = chunk->number;
	}
}

uint32_t tr2_ring_leave_chunk(struct tr2_reader *reader)
{
	uint32_t finished = reader->chunk;

	enter_next(reader);
	if (!finished || !is_held(finished - 1))
		return finished;
	hold(reader, finished - 1);
	return 0;
}

/* The first committed chain from event on, PAD included, or the chunk's end. */
static uint32_t find_from(const struct tlg_chunk *chunk, uint32_t event)
{
	if (event < TLG_CHUNK_EVENTS && is_chain(chunk, event))
		return event;
	return find_chain(chunk, event, TLG_CHUNK_EVENTS);
}

int tr2_ring_look(struct tr2_reader *copy, struct tr2_chain *chain)
{
	chain->skipped = 0;
	for (;;) {
		const struct tlg_chunk *chunk = copy->chunk ? tr2_shm_chunk(copy->chunk - 1) : NULL;
		uint32_t from = copy->event, begin = chunk ? find_from(chunk, from) : 0;

		if (chunk && begin < TLG_CHUNK_EVENTS && head_type(committed_head(chunk, begin)) != TLG_PAD) {
			chain->events = &chunk->events[begin];
			chain->count = chain_length(chunk, begin);
			chain->skipped += begin - from;
			chain->is_first = copy->is_new;
			copy->event = begin;
			return 1;
		}
		if (!next_chunk(copy))
			return 0;
		if (chunk && from < TLG_CHUNK_EVENTS)
			chain->skipped += begin - from;
		enter_next(copy);
	}
}

int tr2_ring_late(struct tr2_reader *reader, struct tr2_chain *chain)
{
	for (uint32_t i = 0; i < reader->nabandoned; i++) {
		struct tr2_abandoned left = reader->abandoned[i];
		const struct tlg_chunk *chunk = tr2_shm_chunk(left.chunk);
		uint32_t event = is_chain(chunk, left.event) ? left.event : find_chain(chunk, left.event, left.end);

		if (event == left.end)
			continue;
		chain->events = &chunk->events[event];
		chain->count = chain_length(chunk, event);
		chain->skipped = 0;
		reader->abandoned[i] = reader->abandoned[--reader->nabandoned];
		if (left.event < event)
			list_abandoned(reader, left.chunk, left.event, event);
		if (event + chain->count < left.end)
			list_abandoned(reader, left.chunk, event + chain->count, left.end);
		return 1;
	}
	return 0;
}

static int has_listed(const struct tr2_reader *reader, uint32_t chunk)
{
	for (uint32_t i = 0; i < reader->nabandoned; i++)
		if (reader->abandoned[i].chunk == chunk)
			return 1;
	return 0;
}

uint32_t tr2_ring_late_taken(struct tr2_reader *reader, const struct tr2_chain *chain)
{
	struct tlg_chunk *chunk = tr2_chunk_of((uintptr_t)chain->events);
	uint32_t index = tr2_shm_chunk_index(chunk);

	if (has_listed(reader, index) || reader->has_unlisted)
		return 0;
	tr2_store_rlx(&chunk->state, TLG_CHUNK_OPEN); /* relaxed: as in is_held() */
	unhold(reader, index);
	return index + 1 == reader->chunk ? 0 : index + 1;
}

/* Numbers wrap; a ring is never so long idle that it matters. */
static int is_upto(const struct tlg_chunk *chunk, uint32_t number)
{
	return (int32_t)(chunk->number - number) <= 0;
}

static void forget_listed(struct tr2_reader *reader, uint32_t number)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reader->nabandoned; i++) {
		if (is_upto(tr2_shm_chunk(reader->abandoned[i].chunk), number))
			reader->ndead++;
		else
			reader->abandoned[kept++] = reader->abandoned[i];
	}
	reader->nabandoned = kept;
}

/* Forget the reservations in chunks up to this number.  Return  the list of finished ones that were held for them */
static uint32_t forget_upto(struct tr2_reader *reader, uint32_t number)
{
	uint32_t chunk, next, released = 0, held = reader->held;

	forget_listed(reader, number);
	if (reader->chunk && is_held(reader->chunk - 1) && is_upto(tr2_shm_chunk(reader->chunk - 1), number))
		tr2_store_rlx(&tr2_shm_chunk(reader->chunk - 1)->state, TLG_CHUNK_OPEN); /* relaxed: as in is_held() */
	reader->held = 0;
	reader->has_unlisted = reader->chunk && is_held(reader->chunk - 1) && !has_listed(reader, reader->chunk - 1);
	for (chunk = held; chunk; chunk = next) {
		int is_over = is_upto(tr2_shm_chunk(chunk - 1), number);
		next = tr2_pool_next(chunk - 1);
		tr2_pool_link(chunk - 1, is_over ? released : reader->held);
		*(is_over ? &released : &reader->held) = chunk;
		reader->has_unlisted |= !is_over && !has_listed(reader, chunk - 1);
		count_held(reader, is_over ? -1u : 0);
	}
	return released;
}

uint32_t tr2_ring_forget_dead(struct tr2_reader *reader)
{
	uint32_t number = tr2_load_rlx(&reader->ring->dead_upto); /* relaxed: it speaks of what is over */

	if (number == reader->forgotten_upto)
		return 0;
	reader->forgotten_upto = number;
	return forget_upto(reader, number);
}

uint32_t tr2_ring_forget_all(struct tr2_reader *reader)
{
	return forget_upto(reader, tr2_ring_latest());   /* the owner, which is gone, has seen less */
}

void tr2_ring_release_chunk(struct tr2_reader *reader, uint32_t chunk)
{
	tr2_add_rlx(&reader->ring->pages_released, tr2_pool_pages(chunk)); /* relaxed: the writer may see it late */
	tr2_store_rlx(&tr2_shm_chunk(chunk)->state, TLG_CHUNK_FREE); /* relaxed: its readers look at the tails, too */
	tr2_pool_release(chunk);
}

void tr2_ring_pin_chunk(struct tr2_reader *reader, uint32_t chunk)
{
	tr2_add_rlx(&reader->ring->pages_released, tr2_pool_pages(chunk)); /* relaxed: the writer may see it late */
	tr2_store_rlx(&tr2_shm_chunk(chunk)->state, TLG_CHUNK_PINNED); /* relaxed: as above */
}

void tr2_ring_unpin_chunk(struct tr2_reader *reader, uint32_t chunk)
{
	tr2_add_rlx(&reader->ring->pages_released, -(uint32_t)tr2_pool_pages(chunk)); /* relaxed: as above */
}

uint32_t tr2_ring_read_pinned(uint32_t chunk, uint32_t event, struct tr2_chain *chain)
{
	const struct tlg_chunk *at = tr2_shm_chunk(chunk);
	uint32_t begin = is_chain(at, event) ? event : find_chain(at, event, TLG_CHUNK_EVENTS);

	if (begin >= TLG_CHUNK_EVENTS || head_type(committed_head(at, begin)) == TLG_PAD)
		return 0;
	*chain = (struct tr2_chain){ &at->events[begin], chain_length(at, begin), begin - event, 0 };
	return begin + chain->count;
}

/* None of the events from the reading position to *end, the writer's, is committed.  Return  0: some are, or a next */
static int find_rest(const struct tr2_reader *reader, const struct tlg_chunk *chunk, uint32_t *end)
{
	uintptr_t position = position_of(reader);   /* an owner that has moved it has released the ring */

	*end = TLG_CHUNK_EVENTS;
	if (tr2_in_chunk(position, sizeof(struct tlg_event)) && tr2_chunk_of(position) == chunk)
		*end = (uint32_t)((struct tlg_event *)position - chunk->events);
	return !next_chunk(reader) && (reader->event == *end || (!committed_head(chunk, reader->event) &&
								 find_chain(chunk, reader->event, *end) == *end));
}

uint32_t tr2_ring_close(struct tr2_reader *reader, int is_dead, unsigned *skipped)
{
	uint32_t closed = reader->chunk, end;

	*skipped = 0;
	tr2_ring_unpark(reader->ring);
	tr2_ring_take_back(reader->ring);
	if (!closed || closed != tr2_ring_current(reader->ring) || is_held(closed - 1) ||
	    !find_rest(reader, tr2_shm_chunk(closed - 1), &end) || (reader->event != end && !is_dead))
		return 0;
	*skipped = end - reader->event;
	reader->ndead += *skipped != 0;
	reader->event = end;
	reader->chunk = 0;
	tr2_store_rlx(&reader->ring->chunk, 0); /* relaxed: as in link_chunk() */
	reader->since = 0;
	tr2_store_rlx(&reader->ring->hot->cur, 0); /* relaxed: nobody records here now */
	tr2_store_rlx(&reader->ring->head->first, 0); /* relaxed: the next owner links the next one */
	return closed;
}

void tr2_ring_park(struct tr2_reader *reader)
{
	struct tlg_chunk *chunk = reader->chunk ? tr2_shm_chunk(reader->chunk - 1) : NULL;
	uintptr_t end = chunk ? (uintptr_t)&chunk->events[reader->event] : 0;

	if (!end || position_of(reader) != end)
		return;
	/* relaxed: not read before the position says so; or just now, by the thread that was parked here before */
	tr2_store_rlx(&reader->ring->parked_at, end);

	/* [M15] release: where it was.  Pairs with tr2_ring_unpark() */
	tr2_cas_acq_rel(&reader->ring->hot->cur, end, TR2_PARKED);
}

int tr2_ring_is_away(const struct tr2_reader *reader)
{
	const struct tlg_chunk *chunk = reader->chunk ? tr2_shm_chunk(reader->chunk - 1) : NULL;
	uintptr_t cur = tr2_load_rlx(&reader->ring->hot->cur); /* relaxed: a hint */

	if (tr2_is_aside(cur))
		return chunk && position_of(reader) == (uintptr_t)&chunk->events[reader->event];
	return !tr2_in_chunk(cur, sizeof(struct tlg_event));
}

int tr2_ring_is_quiet(const struct tr2_reader *reader)
{
	const struct tlg_chunk *chunk = reader->chunk ? tr2_shm_chunk(reader->chunk - 1) : NULL;

	return (chunk ? is_at(reader, &chunk->events[reader->event]) : !next_chunk(reader)) && !reader->nabandoned &&
	       tr2_load_rlx(&reader->ring->dead_upto) == reader->forgotten_upto && /* relaxed: as above */
	       tr2_load_rlx(&reader->ring->head->lost_events) == reader->seen_events; /* relaxed: as above */
}
