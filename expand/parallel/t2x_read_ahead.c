/* SPDX-License-Identifier: MIT */
/* t2x_read_ahead.c - see t2x_read_ahead.h. */
#include "t2x_read_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "recover/t2x_join.h"

enum { BATCH_EVENTS = 4096, BATCH_BLOCKS = 256 };

/* Blocks, and what was found out about damage before the first of them. */
struct batch {
	unsigned nblocks, nevents;
	int is_last;                      /* behind it the input ends */
	int is_held;                      /* its block was too large to copy: nothing may be read before it is used */
	char *said;                       /* NULL: nothing, or no memory */
	struct t2x_report counts;
	struct t2x_block blocks[BATCH_BLOCKS];
	struct tlg_event events[BATCH_EVENTS];
};

/*
 * An input that is being read.  The reader owns the batches from filled on, the merge the one that it is at;
 * which these are is guarded by the lock.
 */
struct t2x_read_ahead_queue {
	struct t2x_task task;             /* first: a task's address is this */
	struct t2x_read_ahead *ahead;
	struct t2x_input *input;
	/* the reader's */
	struct t2x_report report;         /* collects what is said ... */
	char *said;                       /* ... here */
	size_t said_bytes;
	struct t2x_block read;            /* the next block, if has_read; is_end: there is none */
	int has_read, is_end;
	/* guarded by the lock */
	unsigned filled, taken;           /* batches, so far */
	int is_held, has_ended;
	/* the merge's */
	unsigned at;                      /* next block of its batch */
	int has_batch;
	struct batch batches[T2X_READ_AHEAD_BATCHES];
};

struct t2x_read_ahead {
	struct t2x_pool *pool;
	struct t2x_report *report;
	struct t2x_read_ahead_queue *queues[T2X_READ_AHEAD_INPUTS];
};

struct t2x_read_ahead *t2x_read_ahead_new(struct t2x_pool *pool, struct t2x_report *report)
{
	struct t2x_read_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return NULL;
	ahead->pool = pool;
	ahead->report = report;
	return ahead;
}

void t2x_read_ahead_add(struct t2x_read_ahead *ahead, struct t2x_input *input)
{
	input->ahead = ahead;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static int is_ready(const struct t2x_task *task)
{
	const struct t2x_read_ahead_queue *queue = (const struct t2x_read_ahead_queue *)task;

	return !queue->has_ended && !queue->is_held && queue->filled - queue->taken < T2X_READ_AHEAD_BATCHES;
}

/* What was counted and said since the last time goes with the batch. */
static void take_messages(struct t2x_read_ahead_queue *queue, struct batch *batch)
{
	FILE *to = queue->report.to;

	batch->counts = queue->report;
	queue->report = (struct t2x_report){ .to = to };
	if (!to || !batch->counts.damages)
		return;
	if (!fflush(to))
		batch->said = strndup(queue->said, queue->said_bytes);
	rewind(to);
}

static void copy_block(struct t2x_read_ahead_queue *queue, struct batch *batch)
{
	struct t2x_block *block = &batch->blocks[batch->nblocks++];

	*block = queue->read;
	/* they are gone when the input is closed */
	block->layout = NULL;
	block->raw = NULL;
	block->own = NULL;
	block->events = batch->events + batch->nevents;
	memcpy(batch->events + batch->nevents, queue->read.events, block->count * sizeof(*block->events));
	batch->nevents += block->count;
	queue->has_read = 0;
}

/* Put the next block into the batch.  Return  0: it does not belong there, or there is none */
static int add_block(struct t2x_read_ahead_queue *queue, struct batch *batch)
{
	if (!queue->has_read) {
		queue->is_end = !t2x_input_next(&queue->input->blocks, &queue->read);
		queue->has_read = 1;
	}
	if (queue->report.damages || queue->report.skipped_blocks) {
		if (batch->nblocks)
			return 0;
		take_messages(queue, batch);
	}
	if (queue->is_end) {
		batch->is_last = 1;
		return 0;
	}
	if (queue->read.count <= BATCH_EVENTS - batch->nevents && batch->nblocks < BATCH_BLOCKS) {
		copy_block(queue, batch);
		return 1;
	}
	if (!batch->nblocks) {
		batch->is_held = 1;
		batch->blocks[batch->nblocks++] = queue->read;
		queue->has_read = 0;
	}
	return 0;
}

/* The task: fill a batch. */
static void fill_batch(struct t2x_task *task)
{
	struct t2x_read_ahead_queue *queue = (struct t2x_read_ahead_queue *)task;
	struct batch *batch = &queue->batches[queue->filled % T2X_READ_AHEAD_BATCHES];

	t2x_pool_unlock(queue->ahead->pool);
	batch->nblocks = batch->nevents = 0;
	batch->is_last = batch->is_held = 0;
	batch->said = NULL;
	batch->counts = (struct t2x_report){ .to = NULL };
	while (add_block(queue, batch))
		;
	t2x_pool_lock(queue->ahead->pool);
	queue->is_held = batch->is_held;
	queue->has_ended = batch->is_last;
	queue->filled++;
}

/* ---- queues -------------------------------------------------------------------------------------- */

static void start_queue(struct t2x_read_ahead *ahead, struct t2x_read_ahead_queue **place, struct t2x_input *input)
{
	struct t2x_read_ahead_queue *queue = malloc(sizeof(*queue));

	if (!queue)
		return;
	memset(queue, 0, offsetof(struct t2x_read_ahead_queue, batches));
	queue->task = (struct t2x_task){ .is_ready = is_ready, .work = fill_batch };
	queue->ahead = ahead;
	queue->input = input;
	queue->report.to = open_memstream(&queue->said, &queue->said_bytes);
	t2x_input_report_to(input, &queue->report);
	input->queue = *place = queue;
	t2x_pool_lock(ahead->pool);
	t2x_pool_add(ahead->pool, &queue->task);
	t2x_pool_unlock(ahead->pool);
}

/* Read the input ahead from now on, if one more can be. */
static void find_queue(struct t2x_read_ahead *ahead, struct t2x_input *input)
{
	for (unsigned i = 0; i < T2X_READ_AHEAD_INPUTS && !input->queue; i++)
		if (!ahead->queues[i])
			start_queue(ahead, &ahead->queues[i], input);
}

static void stop_queue(struct t2x_read_ahead *ahead, struct t2x_read_ahead_queue *queue)
{
	t2x_pool_lock(ahead->pool);
	t2x_pool_remove(ahead->pool, &queue->task);
	t2x_pool_unlock(ahead->pool);
	for (unsigned i = 0; i < T2X_READ_AHEAD_INPUTS; i++)
		if (ahead->queues[i] == queue)
			ahead->queues[i] = NULL;
	for (unsigned i = queue->taken + (unsigned)queue->has_batch; i != queue->filled; i++)
		free(queue->batches[i % T2X_READ_AHEAD_BATCHES].said);
	if (queue->report.to)
		fclose(queue->report.to);
	free(queue->said);
	t2x_input_report_to(queue->input, ahead->report);
	queue->input->queue = NULL;
	free(queue);
}

void t2x_read_ahead_free(struct t2x_read_ahead *ahead)
{
	for (unsigned i = 0; ahead && i < T2X_READ_AHEAD_INPUTS; i++)
		if (ahead->queues[i])
			stop_queue(ahead, ahead->queues[i]);
	free(ahead);
}

/* ---- taking ------------------------------------------------------------------------------------- */

/* Give the batch back, wait for the next, say what comes with it. */
static void turn_batch(struct t2x_read_ahead_queue *queue)
{
	struct t2x_pool *pool = queue->ahead->pool;
	struct batch *batch;

	t2x_pool_lock(pool);
	if (queue->has_batch) {
		queue->taken++;
		queue->is_held = 0;
		t2x_pool_changed(pool);
	}
	while (queue->filled == queue->taken)
		t2x_pool_wait(pool);
	t2x_pool_unlock(pool);
	queue->has_batch = 1;
	queue->at = 0;
	batch = &queue->batches[queue->taken % T2X_READ_AHEAD_BATCHES];
	t2x_report_repeat(queue->ahead->report, batch->said, &batch->counts);
	free(batch->said);
	batch->said = NULL;
}

static int take_block(struct t2x_read_ahead_queue *queue, struct t2x_block *block)
{
	for (;;) {
		const struct batch *batch = &queue->batches[queue->taken % T2X_READ_AHEAD_BATCHES];

		if (queue->has_batch && queue->at < batch->nblocks) {
			*block = batch->blocks[queue->at++];
			return 1;
		}
		if (queue->has_batch && batch->is_last)
			return 0;
		turn_batch(queue);
	}
}

int t2x_read_ahead_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_input *input = (struct t2x_input *)blocks;
	struct t2x_read_ahead *ahead = input->ahead;

	/* what is known of a file that is still closed does not open it; ring files are memory already */
	if (!input->queue && !input->first.count && !input->is_done && !input->joins)
		find_queue(ahead, input);
	if (!input->queue)
		return t2x_join_next(blocks, block);
	if (take_block(input->queue, block))
		return 1;
	stop_queue(ahead, input->queue);
	return 0;
}
