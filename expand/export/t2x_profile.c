/* SPDX-License-Identifier: MIT */
/* t2x_profile.c - see t2x_profile.h. */
#include "t2x_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_THREADS = 16 };

/* The stack of a thread, in which those of its regions are.  Return  0: no memory */
static uint32_t find_thread(struct t2x_profile *profile, const struct t2x_track *track)
{
	uint64_t seed = t2x_index_mix(t2x_index_seed(), track->process->pid);
	uint32_t hash = (uint32_t)t2x_index_hash(seed, track->name, strlen(track->name)), number;
	struct t2x_index_search search = t2x_index_begin(hash);
	struct t2x_profile_thread *thread;
	void *threads = profile->thread;

	while ((number = t2x_index_next(&profile->thread_index, &search))) {
		thread = &profile->thread[number - 1];
		if (thread->pid == track->process->pid && strcmp(thread->name, track->name) == 0)
			return t2x_stacks_find(&profile->stacks, 0, number, 1);
	}
	if (t2x_index_room(&threads, profile->threads, &profile->max_threads, FIRST_THREADS, sizeof(*thread)))
		return 0;
	profile->thread = threads;
	if (t2x_index_add(&profile->thread_index, hash, profile->threads + 1))
		return 0;
	thread = &profile->thread[profile->threads++];
	thread->pid = track->process->pid;
	memcpy(thread->name, track->name, sizeof(thread->name));
	return t2x_stacks_find(&profile->stacks, 0, profile->threads, 1);
}

/* The stack of a span in those around it, each of which remembers its own; what was entered unseen is left out. */
static uint32_t find_span(struct t2x_profile *profile, const struct t2x_track *track, struct t2x_span *span,
			  unsigned depth)
{
	uint32_t around = 0;

	for (unsigned i = 0; i <= depth; i++) {
		struct t2x_span *at = i < depth ? &track->spans[i] : span;

		if (!at->node && at->frame && !at->frame->number && profile->by_thread)
			at->node = find_thread(profile, track);
		else if (!at->node && at->frame && at->frame->number)
			at->node = t2x_stacks_find(&profile->stacks, around, at->frame->number, 0);
		around = at->node ? at->node : around;
	}
	return span->node;
}

static int is_left(enum t2x_span_end end)
{
	return end == T2X_SPAN_LEFT || end == T2X_SPAN_UNSURE || end == T2X_SPAN_UNSEEN;
}

static void end_span(struct t2x_printer *printer, const struct t2x_track *track, struct t2x_span *span, unsigned depth,
		     enum t2x_span_end end)
{
	struct t2x_profile *profile = printer->own;
	unsigned known = depth < track->open ? depth : track->open;
	uint32_t number = span->frame->number && is_left(end) ? find_span(profile, track, span, known) : 0;
	struct t2x_stack *stack;
	uint64_t ns;

	if (!number)
		return;
	stack = &profile->stacks.stacks[number - 1];
	stack->count++;
	if (!t2x_span_is_exact(end))
		return;
	ns = span->end_ns - span->start_ns;
	stack->self_ns += ns > span->inner_ns ? ns - span->inner_ns : 0;
}

int t2x_profile_begin(struct t2x_printer *printer, int by_thread)
{
	struct t2x_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return -ENOMEM;
	profile->tracks.printer = printer;
	profile->tracks.end_span = end_span;
	profile->by_thread = by_thread;
	printer->own = profile;
	return 0;
}

void t2x_profile_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_profile *profile = printer->own;
	struct t2x_track *track = t2x_tracks_take(&profile->tracks, ev);

	if (!profile->first_ns)
		profile->first_ns = ev->ns;
	if (ev->ns > profile->last_ns)
		profile->last_ns = ev->ns;
	if (ev->lost && ev->lost->what == T2X_LOST_EVENTS)
		profile->lost += (uint64_t)ev->args[0].value;
	if (track && ev->style == TLG_STYLE_thread_exit)
		t2x_tracks_end_thread(&profile->tracks, track);
}

void t2x_profile_free(struct t2x_printer *printer)
{
	struct t2x_profile *profile = printer->own;

	t2x_tracks_free(&profile->tracks);
	t2x_stacks_free(&profile->stacks);
	t2x_index_free(&profile->thread_index);
	free(profile->thread);
	free(profile);
	printer->own = NULL;
}
