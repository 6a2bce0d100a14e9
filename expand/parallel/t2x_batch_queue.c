/* SPDX-License-Identifier: MIT */
/* t2x_batch_queue.c - see t2x_batch_queue.h. */
#include "t2x_batch_queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCH_HITS = 1024,
	BATCH_BYTES = 64 * 1024,          /* of arguments, their texts and updates; of objects that updates release */
};

/*
 * Checkpoints and updates, in order.  An update lies in bytes, its open regions behind it.  An entry of hits without a
 * thread stands for the update; its args points there.
 */
struct batch {
	unsigned nhits;
	size_t used;                      /* of bytes */
	size_t released;                  /* size of the objects that the updates release */
	struct t2x_hit hits[BATCH_HITS];
	_Alignas(max_align_t) char bytes[BATCH_BYTES];
};

struct t2x_batch_queue {
	struct t2x_task task;             /* first: a task's address is this */
	struct t2x_pool *pool;
	struct t2x_model *model;
	unsigned filled, done;            /* batches, so far; guarded by the lock */
	struct batch *to;                 /* where push() will copy the stage */
	/*
	 * Only the merge uses the stage.  It fills the stage and copies it as a whole, because cache lines that the
	 * other processor has read last are slow to write piece by piece.  Pointers in the stage point into the copy.
	 */
	struct batch stage;
	struct batch batches[T2X_BATCH_QUEUE_BATCHES];
};

/* ---- the model's side --------------------------------------------------------------------------- */

static int is_ready(const struct t2x_task *task)
{
	const struct t2x_batch_queue *queue = (const struct t2x_batch_queue *)task;

	return queue->done != queue->filled;
}

/* The task: deliver a batch to the model. */
static void deliver_batch(struct t2x_task *task)
{
	struct t2x_batch_queue *queue = (struct t2x_batch_queue *)task;
	const struct batch *batch = &queue->batches[queue->done % T2X_BATCH_QUEUE_BATCHES];

	t2x_pool_unlock(queue->pool);
	for (unsigned i = 0; i < batch->nhits; i++) {
		const struct t2x_hit *hit = &batch->hits[i];

		if (hit->thread)
			t2x_model_take_hit(queue->model, hit);
		else
			t2x_model_take_update(queue->model, (const void *)hit->args);
	}
	t2x_pool_lock(queue->pool);
	queue->done++;
}

/* ---- the merge's side --------------------------------------------------------------------------- */

/* The stage is full: copy it to a batch for the task, and empty it. */
static void push(struct t2x_batch_queue *queue)
{
	struct batch *stage = &queue->stage, *to = queue->to;

	if (!stage->nhits)
		return;
	t2x_pool_lock(queue->pool);
	while (queue->filled - queue->done == T2X_BATCH_QUEUE_BATCHES)
		t2x_pool_wait(queue->pool);
	t2x_pool_unlock(queue->pool);
	to->nhits = stage->nhits;
	memcpy(to->hits, stage->hits, stage->nhits * sizeof(stage->hits[0]));
	memcpy(to->bytes, stage->bytes, stage->used);
	stage->nhits = 0;
	stage->used = stage->released = 0;
	t2x_pool_lock(queue->pool);
	queue->filled++;
	queue->to = &queue->batches[queue->filled % T2X_BATCH_QUEUE_BATCHES];
	t2x_pool_changed(queue->pool);
	t2x_pool_unlock(queue->pool);
}

/* Wait until the model has processed everything. */
static void flush(struct t2x_batch_queue *queue)
{
	push(queue);
	t2x_pool_lock(queue->pool);
	while (queue->done != queue->filled)
		t2x_pool_wait(queue->pool);
	t2x_pool_unlock(queue->pool);
}

static size_t round_up(size_t n)
{
	return (n + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
}

/* Return  the bytes of a batch that the arguments and their texts need */
static size_t measure(const struct t2x_hit *hit)
{
	size_t n = hit->nargs * sizeof(hit->args[0]);

	for (unsigned i = 0; i < hit->nargs; i++)
		n += hit->args[i].text ? hit->args[i].length : 0;
	return round_up(n);
}

static void copy_arguments(struct t2x_batch_queue *queue, struct t2x_hit *to, const struct t2x_hit *hit)
{
	struct batch *stage = &queue->stage;
	struct t2x_arg *args = (struct t2x_arg *)(void *)(stage->bytes + stage->used);
	char *text = (char *)(args + hit->nargs);

	for (unsigned i = 0; i < hit->nargs; i++) {
		args[i] = hit->args[i];
		if (!args[i].text)
			continue;
		memcpy(text, args[i].text, args[i].length);
		args[i].text = queue->to->bytes + (text - stage->bytes);
		text += args[i].length;
	}
	to->args = (const struct t2x_arg *)(void *)(queue->to->bytes + stage->used);
}

static void queue_hit(void *target, const struct t2x_hit *hit)
{
	struct t2x_batch_queue *queue = target;
	struct batch *stage = &queue->stage;
	size_t bytes = hit->nargs ? measure(hit) : 0;
	struct t2x_hit *to;

	if (bytes > BATCH_BYTES) {
		flush(queue);
		t2x_model_take_hit(queue->model, hit);
		return;
	}
	if (stage->nhits == BATCH_HITS || bytes > BATCH_BYTES - stage->used)
		push(queue);
	to = &stage->hits[stage->nhits++];
	*to = *hit;
	if (bytes)
		copy_arguments(queue, to, hit);
	stage->used += bytes;
}

static void copy_update(struct t2x_batch_queue *queue, const struct t2x_update *update, size_t opens)
{
	struct batch *stage = &queue->stage;
	struct t2x_update *to = (struct t2x_update *)(void *)(stage->bytes + stage->used);
	const void *at = queue->to->bytes + stage->used;

	*to = *update;
	if (opens) {
		memcpy(to + 1, update->opens.open, opens);
		to->opens.open = (const struct t2x_open *)(const void *)((const struct t2x_update *)at + 1);
	}
	stage->hits[stage->nhits++] = (struct t2x_hit){ .args = at };
}

static void queue_update(void *target, const struct t2x_update *update)
{
	struct t2x_batch_queue *queue = target;
	struct batch *stage = &queue->stage;
	size_t opens = update->kind == T2X_OPEN_REGIONS ? update->opens.count * sizeof(*update->opens.open) : 0;
	size_t bytes = round_up(sizeof(*update) + opens);
	size_t released = update->kind == T2X_RELEASE ? update->release.bytes : 0;

	if (bytes > BATCH_BYTES || released > BATCH_BYTES) {
		flush(queue);
		t2x_model_take_update(queue->model, update);
		return;
	}
	if (stage->nhits == BATCH_HITS || bytes > BATCH_BYTES - stage->used || released > BATCH_BYTES - stage->released)
		push(queue);
	copy_update(queue, update, opens);
	stage->used += bytes;
	stage->released += released;
}

/* ---- life --------------------------------------------------------------------------------------- */

struct t2x_batch_queue *t2x_batch_queue_new(struct t2x_pool *pool, struct t2x_model *model)
{
	static const struct t2x_detour detour = { .hit = queue_hit, .update = queue_update };
	struct t2x_batch_queue *queue = malloc(sizeof(*queue));

	if (!queue)
		return NULL;
	memset(queue, 0, offsetof(struct t2x_batch_queue, stage));
	queue->task = (struct t2x_task){ .is_ready = is_ready, .work = deliver_batch };
	queue->pool = pool;
	queue->model = model;
	queue->to = queue->batches;
	queue->stage.nhits = 0;
	queue->stage.used = queue->stage.released = 0;
	t2x_pool_lock(pool);
	t2x_pool_add(pool, &queue->task);
	t2x_pool_unlock(pool);
	t2x_model_detour(model, &detour, queue);
	return queue;
}

void t2x_batch_queue_free(struct t2x_batch_queue *queue)
{
	if (!queue)
		return;
	flush(queue);
	t2x_model_detour(queue->model, NULL, NULL);
	t2x_pool_lock(queue->pool);
	t2x_pool_remove(queue->pool, &queue->task);
	t2x_pool_unlock(queue->pool);
	free(queue);
}
