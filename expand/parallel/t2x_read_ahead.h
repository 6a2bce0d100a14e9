/* SPDX-License-Identifier: MIT */
/*
 * t2x_read_ahead.h - reads, decompresses, checks and decodes inputs before the merge asks for their blocks.
 *
 * A task reads an input ahead and copies its blocks into batches.  The merge gets the blocks from these batches, one
 * batch after the other.  A batch also has the messages about damage in front of its first block; they are reported
 * when the merge begins the batch.  So text and messages are the same as without read-ahead.
 *
 * Memory: T2X_READ_AHEAD_BATCHES batches of 120 KB for an input.  At most T2X_READ_AHEAD_INPUTS inputs are read ahead;
 * the others are read when the merge asks for their blocks, until one of the first has ended.
 */
#ifndef T2X_READ_AHEAD_H
#define T2X_READ_AHEAD_H

#include "t2x_pool.h"
#include "read/t2x_input.h"

enum { T2X_READ_AHEAD_INPUTS = 8, T2X_READ_AHEAD_BATCHES = 4 };

struct t2x_read_ahead;

/* report  receives the messages about damage     Return  NULL: no memory */
struct t2x_read_ahead *t2x_read_ahead_new(struct t2x_pool *pool, struct t2x_report *report);

/* Stop reading ahead; then the caller may close the inputs.  ahead may be NULL */
void t2x_read_ahead_free(struct t2x_read_ahead *ahead);

/* Read this input ahead, of which no block was read yet. */
void t2x_read_ahead_add(struct t2x_read_ahead *ahead, struct t2x_input *input);

/* The next block of such an input, without its raw form; a t2x_next_fn. */
int t2x_read_ahead_next(struct t2x_blocks *blocks, struct t2x_block *block);

#endif
