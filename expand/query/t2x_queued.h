/* SPDX-License-Identifier: MIT */
/*
 * t2x_queued.h - a queue of events: they wait until it is known whether the first one is shown.
 *
 * Events are numbered in their order.  The number of an event that is dropped at the end of the queue is used again, so
 * the queue stays short while a long region waits in front of many short ones.
 */
#ifndef T2X_QUEUED_H
#define T2X_QUEUED_H

#include "t2x_copy.h"

enum { T2X_QUEUED_MAX = 131072, T2X_QUEUED_BYTES = 64 * 1024 * 1024 };

/* All zero: empty. */
struct t2x_queued {
	struct t2x_event_copy **items;        /* by number modulo T2X_QUEUED_MAX; NULL: dropped */
	uint64_t first, next;                 /* numbers */
	size_t bytes;
};

static inline int t2x_queued_is_empty(const struct t2x_queued *queued)
{
	return queued->first == queued->next;
}

static inline int t2x_queued_is_full(const struct t2x_queued *queued)
{
	return queued->next - queued->first == T2X_QUEUED_MAX || queued->bytes >= T2X_QUEUED_BYTES;
}

/* The event of the number; NULL: it does not wait any more */
static inline struct t2x_event_copy *t2x_queued_get(const struct t2x_queued *queued, uint64_t number)
{
	return number >= queued->first && number < queued->next ? queued->items[number % T2X_QUEUED_MAX] : NULL;
}

/* The queue is not full.  Return  0, or -ENOMEM: the copy is still the caller's */
int t2x_queued_push(struct t2x_queued *queued, struct t2x_event_copy *copy);

/* The first one, which is the caller's now; NULL: it was dropped.  The queue is not empty. */
struct t2x_event_copy *t2x_queued_pop(struct t2x_queued *queued);

/* Drop an event, which is the caller's then, if it is there; and the end of the queue if all of it was dropped. */
struct t2x_event_copy *t2x_queued_take(struct t2x_queued *queued, uint64_t number);
void t2x_queued_trim(struct t2x_queued *queued);

/* The queue is empty. */
void t2x_queued_free(struct t2x_queued *queued);

#endif
