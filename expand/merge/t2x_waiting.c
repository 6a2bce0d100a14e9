/* SPDX-License-Identifier: MIT */
/* t2x_waiting.c - see t2x_waiting.h. */
#include "t2x_waiting.h"

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

struct t2x_waiting *t2x_waiting_new(struct t2x_stream *stream, const struct t2x_block *block)
{
	struct t2x_waiting *waiting = t2x_malloc(sizeof(*waiting));
	struct tlg_event *memory = waiting ? take_events(block) : NULL;

	if (!memory) {
		t2x_free(waiting);
		return NULL;
	}
	*waiting = (struct t2x_waiting){
		.stream = stream, .clock = stream->clock, .has_clock = stream->has_clock,
		.count = block->count, .events = memory + 1, .memory = memory,
	};
	return waiting;
}

void t2x_waiting_free(struct t2x_waiting *waiting)
{
	t2x_free(waiting->memory);
	t2x_free(waiting);
}
