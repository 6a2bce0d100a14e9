/* SPDX-License-Identifier: MIT */
/*
 * t2x_batch_queue.h - the seam of the expander (t2x_hit.h) as a stage of a pipeline: checkpoints are formatted while
 * the next ones are put in order.
 *
 * The merge hands checkpoints to a queue, which copies them and their arguments into batches; giving those to
 * the model is a task.  Threads, processes and scopes are not copied.  So before the reading half changes or
 * frees one of them, it settles: waits until the model has seen everything (t2x_model_sync()).
 *
 * Memory: T2X_BATCH_QUEUE_BATCHES batches of 128 KB.
 */
#ifndef T2X_BATCH_QUEUE_H
#define T2X_BATCH_QUEUE_H

#include "t2x_pool.h"
#include "model/t2x_model.h"

enum { T2X_BATCH_QUEUE_BATCHES = 4 };

struct t2x_batch_queue;

/* From now on the model gets its checkpoints by a task of the pool.  Return  NULL: no memory, it does not */
struct t2x_batch_queue *t2x_batch_queue_new(struct t2x_pool *pool, struct t2x_model *model);

/* Settle; from now on the model gets its checkpoints at once.  queue may be NULL */
void t2x_batch_queue_free(struct t2x_batch_queue *queue);

#endif
