/* SPDX-License-Identifier: MIT */
/* t2x_salvage.c - decides which events of which chunks are still needed; t2x_builder.c makes the blocks. */
#include "t2x_salvage.h"

#include <stdlib.h>
#include <string.h>

#include "tlg_chain.h"
#include "t2x_builder.h"

enum stage { OPENING, CHUNKS, DROPPED, CLOSING, DONE };

/* A chunk, or an abandoned reservation in one. */
struct piece {
	uint64_t opened;
	uint32_t index, number, ring, next;
	uint32_t from, to;                /* events of the chunk that may be needed */
	int is_abandoned;
};

/*
 * A ring, and the thread whose events come next in it.  A flight recorder's pinned chunk has a queue of its own: it is
 * no longer linked to the rest of its ring.
 */
struct queue {
	struct t2x_ring_thread thread;
	struct tlg_ring_tail tail;
	struct tlg_ring_point point;      /* turn 0: its oldest events are those behind the tail */
	uint32_t first_number;            /* of the ring's first chunk, if that is not the tail's; 0: it is */
	uint32_t next;                    /* index + 1 of the chunk that comes next; 0: none has come yet */
	uint32_t ostid, tid;              /* the latest owner's */
	uint64_t start;
	char name[TLG_THREAD_NAME];
	uint32_t pieces;                  /* of this ring that have not been read yet */
	int is_truncated;                 /* skip the rest of the ring: see read_events() */
};

struct t2x_salvage {
	const struct t2x_ring *ring;
	struct t2x_builder *builder;
	enum stage stage;
	struct queue **queues;            /* by the number of the ring; NULL: the ring has nothing left to read */
	unsigned nqueues;                 /* of rings; queues[nqueues] is that of the pinned chunk */
	unsigned pinned;                  /* pinned chunks: only the first counts */
	struct piece *pieces;
	unsigned npieces, piece;          /* how many; the one that is being read */
	unsigned queue;                   /* next queue to report dropped events of */
	unsigned at;                      /* next event of the piece */
	int is_loaded;                    /* the chunk of the piece is in chunk */
	int is_identity;                  /* the latest checkpoint of the pinned chunk identifies the process */
	struct tlg_chunk chunk;
	struct t2x_salvage_totals totals;
};

/* Numbers grow, and may wrap. */
static int is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* ---- what there is ------------------------------------------------------------------------------ */

/* The oldest chunks have been overwritten: the queue begins at the recovery point behind them. */
static void begin_behind(struct queue *queue, const struct tlg_ring_point *point)
{
	struct t2x_ring_thread *thread = &queue->thread;

	queue->point = *point;
	queue->first_number = 0;
	queue->tail.chunk = point->chunk;
	queue->tail.event = point->event;
	queue->tail.seen_events = point->seen_events;
	*thread = (struct t2x_ring_thread){
		.tid = point->tid, .ostid = point->ostid, .start = point->start, .position = point->position,
		.is_repeated = 1,
	};
	memcpy(thread->name, point->name, sizeof(thread->name) - 1);
	for (; thread->nopen < point->nopen && thread->nopen < TLG_POINT_REGIONS; thread->nopen++) {
		thread->open[thread->nopen].when = point->open[thread->nopen].when;
		thread->open[thread->nopen].scope = point->open[thread->nopen].scope;
	}
}

static void read_queue(struct t2x_salvage *salvage, unsigned i, struct queue *queue)
{
	const struct tlg_ring_point *point;
	struct tlg_ring head;

	if (!t2x_ring_get(salvage->ring, i, &head, &queue->tail))
		return;
	if (!queue->tail.chunk || is_before(queue->tail.chunk, head.first_number))
		queue->first_number = head.first_number;
	queue->tid = head.tid;
	queue->ostid = head.ostid;
	queue->start = head.start;
	memcpy(queue->name, head.name, sizeof(queue->name));
	queue->thread = (struct t2x_ring_thread){
		.tid = queue->tail.tid, .ostid = queue->tail.ostid, .start = queue->tail.start,
		.position = queue->tail.position,
	};
	memcpy(queue->thread.name, queue->tail.name, sizeof(queue->thread.name));
	point = t2x_ring_point(&head);
	if (point->turn && point->chunk && (!queue->tail.chunk || is_before(queue->tail.chunk, point->chunk)))
		begin_behind(queue, point);
}

/* A queue takes 5 KB, and of many threads most are idle.  So only rings that have something left get a queue. */
static struct queue *get_queue(struct t2x_salvage *salvage, unsigned i)
{
	if (salvage->queues[i])
		return salvage->queues[i];
	salvage->queues[i] = calloc(1, sizeof(*salvage->queues[i]));
	if (salvage->queues[i] && i < salvage->nqueues)
		read_queue(salvage, i, salvage->queues[i]);
	return salvage->queues[i];
}

static void add_piece(struct t2x_salvage *salvage, const struct piece *piece)
{
	salvage->pieces[salvage->npieces++] = *piece;
}

static void add_pinned(struct t2x_salvage *salvage, struct piece *piece, uint32_t first)
{
	piece->ring = salvage->nqueues;
	piece->from = first;
	if (!salvage->pinned++)
		add_piece(salvage, piece);
}

/* Add the chunk's events from the tail on, and its abandoned reservations, which end up in front of the tail. */
static void add_pieces(struct t2x_salvage *salvage, uint32_t index, const struct tlg_chunk *chunk)
{
	struct tlg_ring_tail *tail = &salvage->queues[chunk->ring]->tail;
	struct piece piece = {
		chunk->opened, index, chunk->number, chunk->ring, chunk->next, 0, TLG_CHUNK_EVENTS, 0
	};

	if (chunk->state == TLG_CHUNK_PINNED && tail->chunk && is_before(chunk->number, tail->chunk)) {
		add_pinned(salvage, &piece, chunk->first);
		return;
	}

	for (uint32_t i = 0; i < tail->nabandoned; i++) {
		struct tlg_ring_abandoned *left = &tail->abandoned[i];
		if (left->chunk != chunk->number || left->event >= left->end || left->end > TLG_CHUNK_EVENTS)
			continue;
		piece.from = left->event;
		piece.to = left->end;
		piece.is_abandoned = 1;
		left->end = 0;
		add_piece(salvage, &piece);
	}
	if (tail->chunk && is_before(chunk->number, tail->chunk))
		return;
	piece.from = chunk->number == tail->chunk ? tail->event : chunk->first;
	piece.to = TLG_CHUNK_EVENTS;
	piece.is_abandoned = 0;
	add_piece(salvage, &piece);
}

static int compare(const void *one, const void *other)
{
	const struct piece *a = one, *b = other;

	if (a->opened != b->opened)
		return a->opened < b->opened ? -1 : 1;
	if (a->number != b->number)
		return is_before(a->number, b->number) ? -1 : 1;
	if (b->is_abandoned != a->is_abandoned)
		return b->is_abandoned - a->is_abandoned;
	return (a->from > b->from) - (a->from < b->from);
}

/* Return  1: the piece is the tail's chunk, the first chunk of a ring that began anew, or linked to the last piece */
static int is_next(const struct queue *queue, const struct piece *piece)
{
	return (queue->tail.chunk && piece->number == queue->tail.chunk) ||
	       (queue->first_number && piece->number == queue->first_number) || queue->next == piece->index + 1;
}

/*
 * The copy of a living process's ring file may lack a chunk that was opened during the copying, but have the next one.
 * This function drops the pieces behind such a gap; the next reader gets them.
 */
static void drop_unlinked(struct t2x_salvage *salvage)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < salvage->npieces; i++) {
		struct piece *piece = &salvage->pieces[i];
		struct queue *queue = salvage->queues[piece->ring];
		if (!piece->is_abandoned && piece->ring < salvage->nqueues) {
			if (!is_next(queue, piece))
				continue;
			queue->next = piece->next;
		}
		salvage->pieces[kept++] = *piece;
	}
	salvage->npieces = kept;
}

static int list_pieces(struct t2x_salvage *salvage)
{
	uint32_t n = salvage->ring->head.chunks_used;
	struct tlg_chunk *chunk = &salvage->chunk;

	salvage->pieces =
		calloc((size_t)n + (size_t)salvage->nqueues * TLG_MAX_ABANDONED + 1, sizeof(*salvage->pieces));
	if (!salvage->pieces)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!t2x_ring_chunk_head(salvage->ring, i, chunk)) {
			salvage->totals.damaged++;
			continue;
		}
		if (chunk->ring >= salvage->nqueues || !chunk->number ||
		    chunk->state < TLG_CHUNK_OPEN || chunk->state > TLG_CHUNK_PINNED ||
		    chunk->first >= TLG_CHUNK_EVENTS)
			continue;
		t2x_builder_set_clock(salvage->builder, chunk->opened, chunk->opened_ns);
		if (t2x_ring_is_in_file(salvage->ring, i, chunk))
			continue;
		if (!get_queue(salvage, chunk->ring) || !get_queue(salvage, salvage->nqueues))
			return 0;
		add_pieces(salvage, i, chunk);
	}
	if (salvage->ring->is_live)
		t2x_builder_set_now(salvage->builder);
	qsort(salvage->pieces, salvage->npieces, sizeof(*salvage->pieces), compare);
	if (salvage->ring->is_live)
		drop_unlinked(salvage);
	for (unsigned i = 0; i < salvage->npieces; i++)
		salvage->queues[salvage->pieces[i].ring]->pieces += !salvage->pieces[i].is_abandoned;
	return 1;
}

struct t2x_salvage *t2x_salvage_new(const struct t2x_ring *ring)
{
	struct t2x_salvage *salvage = calloc(1, sizeof(*salvage));

	if (!salvage)
		return NULL;
	salvage->ring = ring;
	salvage->nqueues = ring->head.rings_used;
	salvage->queues = calloc(salvage->nqueues + 1, sizeof(*salvage->queues));
	salvage->builder = t2x_builder_new(ring);
	if (!salvage->queues || !salvage->builder || !list_pieces(salvage)) {
		t2x_salvage_free(salvage);
		return NULL;
	}
	return salvage;
}

void t2x_salvage_free(struct t2x_salvage *salvage)
{
	if (!salvage)
		return;
	t2x_builder_free(salvage->builder);
	for (unsigned i = 0; salvage->queues && i <= salvage->nqueues; i++)
		free(salvage->queues[i]);
	free(salvage->queues);
	free(salvage->pieces);
	free(salvage);
}

const struct t2x_salvage_totals *t2x_salvage_totals(const struct t2x_salvage *salvage)
{
	return &salvage->totals;
}

void t2x_salvage_follow(struct t2x_salvage *salvage, const struct t2x_block *block)
{
	t2x_builder_follow(salvage->builder, block);
}

/* ---- events of a chunk -------------------------------------------------------------------------- */

/* The ring had dropped so many events in all.  New ones advance the thread's position, as the drain does it. */
static void count_dropped(struct queue *queue, uint64_t events)
{
	if (events <= queue->tail.seen_events)
		return;
	queue->thread.position += (uint32_t)(events - queue->tail.seen_events);
	queue->tail.seen_events = events;
}

/* THREAD: another thread owns the ring from here on; or the same thread has got another name, and its numbers go on. */
static void change_thread(struct queue *queue, const struct tlg_event *chain, uint32_t n)
{
	struct t2x_ring_thread *thread = &queue->thread;
	struct tlg_announce announce;

	tlg_announce_read(&announce, chain, n);
	if (thread->start && thread->start == announce.start && thread->tid == announce.tid) {
		memcpy(thread->name, announce.name, sizeof(thread->name));
		thread->is_renamed = 1;
		return;
	}
	*thread = (struct t2x_ring_thread){ .tid = announce.tid, .ostid = announce.ostid, .start = announce.start };
	memcpy(thread->name, announce.name, sizeof(thread->name));
	if (announce.lost_events > queue->tail.seen_events)
		queue->tail.seen_events = announce.lost_events;
	for (; thread->nopen < announce.nopen && thread->nopen < T2X_RING_THREAD_OPEN; thread->nopen++)
		thread->open[thread->nopen].when = tlg_announce_enter(chain, thread->nopen);
}

/* If the THREAD of the checkpoint's thread was dropped, use what the head of the ring says of its latest owner. */
static void check_thread(struct queue *queue, uint32_t tid)
{
	struct t2x_ring_thread *thread = &queue->thread;

	if (thread->tid == tid && thread->start)
		return;
	memset(thread, 0, sizeof(*thread));
	thread->tid = tid;
	thread->start = queue->start;
	strcpy(thread->name, "?");
	if (queue->tid != tid)
		return;
	thread->ostid = queue->ostid;
	memcpy(thread->name, queue->name, sizeof(thread->name));
}

/*
 * Return  1: the checkpoint identifies the process.  Only these count in the pinned chunk.  A chain without HIT has
 * further arguments of the HIT before it.
 */
static int is_identity(struct t2x_salvage *salvage, const struct tlg_event *event)
{
	struct tlg_ring_scope scope;
	char names[TLG_NAME_MAX * 3];

	if (tlg_event_type(event) == TLG_HIT)
		salvage->is_identity =
			t2x_ring_scope(salvage->ring, event->u.hit.scopeIndex, &scope, names, sizeof(names)) &&
			tlg_style_is_identity(scope.style);
	return salvage->is_identity;
}

/* Append the chain at salvage->at to the builder's block.  Return  0: the block is full, finish it and call again */
static int append_chain(struct t2x_salvage *salvage, struct queue *queue, uint32_t n)
{
	const struct tlg_event *event = &salvage->chunk.events[salvage->at];
	unsigned type = tlg_event_type(event);

	if (type == TLG_THREAD) {
		change_thread(queue, event, n);
		return 1;
	}
	if (type == TLG_GAP) {
		count_dropped(queue, salvage->chunk.lost_events);
		return t2x_builder_gap(salvage->builder, &queue->thread, event);
	}
	if (type != TLG_HIT && type != TLG_MORE) {
		salvage->totals.damaged++;
		return 1;
	}
	if (queue == salvage->queues[salvage->nqueues] && !is_identity(salvage, event)) {
		queue->thread.position += n;
		return 1;
	}
	check_thread(queue, event->u.hit.tid);
	count_dropped(queue, salvage->chunk.lost_events);
	if (!t2x_builder_chain(salvage->builder, &queue->thread, event, n))
		return 0;
	salvage->totals.hits += type == TLG_HIT;
	return 1;
}

/* Skip uncommitted events in front of committed ones: their calls were in flight. */
static void skip_in_flight(struct t2x_salvage *salvage, struct queue *queue, const struct piece *piece, uint32_t end)
{
	salvage->totals.in_flight += end - salvage->at;
	if (!piece->is_abandoned)
		queue->thread.position += end - salvage->at;
	salvage->at = end;
}

/*
 * Append the chains of the piece.  If the process lives, uncommitted events may be committed soon.  So this function
 * stops at the first of them and leaves the rest of the ring to the next reader.
 * Return  0: the piece is finished; 1: the block is full
 */
static int read_events(struct t2x_salvage *salvage, struct queue *queue, const struct piece *piece)
{
	const struct tlg_chunk *chunk = &salvage->chunk;
	uint32_t n, next;

	while (salvage->at < piece->to && !queue->is_truncated) {
		n = tlg_chunk_chain(chunk, salvage->at, piece->to);
		if (n && tlg_event_type(&chunk->events[salvage->at]) == TLG_PAD)
			return 0;
		if (n && !append_chain(salvage, queue, n))
			return 1;
		salvage->at += n;
		if (n)
			continue;
		queue->is_truncated = salvage->ring->is_live && !piece->is_abandoned;
		if (queue->is_truncated)
			return 0;
		next = tlg_chunk_find(chunk, salvage->at, piece->to);
		if (next == piece->to && !piece->is_abandoned && !queue->pieces)
			return 0;
		skip_in_flight(salvage, queue, piece, next);
	}
	return 0;
}

/* ---- pieces ------------------------------------------------------------------------------------- */

/* Return  0: the chunk cannot be read, or has been reused since */
static int load_piece(struct t2x_salvage *salvage, const struct piece *piece)
{
	struct queue *queue = salvage->queues[piece->ring];

	queue->pieces -= !piece->is_abandoned;
	salvage->at = piece->from;
	salvage->is_loaded = 1;
	if (!t2x_ring_chunk(salvage->ring, piece->index, &salvage->chunk) || salvage->chunk.number != piece->number) {
		salvage->totals.damaged++;
		return 0;
	}
	return 1;
}

static void leave_piece(struct t2x_salvage *salvage)
{
	salvage->piece++;
	salvage->is_loaded = 0;
}

/* Deliver the next block of the chunks.  Return  0: all chunks have been read */
static int next_of_chunks(struct t2x_salvage *salvage, struct t2x_block *block)
{
	while (salvage->piece < salvage->npieces) {
		const struct piece *piece = &salvage->pieces[salvage->piece];
		if (!salvage->is_loaded) {
			if (!load_piece(salvage, piece)) {
				leave_piece(salvage);
				continue;
			}
			if (t2x_builder_mark(salvage->builder, piece->opened))
				return t2x_builder_finish(salvage->builder, block);
		}
		if (!read_events(salvage, salvage->queues[piece->ring], piece))
			leave_piece(salvage);
		if (t2x_builder_finish(salvage->builder, block))
			return 1;
	}
	return 0;
}

/*
 * Deliver a block with the next total of overwritten events that the process had not yet put into the table of dropped
 * events.  Return  0: there is none
 */
static int next_of_dropped(struct t2x_salvage *salvage, struct t2x_block *block)
{
	while (salvage->queue < salvage->nqueues) {
		const struct queue *queue = salvage->queues[salvage->queue++];
		const struct tlg_ring_point *point = queue ? &queue->point : NULL;
		if (!point || !point->turn || !point->uncounted ||
		    t2x_ring_lost(salvage->ring, point->tid, TLG_LOSS_OVERWRITTEN) != point->counted)
			continue;
		t2x_builder_loss(salvage->builder, point->tid, TLG_LOSS_OVERWRITTEN, point->counted + point->uncounted);
		return t2x_builder_finish(salvage->builder, block);
	}
	return 0;
}

int t2x_salvage_next(struct t2x_salvage *salvage, struct t2x_block *block)
{
	switch (salvage->stage) {
	case OPENING:
		salvage->stage = CHUNKS;
		t2x_builder_open(salvage->builder);
		return t2x_builder_finish(salvage->builder, block);
	case CHUNKS:
		if (next_of_chunks(salvage, block))
			return 1;
		salvage->stage = DROPPED;
		t2x_builder_losses(salvage->builder);
		if (t2x_builder_finish(salvage->builder, block))
			return 1;
		return t2x_salvage_next(salvage, block);
	case DROPPED:
		if (next_of_dropped(salvage, block))
			return 1;
		salvage->stage = CLOSING;
		return t2x_salvage_next(salvage, block);
	case CLOSING:
		salvage->stage = DONE;
		t2x_builder_close(salvage->builder, salvage->totals.hits, salvage->totals.in_flight);
		return t2x_builder_finish(salvage->builder, block);
	default:
		return 0;
	}
}
