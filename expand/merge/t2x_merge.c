/* SPDX-License-Identifier: MIT */
/* t2x_merge.c - inputs, their streams, and what may go. */
#include "t2x_merge.h"

#include <errno.h>

#include "t2x_definitions.h"
#include "base/t2x_memory.h"

/* A stream and the queues of its threads. */
struct live {
	struct t2x_stream *stream;
	struct t2x_definitions definitions;
	struct source *source;
	struct live *older, *newer;       /* of the source */
	struct t2x_heap_item mark;        /* the last one, until the stream has ended */
	struct t2x_map queues;
	unsigned busy;                    /* queues that hold something */
	uint64_t blocks_since_scan;       /* since idle queues were looked for */
	int has_started;                  /* its clock is known: its queues may be run */
};

struct live_queue {
	struct t2x_queue queue;             /* first: a queue's address is this */
	struct live *live;                /* NULL: the queue of a file without blocks */
};

/* What a queue takes of the budget, its entries in the map and the heap included. */
enum { QUEUE_BYTES = sizeof(struct live_queue) + T2X_MAP_ENTRY_BYTES + 2 * sizeof(void *) };

/* An input. */
struct source {
	struct source *next;
	struct t2x_blocks *blocks;
	t2x_next_fn *next_block;
	const char *name;
	struct t2x_map streams;           /* by id */
	struct live *oldest, *newest;
	struct t2x_heap marks;            /* of the streams that hold something back */
	struct live_queue *sequence;         /* the queue of a file without blocks */
	uint64_t seen_ns;                 /* an input whose streams have all ended goes on behind this */
	uint64_t bound_ns;                /* nothing older will come */
	unsigned open_streams;            /* those that ended without END */
	int at_end;
};

struct t2x_merge {
	struct t2x_context *context;
	struct source *sources, *last_source;
	struct t2x_heap heap;
	struct t2x_queues queues;
	int error;
};

struct t2x_merge *t2x_merge_new(struct t2x_context *context)
{
	struct t2x_merge *merge = t2x_calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->context = context;
	merge->queues.context = context;
	return merge;
}

int t2x_merge_add(struct t2x_merge *merge, struct t2x_blocks *blocks, const char *name, t2x_next_fn *next)
{
	struct source *source = t2x_calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source->blocks = blocks;
	source->name = name;
	source->next_block = next;
	source->at_end = !next;
	if (merge->last_source)
		merge->last_source->next = source;
	else
		merge->sources = source;
	merge->last_source = source;
	return 0;
}

void t2x_merge_open_streams(const struct t2x_merge *merge, unsigned *streams, unsigned n)
{
	const struct source *source = merge->sources;

	for (unsigned i = 0; i < n; i++, source = source ? source->next : NULL)
		streams[i] = source ? source->open_streams : 0;
}

/* ---- queues -------------------------------------------------------------------------------------- */

/* The queue of a file without blocks is ordered as one of the file's first stream.  No two have the same order. */
static struct live_queue *new_queue(struct t2x_merge *merge, struct live *live, const struct t2x_block *block)
{
	uint32_t tid = block->is_framed ? block->tid : 0;
	struct live_queue *queue = t2x_calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->live = block->is_framed ? live : NULL;
	queue->queue.queues = &merge->queues;
	queue->queue.tid = tid;
	queue->queue.is_framed = block->is_framed;
	queue->queue.rest.order = (uint64_t)live->stream->order << 32 | tid;
	return queue;
}

static void free_queue(struct t2x_merge *merge, struct live_queue *queue)
{
	if (queue->live)
		t2x_context_give(merge->context, QUEUE_BYTES);
	t2x_free(queue);
}

/*
 * Whether the queue can be forgotten with its thread: it holds nothing, and the thread has ended.
 * any  threads that have not ended, too, but for the main one
 */
static int is_idle(const struct live_queue *live_queue, int any)
{
	const struct t2x_queue *queue = &live_queue->queue;
	const struct t2x_track *track = queue->track;

	if (queue->first || queue->chains.newest || queue->rest.place)
		return 0;
	if (track && queue->queues->repeated.track == track)
		return 0;
	return (any && queue->tid) || (track && track->is_over);
}

/* Forget idle queues and their threads.  A thread that comes again is called "?" until a cycle names it. */
static void forget_queues(struct t2x_merge *merge, struct live *live, int any)
{
	struct live_queue *idle[256];
	unsigned n;

	do {
		n = 0;
		for (uint32_t i = 0; i < t2x_map_slots(&live->queues) && n < 256; i++) {
			struct live_queue *queue = t2x_map_at(&live->queues, i);
			if (queue && is_idle(queue, any))
				idle[n++] = queue;
		}
		for (unsigned i = 0; i < n; i++) {
			t2x_map_remove(&live->queues, idle[i]->queue.tid);
			t2x_stream_forget_thread(live->stream, idle[i]->queue.tid);
			free_queue(merge, idle[i]);
		}
	} while (n == 256);
}

/*
 * Make room for one more queue: where it is scarce idle ones are forgotten, those of ended threads first.  Looking for
 * them takes time, so it is not done again before a number of blocks has come.  Return  0: there is no room
 */
static int make_room(struct t2x_merge *merge, struct live *live)
{
	static const unsigned max[2] = { T2X_MAX_THREADS - 1, T2X_MAX_THREADS / 4 * 3 };
	int may_scan = 16 * live->blocks_since_scan >= t2x_map_slots(&live->queues);

	for (int any = 0; any < 2 && may_scan; any++) {
		if (live->queues.count <= max[any] && t2x_context_has(merge->context, 4 * QUEUE_BYTES))
			break;
		forget_queues(merge, live, any);
		live->blocks_since_scan = 0;
	}
	return live->queues.count < T2X_MAX_THREADS && t2x_context_take(merge->context, QUEUE_BYTES);
}

/* The queue, NULL without memory; one queue for the whole of a file without blocks. */
static struct live_queue *find_queue(struct t2x_merge *merge, struct live *live, const struct t2x_block *block)
{
	struct source *source = live->source;
	struct live_queue *queue;

	if (!block->is_framed) {
		if (!source->sequence)
			source->sequence = new_queue(merge, live, block);
		return source->sequence;
	}
	queue = t2x_map_get(&live->queues, block->tid);
	live->blocks_since_scan++;
	if (queue)
		return queue;
	if (!make_room(merge, live))
		return NULL;
	queue = new_queue(merge, live, block);
	if (!queue || t2x_map_put(&live->queues, block->tid, queue)) {
		t2x_context_give(merge->context, QUEUE_BYTES);
		t2x_free(queue);
		return NULL;
	}
	queue->queue.counts_events = block->counts_events;
	return queue;
}

/* The queue holds something: bring it to rest and into the heap. */
static void start_queue(struct t2x_merge *merge, struct live_queue *queue)
{
	if (!t2x_queue_run(&queue->queue, 0)) {
		if (queue->live)
			queue->live->busy--;
		return;
	}
	if (t2x_heap_insert(&merge->heap, &queue->queue.rest))
		merge->error = -ENOMEM;
}

/* ---- streams ------------------------------------------------------------------------------------ */

/* The clock of the stream is known, or will not be: its queues need not wait for it any longer. */
static void start_stream(struct t2x_merge *merge, struct live *live)
{
	live->has_started = 1;
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++) {
		struct live_queue *queue = t2x_map_at(&live->queues, i);
		if (queue && queue->queue.first)
			start_queue(merge, queue);
	}
}

static void empty_queue(struct t2x_merge *merge, struct live_queue *queue)
{
	if (queue->queue.rest.place)
		t2x_heap_remove(&merge->heap, &queue->queue.rest);
	t2x_queue_finish(&queue->queue);
}

static void empty_queues(struct t2x_merge *merge, struct live *live)
{
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++) {
		struct live_queue *queue = t2x_map_at(&live->queues, i);
		if (queue)
			empty_queue(merge, queue);
	}
}

static void free_live(struct t2x_merge *merge, struct live *live)
{
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++) {
		struct live_queue *queue = t2x_map_at(&live->queues, i);
		if (queue)
			free_queue(merge, queue);
	}
	t2x_map_free(&live->queues);
	t2x_definitions_forget(&live->definitions, merge->context);
	t2x_stream_free(live->stream);
	t2x_free(live);
}

/* The stream is complete, or given up, and its queues are empty: forget it. */
static void retire(struct t2x_merge *merge, struct live *live)
{
	struct source *source = live->source;

	*(live->older ? &live->older->newer : &source->oldest) = live->newer;
	*(live->newer ? &live->newer->older : &source->newest) = live->older;
	if (live->mark.place)
		t2x_heap_remove(&source->marks, &live->mark);
	if (live->stream->mark_ns > source->seen_ns)
		source->seen_ns = live->stream->mark_ns;
	source->open_streams += live->stream->is_framed && !live->stream->is_ended;
	t2x_map_remove(&source->streams, live->stream->facts.stream);
	free_live(merge, live);
}

static void complete(struct t2x_merge *merge, struct live *live)
{
	empty_queues(merge, live);
	t2x_stream_end(live->stream);
	retire(merge, live);
}

static struct live *new_live(struct t2x_merge *merge, struct source *source, const struct t2x_block *block)
{
	struct live *live;

	if (source->streams.count >= T2X_MAX_LIVE) {
		/* the queue of a file without blocks holds events of several streams */
		if (source->sequence)
			empty_queue(merge, source->sequence);
		empty_queues(merge, source->oldest);
		retire(merge, source->oldest);
	}
	live = t2x_calloc(1, sizeof(*live));
	if (!live)
		return NULL;
	live->source = source;
	live->stream = t2x_stream_new(merge->context, source->name, block->stream, block->pid, block->is_framed);
	if (!live->stream || t2x_heap_insert(&source->marks, &live->mark) ||
	    t2x_map_put(&source->streams, block->stream, live)) {
		if (live->mark.place)
			t2x_heap_remove(&source->marks, &live->mark);
		if (live->stream)
			t2x_stream_free(live->stream);
		t2x_free(live);
		return NULL;
	}
	live->stream->is_whole = block->is_framed && block->number == 1;
	live->has_started = !block->is_framed;
	live->older = source->newest;
	*(source->newest ? &source->newest->newer : &source->oldest) = live;
	source->newest = live;
	return live;
}

/* ---- what may go -------------------------------------------------------------------------------- */

static void find_bound(struct source *source)
{
	int is_free = source->sequence || !source->marks.n;

	source->bound_ns = is_free ? source->seen_ns : source->marks.items[0]->key_ns;
}

/* The input to be read next: the one that holds everything back.  NULL: all are at their ends */
static struct source *find_next_source(const struct t2x_merge *merge)
{
	struct source *next = NULL;

	for (struct source *source = merge->sources; source; source = source->next)
		if (!source->at_end && (!next || source->bound_ns < next->bound_ns))
			next = source;
	return next;
}

static void run_top(struct t2x_merge *merge, uint64_t limit_ns)
{
	struct live_queue *queue = (struct live_queue *)merge->heap.items[0];
	uint64_t until = t2x_heap_top_until(&merge->heap);
	struct live *live = queue->live;

	if (t2x_queue_run(&queue->queue, until < limit_ns ? until : limit_ns)) {
		t2x_heap_sift_top(&merge->heap);
		return;
	}
	t2x_heap_remove(&merge->heap, &queue->queue.rest);
	if (live && !--live->busy && live->stream->is_ended)
		complete(merge, live);
}

static void release(struct t2x_merge *merge, uint64_t limit_ns)
{
	while (merge->heap.n && merge->heap.items[0]->key_ns <= limit_ns)
		run_top(merge, limit_ns);
}

/* Too much is pending: the oldest goes, with it streams whose clock is not known yet. */
static void release_some(struct t2x_merge *merge)
{
	for (struct source *source = merge->sources; source; source = source->next)
		for (struct live *live = source->oldest; live; live = live->newer)
			if (!live->has_started)
				start_stream(merge, live);
	while (merge->heap.n && merge->queues.pending_bytes > T2X_PENDING_BYTES / 2)
		run_top(merge, UINT64_MAX);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static void take_process_block(struct t2x_merge *merge, struct live *live, const struct t2x_block *block)
{
	struct t2x_stream *stream = live->stream;
	struct source *source = live->source;

	t2x_stream_read(stream, block->events, block->count);
	if (stream->has_clock && !live->has_started)
		start_stream(merge, live);
	if (stream->is_ended && live->mark.place) {
		t2x_heap_remove(&source->marks, &live->mark);
	} else if (stream->mark_ns != live->mark.key_ns && live->mark.place) {
		live->mark.key_ns = stream->mark_ns;
		t2x_heap_sift(&source->marks, &live->mark);
	}
	if (stream->is_ended && !live->busy && block->is_framed)
		complete(merge, live);
	find_bound(source);
}

/* A file without blocks has no marks: it is in order, so its latest event bounds what comes. */
static void follow_sequence(struct source *source, struct t2x_stream *stream, const struct t2x_block *block)
{
	for (unsigned i = block->count; i--;) {
		const struct tlg_event *event = &block->events[i];
		if (tlg_event_type(event) == TLG_HIT && event->u.hit.when) {
			source->seen_ns = t2x_clock_ns(&stream->clock, event->u.hit.when);
			break;
		}
	}
	find_bound(source);
}

static void take_thread_block(struct t2x_merge *merge, struct live *live, const struct t2x_block *block)
{
	struct live_queue *queue = find_queue(merge, live, block);
	int was_empty;

	if (!queue) {
		merge->context->ignored++;
		return;
	}
	t2x_definitions_read(&live->definitions, live->stream, block->events, block->count);
	was_empty = !queue->queue.first;
	if (t2x_queue_append(&queue->queue, live->stream, block)) {
		merge->error = -ENOMEM;
		return;
	}
	if (was_empty && queue->live)
		live->busy++;
	if (was_empty && live->has_started)
		start_queue(merge, queue);
	if (!block->is_framed)
		follow_sequence(live->source, live->stream, block);
	if (merge->queues.pending_bytes > T2X_PENDING_BYTES)
		release_some(merge);
}

static void take_block(struct t2x_merge *merge, struct source *source, const struct t2x_block *block)
{
	struct live *live = t2x_map_get(&source->streams, block->stream);

	if (!live) {
		live = new_live(merge, source, block);
		find_bound(source);
	}
	if (!live)
		merge->error = -ENOMEM;
	else if (block->tid == TLG_NO_THREAD)
		take_process_block(merge, live, block);
	else
		take_thread_block(merge, live, block);
}

static void read_block(struct t2x_merge *merge, struct source *source)
{
	struct t2x_block block;

	if (source->next_block(source->blocks, &block)) {
		take_block(merge, source, &block);
		return;
	}
	source->at_end = 1;
	source->bound_ns = UINT64_MAX;
}

int t2x_merge_push(struct t2x_merge *merge, const struct t2x_block *block)
{
	struct source *source = merge->sources;
	uint64_t bound = source->bound_ns;

	take_block(merge, source, block);
	if (source->bound_ns != bound)
		release(merge, source->bound_ns);
	return merge->error;
}

/* All inputs are at their ends: nothing has to wait. */
static void finish_all(struct t2x_merge *merge)
{
	for (struct source *source = merge->sources; source; source = source->next)
		for (struct live *live = source->oldest; live; live = live->newer)
			if (!live->has_started)
				start_stream(merge, live);
	release(merge, UINT64_MAX);
	for (struct source *source = merge->sources; source; source = source->next) {
		if (source->sequence)
			empty_queue(merge, source->sequence);
		while (source->oldest)
			complete(merge, source->oldest);
	}
}

int t2x_merge_run(struct t2x_merge *merge)
{
	struct source *source;

	while (!merge->error && (source = find_next_source(merge))) {
		uint64_t bound = source->bound_ns;
		read_block(merge, source);
		if (source->bound_ns != bound && (source = find_next_source(merge)))
			release(merge, source->bound_ns);
	}
	finish_all(merge);
	return merge->error;
}

void t2x_merge_free(struct t2x_merge *merge)
{
	struct source *next;

	if (!merge)
		return;
	for (struct source *source = merge->sources; source; source = next) {
		next = source->next;
		t2x_free(source->sequence);
		t2x_map_free(&source->streams);
		t2x_heap_free(&source->marks);
		t2x_free(source);
	}
	t2x_heap_free(&merge->heap);
	t2x_queues_free(&merge->queues);
	t2x_free(merge);
}
