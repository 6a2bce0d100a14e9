/* SPDX-License-Identifier: MIT */
/*
 * t2x_order.h - finds the order of time for the frames of a file that several processes have written.
 *
 * A process writes when it has something to write, or at its end.  So in the file a child may stand in front of the
 * parent that started it, and early events of one process may stand behind much later events of another one.
 *
 * The mark in front of an LZ4 frame names its stream.  The order steps through all marks once (t2x_seek.h says what
 * that costs).  It also reads the first frame of each stream to learn when its process began.  Then it always reads one
 * frame of the stream that is least advanced in time.
 *
 * The order knows no frames behind damage, behind an incomplete frame, or behind the first 262,144.  These come last,
 * as they stand in the file.  A plain file has no frames and thus no order.
 */
#ifndef T2X_ORDER_H
#define T2X_ORDER_H

#include "t2x_pace.h"

struct t2x_order;

/*
 * Find the order of the file that blocks reads, from an offset on.  The position of blocks is undefined afterwards.
 * first  the block at this offset, if it has just been read; or NULL
 * Return  NULL: no frame of ours begins there, or no memory
 */
struct t2x_order *t2x_order_new(struct t2x_blocks *blocks, uint64_t offset, const struct t2x_block *first);
void t2x_order_free(struct t2x_order *order);

/* Return  1: all frames are of one stream, so the file is in order as it is and t2x_order_next() is not needed */
int t2x_order_is_single(const struct t2x_order *order);

/* Return  1: the order knows all frames of the file, so the earliest events come first */
int t2x_order_is_complete(const struct t2x_order *order);

/* Move blocks to the next frame, after the present one was read.  Return  1; 0: there is none */
int t2x_order_next(struct t2x_order *order, struct t2x_blocks *blocks);

/* Follow a block that has been read: it says how far its stream has come. */
void t2x_order_follow(struct t2x_order *order, const struct t2x_block *block);

/* No older events will come of streams that have not begun; of any stream. */
uint64_t t2x_order_rest_ns(const struct t2x_order *order);
uint64_t t2x_order_now_ns(const struct t2x_order *order);

#endif
