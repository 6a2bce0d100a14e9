/* SPDX-License-Identifier: MIT */
/*
 * t2x_stacks.h - the distinct stacks of regions: each is a frame within another stack, and has a number.
 *
 * Memory: distinct stacks, however long the trace is.
 */
#ifndef T2X_STACKS_H
#define T2X_STACKS_H

#include "t2x_index.h"

struct t2x_stack {
	uint32_t parent;          /* number of the stack around; 0: none */
	uint32_t frame;           /* number of the frame; of a thread's stack, in which its others are: of its thread */
	int is_thread;            /* or something else that is no frame: not 0 */
	uint64_t count, self_ns;  /* the owner's; 0 at first */
};

/* All zero: none yet. */
struct t2x_stacks {
	uint32_t count, max;
	uint32_t limit;           /* no more than these; 0: as many as there are */
	struct t2x_stack *stacks; /* by number - 1 */
	struct t2x_index index;
};

/* The stack of a frame in another one.  Return  its number, from 1 up; 0: no room */
uint32_t t2x_stacks_find(struct t2x_stacks *stacks, uint32_t parent, uint32_t frame, int is_thread);

/* The stack around, or NULL. */
static inline const struct t2x_stack *t2x_stacks_parent(const struct t2x_stacks *stacks, const struct t2x_stack *stack)
{
	return stack->parent ? &stacks->stacks[stack->parent - 1] : NULL;
}

void t2x_stacks_free(struct t2x_stacks *stacks);

#endif
