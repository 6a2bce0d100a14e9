/* SPDX-License-Identifier: MIT */
/* t2x_merge.c - inputs, their streams, the streams' queues; and which of their events the model may get. */
#include "t2x_merge.h"

#include <errno.h>
#include <stddef.h>

enum {
	/* what a queue takes of the budget, its entries in the map and the heap included */
	QUEUE_BYTES = sizeof(struct t2x_queue) + T2X_MAP_ENTRY_BYTES + 2 * sizeof(void *),
};

/* A live stream: one that is not at its end, with the queues of its threads. */
struct t2x_live_stream {
	struct t2x_stream *stream;
	struct t2x_source *source;
	struct t2x_live_stream *older, *newer;   /* of the source */
	struct t2x_heap_item mark;        /* the last one, until the stream has ended */
	struct t2x_map queues;            /* by thread */
	unsigned busy;                    /* queues that hold something */
	uint64_t blocks_since_scan;       /* since idle queues were looked for */
	int has_started;                  /* its clock is known: its queues may be run */
};

/* An input. */
struct t2x_source {
	struct t2x_source *next;
	struct t2x_blocks *blocks;
	t2x_next_fn *next_block;
	const char *name;
	struct t2x_map streams;           /* live ones, by id */
	struct t2x_live_stream *oldest, *newest;
	struct t2x_heap marks;            /* of the streams that hold something back */
	struct t2x_queue *sequence;       /* the queue of a file without blocks */
	uint64_t seen_ns;                 /* an input whose streams have all ended goes on behind this */
	uint64_t rest_ns;                 /* streams that have not begun do not begin before */
	struct t2x_heap_item bound;       /* nothing older will come */
	unsigned open_streams;            /* those that ended without END */
};

struct t2x_merge {
	struct t2x_context *context;
	struct t2x_source *sources, *last_source;
	uint64_t nsources;
	struct t2x_heap reading;          /* the inputs that are not at their ends, by their bounds */
	struct t2x_heap resting;          /* queues in front of their next checkpoints */
	struct t2x_queues queues;         /* what they share */
	int error;                        /* 0 or -ENOMEM */
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
	merge->queues.adds = t2x_model_adds(merge->context->model);
	*(merge->last_source ? &merge->last_source->next : &merge->sources) = source;
	merge->last_source = source;
	return 0;
}

void t2x_merge_open_streams(const struct t2x_merge *merge, unsigned *streams, unsigned n)
{
	const struct t2x_source *source = merge->sources;

	for (unsigned i = 0; i < n; i++, source = source ? source->next : NULL)
		streams[i] = source ? source->open_streams : 0;
}

/* ---- queues ------------------------------------------------------------------------------------- */

/* At equal times the earlier stream comes first, and of its threads the main one; no two queues have the same order. */
static struct t2x_queue *new_queue(struct t2x_merge *merge, struct t2x_live_stream *live, const struct t2x_block *block)
{
	uint32_t tid = block->is_framed ? block->tid : 0;
	struct t2x_queue *queue = t2x_calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->live = block->is_framed ? live : NULL;
	queue->queues = &merge->queues;
	queue->tid = tid;
	queue->rest.order = (uint64_t)live->stream->order << 32 | tid;
	return queue;
}

/* Free an empty queue of a thread. */
static void free_queue(struct t2x_merge *merge, struct t2x_queue *queue)
{
	t2x_context_give(merge->context, QUEUE_BYTES);
	t2x_free(queue);
}

/* The queue holds something: bring it to rest in front of its next checkpoint. */
static void start_queue(struct t2x_merge *merge, struct t2x_queue *queue)
{
	if (!t2x_queue_run(queue, 0, 0)) {
		if (queue->live)
			queue->live->busy--;
		return;
	}
	if (t2x_heap_insert(&merge->resting, &queue->rest))
		merge->error = -ENOMEM;
}

/* Nothing more will come: hand over all that the queue holds. */
static void empty_queue(struct t2x_merge *merge, struct t2x_queue *queue)
{
	if (queue->rest.place)
		t2x_heap_remove(&merge->resting, &queue->rest);
	t2x_queue_finish(queue);
}

/*
 * Return  1: the queue can be forgotten with its thread, for it holds nothing and the thread has ended
 * any     1: a thread that has not ended can be forgotten, too, unless it is the main one
 */
static int is_idle(const struct t2x_queue *queue, int any)
{
	const struct t2x_cursor *cursor = queue->cursor;

	if (queue->first || queue->chains.newest || queue->rest.place)
		return 0;
	if (cursor && queue->queues->repeated.cursor == cursor)
		return 0;
	return (any && queue->tid) || (cursor && cursor->is_over);
}

/* Forget idle queues and their threads.  A thread that comes again is called "?" until a cycle names it. */
static void forget_queues(struct t2x_merge *merge, struct t2x_live_stream *live, int any)
{
	struct t2x_queue *idle[256];
	unsigned n;

	do {
		n = 0;
		for (uint32_t i = 0; i < t2x_map_slots(&live->queues) && n < 256; i++) {
			struct t2x_queue *queue = t2x_map_at(&live->queues, i);
			if (queue && is_idle(queue, any))
				idle[n++] = queue;
		}
		for (unsigned i = 0; i < n; i++) {
			t2x_map_remove(&live->queues, idle[i]->tid);
			t2x_stream_forget_thread(live->stream, idle[i]->tid);
			free_queue(merge, idle[i]);
		}
	} while (n == 256);
}

/*
 * Make room for one more queue.  Where room is scarce, idle queues are forgotten, those of ended threads first.
 * Looking for them takes time, so a stream is not searched again before more blocks of it have come.
 * Return  0: there is no room
 */
static int make_room(struct t2x_merge *merge, struct t2x_live_stream *live)
{
	static const unsigned max[2] = { T2X_MAX_THREADS - 1, T2X_MAX_THREADS / 4 * 3 };
	/* room is scarce where a queue and its thread do not fit */
	const size_t scarce = QUEUE_BYTES + t2x_stream_cursor_bytes(merge->context);
	int may_scan = 16 * live->blocks_since_scan >= t2x_map_slots(&live->queues);

	for (int any = 0; any < 2 && may_scan; any++) {
		if (live->queues.count <= max[any] && t2x_context_has(merge->context, scarce))
			break;
		forget_queues(merge, live, any);
		live->blocks_since_scan = 0;
	}
	return live->queues.count < T2X_MAX_THREADS && t2x_context_take(merge->context, QUEUE_BYTES);
}

/* The queue that the block belongs to.  Return  NULL: no memory, or too many threads */
static struct t2x_queue *
find_queue(struct t2x_merge *merge, struct t2x_live_stream *live, const struct t2x_block *block)
{
	struct t2x_queue **sequence = &live->source->sequence, *queue;

	if (!block->is_framed)
		return *sequence ? *sequence : (*sequence = new_queue(merge, live, block));
	live->blocks_since_scan++;
	queue = t2x_map_get(&live->queues, block->tid);
	if (queue || !make_room(merge, live))
		return queue;
	queue = new_queue(merge, live, block);
	if (!queue) {
		t2x_context_give(merge->context, QUEUE_BYTES);
		return NULL;
	}
	/* make the thread now, while there is room: its first checkpoint may come much later */
	queue->cursor = t2x_stream_cursor(live->stream, block->tid);
	if (!queue->cursor || t2x_map_put(&live->queues, block->tid, queue)) {
		free_queue(merge, queue);
		return NULL;
	}
	queue->counts_events = block->counts_events;
	return queue;
}

/* ---- streams ------------------------------------------------------------------------------------ */

/* The stream's clock is known, or will not be: its queues need not wait for it any longer. */
static void start_stream(struct t2x_merge *merge, struct t2x_live_stream *live)
{
	live->has_started = 1;
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++) {
		struct t2x_queue *queue = t2x_map_at(&live->queues, i);
		if (queue && queue->first)
			start_queue(merge, queue);
	}
}

static void start_all_streams(struct t2x_merge *merge)
{
	for (struct t2x_source *source = merge->sources; source; source = source->next)
		for (struct t2x_live_stream *live = source->oldest; live; live = live->newer)
			if (!live->has_started)
				start_stream(merge, live);
}

/* The stream is over, or given up: hand over what its queues hold, and forget it. */
static void retire(struct t2x_merge *merge, struct t2x_live_stream *live, int is_over)
{
	struct t2x_source *source = live->source;
	struct t2x_stream *stream = live->stream;

	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++)
		if (t2x_map_at(&live->queues, i))
			empty_queue(merge, t2x_map_at(&live->queues, i));
	if (is_over)
		t2x_stream_end(stream);
	*(live->older ? &live->older->newer : &source->oldest) = live->newer;
	*(live->newer ? &live->newer->older : &source->newest) = live->older;
	if (live->mark.place)
		t2x_heap_remove(&source->marks, &live->mark);
	if (stream->mark_ns > source->seen_ns)
		source->seen_ns = stream->mark_ns;
	source->open_streams += stream->is_framed && !stream->is_ended;
	t2x_map_remove(&source->streams, stream->id);
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++)
		if (t2x_map_at(&live->queues, i))
			free_queue(merge, t2x_map_at(&live->queues, i));
	t2x_map_free(&live->queues);
	t2x_stream_free(stream);
	t2x_free(live);
}

/* Add the stream that begins with the block.  Return  NULL: no memory */
static struct t2x_live_stream *
new_stream(struct t2x_merge *merge, struct t2x_source *source, const struct t2x_block *block)
{
	struct t2x_live_stream *live = t2x_calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->source = source;
	live->has_started = !block->is_framed;
	live->stream = t2x_stream_new(merge->context, source->name, block->stream, block->pid, block->is_framed);
	if (!live->stream || t2x_heap_insert(&source->marks, &live->mark))
		goto fail;
	if (t2x_map_put(&source->streams, block->stream, live)) {
		t2x_heap_remove(&source->marks, &live->mark);
		goto fail;
	}
	live->stream->is_whole = block->is_framed && block->number == 1;
	live->stream->is_sought = block->is_sought && block->number != 1;
	live->stream->is_part = merge->context->is_part && block->number != 1;
	live->older = source->newest;
	*(source->newest ? &source->newest->newer : &source->oldest) = live;
	source->newest = live;
	return live;
fail:
	if (live->stream)
		t2x_stream_free(live->stream);
	t2x_free(live);
	return NULL;
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

/* Return  the input whose bound is the earliest, and so holds the others back; NULL: all are at their ends */
static struct t2x_source *find_next_source(const struct t2x_merge *merge)
{
	char *item = merge->reading.n ? (char *)merge->reading.items[0] : NULL;

	return item ? (struct t2x_source *)(void *)(item - offsetof(struct t2x_source, bound)) : NULL;
}

/* Run the queue whose next checkpoint is the oldest, up to the next one of another queue. */
static void run_top(struct t2x_merge *merge, uint64_t limit_ns)
{
	struct t2x_queue *queue = (struct t2x_queue *)merge->resting.items[0];
	uint64_t until = t2x_heap_top_until(&merge->resting), sum_until;
	struct t2x_live_stream *live = queue->live;

	until = until < limit_ns ? until : limit_ns;
	/* a stream may be in several inputs, and a thread in several queues: then these have to keep their order */
	sum_until = merge->sources->next ? until : limit_ns;
	if (t2x_queue_run(queue, until, sum_until)) {
		t2x_heap_sift_top(&merge->resting);
		return;
	}
	t2x_heap_remove(&merge->resting, &queue->rest);
	if (live && !--live->busy && live->stream->is_ended)
		retire(merge, live, 1);
}

static void release(struct t2x_merge *merge, uint64_t limit_ns)
{
	while (merge->resting.n && merge->resting.items[0]->key_ns <= limit_ns)
		run_top(merge, limit_ns);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static void take_process_block(struct t2x_merge *merge, struct t2x_live_stream *live, const struct t2x_block *block)
{
	struct t2x_stream *stream = live->stream;
	struct t2x_source *source = live->source;

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
		retire(merge, live, 1);
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

static void take_thread_block(struct t2x_merge *merge, struct t2x_live_stream *live, const struct t2x_block *block)
{
	struct t2x_queue *queue = find_queue(merge, live, block);
	struct t2x_context *context = merge->context;
	int was_empty;

	if (!queue) {
		context->ignored++;
		return;
	}
	t2x_stream_define(live->stream, block->events, block->count);
	was_empty = !queue->first;
	if (t2x_queue_append(queue, live->stream, block)) {
		merge->error = -ENOMEM;
		return;
	}
	context->pending = merge->queues.pending_bytes;
	if (context->pending > context->peak_pending)
		context->peak_pending = context->pending;
	if (was_empty && queue->live)
		live->busy++;
	if (was_empty && live->has_started)
		start_queue(merge, queue);
	if (!block->is_framed)
		follow_sequence(merge, live->source, live->stream, block);
	if (merge->queues.pending_bytes <= T2X_PENDING_BYTES)
		return;
	/* too much is pending: hand over the oldest, even of streams whose clock is not known yet */
	start_all_streams(merge);
	while (merge->resting.n && merge->queues.pending_bytes > T2X_PENDING_BYTES / 2)
		run_top(merge, UINT64_MAX);
}

static void take_block(struct t2x_merge *merge, struct t2x_source *source, const struct t2x_block *block)
{
	struct t2x_live_stream *live = t2x_map_get(&source->streams, block->stream);

	source->rest_ns = block->rest_ns ? block->rest_ns : UINT64_MAX;
	if (!live && source->streams.count >= T2X_MAX_LIVE) {
		/* too many: the oldest is given up; the queue of a file without blocks may hold events of it */
		if (source->sequence)
			empty_queue(merge, source->sequence);
		retire(merge, source->oldest, 0);
	}
	if (!live) {
		live = new_stream(merge, source, block);
		find_bound(merge, source);
	}
	if (!live)
		merge->error = -ENOMEM;
	else if (block->tid == TLG_NO_THREAD)
		take_process_block(merge, live, block);
	else
		take_thread_block(merge, live, block);
}

int t2x_merge_push(struct t2x_merge *merge, const struct t2x_block *block)
{
	struct t2x_source *source = merge->sources;
	uint64_t bound = source->bound.key_ns;

	take_block(merge, source, block);
	if (source->bound.key_ns != bound)
		release(merge, source->bound.key_ns);
	return merge->error;
}

/* All inputs are at their ends: nothing has to wait. */
static void finish_all(struct t2x_merge *merge)
{
	start_all_streams(merge);
	release(merge, UINT64_MAX);
	for (struct t2x_source *source = merge->sources; source; source = source->next) {
		if (source->sequence)
			empty_queue(merge, source->sequence);
		while (source->oldest)
			retire(merge, source->oldest, 1);
	}
}

int t2x_merge_run(struct t2x_merge *merge)
{
	struct t2x_source *source;
	struct t2x_block block;

	while (!merge->error && (source = find_next_source(merge))) {
		uint64_t bound = source->bound.key_ns;

		if (source->next_block(source->blocks, &block)) {
			take_block(merge, source, &block);
		} else {
			source->bound.key_ns = UINT64_MAX;
			t2x_heap_remove(&merge->reading, &source->bound);
		}
		if (source->bound.key_ns != bound && (source = find_next_source(merge)))
			release(merge, source->bound.key_ns);
	}
	finish_all(merge);
	return merge->error;
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
	t2x_heap_free(&merge->resting);
	t2x_queues_free(&merge->queues);
	t2x_free(merge);
}
