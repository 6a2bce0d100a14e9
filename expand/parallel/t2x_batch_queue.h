/* SPDX-License-Identifier: MIT */
/*
 * t2x_batch_queue.h - the interface between front end and back end (t2x_hit.h) as a pipeline: checkpoints are
 * formatted while the next ones are put in order.
 *
 * The merge hands checkpoints and updates to a queue, which copies them and their arguments into batches; giving those
 * to the model is a task.  Threads, processes and scopes are not copied: they stay where they are until the model has
 * come to the update that releases them.  So the merge waits for the model only when all batches are full.
 *
 * Memory: T2X_BATCH_QUEUE_BATCHES batches of 128 KB, and 64 KB for each of what they release.
 */
#ifndef T2X_BATCH_QUEUE_H
#define T2X_BATCH_QUEUE_H

#include "t2x_pool.h"
#include "model/t2x_model.h"

enum { T2X_BATCH_QUEUE_BATCHES = 4 };

struct t2x_batch_queue;

/* From now on the model gets its checkpoints by a task of the pool.  Return  NULL: no memory, it does not */
struct t2x_batch_queue *t2x_batch_queue_new(struct t2x_pool *pool, struct t2x_model *model);

/* Wait until the model has seen everything; from now on the model gets its checkpoints at once.  queue may be NULL */
void t2x_batch_queue_free(struct t2x_batch_queue *queue);

#endif
