/* SPDX-License-Identifier: MIT */
/*
 * t2x_merge.h - from the blocks of all inputs to checkpoints in the order of time.
 *
 * Blocks wait in queues, one for each thread, until the MARKs of all live streams show that nothing older can come.
 * Next the merge reads the input whose bound, the time before which it has nothing left, is the earliest.  When more
 * than T2X_PENDING_BYTES wait, the merge hands over the oldest all the same; the events of one thread never change
 * their order.
 */
#ifndef T2X_MERGE_H
#define T2X_MERGE_H

#include "t2x_queue.h"

enum {
	T2X_PENDING_BYTES = 12 * 1024 * 1024,
	T2X_MAX_LIVE = 4096,              /* streams of an input; for one more, the oldest is given up */
};

struct t2x_merge;

/* context outlives it.  Return  NULL: no memory */
struct t2x_merge *t2x_merge_new(struct t2x_context *context);
void t2x_merge_free(struct t2x_merge *merge);

/* How the next block of an input is read: t2x_blocks_next(). */
typedef int t2x_next_fn(struct t2x_blocks *blocks, struct t2x_block *block);

/*
 * An input, which stays the caller's.  The model is what it will be for the run: its writer is set, and a batch queue.
 * name  for messages    next  NULL: its blocks are pushed, blocks is not used
 * Return  0 or -ENOMEM
 */
int t2x_merge_add(struct t2x_merge *merge, struct t2x_blocks *blocks, const char *name, t2x_next_fn *next);

/* Read all inputs to their ends, and hand everything to the model.  Return  0 or -ENOMEM */
int t2x_merge_run(struct t2x_merge *merge);

/*
 * The next block of the only input, which was added without next; hands over what need not wait any longer.
 * After the last one t2x_merge_run() hands over the rest.  Return  0 or -ENOMEM
 */
int t2x_merge_push(struct t2x_merge *merge, const struct t2x_block *block);

/* Count, for each of the first n inputs, the streams that ended without END: they were killed, or still run. */
void t2x_merge_open_streams(const struct t2x_merge *merge, unsigned *streams, unsigned n);

#endif
