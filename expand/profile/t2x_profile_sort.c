/* SPDX-License-Identifier: MIT */
/* t2x_profile_sort.c - a profile in an order that depends on nothing but its names. */
#include "t2x_profile.h"

#include <stdlib.h>
#include <string.h>

/* Something of which there are several, to be sorted, and what its number was. */
struct item {
	const void *what;
	uint32_t number;
};

static int compare_frames(const void *a, const void *b)
{
	const struct t2x_frame *x = ((const struct item *)a)->what, *y = ((const struct item *)b)->what;
	int labels = strcmp(x->label, y->label);

	return labels ? labels : strcmp(x->category, y->category);
}

static int compare_threads(const void *a, const void *b)
{
	const struct t2x_profile_thread *x = ((const struct item *)a)->what, *y = ((const struct item *)b)->what;

	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : strcmp(x->name, y->name);
}

/* Stacks in one other stand together, in the order of their frames; those of threads come first. */
static int compare_stacks(const void *a, const void *b)
{
	const struct t2x_stack *x = ((const struct item *)a)->what, *y = ((const struct item *)b)->what;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->is_thread != y->is_thread)
		return x->is_thread > y->is_thread ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* What sorting needs of memory, for as many as there are at most. */
struct work {
	struct item *items;
	uint32_t *numbers;                /* by the old number - 1: the new one */
	uint32_t *waiting;
};

static void sort_frames(struct t2x_frames *frames, const struct work *work)
{
	for (uint32_t i = 0; i < frames->count; i++)
		work->items[i] = (struct item){ frames->frames[i], i + 1 };
	qsort(work->items, frames->count, sizeof(work->items[0]), compare_frames);
	for (uint32_t i = 0; i < frames->count; i++) {
		work->numbers[work->items[i].number - 1] = i + 1;
		frames->frames[i] = (struct t2x_frame *)(uintptr_t)work->items[i].what;
		frames->frames[i]->number = i + 1;
	}
}

/* Return  0: no memory */
static int sort_threads(struct t2x_profile *profile, const struct work *work)
{
	struct t2x_profile_thread *sorted = malloc((profile->threads + 1) * sizeof(*sorted));

	if (!sorted)
		return 0;
	for (uint32_t i = 0; i < profile->threads; i++)
		work->items[i] = (struct item){ &profile->thread[i], i + 1 };
	qsort(work->items, profile->threads, sizeof(work->items[0]), compare_threads);
	for (uint32_t i = 0; i < profile->threads; i++) {
		work->numbers[work->items[i].number - 1] = i + 1;
		sorted[i] = profile->thread[work->items[i].number - 1];
	}
	free(profile->thread);
	profile->thread = sorted;
	profile->max_threads = profile->threads + 1;
	return 1;
}

static void renumber(struct t2x_stacks *stacks, const struct work *work, int is_thread)
{
	for (uint32_t i = 0; i < stacks->count; i++)
		if (stacks->stacks[i].is_thread == is_thread)
			stacks->stacks[i].frame = work->numbers[stacks->stacks[i].frame - 1];
}

/* Each in front of those in it. */
static void order_stacks(struct t2x_profile *profile, const struct work *work)
{
	const struct t2x_stacks *stacks = &profile->stacks;
	uint32_t *last = work->numbers, nwaiting = 0, n = 0;    /* by number - 1: of those in it, its place + 1 */

	for (uint32_t i = 0; i < stacks->count; i++)
		work->items[i] = (struct item){ &stacks->stacks[i], i + 1 };
	qsort(work->items, stacks->count, sizeof(work->items[0]), compare_stacks);
	memset(last, 0, stacks->count * sizeof(last[0]));
	for (uint32_t i = 0; i < stacks->count; i++) {
		const struct t2x_stack *stack = work->items[i].what;
		if (stack->parent)
			last[stack->parent - 1] = i + 1;
	}
	/* the last one is waited for longest: the outermost first */
	for (uint32_t i = stacks->count; i--;)
		if (!stacks->stacks[work->items[i].number - 1].parent)
			work->waiting[nwaiting++] = work->items[i].number;
	while (nwaiting) {
		uint32_t number = work->waiting[--nwaiting];

		profile->order[n++] = number;
		for (uint32_t i = last[number - 1]; i; i--) {
			if (stacks->stacks[work->items[i - 1].number - 1].parent != number)
				break;
			work->waiting[nwaiting++] = work->items[i - 1].number;
		}
	}
}

int t2x_profile_sort(struct t2x_profile *profile)
{
	size_t most = (size_t)profile->stacks.count + profile->threads + profile->processes.frames.count + 1;
	struct work work = {
		.items = malloc(most * sizeof(*work.items)), .numbers = malloc(most * sizeof(*work.numbers)),
		.waiting = malloc(most * sizeof(*work.waiting)),
	};
	int done = 0;

	profile->order = malloc(most * sizeof(*profile->order));
	if (work.items && work.numbers && work.waiting && profile->order) {
		sort_frames(&profile->processes.frames, &work);
		renumber(&profile->stacks, &work, 0);
		done = sort_threads(profile, &work);
	}
	if (done) {
		renumber(&profile->stacks, &work, 1);
		order_stacks(profile, &work);
	}
	free(work.items);
	free(work.numbers);
	free(work.waiting);
	return done;
}
