/* SPDX-License-Identifier: MIT */
/*
 * tr2_stack.h - a stack of free objects, by number: the one that was pushed last is popped first.
 *
 * Any number of threads push and pop, without a lock.  Each change increments a generation beside the number at the
 * top.  So a slow thread notices that others have popped and pushed the same object meanwhile; the generation wraps
 * after 2^32 changes.  The links lie in an array of the process, not in the objects: only the thread that has popped
 * an object touches it.
 */
#ifndef TR2_STACK_H
#define TR2_STACK_H

#include <stdint.h>

#include "tr2_atomic.h"

struct tr2_stack {
	uint64_t top;                     /* [M2] generation << 32 | number + 1; number + 1 is 0: empty */
	uint32_t *links;                  /* number + 1 of the one below; shared by stacks of the same objects */
};

static inline uint64_t tr2_stack_next(uint64_t top, uint32_t link)
{
	return ((top >> 32) + 1) << 32 | link;
}

/* Signals masked */
static inline void tr2_stack_push(struct tr2_stack *stack, uint32_t number)
{
	uint64_t top, next;

	do {
		top = tr2_load_rlx(&stack->top); /* relaxed: only compared with */
		tr2_store_rlx(&stack->links[number], (uint32_t)top); /* relaxed: the exchange orders it */
		next = tr2_stack_next(top, number + 1);
		/*
		 * [M2] release: all that was done with it.  Pairs with tr2_stack_pop()
		 */
	} while (!tr2_cas_acq_rel(&stack->top, top, next));
}

/* Return  number + 1, or 0: there is none */
static inline uint32_t tr2_stack_pop(struct tr2_stack *stack)
{
	uint64_t top, next;
	uint32_t link;

	do {
		top = tr2_load_acq(&stack->top); /* [M2] acquire: the link.  Pairs with tr2_stack_push() */
		if (!(uint32_t)top)
			return 0;
		link = tr2_load_rlx(&stack->links[(uint32_t)top - 1]); /* relaxed: a stale one is noticed below */
		next = tr2_stack_next(top, link);
		/*
		 * [M2] acquire: all that was done with it.  Pairs with tr2_stack_push()
		 */
	} while (!tr2_cas_acq_rel(&stack->top, top, next));
	return (uint32_t)top;
}

#endif
