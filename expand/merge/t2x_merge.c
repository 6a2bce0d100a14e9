/* SPDX-License-Identifier: MIT */
/* t2x_merge.c - inputs, their streams, what may be handed over. */
#include "t2x_merge.h"

#include <errno.h>
#include <stddef.h>

#include "t2x_live.h"
#include "base/t2x_memory.h"

/* An input. */
struct t2x_source {
	struct t2x_source *next;
	struct t2x_blocks *blocks;
	t2x_next_fn *next_block;
	const char *name;
	struct t2x_map streams;           /* by id */
	struct t2x_live *oldest, *newest;
	struct t2x_heap marks;            /* of the streams that hold something back */
	struct t2x_live_queue *sequence;  /* the queue of a file without blocks */
	uint64_t seen_ns;                 /* an input whose streams have all ended goes on behind this */
	uint64_t rest_ns;                 /* streams that have not begun do not begin before */
	struct t2x_heap_item bound;       /* nothing older will come */
	unsigned open_streams;            /* those that ended without END */
};

struct t2x_merge {
	struct t2x_source *sources, *last_source;
	struct t2x_heap reading;          /* the inputs that are not at their ends, by their bounds */
	uint64_t nsources;
	struct t2x_schedule schedule;
};

struct t2x_merge *t2x_merge_new(struct t2x_context *context)
{
	struct t2x_merge *merge = t2x_calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->schedule.context = context;
	merge->schedule.queues.context = context;
	return merge;
}

int t2x_merge_add(struct t2x_merge *merge, struct t2x_blocks *blocks, const char *name, t2x_next_fn *next)
{
	struct t2x_source *source = t2x_calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source->blocks = blocks;
	source->name = name;
	source->next_block = next;
	source->rest_ns = UINT64_MAX;
	source->bound.order = merge->nsources++;
	if (next && t2x_heap_insert(&merge->reading, &source->bound)) {
		t2x_free(source);
		return -ENOMEM;
	}
	if (merge->last_source)
		merge->last_source->next = source;
	else
		merge->sources = source;
	merge->last_source = source;
	return 0;
}

void t2x_merge_open_streams(const struct t2x_merge *merge, unsigned *streams, unsigned n)
{
	const struct t2x_source *source = merge->sources;

	for (unsigned i = 0; i < n; i++, source = source ? source->next : NULL)
		streams[i] = source ? source->open_streams : 0;
}

/* ---- streams ------------------------------------------------------------------------------------ */

/* The stream is complete, or given up, and its queues are empty: forget it. */
static void retire(struct t2x_merge *merge, struct t2x_live *live)
{
	struct t2x_source *source = live->source;

	*(live->older ? &live->older->newer : &source->oldest) = live->newer;
	*(live->newer ? &live->newer->older : &source->newest) = live->older;
	if (live->mark.place)
		t2x_heap_remove(&source->marks, &live->mark);
	if (live->stream->mark_ns > source->seen_ns)
		source->seen_ns = live->stream->mark_ns;
	source->open_streams += live->stream->is_framed && !live->stream->is_ended;
	t2x_map_remove(&source->streams, live->stream->facts.stream);
	t2x_live_free(&merge->schedule, live);
}

static void complete(struct t2x_merge *merge, struct t2x_live *live)
{
	t2x_live_empty(&merge->schedule, live);
	t2x_stream_end(live->stream);
	retire(merge, live);
}

static struct t2x_live *new_live(struct t2x_merge *merge, struct t2x_source *source, const struct t2x_block *block)
{
	struct t2x_live *live;

	if (source->streams.count >= T2X_MAX_LIVE) {
		/* the queue of a file without blocks holds events of several streams */
		if (source->sequence)
			t2x_live_queue_empty(&merge->schedule, source->sequence);
		t2x_live_empty(&merge->schedule, source->oldest);
		retire(merge, source->oldest);
	}
	live = t2x_live_new(&merge->schedule, source->name, block);
	if (!live)
		return NULL;
	live->source = source;
	if (t2x_heap_insert(&source->marks, &live->mark) || t2x_map_put(&source->streams, block->stream, live)) {
		if (live->mark.place)
			t2x_heap_remove(&source->marks, &live->mark);
		t2x_live_free(&merge->schedule, live);
		return NULL;
	}
	live->older = source->newest;
	*(source->newest ? &source->newest->newer : &source->oldest) = live;
	source->newest = live;
	return live;
}

/* ---- what may be handed over -------------------------------------------------------------------- */

static void find_bound(struct t2x_merge *merge, struct t2x_source *source)
{
	int is_free = source->sequence || !source->marks.n;

	source->bound.key_ns = is_free ? source->seen_ns : source->marks.items[0]->key_ns;
	if (source->bound.key_ns > source->rest_ns)
		source->bound.key_ns = source->rest_ns;
	if (source->bound.place)
		t2x_heap_sift(&merge->reading, &source->bound);
}

/* The input to be read next: the one that holds everything back.  NULL: all are at their ends */
static struct t2x_source *find_next_source(const struct t2x_merge *merge)
{
	char *item = merge->reading.n ? (char *)merge->reading.items[0] : NULL;

	return item ? (struct t2x_source *)(void *)(item - offsetof(struct t2x_source, bound)) : NULL;
}

static void run_top(struct t2x_merge *merge, uint64_t limit_ns)
{
	struct t2x_live_queue *queue = (struct t2x_live_queue *)merge->schedule.heap.items[0];
	uint64_t until = t2x_heap_top_until(&merge->schedule.heap), sum_until;
	struct t2x_live *live = queue->live;

	until = until < limit_ns ? until : limit_ns;
	/* one stream in several inputs: a thread's events are in several queues, so they need their order */
	sum_until = merge->sources->next ? until : limit_ns;
	if (t2x_queue_run(&queue->queue, until, sum_until)) {
		t2x_heap_sift_top(&merge->schedule.heap);
		return;
	}
	t2x_heap_remove(&merge->schedule.heap, &queue->queue.rest);
	if (live && !--live->busy && live->stream->is_ended)
		complete(merge, live);
}

static void release(struct t2x_merge *merge, uint64_t limit_ns)
{
	while (merge->schedule.heap.n && merge->schedule.heap.items[0]->key_ns <= limit_ns)
		run_top(merge, limit_ns);
}

/* Too much is pending: the oldest goes, with it streams whose clock is not known yet. */
static void release_some(struct t2x_merge *merge)
{
	for (struct t2x_source *source = merge->sources; source; source = source->next)
		for (struct t2x_live *live = source->oldest; live; live = live->newer)
			if (!live->has_started)
				t2x_live_start(&merge->schedule, live);
	while (merge->schedule.heap.n && merge->schedule.queues.pending_bytes > T2X_PENDING_BYTES / 2)
		run_top(merge, UINT64_MAX);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static void take_process_block(struct t2x_merge *merge, struct t2x_live *live, const struct t2x_block *block)
{
	struct t2x_stream *stream = live->stream;
	struct t2x_source *source = live->source;

	t2x_stream_read(stream, block->events, block->count);
	if (stream->has_clock && !live->has_started)
		t2x_live_start(&merge->schedule, live);
	if (stream->is_ended && live->mark.place) {
		t2x_heap_remove(&source->marks, &live->mark);
	} else if (stream->mark_ns != live->mark.key_ns && live->mark.place) {
		live->mark.key_ns = stream->mark_ns;
		t2x_heap_sift(&source->marks, &live->mark);
	}
	if (stream->is_ended && !live->busy && block->is_framed)
		complete(merge, live);
	find_bound(merge, source);
}

/* A file without blocks has no marks: it is in order, so its latest event bounds what comes. */
static void follow_sequence(struct t2x_merge *merge, struct t2x_source *source, struct t2x_stream *stream,
			    const struct t2x_block *block)
{
	for (unsigned i = block->count; i--;) {
		const struct tlg_event *event = &block->events[i];
		if (tlg_event_type(event) == TLG_HIT && event->u.hit.when) {
			source->seen_ns = t2x_clock_ns(&stream->clock, event->u.hit.when);
			break;
		}
	}
	find_bound(merge, source);
}

/* The queue that the block belongs to.  Return  NULL: no memory, or too many */
static struct t2x_live_queue *
find_queue(struct t2x_merge *merge, struct t2x_live *live, const struct t2x_block *block)
{
	struct t2x_source *source = live->source;

	if (block->is_framed)
		return t2x_live_find_queue(&merge->schedule, live, block);
	if (!source->sequence)
		source->sequence = t2x_live_queue_new(&merge->schedule, live, block);
	return source->sequence;
}

static void note_pending(struct t2x_context *context, size_t bytes)
{
	context->pending = bytes;
	if (bytes > context->peak_pending)
		context->peak_pending = bytes;
}

static void take_thread_block(struct t2x_merge *merge, struct t2x_live *live, const struct t2x_block *block)
{
	struct t2x_live_queue *queue = find_queue(merge, live, block);
	int was_empty;

	if (!queue) {
		merge->schedule.context->ignored++;
		return;
	}
	t2x_definitions_read(&live->definitions, live->stream, block->events, block->count);
	was_empty = !queue->queue.first;
	if (t2x_queue_append(&queue->queue, live->stream, block)) {
		merge->schedule.error = -ENOMEM;
		return;
	}
	note_pending(merge->schedule.context, merge->schedule.queues.pending_bytes);
	if (was_empty && queue->live)
		live->busy++;
	if (was_empty && live->has_started)
		t2x_live_queue_start(&merge->schedule, queue);
	if (!block->is_framed)
		follow_sequence(merge, live->source, live->stream, block);
	if (merge->schedule.queues.pending_bytes > T2X_PENDING_BYTES)
		release_some(merge);
}

static void take_block(struct t2x_merge *merge, struct t2x_source *source, const struct t2x_block *block)
{
	struct t2x_live *live = t2x_map_get(&source->streams, block->stream);

	source->rest_ns = block->rest_ns ? block->rest_ns : UINT64_MAX;
	if (!live) {
		live = new_live(merge, source, block);
		find_bound(merge, source);
	}
	if (!live)
		merge->schedule.error = -ENOMEM;
	else if (block->tid == TLG_NO_THREAD)
		take_process_block(merge, live, block);
	else
		take_thread_block(merge, live, block);
}

static void read_block(struct t2x_merge *merge, struct t2x_source *source)
{
	struct t2x_block block;

	if (source->next_block(source->blocks, &block)) {
		take_block(merge, source, &block);
		return;
	}
	source->bound.key_ns = UINT64_MAX;
	t2x_heap_remove(&merge->reading, &source->bound);
}

int t2x_merge_push(struct t2x_merge *merge, const struct t2x_block *block)
{
	struct t2x_source *source = merge->sources;
	uint64_t bound = source->bound.key_ns;

	take_block(merge, source, block);
	if (source->bound.key_ns != bound)
		release(merge, source->bound.key_ns);
	return merge->schedule.error;
}

/* All inputs are at their ends: nothing has to wait. */
static void finish_all(struct t2x_merge *merge)
{
	for (struct t2x_source *source = merge->sources; source; source = source->next)
		for (struct t2x_live *live = source->oldest; live; live = live->newer)
			if (!live->has_started)
				t2x_live_start(&merge->schedule, live);
	release(merge, UINT64_MAX);
	for (struct t2x_source *source = merge->sources; source; source = source->next) {
		if (source->sequence)
			t2x_live_queue_empty(&merge->schedule, source->sequence);
		while (source->oldest)
			complete(merge, source->oldest);
	}
}

int t2x_merge_run(struct t2x_merge *merge)
{
	struct t2x_source *source;

	while (!merge->schedule.error && (source = find_next_source(merge))) {
		uint64_t bound = source->bound.key_ns;
		read_block(merge, source);
		if (source->bound.key_ns != bound && (source = find_next_source(merge)))
			release(merge, source->bound.key_ns);
	}
	finish_all(merge);
	return merge->schedule.error;
}

void t2x_merge_free(struct t2x_merge *merge)
{
	struct t2x_source *next;

	if (!merge)
		return;
	for (struct t2x_source *source = merge->sources; source; source = next) {
		next = source->next;
		t2x_free(source->sequence);
		t2x_map_free(&source->streams);
		t2x_heap_free(&source->marks);
		t2x_free(source);
	}
	t2x_heap_free(&merge->reading);
	t2x_heap_free(&merge->schedule.heap);
	t2x_queues_free(&merge->schedule.queues);
	t2x_free(merge);
}
