/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox.c - the processed profile of the Firefox Profiler: what is gathered from the events.
 *
 * A region is an interval marker; so that the stack chart and the call tree show it, too, a thread has a change of its
 * stack at each enter and leave.  Other events are instants with a text or a number, children intervals that end with
 * child_exit; numbers are counters of the process as well.  A gap is a marker, and in it the thread's stack has a frame
 * more, "events lost": no region is blamed for that time.
 */
#include "t2x_firefox_print.h"
#include "t2x_firefox_samples.h"

#include <errno.h>
#include <stdlib.h>

#include "t2x_payload.h"
#include "text/t2x_text.h"

enum {
	FIRST_THREADS = 64,
	MS_NS = 1000000,
	THREAD_BYTES = T2X_SPANS_THREAD_BYTES + 896,   /* with few rows */
};

/* ---- processes and threads ---------------------------------------------------------------------- */

static struct t2x_firefox_process *add_process(struct t2x_firefox *firefox, struct t2x_traced *known)
{
	struct t2x_firefox_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->known = known;
	process->pid = known->pid;
	process->order = known->order;
	process->start_ns = known->start_ns;
	process->last = &process->first;
	process->next = firefox->processes;
	firefox->processes = process;
	known->own = process;
	return process;
}

static struct t2x_firefox_thread *add_thread(struct t2x_firefox *firefox, struct t2x_firefox_process *process,
					     const struct t2x_spans *spans)
{
	struct t2x_firefox_thread *thread = calloc(1, sizeof(*thread));
	void *threads = firefox->threads;

	if (!thread || t2x_index_room(&threads, firefox->thread_count, &firefox->thread_max, FIRST_THREADS,
				      sizeof(firefox->threads[0]))) {
		free(thread);
		return NULL;
	}
	firefox->threads = threads;
	if (t2x_map_put(&process->threads, spans->tid, thread)) {
		free(thread);
		return NULL;
	}
	thread->process = process;
	thread->markers.spill = thread->stacks.spill = &firefox->spill;
	thread->tid = spans->tid;
	thread->start_ns = spans->spans[0].start_ns;
	firefox->threads[firefox->thread_count++] = thread;
	return thread;
}

/* What was gathered of a thread; it stays when the thread has ended.  Return  0: no memory */
static int meet_thread(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
		       int is_renamed)
{
	struct t2x_firefox *firefox = table->printer->own;
	struct t2x_traced *known = t2x_traced_of(spans);
	struct t2x_firefox_process *process = known->own;
	struct t2x_firefox_thread *thread;

	(void)ev;
	(void)is_renamed;
	if (!firefox->zero_ns)
		firefox->zero_ns = known->start_ns - known->start_ns % MS_NS;
	if (!process)
		process = add_process(firefox, known);
	thread = process ? t2x_map_get(&process->threads, spans->tid) : NULL;
	if (process && !thread)
		thread = add_thread(firefox, process, spans);
	if (!thread) {
		firefox->error = -ENOMEM;
		return 0;
	}
	memcpy(thread->name, spans->name, sizeof(thread->name));
	spans->own = thread;
	return 1;
}

/* ---- stacks ------------------------------------------------------------------------------------- */

/* The stack of the innermost region that is open, each of which remembers its own; 0: none is. */
static uint32_t stack_of(struct t2x_firefox *firefox, const struct t2x_spans *spans)
{
	uint32_t known = t2x_spans_stacks(spans, spans->open);
	uint32_t around = known ? t2x_span_stack(&spans->spans[known - 1]) : 0;

	for (uint32_t i = known; i < spans->open; i++) {
		struct t2x_span *span = &spans->spans[i];
		const struct t2x_frame *frame = t2x_span_frame(span);

		if (frame && frame->number)
			span->node = t2x_stacks_find(&firefox->stacks, around, frame->number, 0);
		else
			span->node = around ? around : T2X_SPAN_NO_STACK;
		if (!span->node)
			firefox->error = -ENOMEM;
		around = span->node ? t2x_span_stack(span) : around;
	}
	return around;
}

/* From ns on the thread has that stack, unless it has it already; times do not go back. */
static void put_stack(struct t2x_firefox_thread *thread, uint64_t ns, uint32_t stack)
{
	struct t2x_firefox_rows *stacks = &thread->stacks;

	if (stack != (uint32_t)stacks->value)
		t2x_firefox_put_point(stacks, ns > stacks->ns ? ns : stacks->ns, stack);
}

/* ---- regions ------------------------------------------------------------------------------------ */

static void end_region(struct t2x_firefox_thread *thread, const struct t2x_span *span, uint32_t name,
		       enum t2x_span_end end)
{
	enum t2x_firefox_phase phase = end == T2X_SPAN_UNSEEN ? T2X_FIREFOX_INSTANT :
				       end == T2X_SPAN_OPEN ? T2X_FIREFOX_START : T2X_FIREFOX_INTERVAL;

	t2x_firefox_put_marker(&thread->markers, &(struct t2x_firefox_marker){
		.schema = T2X_FIREFOX_REGION, .phase = phase, .name = name, .start_ns = span->start_ns,
		.end_ns = span->end_ns, .end = end, .text = span->message, .length = span->message_length,
	});
}

/* The thread's own level ends as the thread does. */
static void end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	struct t2x_firefox *firefox = table->printer->own;
	struct t2x_firefox_thread *thread = spans->own;
	const struct t2x_frame *frame = t2x_processes_ended(&firefox->known, span);

	if (frame && frame->number)
		end_region(thread, span, frame->number, end);
	else if (frame && end != T2X_SPAN_OPEN)
		thread->end_ns = span->end_ns;
}

/* ---- other events ------------------------------------------------------------------------------- */

static int collect(void *to, const char *text, size_t n)
{
	struct t2x_bytes *bytes = to;

	t2x_bytes_put(bytes, text, n);
	return bytes->error ? ENOMEM : 0;
}

/* The number of the frame that has the event's names; if it has none, the name of its kind, or another one. */
static uint32_t name_of(struct t2x_firefox *firefox, const struct t2x_event *ev, const char *other)
{
	const struct t2x_scope kind = { .label = other ? other : t2x_text_event_name(ev->style) };
	const struct t2x_scope *scope = ev->scope && ev->scope->label ? ev->scope : &kind;
	const struct t2x_frame *frame = t2x_frames_of(&firefox->known.frames, scope);

	if (!frame)
		firefox->error = -ENOMEM;
	return frame ? frame->number : 0;
}

/* A marker with what the event says as a text. */
static void put_text(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev,
		     enum t2x_firefox_schema schema)
{
	int is_child = schema == T2X_FIREFOX_CHILD && ev->style != TLG_STYLE_child_start;
	struct t2x_firefox_marker marker = { .schema = schema, .start_ns = ev->ns, .end_ns = ev->ns };

	marker.name = name_of(firefox, ev, is_child ? "child" : NULL);
	if (is_child && ev->rel_ns <= ev->ns) {
		marker.phase = T2X_FIREFOX_INTERVAL;
		marker.start_ns = ev->ns - ev->rel_ns;
	}
	firefox->text.n = 0;
	t2x_payload(&firefox->text_out, ev, &firefox->known.spans.printer->options);
	t2x_out_flush(&firefox->text_out);
	marker.text = firefox->text.n ? (const char *)firefox->text.bytes : NULL;
	marker.length = firefox->text.n;
	if (marker.name)
		t2x_firefox_put_marker(&thread->markers, &marker);
}

/* A point of the process's counter.  Readers have its numbers as doubles: the largest are not exact there anyway. */
static void put_point(struct t2x_firefox *firefox, struct t2x_firefox_process *process, uint32_t name, uint64_t ns,
		      const struct t2x_arg *arg)
{
	int64_t value = arg->type == TLG_ARG_UINT && arg->value < 0 ? INT64_MAX : arg->value;
	struct t2x_firefox_counter *counter = t2x_map_get(&process->counters, name);

	if (!counter) {
		counter = calloc(1, sizeof(*counter));
		if (!counter || t2x_map_put(&process->counters, name, counter)) {
			free(counter);
			firefox->error = -ENOMEM;
			return;
		}
		counter->name = name;
		counter->points.spill = &firefox->spill;
		*process->last = counter;
		process->last = &counter->next;
	}
	t2x_firefox_put_point(&counter->points, ns, value);
}

static void put_number(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev,
		       enum t2x_firefox_schema schema)
{
	const struct t2x_arg *arg = &ev->args[0];
	uint32_t name = name_of(firefox, ev, NULL);

	if (!name)
		return;
	t2x_firefox_put_marker(&thread->markers, &(struct t2x_firefox_marker){
		.schema = schema, .name = name, .start_ns = ev->ns, .end_ns = ev->ns,
		.has_value = 1, .is_unsigned = arg->type == TLG_ARG_UINT, .value = arg->value,
	});
	if (schema != T2X_FIREFOX_LOST)
		put_point(firefox, thread->process, name, ev->ns, arg);
}

/* A gap: a marker, and a frame of its own; the stack behind it is that of before, less what was left in it. */
static void put_gap(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev,
		    uint32_t stack)
{
	uint64_t since_ns = ev->lost->since_ns && ev->lost->since_ns < ev->ns ? ev->lost->since_ns : ev->ns;
	uint32_t name = firefox->lost_frame->number;
	uint32_t lost = t2x_stacks_find(&firefox->stacks, stack, name, 0);

	firefox->lost += (uint64_t)ev->args[0].value;
	t2x_firefox_put_marker(&thread->markers, &(struct t2x_firefox_marker){
		.schema = T2X_FIREFOX_LOST, .phase = T2X_FIREFOX_INTERVAL, .name = name,
		.start_ns = since_ns, .end_ns = ev->ns, .has_value = 1, .value = ev->args[0].value,
	});
	if (lost)
		put_stack(thread, since_ns, lost);
}

static void put_lost(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev,
		     uint32_t stack)
{
	if (ev->lost->what == T2X_LOST_EVENTS)
		put_gap(firefox, thread, ev, stack);
	else
		put_number(firefox, thread, ev, T2X_FIREFOX_LOST);
}

/* ---- events ------------------------------------------------------------------------------------- */

static void end_thread(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, struct t2x_spans *spans)
{
	put_stack(thread, spans->last_ns, 0);
	t2x_spans_end_thread(&firefox->known.spans, spans);
}

static void put_other(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev)
{
	switch (ev->style) {
	case TLG_STYLE_data_intmax:
		put_number(firefox, thread, ev, T2X_FIREFOX_DATA);
		break;
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		put_number(firefox, thread, ev, T2X_FIREFOX_COUNTER);
		break;
	case TLG_STYLE_data:
	case TLG_STYLE_data_json:
		put_text(firefox, thread, ev, T2X_FIREFOX_DATA);
		break;
	case TLG_STYLE_timer:
	case TLG_STYLE_th_timer:
		put_text(firefox, thread, ev, T2X_FIREFOX_TIMER);
		break;
	case TLG_STYLE_child_start:
	case TLG_STYLE_child_exit:
	case TLG_STYLE_child_ready:
		put_text(firefox, thread, ev, T2X_FIREFOX_CHILD);
		break;
	case TLG_STYLE_sample:
		if (t2x_firefox_put_sample(firefox, thread, ev))
			break;
		/* fall through */
	default:
		put_text(firefox, thread, ev, T2X_FIREFOX_EVENT);
		break;
	}
}

/* What an event says of its process. */
static void learn(struct t2x_firefox_process *process, struct t2x_traced *known, const struct t2x_event *ev)
{
	t2x_processes_name(known, ev);
	if (ev->style == TLG_STYLE_atexit || ev->style == TLG_STYLE_signal)
		process->end_ns = ev->ns;
}

/* Every event comes through here.  Return  what was gathered of its thread; NULL: no memory */
static inline struct t2x_firefox_thread *take(const struct t2x_event *ev)
{
	struct t2x_firefox_thread *thread = ev->spans ? ev->spans->own : NULL;

	if (thread && ev->ns > thread->last_ns)
		thread->last_ns = ev->ns;
	return thread;
}

static void print_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_firefox *firefox = printer->own;
	struct t2x_firefox_thread *thread = take(ev);
	uint32_t stack;

	if (!thread)
		return;
	if (ev->style == TLG_STYLE_region_enter)
		t2x_processes_enter(&firefox->known, ev);
	stack = stack_of(firefox, ev->spans);
	if (__builtin_expect(ev->lost != NULL, 0))
		put_lost(firefox, thread, ev, stack);
	put_stack(thread, ev->ns, stack);
	if (ev->style == TLG_STYLE_thread_exit)
		end_thread(firefox, thread, ev->spans);
	else if (ev->style != TLG_STYLE_region_enter && ev->style != TLG_STYLE_region_leave &&
		 ev->style != TLG_STYLE_thread_start && !ev->lost) {
		learn(thread->process, t2x_traced_of(ev->spans), ev);
		put_other(firefox, thread, ev);
	}
}

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_firefox *firefox = printer->own;
	struct t2x_firefox_thread *thread = take(ev);
	const struct t2x_scope scope = { .label = "unresolved" };
	const struct t2x_frame *frame = t2x_frames_of(&firefox->known.frames, &scope);

	if (thread && frame)
		t2x_firefox_put_marker(&thread->markers, &(struct t2x_firefox_marker){
			.schema = T2X_FIREFOX_EVENT, .name = frame->number, .start_ns = ev->ns, .end_ns = ev->ns,
			.has_value = 1, .value = ev->scope_index,
		});
}

/* ---- the writer --------------------------------------------------------------------------------- */

static int begin_firefox(struct t2x_printer *printer)
{
	struct t2x_firefox *firefox = calloc(1, sizeof(*firefox));
	const struct t2x_scope lost = { .category = "trace2", .label = "events lost" };

	if (!firefox || t2x_out_init_fn(&firefox->text_out, collect, &firefox->text)) {
		free(firefox);
		return -ENOMEM;
	}
	firefox->known.meet_thread = meet_thread;
	firefox->known.spans.end_span = end_span;
	firefox->known.spans.keeps_messages = 1;
	firefox->known.spans.keeps_all = 1;
	firefox->lost_frame = t2x_frames_find(&firefox->known.frames, &lost);
	if (!firefox->lost_frame) {
		t2x_processes_free(&firefox->known);
		t2x_out_free(&firefox->text_out);
		free(firefox);
		return -ENOMEM;
	}
	printer->own = firefox;
	t2x_processes_begin(&firefox->known, printer);
	return 0;
}

static void free_process(struct t2x_firefox_process *process)
{
	struct t2x_firefox_counter *counter;

	while ((counter = process->first)) {
		process->first = counter->next;
		t2x_firefox_rows_free(&counter->points);
		free(counter);
	}
	t2x_map_free(&process->counters);
	t2x_map_free(&process->threads);
	free(process);
}

static void free_firefox(struct t2x_firefox *firefox)
{
	struct t2x_firefox_process *process;

	for (uint32_t i = 0; i < firefox->thread_count; i++) {
		t2x_firefox_rows_free(&firefox->threads[i]->markers);
		t2x_firefox_rows_free(&firefox->threads[i]->stacks);
		t2x_firefox_rows_free(&firefox->threads[i]->weights);
		free(firefox->threads[i]);
	}
	free(firefox->threads);
	while ((process = firefox->processes)) {
		firefox->processes = process->next;
		free_process(process);
	}
	t2x_processes_free(&firefox->known);
	t2x_stacks_free(&firefox->stacks);
	t2x_out_free(&firefox->text_out);
	t2x_bytes_free(&firefox->text);
	t2x_spill_free(&firefox->spill);
	free(firefox);
}

/* Return  0; -ENOMEM: of what was gathered something is missing */
static int gather_errors(const struct t2x_firefox *firefox)
{
	int error = firefox->error ? firefox->error : firefox->text.error;

	for (uint32_t i = 0; i < firefox->thread_count && !error; i++) {
		const struct t2x_firefox_thread *thread = firefox->threads[i];

		error = t2x_firefox_rows_error(&thread->markers);
		error = error ? error : t2x_firefox_rows_error(&thread->stacks);
		error = error ? error : t2x_firefox_rows_error(&thread->weights);
	}
	for (const struct t2x_firefox_process *process = firefox->processes; process; process = process->next)
		for (const struct t2x_firefox_counter *at = process->first; at && !error; at = at->next)
			error = t2x_firefox_rows_error(&at->points);
	return error;
}

static void finish_firefox(struct t2x_printer *printer)
{
	struct t2x_firefox *firefox = printer->own;

	t2x_spans_end(&firefox->known.spans);
	for (uint32_t i = 0; i < firefox->thread_count; i++)
		if (!firefox->threads[i]->kind)
			put_stack(firefox->threads[i], firefox->threads[i]->last_ns, 0);
	t2x_firefox_print(printer->out, firefox);
	if (gather_errors(firefox))
		printer->out->error = ENOMEM;
	else if (firefox->spill.error)
		printer->out->error = firefox->spill.error;
	free_firefox(firefox);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_firefox = {
	.thread_bytes = THREAD_BYTES,
	.begin = begin_firefox,
	.finish = finish_firefox,
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
