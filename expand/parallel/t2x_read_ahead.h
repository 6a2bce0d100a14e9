/* SPDX-License-Identifier: MIT */
/*
 * t2x_read_ahead.h - read-ahead: inputs are read, decompressed, checked and decoded before the merge asks for their
 * blocks.
 *
 * Reading an input ahead is a task.  Its blocks are copied into batches, of which the merge takes one after the
 * other; what is to be said about damage travels with them and is said when the merge gets there.  So the text
 * and the messages are those of a run that reads when it is asked to.
 *
 * Memory: T2X_READ_AHEAD_BATCHES batches of 120 KB for an input, T2X_READ_AHEAD_INPUTS inputs at a time; others are
 * read when they are asked for, until one of these has ended.
 */
#ifndef T2X_READ_AHEAD_H
#define T2X_READ_AHEAD_H

#include "t2x_pool.h"
#include "read/t2x_input.h"

enum { T2X_READ_AHEAD_INPUTS = 8, T2X_READ_AHEAD_BATCHES = 4 };

struct t2x_read_ahead;

/* report  where damage is reported in the end     Return  NULL: no memory */
struct t2x_read_ahead *t2x_read_ahead_new(struct t2x_pool *pool, struct t2x_report *report);

/* The inputs may be closed then.  ahead may be NULL */
void t2x_read_ahead_free(struct t2x_read_ahead *ahead);

/* Have the input, of which nothing was read yet, read ahead. */
void t2x_read_ahead_add(struct t2x_read_ahead *ahead, struct t2x_input *input);

/* The next block of such an input, without its raw form; a t2x_next_fn. */
int t2x_read_ahead_next(struct t2x_blocks *blocks, struct t2x_block *block);

#endif
