/* SPDX-License-Identifier: MIT */
/* t2x_profile.c - see t2x_profile.h. */
#include "t2x_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_report.h"

enum { FIRST_THREADS = 16, FIRST_NOTES = 64, MAX_NOTES = 65536, MAX_STACKS = 256 * 1024 };

uint32_t t2x_profile_thread_stack(struct t2x_profile *profile, uint32_t pid, const char *name)
{
	uint64_t seed = t2x_index_mix(t2x_index_seed(), pid);
	uint32_t hash = (uint32_t)t2x_index_hash(seed, name, strlen(name)), number;
	struct t2x_index_search search = t2x_index_begin(hash);
	struct t2x_profile_thread *thread;
	void *threads = profile->thread;

	while ((number = t2x_index_next(&profile->thread_index, &search))) {
		thread = &profile->thread[number - 1];
		if (thread->pid == pid && strcmp(thread->name, name) == 0)
			return t2x_stacks_find(&profile->stacks, 0, number, T2X_PROFILE_THREAD);
	}
	if (t2x_index_room(&threads, profile->threads, &profile->max_threads, FIRST_THREADS, sizeof(*thread)))
		return 0;
	profile->thread = threads;
	if (t2x_index_add(&profile->thread_index, hash, profile->threads + 1))
		return 0;
	thread = &profile->thread[profile->threads++];
	thread->pid = pid;
	strcpy(thread->name, name);
	return t2x_stacks_find(&profile->stacks, 0, profile->threads, T2X_PROFILE_THREAD);
}

/* What stands for the stack of a region that was entered in front of the part.  Return  0: no memory */
static uint32_t find_base(struct t2x_profile *profile, const struct t2x_spans *spans, uint32_t depth)
{
	void *bases = profile->bases;
	uint32_t number;

	if (t2x_index_room(&bases, profile->nbases, &profile->max_bases, FIRST_NOTES, sizeof(profile->bases[0])))
		return 0;
	profile->bases = bases;
	number = t2x_stacks_find(&profile->stacks, 0, profile->nbases + 1, T2X_PROFILE_BASE);
	if (number)
		profile->bases[profile->nbases++] =
			(struct t2x_profile_base){ spans->process->stream, spans->tid, depth };
	return number;
}

/* The node of a span in the span with that one. */
static uint32_t find_node(struct t2x_profile *profile, const struct t2x_spans *spans, const struct t2x_span *span,
			  unsigned depth, uint32_t around)
{
	const struct t2x_frame *frame = t2x_span_frame(span);
	uint32_t stack;

	if (around == T2X_SPAN_UNPLACED)
		return around;
	if (!frame && profile->is_part)
		stack = find_base(profile, spans, depth);
	else if (frame && !frame->number && profile->by_thread)
		stack = t2x_profile_thread_stack(profile, t2x_traced_of(spans)->pid, spans->name);
	else if (frame && frame->number)
		stack = t2x_stacks_find(&profile->stacks, around == T2X_SPAN_NO_STACK ? 0 : around,
					frame->number, 0);
	else
		return around;
	return stack ? stack : T2X_SPAN_UNPLACED;
}

/* Each span remembers its stack; what was entered unseen is left out. */
uint32_t t2x_profile_stack(struct t2x_profile *profile, const struct t2x_spans *spans, struct t2x_span *span,
			   unsigned depth)
{
	unsigned known = t2x_spans_stacks(spans, depth);
	uint32_t around = known ? spans->spans[known - 1].node : T2X_SPAN_NO_STACK;

	for (unsigned i = known; i <= depth; i++) {
		struct t2x_span *at = i < depth ? &spans->spans[i] : span;

		if (!at->node)
			at->node = find_node(profile, spans, at, i, around);
		around = at->node;
	}
	return t2x_span_stack(span);
}

static int is_left(enum t2x_span_end end)
{
	return end == T2X_SPAN_LEFT || end == T2X_SPAN_UNSURE || end == T2X_SPAN_UNSEEN;
}

static struct t2x_profile *profile_of(struct t2x_spans_table *table)
{
	return (struct t2x_profile *)(void *)table;   /* it is the first in it */
}

/* The names of the event's scope may come first here. */
static __attribute__((noinline)) const struct t2x_frame *
look_for_frame(struct t2x_profile *profile, const struct t2x_event *ev)
{
	struct t2x_frames *frames = &profile->processes.frames;
	const struct t2x_frame *frame;

	frames->thread = ev->thread;
	frames->now_ns = ev->ns > profile->last_ns ? ev->ns : profile->last_ns;
	frame = t2x_frames_find(frames, ev->scope);
	frames->thread = NULL;
	return frame;
}

static inline const struct t2x_frame *find_frame(struct t2x_profile *profile, const struct t2x_event *ev)
{
	const struct t2x_frame *frame = t2x_frames_cached(&profile->processes.frames, ev->scope);

	return frame ? frame : look_for_frame(profile, ev);
}

static void end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	struct t2x_profile *profile = profile_of(table);
	const struct t2x_frame *frame = span->leave ? find_frame(profile, span->leave) : t2x_span_frame(span);
	struct t2x_stack *stack;
	uint32_t number;
	uint64_t ns;

	if (!frame || !frame->number || !is_left(end))
		return;
	span->own = (void *)(uintptr_t)frame;
	number = t2x_profile_stack(profile, spans, span, spans->open);
	profile->unplaced += !number;
	if (!number)
		return;
	stack = &profile->stacks.stacks[number - 1];
	stack->count++;
	if (!t2x_span_is_exact(end))
		return;
	ns = span->end_ns - span->start_ns;
	stack->self_ns += ns > span->inner_ns ? ns - span->inner_ns : 0;
}

/* ---- parts -------------------------------------------------------------------------------------- */

static void note(struct t2x_profile *profile, const struct t2x_profile_note *what)
{
	void *notes = profile->notes;

	if (profile->nnotes == MAX_NOTES ||
	    t2x_index_room(&notes, profile->nnotes, &profile->max_notes, FIRST_NOTES, sizeof(*what))) {
		profile->is_cut = 1;
		return;
	}
	profile->notes = notes;
	profile->notes[profile->nnotes++] = *what;
}

/* It was entered in front of the part. */
static void end_unseen(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		       enum t2x_span_end end)
{
	note(profile_of(table), &(struct t2x_profile_note){
		.stream = spans->process->stream, .tid = spans->tid, .depth = spans->open, .end = end, .is_alone = 1,
		.ns = span->end_ns, .inner_ns = span->inner_ns,
	});
}

/* What this part has not seen to be open ends, too. */
static void note_end(struct t2x_profile *profile, const struct t2x_spans *spans, const struct t2x_event *ev,
		     uint32_t depth)
{
	note(profile, &(struct t2x_profile_note){
		.stream = spans->process->stream, .tid = spans->tid, .depth = depth, .end = T2X_SPAN_CUT,
		.ns = ev->ns,
	});
}

/* ---- events ------------------------------------------------------------------------------------- */

struct t2x_profile *t2x_profile_new(int by_thread, int is_part)
{
	struct t2x_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->processes.spans.end_span = end_span;
	profile->processes.spans.end_unseen = end_unseen;
	profile->processes.spans.is_part = is_part;
	profile->by_thread = by_thread;
	profile->processes.frames.max_bytes = T2X_FRAMES_BYTES;
	profile->stacks.limit = MAX_STACKS;
	profile->is_part = is_part;
	return profile;
}

void t2x_profile_use(struct t2x_printer *printer, struct t2x_profile *profile)
{
	t2x_processes_begin(&profile->processes, printer);
	printer->own = profile;
}

int t2x_profile_begin(struct t2x_printer *printer, int by_thread)
{
	struct t2x_profile *profile = t2x_profile_new(by_thread, 0);

	if (!profile)
		return -ENOMEM;
	t2x_profile_use(printer, profile);
	return 0;
}

static void enter(struct t2x_profile *profile, const struct t2x_event *ev)
{
	const struct t2x_frame *frame = find_frame(profile, ev);

	if (ev->spans && ev->spans->at)
		ev->spans->at->own = (void *)(uintptr_t)frame;
}

void t2x_profile_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_profile *profile = printer->own;
	struct t2x_spans *spans = ev->spans;

	/* none, 0, is later than any */
	if (ev->ns - 1 < profile->first_ns - 1 && !ev->is_repeated)
		profile->first_ns = ev->ns;
	if (ev->ns > profile->last_ns)
		profile->last_ns = ev->ns;
	if (ev->style == TLG_STYLE_region_enter) {
		enter(profile, ev);
		return;
	}
	if (ev->style == TLG_STYLE_sample && ev->scope && ev->scope->category && !*profile->samples)
		snprintf(profile->samples, sizeof(profile->samples), "%s", ev->scope->category);
	if (ev->lost && ev->lost->what == T2X_LOST_EVENTS)
		profile->lost += (uint64_t)ev->args[0].value;
	if (spans && profile->is_part && tlg_style_unwinds(ev->style))
		note_end(profile, spans, ev, ev->open);
	if (!spans || ev->style != TLG_STYLE_thread_exit)
		return;
	if (profile->is_part)
		note_end(profile, spans, ev, 0);
	t2x_spans_end_thread(printer->spans, spans);
}

void t2x_profile_hint(const struct t2x_profile *profile)
{
	const struct t2x_frames *frames = &profile->processes.frames;

	if (frames->others)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, "names",
				"no room for more than %u: others are 'other names', %" PRIu64 " times",
				(unsigned)frames->count, frames->others);
	if (profile->unplaced)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, "stacks",
				"no room for more than %u: %" PRIu64 " regions in others are left out",
				(unsigned)profile->stacks.count, profile->unplaced);
	t2x_spans_report(&profile->processes.spans);
	if (*profile->samples && !profile->stacks.count)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, profile->samples,
				"the trace has samples of this profile, and no regions: --profile=%s shows them",
				profile->samples);
}

void t2x_profile_free(struct t2x_profile *profile)
{
	if (!profile)
		return;
	t2x_processes_free(&profile->processes);
	t2x_stacks_free(&profile->stacks);
	t2x_index_free(&profile->thread_index);
	free(profile->thread);
	free(profile->order);
	free(profile->notes);
	free(profile->bases);
	free(profile);
}
