/* SPDX-License-Identifier: MIT */
/* t2x_firefox_samples.c - see t2x_firefox_samples.h. */
#include "t2x_firefox_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_THREADS = 64, MAX_PROFILES = 16 };      /* of a thread: a program may have any number of its own */

/* The program's own profiles come behind those that it has from us, in the order in which they came. */
static unsigned rank_of(const struct t2x_prof_kind *kind, unsigned count)
{
	return kind->name ? 1 + (unsigned)(kind - t2x_prof_kinds) : 1 + T2X_PROF_KINDS + count;
}

/* Return  NULL: no memory */
static struct t2x_firefox_thread *add_sampled(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread,
					      const char *profile, unsigned count)
{
	const struct t2x_prof_kind *kind = t2x_prof_kind_of(profile);
	struct t2x_firefox_thread *sampled = calloc(1, sizeof(*sampled));
	void *threads = firefox->threads;

	if (!sampled || t2x_index_room(&threads, firefox->thread_count, &firefox->thread_max, FIRST_THREADS,
				       sizeof(firefox->threads[0]))) {
		free(sampled);
		return NULL;
	}
	firefox->threads = threads;
	*sampled = (struct t2x_firefox_thread){
		.process = thread->process, .tid = thread->tid, .start_ns = thread->start_ns, .kind = kind,
		.rank = rank_of(kind, count), .sampled = thread->sampled,
		.stacks.spill = &firefox->spill, .weights.spill = &firefox->spill,
	};
	memcpy(sampled->name, thread->name, sizeof(sampled->name));
	snprintf(sampled->profile, sizeof(sampled->profile), "%s", profile);
	thread->sampled = sampled;
	firefox->threads[firefox->thread_count++] = sampled;
	return sampled;
}

/* Return  NULL: there is no room for one more, or firefox->error */
static struct t2x_firefox_thread *find_sampled(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread,
					       const char *profile)
{
	struct t2x_firefox_thread *sampled = thread->sampled;
	unsigned count = 0;

	for (; sampled; sampled = sampled->sampled, count++)
		if (strncmp(sampled->profile, profile, sizeof(sampled->profile) - 1) == 0)
			return sampled;
	if (count == MAX_PROFILES)
		return NULL;
	sampled = add_sampled(firefox, thread, profile, count);
	if (!sampled)
		firefox->error = -ENOMEM;
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

/* What the sample stands for: nanoseconds, bytes, or objects; of what was freed below 0. */
static int64_t weight_of(const struct t2x_prof_kind *kind, const struct t2x_event *ev)
{
	const int64_t count = ev->args[T2X_SAMPLE_COUNT].value, value = ev->args[T2X_SAMPLE_VALUE].value;
	const int64_t what = kind->form->unit == T2X_PROF_count ? count : value;
	double weight = (double)what * t2x_prof_scale(kind, count, value, ev->args[T2X_SAMPLE_PERIOD].value);

	if (weight >= 9e18 || weight <= -9e18)
		return weight > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
}

int t2x_firefox_put_sample(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev)
{
	const struct t2x_options *options = &firefox->known.spans.printer->options;
	const char *profile = ev->scope->category ? ev->scope->category : "";
	struct t2x_firefox_thread *sampled = find_sampled(firefox, thread, profile);
	uint64_t ns = ev->ns;
	uint32_t stack;

	if (!sampled)
		return 0;
	stack = find_stack(firefox, options->name_stack ? options->name_stack(options->namer, ev->scope) : NULL);
	if (ns < sampled->last_ns)
		ns = sampled->last_ns;
	sampled->last_ns = ns;
	t2x_firefox_put_point(&sampled->stacks, ns, stack);
	t2x_firefox_put_point(&sampled->weights, ns, weight_of(sampled->kind, ev));
	return 1;
}
