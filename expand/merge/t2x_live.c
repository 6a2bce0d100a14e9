/* SPDX-License-Identifier: MIT */
/* t2x_live.c - see t2x_live.h. */
#include "t2x_live.h"

#include <errno.h>

#include "base/t2x_memory.h"

enum {
	/* what a queue takes of the budget, its entries in the map and the heap included */
	QUEUE_BYTES = sizeof(struct t2x_live_queue) + T2X_MAP_ENTRY_BYTES + 2 * sizeof(void *),
};

/* ---- queues -------------------------------------------------------------------------------------- */

struct t2x_live_queue *
t2x_live_queue_new(struct t2x_schedule *schedule, struct t2x_live *live, const struct t2x_block *block)
{
	uint32_t tid = block->is_framed ? block->tid : 0;
	struct t2x_live_queue *queue = t2x_calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->live = block->is_framed ? live : NULL;
	queue->queue.queues = &schedule->queues;
	queue->queue.tid = tid;
	queue->queue.is_framed = block->is_framed;
	queue->queue.rest.order = (uint64_t)live->stream->order << 32 | tid;
	return queue;
}

static void free_queue(struct t2x_schedule *schedule, struct t2x_live_queue *queue)
{
	if (queue->live)
		t2x_context_give(schedule->context, QUEUE_BYTES);
	t2x_free(queue);
}

/*
 * Whether the queue can be forgotten with its thread: it holds nothing, and the thread has ended.
 * any  threads that have not ended, too, but for the main one
 */
static int is_idle(const struct t2x_live_queue *live_queue, int any)
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
static void forget_queues(struct t2x_schedule *schedule, struct t2x_live *live, int any)
{
	struct t2x_live_queue *idle[256];
	unsigned n;

	do {
		n = 0;
		for (uint32_t i = 0; i < t2x_map_slots(&live->queues) && n < 256; i++) {
			struct t2x_live_queue *queue = t2x_map_at(&live->queues, i);
			if (queue && is_idle(queue, any))
				idle[n++] = queue;
		}
		for (unsigned i = 0; i < n; i++) {
			t2x_map_remove(&live->queues, idle[i]->queue.tid);
			t2x_stream_forget_thread(live->stream, idle[i]->queue.tid);
			free_queue(schedule, idle[i]);
		}
	} while (n == 256);
}

/*
 * Make room for one more queue: where it is scarce idle ones are forgotten, those of ended threads first.  Looking for
 * them takes time, so it is not done again before a number of blocks has come.  Return  0: there is no room
 */
static int make_room(struct t2x_schedule *schedule, struct t2x_live *live)
{
	static const unsigned max[2] = { T2X_MAX_THREADS - 1, T2X_MAX_THREADS / 4 * 3 };
	/* where less is left, room is scarce: a queue and its thread */
	const size_t scarce = QUEUE_BYTES + t2x_stream_track_bytes(schedule->context);
	int may_scan = 16 * live->blocks_since_scan >= t2x_map_slots(&live->queues);

	for (int any = 0; any < 2 && may_scan; any++) {
		if (live->queues.count <= max[any] && t2x_context_has(schedule->context, scarce))
			break;
		forget_queues(schedule, live, any);
		live->blocks_since_scan = 0;
	}
	return live->queues.count < T2X_MAX_THREADS && t2x_context_take(schedule->context, QUEUE_BYTES);
}

struct t2x_live_queue *
t2x_live_find_queue(struct t2x_schedule *schedule, struct t2x_live *live, const struct t2x_block *block)
{
	struct t2x_live_queue *queue = t2x_map_get(&live->queues, block->tid);

	live->blocks_since_scan++;
	if (queue)
		return queue;
	if (!make_room(schedule, live))
		return NULL;
	queue = t2x_live_queue_new(schedule, live, block);
	if (!queue) {
		t2x_context_give(schedule->context, QUEUE_BYTES);
		return NULL;
	}
	/* the thread, too, now that there is room: its first checkpoint may come much later */
	queue->queue.track = t2x_stream_track(live->stream, block->tid);
	if (!queue->queue.track || t2x_map_put(&live->queues, block->tid, queue)) {
		free_queue(schedule, queue);
		return NULL;
	}
	queue->queue.counts_events = block->counts_events;
	return queue;
}

void t2x_live_queue_start(struct t2x_schedule *schedule, struct t2x_live_queue *queue)
{
	if (!t2x_queue_run(&queue->queue, 0, 0)) {
		if (queue->live)
			queue->live->busy--;
		return;
	}
	if (t2x_heap_insert(&schedule->heap, &queue->queue.rest))
		schedule->error = -ENOMEM;
}

void t2x_live_queue_empty(struct t2x_schedule *schedule, struct t2x_live_queue *queue)
{
	if (queue->queue.rest.place)
		t2x_heap_remove(&schedule->heap, &queue->queue.rest);
	t2x_queue_finish(&queue->queue);
}

/* ---- streams ------------------------------------------------------------------------------------ */

struct t2x_live *t2x_live_new(struct t2x_schedule *schedule, const char *input, const struct t2x_block *block)
{
	struct t2x_live *live = t2x_calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->stream = t2x_stream_new(schedule->context, input, block->stream, block->pid, block->is_framed);
	if (!live->stream) {
		t2x_free(live);
		return NULL;
	}
	live->stream->is_whole = block->is_framed && block->number == 1;
	live->stream->is_sought = block->is_sought && block->number != 1;
	live->stream->is_part = schedule->context->is_part && block->number != 1;
	live->has_started = !block->is_framed;
	return live;
}

void t2x_live_start(struct t2x_schedule *schedule, struct t2x_live *live)
{
	live->has_started = 1;
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++) {
		struct t2x_live_queue *queue = t2x_map_at(&live->queues, i);
		if (queue && queue->queue.first)
			t2x_live_queue_start(schedule, queue);
	}
}

void t2x_live_empty(struct t2x_schedule *schedule, struct t2x_live *live)
{
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++) {
		struct t2x_live_queue *queue = t2x_map_at(&live->queues, i);
		if (queue)
			t2x_live_queue_empty(schedule, queue);
	}
}

void t2x_live_free(struct t2x_schedule *schedule, struct t2x_live *live)
{
	for (uint32_t i = 0; i < t2x_map_slots(&live->queues); i++) {
		struct t2x_live_queue *queue = t2x_map_at(&live->queues, i);
		if (queue)
			free_queue(schedule, queue);
	}
	t2x_map_free(&live->queues);
	t2x_definitions_forget(&live->definitions, schedule->context);
	t2x_stream_free(live->stream);
	t2x_free(live);
}
