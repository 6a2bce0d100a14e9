/* SPDX-License-Identifier: MIT */
/*
 * t2x_pending.h - a block that waits until its events may take effect.
 *
 * Most blocks bring memory of their own along (t2x_blocks.h), in which their events then stay: they are not copied.
 */
#ifndef T2X_PENDING_H
#define T2X_PENDING_H

#include "t2x_stream.h"
#include "read/t2x_blocks.h"

struct t2x_pending {
	struct t2x_pending *next;
	struct t2x_stream *stream;
	struct t2x_clock clock;           /* as it was when the block was read */
	int has_clock;
	unsigned count;
	const struct tlg_event *events;
	struct tlg_event *memory;         /* they are in, behind a place for BLOCK */
};

/* The events are gone from the block, if they were in memory of their own.  Return  NULL: no memory */
struct t2x_pending *t2x_pending_new(struct t2x_stream *stream, const struct t2x_block *block);
void t2x_pending_free(struct t2x_pending *pending);

/* The memory that it takes. */
size_t t2x_pending_bytes(const struct t2x_pending *pending);

/* A block that was read before its stream's clock was known goes by the first that was. */
static inline void t2x_pending_set_clock(struct t2x_pending *pending)
{
	if (pending->has_clock)
		return;
	pending->clock = pending->stream->clock;
	pending->has_clock = 1;
}

#endif
