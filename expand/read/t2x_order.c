/* SPDX-License-Identifier: MIT */
/* t2x_order.c - an index of the frames.  A heap has the streams that have begun; the others are sorted by start. */
#include "t2x_order.h"

#include <stdlib.h>

#include "t2x_lz4_unit.h"
#include "base/t2x_map.h"

enum { MAX_FRAMES = 1 << 18, MAX_STREAMS = 1 << 14 };   /* of the index: 6 MiB, 4 MiB */

/* A frame of a stream. */
struct frame {
	uint64_t offset, plain;           /* in the file, in the plain bytes */
	uint32_t bytes, next;             /* next: index + 1 of the stream's next frame; 0: there is none */
};

struct stream {
	uint32_t id;
	uint32_t next, last;              /* frames, index + 1 */
	struct t2x_pace pace;
};

struct t2x_order {
	struct frame *frames;
	uint32_t nframes, room;
	struct t2x_map by_id;
	struct stream **streams;          /* sorted by their start */
	unsigned nstreams, max_streams, begun;
	struct stream **heap;             /* those that have begun and have frames left; [0] is being read */
	unsigned nheap;
	uint64_t end, plain_end;          /* end of the frames that are known */
	int is_complete;                  /* the file ends there */
	int is_at_rest;                   /* the rest of the file behind them is being read */
};

/* ---- the index ---------------------------------------------------------------------------------- */

static struct stream *find_stream(struct t2x_order *order, uint32_t id)
{
	struct stream *stream = t2x_map_get(&order->by_id, id), **larger;

	if (stream || order->nstreams == MAX_STREAMS)
		return stream;
	if (order->nstreams == order->max_streams) {
		unsigned room = order->max_streams ? 2 * order->max_streams : 4;
		larger = realloc(order->streams, room * sizeof(struct stream *));
		if (!larger)
			return NULL;
		order->streams = larger;
		order->max_streams = room;
	}
	stream = calloc(1, sizeof(*stream));
	if (!stream || t2x_map_put(&order->by_id, id, stream)) {
		free(stream);
		return NULL;
	}
	stream->id = id;
	order->streams[order->nstreams++] = stream;
	return stream;
}

/* Return  0: no memory, or the index is full */
static int add_frame(struct t2x_order *order, const struct t2x_lz4_unit *unit)
{
	struct stream *stream;

	if (order->nframes == order->room) {
		uint32_t room = order->room ? 2 * order->room : 64;
		struct frame *larger = room <= MAX_FRAMES ? realloc(order->frames, room * sizeof(*larger)) : NULL;
		if (!larger)
			return 0;
		order->frames = larger;
		order->room = room;
	}
	stream = find_stream(order, unit->stream);
	if (!stream)
		return 0;
	order->frames[order->nframes++] = (struct frame){ order->end, order->plain_end, (uint32_t)unit->bytes, 0 };
	*(stream->last ? &order->frames[stream->last - 1].next : &stream->next) = order->nframes;
	stream->last = order->nframes;
	order->end += unit->bytes;
	order->plain_end += unit->plain_bytes;
	return 1;
}

/* Add all frames to the index.  Return  0: the file does not begin with a frame */
static int index_frames(struct t2x_order *order, int fd)
{
	struct t2x_lz4_steps steps = { .fd = fd };
	struct t2x_lz4_unit unit;
	int result;

	while ((result = t2x_lz4_unit_at(&steps, order->end, &unit)) > 0)
		if (!add_frame(order, &unit))
			break;
	order->is_complete = !result && t2x_lz4_is_end(&steps, order->end);
	return order->nframes > 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct stream *one = *(struct stream *const *)a, *other = *(struct stream *const *)b;

	if (one->pace.ns != other->pace.ns)
		return one->pace.ns < other->pace.ns ? -1 : 1;
	return (one->next > other->next) - (one->next < other->next);
}

static void go_to(const struct t2x_order *order, const struct stream *stream, struct t2x_blocks *blocks)
{
	const struct frame *frame = &order->frames[stream->next - 1];

	t2x_blocks_go(blocks, frame->offset, frame->plain, frame->bytes);
}

/* Find the start of the stream's process; if it cannot be found it is 0, so the stream comes first. */
static void find_start(struct t2x_order *order, struct stream *stream, struct t2x_blocks *blocks)
{
	struct t2x_block block;

	if (!stream->pace.start_ns)
		go_to(order, stream, blocks);
	while (!stream->pace.start_ns && t2x_blocks_next(blocks, &block))
		if (block.stream == stream->id)
			t2x_pace_follow(&stream->pace, &block);
	stream->pace.ns = stream->pace.start_ns;
}

static void find_starts(struct t2x_order *order, struct t2x_blocks *blocks, const struct t2x_block *first)
{
	struct stream *stream = first ? t2x_map_get(&order->by_id, first->stream) : NULL;

	if (stream)
		t2x_pace_follow(&stream->pace, first);
	for (unsigned i = 0; i < order->nstreams; i++)
		find_start(order, order->streams[i], blocks);
	qsort(order->streams, order->nstreams, sizeof(struct stream *), compare_starts);
}

struct t2x_order *t2x_order_new(struct t2x_blocks *blocks, uint64_t offset, const struct t2x_block *first)
{
	struct t2x_order *order = blocks->in->lz4 ? calloc(1, sizeof(*order)) : NULL;
	int done;

	if (!order)
		return NULL;
	order->end = offset;
	done = index_frames(order, blocks->in->fd);
	if (done)
		order->heap = malloc(order->nstreams * sizeof(struct stream *));
	if (!order->heap) {
		t2x_order_free(order);
		return NULL;
	}
	find_starts(order, blocks, first);
	if (t2x_order_is_single(order)) {
		free(order->frames);
		order->frames = NULL;
		order->heap[order->nheap++] = order->streams[order->begun++];
	}
	return order;
}

void t2x_order_free(struct t2x_order *order)
{
	if (!order)
		return;
	for (unsigned i = 0; i < order->nstreams; i++)
		free(order->streams[i]);
	t2x_map_free(&order->by_id);
	free(order->streams);
	free(order->heap);
	free(order->frames);
	free(order);
}

int t2x_order_is_single(const struct t2x_order *order)
{
	return order->nstreams == 1;
}

int t2x_order_is_complete(const struct t2x_order *order)
{
	return order->is_complete;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Return  1: a is read before b.  If their times are equal, the one that is earlier in the file comes first */
static int is_before(const struct stream *a, const struct stream *b)
{
	return a->pace.ns != b->pace.ns ? a->pace.ns < b->pace.ns : a->next < b->next;
}

/* Move the stream at i down in the heap until it is not later than those below it. */
static void sift_down(struct t2x_order *order, unsigned i)
{
	struct stream **heap = order->heap, *stream = heap[i];

	for (unsigned child; (child = 2 * i + 1) < order->nheap; i = child) {
		child += child + 1 < order->nheap && is_before(heap[child + 1], heap[child]);
		if (!is_before(heap[child], stream))
			break;
		heap[i] = heap[child];
	}
	heap[i] = stream;
}

static void push_on_top(struct t2x_order *order, struct stream *stream)
{
	unsigned i = order->nheap++;

	for (; i; i = (i - 1) / 2)
		order->heap[i] = order->heap[(i - 1) / 2];
	order->heap[0] = stream;
}

/* The present frame has been read. */
static void leave_frame(struct t2x_order *order)
{
	struct stream *stream = order->heap[0];

	stream->next = order->frames[stream->next - 1].next;
	if (!stream->next)
		order->heap[0] = order->heap[--order->nheap];
	if (order->nheap)
		sift_down(order, 0);
}

/* Read the rest of the file, of which no frames are known.  Return  0: that has been done */
static int go_to_rest(struct t2x_order *order, struct t2x_blocks *blocks)
{
	if (order->is_at_rest)
		return 0;
	order->is_at_rest = 1;
	t2x_blocks_go(blocks, order->end, order->plain_end, UINT64_MAX);
	return 1;
}

int t2x_order_next(struct t2x_order *order, struct t2x_blocks *blocks)
{
	struct stream *next = order->begun < order->nstreams ? order->streams[order->begun] : NULL;

	if (t2x_order_is_single(order))
		return 0;
	if (order->nheap)
		leave_frame(order);
	if (next && (!order->nheap || is_before(next, order->heap[0]))) {
		push_on_top(order, next);
		order->begun++;
	}
	if (!order->nheap)
		return go_to_rest(order, blocks);
	go_to(order, order->heap[0], blocks);
	return 1;
}

void t2x_order_follow(struct t2x_order *order, const struct t2x_block *block)
{
	struct stream *stream = block->tid == TLG_NO_THREAD ? t2x_map_get(&order->by_id, block->stream) : NULL;

	/* A heap may only change the time of the stream on top; a damaged file can have a block in another's frame. */
	if (stream && order->nheap && stream == order->heap[0])
		t2x_pace_follow(&stream->pace, block);
}

uint64_t t2x_order_rest_ns(const struct t2x_order *order)
{
	return order->begun < order->nstreams ? order->streams[order->begun]->pace.ns : UINT64_MAX;
}

uint64_t t2x_order_now_ns(const struct t2x_order *order)
{
	uint64_t ns = t2x_order_rest_ns(order);

	for (unsigned i = 0; i < order->nheap && i < 3; i++)
		if (order->heap[i]->pace.ns < ns)
			ns = order->heap[i]->pace.ns;
	return ns;
}
