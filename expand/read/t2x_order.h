/* SPDX-License-Identifier: MIT */
/*
 * t2x_order.h - the frames of a file that several processes have written, in the order of time.
 *
 * A process writes when it has something to write, or at its end.  So in the file a child may stand in front of the
 * parent that started it, and what a process did first may stand behind what another one did much later.  The marks in
 * front of LZ4 frames say whose they are: the order steps over all of them once (t2x_seek.h says what that costs), and
 * looks into the first frame of each stream, to know when its process began.  Then the stream whose time is the least
 * is read next, one frame at a time.
 *
 * What is behind a place that is no frame, or one cut off, or behind 262,144 frames, is not known: it comes last, as it
 * stands in the file.  Of a plain file nothing is known.
 */
#ifndef T2X_ORDER_H
#define T2X_ORDER_H

#include "t2x_pace.h"

struct t2x_order;

/*
 * The order of the file that the blocks read, from an offset on.  Where the blocks are afterwards is not said.
 * first  the first of them, which has just been read; or NULL
 * Return  NULL: no frame of ours begins there, or there is no memory
 */
struct t2x_order *t2x_order_new(struct t2x_blocks *blocks, uint64_t offset, const struct t2x_block *first);
void t2x_order_free(struct t2x_order *order);

/* All frames are of one stream: the file is in order as it is, and t2x_order_next() is not needed. */
int t2x_order_is_single(const struct t2x_order *order);

/* The earliest events of the file come first, for nothing is behind the frames that are known. */
int t2x_order_is_complete(const struct t2x_order *order);

/* What is left of the frame at hand was read: go to the next one.  Return  1; 0: there is none */
int t2x_order_next(struct t2x_order *order, struct t2x_blocks *blocks);

/* A block has been read. */
void t2x_order_follow(struct t2x_order *order, const struct t2x_block *block);

/* Nothing older comes any more of streams that have not begun; of any. */
uint64_t t2x_order_rest_ns(const struct t2x_order *order);
uint64_t t2x_order_now_ns(const struct t2x_order *order);

#endif
