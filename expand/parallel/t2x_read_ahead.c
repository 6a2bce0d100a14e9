/* SPDX-License-Identifier: MIT */
/* t2x_read_ahead.c - see t2x_read_ahead.h. */
#include "t2x_read_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "recover/t2x_join.h"

enum { BATCH_EVENTS = 4096, BATCH_BLOCKS = 256 };

/* Blocks, and messages about damage in front of the first of them. */
struct batch {
	unsigned nblocks, nevents;
	int is_last;                      /* the input ends behind it */
	int is_borrowed;                  /* its block was too large to copy: read on when the merge has used it */
	char *messages;                   /* NULL: none, or no memory */
	struct t2x_report counts;
	struct t2x_block blocks[BATCH_BLOCKS];
	struct tlg_event events[BATCH_EVENTS];
};

/*
 * An input that is being read ahead.  The reader owns the batches from number filled on; the merge owns the batch of
 * number released.  The lock guards these two numbers.
 */
struct t2x_read_ahead_queue {
	struct t2x_task task;             /* first: a task's address is this */
	struct t2x_read_ahead *ahead;
	struct t2x_input *input;
	/* only for the reader */
	struct t2x_report report;         /* collects messages ... */
	char *messages;                   /* ... here */
	size_t messages_bytes;
	struct t2x_block read;            /* the next block, if has_read; is_end: there is none */
	int has_read, is_end;
	/* guarded by the lock */
	unsigned filled, released;        /* batches, so far */
	int is_borrowed, has_ended;
	/* only for the merge */
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

	return !queue->has_ended && !queue->is_borrowed && queue->filled - queue->released < T2X_READ_AHEAD_BATCHES;
}

/* Move the counts and messages since the last batch into this one. */
static void move_messages(struct t2x_read_ahead_queue *queue, struct batch *batch)
{
	FILE *to = queue->report.to;

	batch->counts = queue->report;
	queue->report = (struct t2x_report){ .to = to };
	if (!to || !batch->counts.damages)
		return;
	if (!fflush(to))
		batch->messages = strndup(queue->messages, queue->messages_bytes);
	rewind(to);
}

static void copy_block(struct t2x_read_ahead_queue *queue, struct batch *batch)
{
	struct t2x_block *block = &batch->blocks[batch->nblocks++];

	*block = queue->read;
	/* These pointers do not outlive the input. */
	block->layout = NULL;
	block->raw = NULL;
	block->own = NULL;
	block->events = batch->events + batch->nevents;
	memcpy(batch->events + batch->nevents, queue->read.events, block->count * sizeof(*block->events));
	batch->nevents += block->count;
	queue->has_read = 0;
}

/* Put the next block into the batch.  Return  0: the batch is complete, or the input has ended */
static int add_block(struct t2x_read_ahead_queue *queue, struct batch *batch)
{
	if (!queue->has_read) {
		queue->is_end = !t2x_input_next(&queue->input->blocks, &queue->read);
		queue->has_read = 1;
	}
	if (queue->report.damages || queue->report.skipped_blocks) {
		if (batch->nblocks)
			return 0;
		move_messages(queue, batch);
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
		batch->is_borrowed = 1;
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
	batch->is_last = batch->is_borrowed = 0;
	batch->messages = NULL;
	batch->counts = (struct t2x_report){ .to = NULL };
	while (add_block(queue, batch))
		;
	t2x_pool_lock(queue->ahead->pool);
	queue->is_borrowed = batch->is_borrowed;
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
	queue->report.to = open_memstream(&queue->messages, &queue->messages_bytes);
	t2x_input_report_to(input, &queue->report);
	t2x_input_keep_open(input);
	input->queue = *place = queue;
	t2x_pool_lock(ahead->pool);
	t2x_pool_add(ahead->pool, &queue->task);
	t2x_pool_unlock(ahead->pool);
}

/* Read the input ahead from now on, if fewer than T2X_READ_AHEAD_INPUTS are. */
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
	for (unsigned i = queue->released + (unsigned)queue->has_batch; i != queue->filled; i++)
		free(queue->batches[i % T2X_READ_AHEAD_BATCHES].messages);
	if (queue->report.to)
		fclose(queue->report.to);
	free(queue->messages);
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

/* ---- delivering --------------------------------------------------------------------------------- */

/* Release the batch to the reader, wait for the next one, and report its messages. */
static void next_batch(struct t2x_read_ahead_queue *queue)
{
	struct t2x_pool *pool = queue->ahead->pool;
	struct batch *batch;

	t2x_pool_lock(pool);
	if (queue->has_batch) {
		queue->released++;
		queue->is_borrowed = 0;
		t2x_pool_changed(pool);
	}
	while (queue->filled == queue->released)
		t2x_pool_wait(pool);
	t2x_pool_unlock(pool);
	queue->has_batch = 1;
	queue->at = 0;
	batch = &queue->batches[queue->released % T2X_READ_AHEAD_BATCHES];
	t2x_report_repeat(queue->ahead->report, batch->messages, &batch->counts);
	free(batch->messages);
	batch->messages = NULL;
}

static int next_block(struct t2x_read_ahead_queue *queue, struct t2x_block *block)
{
	for (;;) {
		const struct batch *batch = &queue->batches[queue->released % T2X_READ_AHEAD_BATCHES];

		if (queue->has_batch && queue->at < batch->nblocks) {
			*block = batch->blocks[queue->at++];
			return 1;
		}
		if (queue->has_batch && batch->is_last)
			return 0;
		next_batch(queue);
	}
}

int t2x_read_ahead_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_input *input = (struct t2x_input *)blocks;
	struct t2x_read_ahead *ahead = input->ahead;

	/* A closed file with a stored first block is not opened yet.  Ring files are in memory anyway. */
	if (!input->queue && !input->first.count && !input->is_done && !input->joins)
		find_queue(ahead, input);
	if (!input->queue)
		return t2x_join_next(blocks, block);
	if (next_block(input->queue, block))
		return 1;
	stop_queue(ahead, input->queue);
	return 0;
}
