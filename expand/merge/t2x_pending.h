/* SPDX-License-Identifier: MIT */
/*
 * t2x_pending.h - a block's events that were read, and wait until all older ones have had their turn.
 *
 * Most blocks bring memory of their own along (t2x_blocks.h), in which their events then wait: they are not copied.
 */
#ifndef T2X_WAITING_H
#define T2X_WAITING_H

#include "t2x_stream.h"
#include "read/t2x_blocks.h"

struct t2x_pending {
	struct t2x_pending *next;         /* of the queue */
	struct t2x_stream *stream;
	struct t2x_clock clock;           /* as it was when the block was read */
	int has_clock;
	unsigned count;
	const struct tlg_event *events;
	struct tlg_event *memory;         /* they are in, behind a place for BLOCK */
};

/* The block's events are gone then, if they were in memory of their own.  Return  NULL: no memory */
struct t2x_pending *t2x_pending_new(struct t2x_stream *stream, const struct t2x_block *block);
void t2x_pending_free(struct t2x_pending *pending);

/* Memory that is taken. */
static inline size_t t2x_pending_bytes(const struct t2x_pending *pending)
{
	return sizeof(*pending) + (pending->count + 1) * sizeof(*pending->events);
}

#endif
