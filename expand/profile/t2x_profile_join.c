/* SPDX-License-Identifier: MIT */
/* t2x_profile_join.c - see t2x_profile_join.h. */
#include "t2x_profile_join.h"

#include <stdlib.h>
#include <string.h>

/* ---- stacks ------------------------------------------------------------------------------------- */

/* The stack of a region that was open at the end of the parts in front.  Return  0: there is none */
static uint32_t find_base(struct t2x_profile *to, const struct t2x_profile_base *base)
{
	struct t2x_spans *spans = t2x_spans_get(&to->processes.spans, base->stream, base->tid);

	if (!spans || base->depth >= spans->open || !t2x_span_frame(&spans->spans[base->depth]))
		return 0;
	return t2x_profile_stack(to, spans, &spans->spans[base->depth], base->depth);
}

/* parent: the stack around, as it is in to */
static uint32_t find_stack(struct t2x_profile *to, const struct t2x_profile *from, const struct t2x_stack *stack,
			   uint32_t parent)
{
	const struct t2x_profile_thread *thread;
	const struct t2x_frame *frame;

	if (stack->is_thread == T2X_PROFILE_BASE)
		return find_base(to, &from->bases[stack->frame - 1]);
	if (stack->is_thread == T2X_PROFILE_THREAD) {
		thread = &from->thread[stack->frame - 1];
		return t2x_profile_thread_stack(to, thread->pid, thread->name);
	}
	frame = t2x_frames_join(&to->processes.frames, from->processes.frames.frames[stack->frame - 1]);
	return frame && (parent || !stack->parent) ? t2x_stacks_find(&to->stacks, parent, frame->number, 0) : 0;
}

/* A stack comes behind the one around it. */
static int join_stacks(struct t2x_profile *to, const struct t2x_profile *from)
{
	uint32_t *numbers = malloc((from->stacks.count + 1) * sizeof(*numbers));
	int done = numbers != NULL;

	for (uint32_t i = 0; done && i < from->stacks.count; i++) {
		const struct t2x_stack *stack = &from->stacks.stacks[i];

		numbers[i] = find_stack(to, from, stack, stack->parent ? numbers[stack->parent - 1] : 0);
		if (numbers[i]) {
			to->stacks.stacks[numbers[i] - 1].count += stack->count;
			to->stacks.stacks[numbers[i] - 1].self_ns += stack->self_ns;
		}
		done = numbers[i] != 0;
	}
	free(numbers);
	return done;
}

/* Also those of regions that are open. */
static int join_frames(struct t2x_frames *to, const struct t2x_frames *from)
{
	to->is_ambiguous |= from->is_ambiguous;
	for (uint32_t i = 0; i < from->count; i++)
		if (!t2x_frames_join(to, from->frames[i]))
			return 0;
	return 1;
}

/* ---- notes -------------------------------------------------------------------------------------- */

/* Return  0: it is of a region that is not open */
static int join_note(struct t2x_profile *to, const struct t2x_profile_note *note)
{
	struct t2x_spans_table *table = &to->processes.spans;
	struct t2x_spans *spans = t2x_spans_get(table, note->stream, note->tid);

	if (!spans)
		return !note->is_alone;
	if (note->is_alone) {
		if (spans->open != note->depth + 1)
			return 0;
		spans->spans[note->depth].inner_ns += note->inner_ns;
	}
	if (note->depth || note->is_alone)
		t2x_spans_end_down_to(table, spans, note->depth, note->ns, note->end);
	else
		t2x_spans_end_thread(table, spans);
	return 1;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

int t2x_profile_join(struct t2x_profile *to, struct t2x_profile *from)
{
	const struct t2x_frames *frames = &to->processes.frames, *others = &from->processes.frames;
	int done = !from->is_cut && join_frames(&to->processes.frames, others) && join_stacks(to, from);

	for (uint32_t i = 0; done && i < from->nnotes; i++)
		done = join_note(to, &from->notes[i]);
	/* what there was no room for depends on the order in which all came */
	done = done && !frames->others && !others->others && !to->unplaced && !from->unplaced;
	done = done && t2x_processes_join(&to->processes, &from->processes);
	if (from->first_ns - 1 < to->first_ns - 1)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->lost += from->lost;
	if (!*to->samples)
		memcpy(to->samples, from->samples, sizeof(to->samples));
	return done;
}
