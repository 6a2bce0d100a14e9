/* SPDX-License-Identifier: MIT */
/*
 * t2x_profile.h - how often, and how long, each distinct stack of regions was: what folded and pprof are made of.
 *
 * A stack is a node: a frame within another stack.  Nodes count the regions that were left, and the time in them but
 * outside of regions in them, of those whose duration is certain.  Memory: distinct stacks, however long the trace is.
 */
#ifndef T2X_PROFILE_H
#define T2X_PROFILE_H

#include "t2x_tracks.h"

struct t2x_stack {
	uint32_t parent;          /* number of the stack around; 0: none */
	uint32_t frame;           /* number of the frame; of a thread's stack, in which its others are: of its thread */
	int is_thread;
	uint64_t count, self_ns;
};

/* A thread of a process: those of one name and process id are one. */
struct t2x_profile_thread {
	uint32_t pid;
	char name[25];
};

struct t2x_profile {
	struct t2x_tracks tracks;
	int by_thread;            /* the outermost stacks are threads */
	uint64_t first_ns, last_ns;   /* of events; first 0: there was none */
	uint64_t lost;            /* events */
	uint32_t count, max;
	struct t2x_stack *stacks; /* by number - 1 */
	struct t2x_index index;
	uint32_t threads, max_threads;
	struct t2x_profile_thread *thread;   /* by number - 1 */
	struct t2x_index thread_index;
};

/* Of printer->own.  Return  0 or -ENOMEM */
int t2x_profile_begin(struct t2x_printer *printer, int by_thread);

/* Takes any event, unresolved ones too. */
void t2x_profile_event(struct t2x_printer *printer, const struct t2x_event *ev);

void t2x_profile_free(struct t2x_printer *printer);

/* The stack around, or NULL. */
static inline const struct t2x_stack *t2x_profile_parent(const struct t2x_profile *profile,
							 const struct t2x_stack *stack)
{
	return stack->parent ? &profile->stacks[stack->parent - 1] : NULL;
}

#endif
