/* SPDX-License-Identifier: MIT */
/*
 * t2x_heap.h - lanes at rest, the one with the oldest checkpoint on top.
 */
#ifndef T2X_HEAP_H
#define T2X_HEAP_H

#include "t2x_lane.h"

/* All zero: empty.  A lane's place is its index here, plus one. */
struct t2x_heap {
	struct t2x_lane **lanes;
	unsigned n, max;
};

/* Return  0 or -ENOMEM */
int t2x_heap_insert(struct t2x_heap *heap, struct t2x_lane *lane);

/* Take a lane out that is in. */
void t2x_heap_remove(struct t2x_heap *heap, struct t2x_lane *lane);

/* The key of the top has grown. */
void t2x_heap_settle_top(struct t2x_heap *heap);

/* The latest time until which the top comes before all others. */
uint64_t t2x_heap_top_until(const struct t2x_heap *heap);

void t2x_heap_free(struct t2x_heap *heap);

#endif
