/* SPDX-License-Identifier: MIT */
/* t2x_heap.c - a binary heap. */
#include "t2x_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_before(const struct t2x_lane *a, const struct t2x_lane *b)
{
	return a->key_ns != b->key_ns ? a->key_ns < b->key_ns : a->order < b->order;
}

static void put(struct t2x_heap *heap, unsigned at, struct t2x_lane *lane)
{
	heap->lanes[at] = lane;
	lane->place = at + 1;
}

static void sift_up(struct t2x_heap *heap, unsigned at)
{
	struct t2x_lane *lane = heap->lanes[at];

	for (; at && is_before(lane, heap->lanes[(at - 1) / 2]); at = (at - 1) / 2)
		put(heap, at, heap->lanes[(at - 1) / 2]);
	put(heap, at, lane);
}

static void sift_down(struct t2x_heap *heap, unsigned at)
{
	struct t2x_lane *lane = heap->lanes[at];
	unsigned child;

	while ((child = 2 * at + 1) < heap->n) {
		if (child + 1 < heap->n && is_before(heap->lanes[child + 1], heap->lanes[child]))
			child++;
		if (!is_before(heap->lanes[child], lane))
			break;
		put(heap, at, heap->lanes[child]);
		at = child;
	}
	put(heap, at, lane);
}

int t2x_heap_insert(struct t2x_heap *heap, struct t2x_lane *lane)
{
	if (heap->n == heap->max) {
		unsigned max = heap->max ? 2 * heap->max : 64;
		struct t2x_lane **larger = realloc(heap->lanes, max * sizeof(struct t2x_lane *));
		if (!larger)
			return -ENOMEM;
		heap->lanes = larger;
		heap->max = max;
	}
	put(heap, heap->n++, lane);
	sift_up(heap, heap->n - 1);
	return 0;
}

void t2x_heap_remove(struct t2x_heap *heap, struct t2x_lane *lane)
{
	unsigned at = lane->place - 1;

	lane->place = 0;
	if (at == --heap->n)
		return;
	put(heap, at, heap->lanes[heap->n]);
	sift_down(heap, at);
	sift_up(heap, heap->lanes[at]->place - 1);
}

void t2x_heap_settle_top(struct t2x_heap *heap)
{
	sift_down(heap, 0);
}

uint64_t t2x_heap_top_until(const struct t2x_heap *heap)
{
	const struct t2x_lane *top = heap->lanes[0], *second;

	if (heap->n == 1)
		return UINT64_MAX;
	second = heap->lanes[1];
	if (heap->n > 2 && is_before(heap->lanes[2], second))
		second = heap->lanes[2];
	/* keys are above 0: a lane rests only in front of a checkpoint with a time */
	return top->order < second->order ? second->key_ns : second->key_ns - 1;
}

void t2x_heap_free(struct t2x_heap *heap)
{
	free(heap->lanes);
	memset(heap, 0, sizeof(*heap));
}
