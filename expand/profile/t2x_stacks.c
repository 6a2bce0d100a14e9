/* SPDX-License-Identifier: MIT */
/* t2x_stacks.c - see t2x_stacks.h. */
#include "t2x_stacks.h"

#include <stdlib.h>

enum { FIRST_STACKS = 256 };

uint32_t t2x_stacks_find(struct t2x_stacks *stacks, uint32_t parent, uint32_t frame, int is_thread)
{
	uint64_t seed = t2x_index_mix(t2x_index_seed(), (uint64_t)parent << 32 | frame);
	uint32_t hash = (uint32_t)t2x_index_mix(seed, (uint64_t)is_thread), number;
	struct t2x_index_search search = t2x_index_begin(hash);
	void *grown = stacks->stacks;

	while ((number = t2x_index_next(&stacks->index, &search))) {
		const struct t2x_stack *stack = &stacks->stacks[number - 1];
		if (stack->parent == parent && stack->frame == frame && stack->is_thread == is_thread)
			return number;
	}
	if ((stacks->limit && stacks->count >= stacks->limit) ||
	    t2x_index_room(&grown, stacks->count, &stacks->max, FIRST_STACKS, sizeof(stacks->stacks[0])))
		return 0;
	stacks->stacks = grown;
	if (t2x_index_add(&stacks->index, hash, stacks->count + 1))
		return 0;
	stacks->stacks[stacks->count] = (struct t2x_stack){ .parent = parent, .frame = frame, .is_thread = is_thread };
	return ++stacks->count;
}

void t2x_stacks_free(struct t2x_stacks *stacks)
{
	free(stacks->stacks);
	t2x_index_free(&stacks->index);
	*stacks = (struct t2x_stacks){ .count = 0 };
}
