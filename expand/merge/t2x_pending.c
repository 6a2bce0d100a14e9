/* SPDX-License-Identifier: MIT */
/* t2x_pending.c - see t2x_pending.h. */
#include "t2x_pending.h"

#include <string.h>

#include "base/t2x_memory.h"

/* The memory that the block's events are in, where it may be taken, or a copy. */
static struct tlg_event *take_events(const struct t2x_block *block)
{
	struct tlg_event *memory;

	if (block->own) {
		memory = *block->own;
		*block->own = NULL;
		return memory;
	}
	memory = t2x_malloc((block->count + 1) * sizeof(*memory));
	if (memory)
		memcpy(memory + 1, block->events, block->count * sizeof(*memory));
	return memory;
}

struct t2x_pending *t2x_pending_new(struct t2x_stream *stream, const struct t2x_block *block)
{
	struct t2x_pending *pending = t2x_malloc(sizeof(*pending));
	struct tlg_event *memory = pending ? take_events(block) : NULL;

	if (!memory) {
		t2x_free(pending);
		return NULL;
	}
	*pending = (struct t2x_pending){
		.stream = stream, .clock = stream->clock, .has_clock = stream->has_clock,
		.count = block->count, .events = memory + 1, .memory = memory,
	};
	return pending;
}

void t2x_pending_free(struct t2x_pending *pending)
{
	t2x_free(pending->memory);
	t2x_free(pending);
}

size_t t2x_pending_bytes(const struct t2x_pending *pending)
{
	return sizeof(*pending) + (pending->count + 1) * sizeof(*pending->events);
}
