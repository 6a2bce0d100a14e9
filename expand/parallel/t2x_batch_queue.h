/* SPDX-License-Identifier: MIT */
/*
 * t2x_batch_queue.h - makes the interface between front end and back end (t2x_hit.h) a pipeline: one thread formats
 * checkpoints while another one puts the next ones in order.
 *
 * The merge passes checkpoints and updates to the queue, which copies them and their arguments into batches.  A task
 * delivers the batches to the model.  Threads, processes and scopes are not copied: the merge keeps them until the
 * model has processed the update that releases them.  So the merge waits only when all batches are full.
 *
 * Memory: T2X_BATCH_QUEUE_BATCHES batches of 128 KB, and for each 64 KB of objects that its updates release.
 */
#ifndef T2X_BATCH_QUEUE_H
#define T2X_BATCH_QUEUE_H

#include "t2x_pool.h"
#include "model/t2x_model.h"

enum { T2X_BATCH_QUEUE_BATCHES = 4 };

struct t2x_batch_queue;

/* From now on a task of the pool delivers the model's checkpoints.  Return  NULL: no memory, nothing has changed */
struct t2x_batch_queue *t2x_batch_queue_new(struct t2x_pool *pool, struct t2x_model *model);

/* Wait until the model has processed everything.  From now on the merge calls it directly.  queue may be NULL */
void t2x_batch_queue_free(struct t2x_batch_queue *queue);

#endif
