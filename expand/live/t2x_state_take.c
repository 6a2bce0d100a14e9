/* SPDX-License-Identifier: MIT */
/* t2x_state_take.c - gathers; t2x_state_print.c prints. */
#include "t2x_state_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct t2x_state_settings *g_settings;

void t2x_state_set(const struct t2x_state_settings *settings)
{
	g_settings = settings;
}

/* ---- processes and threads ---------------------------------------------------------------------- */

static struct t2x_state *state_of(struct t2x_spans_table *table)
{
	return (struct t2x_state *)(void *)table;
}

static struct t2x_state_process *new_process(struct t2x_state *state, const struct t2x_process *facts)
{
	struct t2x_state_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->sid = strdup(facts->sid);
	process->pid = facts->pid;
	process->start_ticks = facts->start_ticks;
	*(state->last_process ? &state->last_process->next : &state->processes) = process;
	state->last_process = process;
	return process;
}

/* A process, or a thread, was met.  Return  0: no memory */
static int meet_thread(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
		       int is_renamed)
{
	struct t2x_state *state = state_of(table);
	const struct t2x_process *facts = ev->thread->process;
	struct t2x_state_process *process = spans->process->own;
	struct t2x_state_thread *thread = spans->own;

	(void)is_renamed;
	if (!process)
		process = spans->process->own = new_process(state, facts);
	if (!process)
		return 0;
	process->start_ns = facts->start_ns;
	if (!thread) {
		thread = calloc(1, sizeof(*thread) + state->settings.last * sizeof(thread->last[0]));
		if (!thread)
			return 0;
		thread->process = process;
		*(process->last_thread ? &process->last_thread->next : &process->threads) = thread;
		process->last_thread = thread;
		spans->own = thread;
	}
	memcpy(thread->name, ev->thread->name, sizeof(thread->name));
	thread->tid = ev->thread->tid;
	return 1;
}

static void free_thread(struct t2x_state *state, struct t2x_state_thread *thread)
{
	for (unsigned i = 0; i < state->settings.last; i++)
		t2x_copy_free(thread->last[i]);
	t2x_copy_free(thread->wait);
	t2x_copy_free(thread->asked);
	while (thread->nopen)
		t2x_copy_free(thread->open[--thread->nopen]);
	free(thread->open);
	free(thread);
}

static void unlink_thread(struct t2x_state_process *process, const struct t2x_state_thread *thread)
{
	struct t2x_state_thread **at = &process->threads, *before = NULL;

	for (; *at != thread; at = &(*at)->next)
		before = *at;
	*at = thread->next;
	if (process->last_thread == thread)
		process->last_thread = before;
}

/* The table forgets a thread.  One that has ended while its process goes on is of no interest any more. */
static void forget_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	struct t2x_state_thread *thread = spans->own;

	spans->own = NULL;
	if (!thread || !thread->has_ended || thread->process->end)
		return;
	unlink_thread(thread->process, thread);
	thread->process->ended_threads++;
	free_thread(state_of(table), thread);
}

/* ---- regions ------------------------------------------------------------------------------------ */

static void drop_span(struct t2x_span *span)
{
	t2x_copy_free(span->own);
	span->own = NULL;
}

/* A region that did not end by being left was open: the innermost comes first. */
static void end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	struct t2x_state_thread *thread = spans->own;
	struct t2x_event_copy **open;

	(void)table;
	if (!thread || !span->own || (end != T2X_SPAN_CUT && end != T2X_SPAN_OPEN)) {
		drop_span(span);
		return;
	}
	open = realloc(thread->open, (thread->nopen + 1) * sizeof(thread->open[0]));
	if (!open) {
		drop_span(span);
		return;
	}
	thread->open = open;
	thread->open[thread->nopen++] = span->own;
	span->own = NULL;
}

/* ---- events ------------------------------------------------------------------------------------- */

static struct t2x_event_copy *copy(struct t2x_state *state, const struct t2x_event *ev)
{
	struct t2x_event_copy *copied = t2x_copy_event(&state->copies, ev);

	state->error = copied ? state->error : ENOMEM;
	return copied;
}

static void replace(struct t2x_state *state, struct t2x_event_copy **at, const struct t2x_event *ev)
{
	t2x_copy_free(*at);
	*at = copy(state, ev);
}

/* A sample of a wait, or the answer of a thread that was asked where it is. */
static void take_sample(struct t2x_state *state, struct t2x_state_thread *thread, const struct t2x_event *ev)
{
	const char *profile = ev->scope && ev->scope->category ? ev->scope->category : "";

	if (!strcmp(profile, "block") || !strcmp(profile, "mutex"))
		replace(state, &thread->wait, ev);
	else if (!strcmp(profile, "threads"))
		replace(state, &thread->asked, ev);
}

/* What is shown of the process as a whole. */
static void take_for_process(struct t2x_state *state, struct t2x_state_process *process, const struct t2x_event *ev)
{
	if (ev->style == TLG_STYLE_start)
		replace(state, &process->command, ev);
	else if (ev->style == TLG_STYLE_error)
		replace(state, &process->errors[process->nerrors++ % T2X_STATE_ERRORS], ev);
	else if (ev->style == TLG_STYLE_exit || ev->style == TLG_STYLE_atexit || ev->style == TLG_STYLE_signal)
		replace(state, &process->end, ev);
}

/* How many events are missing, or what a process has lost by its own count. */
static int take_lost(struct t2x_state_process *process, const struct t2x_event *ev)
{
	if (ev->lost) {
		process->missing += ev->lost->what == T2X_LOST_EVENTS && ev->nargs ? (uint64_t)ev->args[0].value : 0;
		return 1;
	}
	if (ev->style != TLG_STYLE_counter || !ev->scope || !ev->scope->category || !ev->scope->label ||
	    strcmp(ev->scope->category, "trace2") != 0 || strncmp(ev->scope->label, "lost-", 5) != 0)
		return 0;
	process->lost += ev->nargs ? (uint64_t)ev->args[0].value : 0;
	return 1;
}

static void take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_state *state = printer->own;
	struct t2x_state_thread *thread = ev->spans ? ev->spans->own : NULL;
	struct t2x_span *at = ev->spans ? ev->spans->at : NULL;

	if (!thread || take_lost(thread->process, ev) || ev->is_repeated)
		goto region;
	thread->depth = ev->open + (ev->style == TLG_STYLE_region_enter);
	thread->last_ns = ev->ns;
	if (ev->ns > thread->process->last_ns)
		thread->process->last_ns = ev->ns;
	if (ev->style == TLG_STYLE_sample) {
		take_sample(state, thread, ev);
		return;
	}
	take_for_process(state, thread->process, ev);
	thread->has_ended |= ev->style == TLG_STYLE_thread_exit;
	if (state->settings.last)
		replace(state, &thread->last[thread->nlast++ % state->settings.last], ev);
region:
	if (at && ev->style == TLG_STYLE_region_enter && !at->is_thread) {
		drop_span(at);
		at->own = copy(state, ev);
	}
}

/* ---- all ---------------------------------------------------------------------------------------- */

static int begin_state(struct t2x_printer *printer)
{
	struct t2x_state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->settings = *g_settings;
	state->table.meet_thread = meet_thread;
	state->table.end_span = end_span;
	state->table.forget_thread = forget_thread;
	t2x_spans_begin(&state->table, printer);
	printer->own = state;
	return 0;
}

static void free_process(struct t2x_state *state, struct t2x_state_process *process)
{
	while (process->threads) {
		struct t2x_state_thread *thread = process->threads;

		process->threads = thread->next;
		free_thread(state, thread);
	}
	t2x_copy_free(process->command);
	t2x_copy_free(process->end);
	for (unsigned i = 0; i < T2X_STATE_ERRORS; i++)
		t2x_copy_free(process->errors[i]);
	free(process->sid);
	free(process);
}

static void finish_state(struct t2x_printer *printer)
{
	struct t2x_state *state = printer->own;

	t2x_spans_end(&state->table);
	t2x_state_print(state, printer);
	t2x_spans_free(&state->table);
	while (state->processes) {
		struct t2x_state_process *process = state->processes;

		state->processes = process->next;
		free_process(state, process);
	}
	t2x_copies_free(&state->copies);
	if (state->error)
		printer->out->error = state->error;
	free(state);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_state = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin_state,
	.finish = finish_state,
	.unresolved = take,
	.never_left = take,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = take,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
