/* SPDX-License-Identifier: MIT */
/*
 * t2x_held.h - events that wait, in their order, for what becomes of the first of them.
 *
 * An event has a number, one more than that of the one before.  What is dropped at the end of the queue gives its
 * number back, so the queue stays short while a long region waits in front of many short ones.
 */
#ifndef T2X_HELD_H
#define T2X_HELD_H

#include "t2x_copy.h"

enum { T2X_HELD_MAX = 131072, T2X_HELD_BYTES = 64 * 1024 * 1024 };

/* All zero: empty. */
struct t2x_held {
	struct t2x_event_copy **items;        /* by number modulo T2X_HELD_MAX; NULL: dropped */
	uint64_t first, next;                 /* numbers */
	size_t bytes;
};

static inline int t2x_held_is_empty(const struct t2x_held *held)
{
	return held->first == held->next;
}

static inline int t2x_held_is_full(const struct t2x_held *held)
{
	return held->next - held->first == T2X_HELD_MAX || held->bytes >= T2X_HELD_BYTES;
}

/* The event of the number; NULL: it does not wait any more */
static inline struct t2x_event_copy *t2x_held_get(const struct t2x_held *held, uint64_t number)
{
	return number >= held->first && number < held->next ? held->items[number % T2X_HELD_MAX] : NULL;
}

/* The queue is not full.  Return  0, or -ENOMEM: the copy is still the caller's */
int t2x_held_push(struct t2x_held *held, struct t2x_event_copy *copy);

/* The first one, which is the caller's now; NULL: it was dropped.  The queue is not empty. */
struct t2x_event_copy *t2x_held_pop(struct t2x_held *held);

/* Drop an event, which is the caller's then, if it is there; and the end of the queue if all of it was dropped. */
struct t2x_event_copy *t2x_held_take(struct t2x_held *held, uint64_t number);
void t2x_held_trim(struct t2x_held *held);

/* The queue is empty. */
void t2x_held_free(struct t2x_held *held);

#endif
