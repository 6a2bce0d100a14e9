/* SPDX-License-Identifier: MIT */
/*
 * t2x_heap.h - a heap of items that stand at a time each, the earliest on top: queues in front of their next
 * checkpoints, streams at their latest marks, inputs at their bounds.
 */
#ifndef T2X_HEAP_H
#define T2X_HEAP_H

#include <stdint.h>

/* A member of what can be in a heap. */
struct t2x_heap_item {
	uint64_t key_ns;
	uint64_t order;                   /* decides between equal times; of queues, no two are equal */
	unsigned place;                   /* in the heap, from 1; 0: in none */
};

/* All zero: empty. */
struct t2x_heap {
	struct t2x_heap_item **items;
	unsigned n, max;
};

/* Return  0 or -ENOMEM */
int t2x_heap_insert(struct t2x_heap *heap, struct t2x_heap_item *item);

/* Remove an item that is in the heap. */
void t2x_heap_remove(struct t2x_heap *heap, struct t2x_heap_item *item);

/* The key of an item that is in the heap has changed.  t2x_heap_sift_top(): the top's has grown, at half the cost */
void t2x_heap_sift(struct t2x_heap *heap, struct t2x_heap_item *item);
void t2x_heap_sift_top(struct t2x_heap *heap);

/* The latest time until which the top comes before all others, which are not at time 0. */
uint64_t t2x_heap_top_until(const struct t2x_heap *heap);

void t2x_heap_free(struct t2x_heap *heap);

#endif
