/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox_samples.c - the CPU samples of a thread, as one more thread behind it: its stacks are of functions, not
 * of regions, and a sample weighs the time that it stands for.  Samples of other profiles are markers.
 */
#include <errno.h>
#include <stdlib.h>

#include "t2x_firefox.h"

enum { FIRST_THREADS = 64 };

static struct t2x_firefox_thread *add_sampled(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread)
{
	struct t2x_firefox_thread *sampled = calloc(1, sizeof(*sampled));
	void *threads = firefox->threads;

	if (!sampled || t2x_index_room(&threads, firefox->thread_count, &firefox->thread_max, FIRST_THREADS,
				       sizeof(firefox->threads[0]))) {
		free(sampled);
		return NULL;
	}
	firefox->threads = threads;
	*sampled = (struct t2x_firefox_thread){
		.process = thread->process, .tid = thread->tid, .is_sampled = 1, .start_ns = thread->start_ns,
		.stacks.spill = &firefox->spill, .weights.spill = &firefox->spill,
	};
	memcpy(sampled->name, thread->name, sizeof(sampled->name));
	firefox->threads[firefox->thread_count++] = sampled;
	return sampled;
}

/* Return  0: there is no stack, or no memory */
static uint32_t find_stack(struct t2x_firefox *firefox, const struct t2x_stack_names *names)
{
	uint32_t stack = 0;

	for (unsigned i = names ? names->n : 0; i--;) {
		const struct t2x_scope scope = { .category = "function", .label = names->at[i] };
		const struct t2x_frame *frame = t2x_frames_of(&firefox->known.frames, &scope);

		stack = frame ? t2x_stacks_find(&firefox->stacks, stack, frame->number, 0) : 0;
		if (!stack) {
			firefox->error = -ENOMEM;
			return 0;
		}
	}
	return stack;
}

void t2x_firefox_put_sample(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev)
{
	const struct t2x_options *options = &firefox->known.spans.printer->options;
	struct t2x_firefox_thread *sampled = thread->sampled;
	uint64_t ns = ev->ns;
	uint32_t stack;

	if (!sampled)
		sampled = thread->sampled = add_sampled(firefox, thread);
	if (!sampled) {
		firefox->error = -ENOMEM;
		return;
	}
	stack = find_stack(firefox, options->name_stack ? options->name_stack(options->namer, ev->scope) : NULL);
	if (ns < sampled->last_ns)
		ns = sampled->last_ns;
	sampled->last_ns = ns;
	t2x_firefox_put_point(&sampled->stacks, ns, stack);
	t2x_firefox_put_point(&sampled->weights, ns, ev->args[T2X_SAMPLE_VALUE].value);
}
