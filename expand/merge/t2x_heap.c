/* SPDX-License-Identifier: MIT */
/* t2x_heap.c - a binary heap. */
#include "t2x_heap.h"

#include <errno.h>
#include <string.h>

#include "base/t2x_memory.h"

static int is_before(const struct t2x_heap_item *a, const struct t2x_heap_item *b)
{
	return a->key_ns != b->key_ns ? a->key_ns < b->key_ns : a->order < b->order;
}

static void put(struct t2x_heap *heap, unsigned at, struct t2x_heap_item *item)
{
	heap->items[at] = item;
	item->place = at + 1;
}

static void sift_up(struct t2x_heap *heap, unsigned at)
{
	struct t2x_heap_item *item = heap->items[at];

	for (; at && is_before(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
		put(heap, at, heap->items[(at - 1) / 2]);
	put(heap, at, item);
}

static void sift_down(struct t2x_heap *heap, unsigned at)
{
	struct t2x_heap_item *item = heap->items[at];
	unsigned child;

	while ((child = 2 * at + 1) < heap->n) {
		if (child + 1 < heap->n && is_before(heap->items[child + 1], heap->items[child]))
			child++;
		if (!is_before(heap->items[child], item))
			break;
		put(heap, at, heap->items[child]);
		at = child;
	}
	put(heap, at, item);
}

int t2x_heap_insert(struct t2x_heap *heap, struct t2x_heap_item *item)
{
	if (heap->n == heap->max) {
		unsigned max = heap->max ? 2 * heap->max : 64;
		struct t2x_heap_item **larger = t2x_realloc(heap->items, max * sizeof(struct t2x_heap_item *));
		if (!larger)
			return -ENOMEM;
		heap->items = larger;
		heap->max = max;
	}
	put(heap, heap->n++, item);
	sift_up(heap, heap->n - 1);
	return 0;
}

void t2x_heap_remove(struct t2x_heap *heap, struct t2x_heap_item *item)
{
	unsigned at = item->place - 1;

	item->place = 0;
	if (at == --heap->n)
		return;
	put(heap, at, heap->items[heap->n]);
	t2x_heap_sift(heap, heap->items[at]);
}

void t2x_heap_sift(struct t2x_heap *heap, struct t2x_heap_item *item)
{
	sift_down(heap, item->place - 1);
	sift_up(heap, item->place - 1);
}

void t2x_heap_sift_top(struct t2x_heap *heap)
{
	sift_down(heap, 0);
}

uint64_t t2x_heap_top_until(const struct t2x_heap *heap)
{
	const struct t2x_heap_item *top = heap->items[0], *second;

	if (heap->n == 1)
		return UINT64_MAX;
	second = heap->items[1];
	if (heap->n > 2 && is_before(heap->items[2], second))
		second = heap->items[2];
	return top->order < second->order ? second->key_ns : second->key_ns - 1;
}

void t2x_heap_free(struct t2x_heap *heap)
{
	t2x_free(heap->items);
	memset(heap, 0, sizeof(*heap));
}
