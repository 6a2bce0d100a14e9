/* SPDX-License-Identifier: MIT */
/* t2x_spans.c - see t2x_spans.h. */
#include "t2x_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/t2x_memory.h"
#include "base/t2x_report.h"

enum { FIRST_SPANS = 1 };               /* most of very many threads have no regions */

/* ---- spans -------------------------------------------------------------------------------------- */

/* What the span around knows of one that has ended. */
static inline void add_to_outer(struct t2x_span *span, enum t2x_span_end end)
{
	span[-1].inner_ns += span->is_seen && t2x_span_is_exact(end) ? span->end_ns - span->start_ns : span->inner_ns;
	span[-1].is_inner_unknown |= end != T2X_SPAN_LEFT;
}

static inline void end_innermost(struct t2x_spans_table *table, struct t2x_spans *spans, uint64_t ns,
				 enum t2x_span_end end)
{
	struct t2x_span *span = &spans->spans[--spans->open];

	span->end_ns = ns > span->start_ns ? ns : span->start_ns;
	if (spans->at_once < span->after)
		spans->at_once = span->after;
	if (__builtin_expect(!span->is_seen && table->is_part, 0)) {
		if (table->end_unseen)
			table->end_unseen(table, spans, span, end);
		return;
	}
	if (span->is_seen && table->end_span)
		table->end_span(table, spans, span, end);
	spans->at_once++;
	if (spans->open)
		add_to_outer(span, end);
	if (__builtin_expect(span->message != NULL, 0)) {
		t2x_free(span->message);
		span->message = NULL;
	}
}

void t2x_spans_end_down_to(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open, uint64_t ns,
			   enum t2x_span_end end)
{
	while (spans->open > open)
		end_innermost(table, spans, ns, end);
}

/* Room for so many spans of the thread.  Return  0: there is none */
static int make_room(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open)
{
	size_t *budget = table->budget ? table->budget : &table->own_budget;
	uint32_t max = spans->max ? spans->max : FIRST_SPANS;
	size_t more;
	struct t2x_span *larger;

	if (open <= spans->max)
		return 1;
	while (max < open && max < T2X_SPANS_MAX)
		max *= 2;
	more = (max - (spans->max ? spans->max : FIRST_SPANS)) * sizeof(*larger);
	larger = max >= open && more <= *budget ? t2x_realloc(spans->spans, max * sizeof(*larger)) : NULL;
	if (!larger) {
		table->is_full = 1;
		return 0;
	}
	*budget -= more;
	memset(larger + spans->max, 0, (max - spans->max) * sizeof(*larger));
	spans->spans = larger;
	spans->max = max;
	return 1;
}

/* What is open around and was not seen to be entered has a place.  Return  0: there is no room */
static int fill_up_to(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open)
{
	if (spans->open < open && !make_room(table, spans, open))
		return 0;
	while (spans->open < open)
		spans->spans[spans->open++] = (struct t2x_span){ .is_seen = 0 };
	return 1;
}

static __attribute__((noinline)) void keep_message(struct t2x_span *span, const struct t2x_event *ev)
{
	span->message = t2x_malloc(ev->message_length + 1);
	if (!span->message)
		return;
	memcpy(span->message, ev->message, ev->message_length);
	span->message_length = (uint32_t)ev->message_length;
}

static inline void enter(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	struct t2x_span *span;

	spans->at = NULL;
	if (__builtin_expect(spans->open != ev->open || spans->open == spans->max, 0) &&
	    (!fill_up_to(table, spans, ev->open) || !make_room(table, spans, ev->open + 1)))
		return;
	span = spans->at = &spans->spans[spans->open++];
	*span = (struct t2x_span){ .start_ns = ev->ns, .after = spans->at_once++, .is_seen = 1 };
	if (table->keeps_messages && ev->message)
		keep_message(span, ev);
}

/*
 * A leave whose enter was not seen: the model may know its time nevertheless.
 * span  its place in the table, the innermost; NULL: it has none
 */
static void leave_unseen(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
			 const struct t2x_span *span)
{
	enum t2x_span_end end = ev->rel_ns == T2X_NO_TIME || !ev->rel_ns ? T2X_SPAN_UNSEEN : T2X_SPAN_LEFT;

	table->unseen = (struct t2x_span){
		.start_ns = end == T2X_SPAN_LEFT ? ev->ns - ev->rel_ns : 0, .end_ns = ev->ns, .leave = ev,
		.inner_ns = span ? span->inner_ns : 0,
		.is_inner_unknown = span ? span->is_inner_unknown : table->is_full || ev->open >= T2X_SPANS_MAX,
	};
	if (span) {
		spans->open--;
		spans->at_once++;
	}
	if (table->end_span)
		table->end_span(table, spans, &table->unseen, end);
	table->unseen.leave = NULL;
	spans->at = &table->unseen;
	if (!spans->open || spans->open != ev->open)
		return;
	t2x_span_add_inner(&spans->spans[ev->open - 1], ev->rel_ns);
	if (ev->rel_ns > INT64_MAX)
		spans->spans[ev->open - 1].inner_ns += table->unseen.inner_ns;
}

static inline void leave(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	enum t2x_span_end end = ev->rel_ns == T2X_NO_TIME ? T2X_SPAN_UNSURE : T2X_SPAN_LEFT;
	struct t2x_span *span;

	spans->at = NULL;
	if (table->is_part && !fill_up_to(table, spans, ev->open + 1))
		return;
	if (__builtin_expect(spans->open > ev->open + 1, 0))
		t2x_spans_end_down_to(table, spans, ev->open + 1, ev->ns, T2X_SPAN_LOST);
	span = spans->open == ev->open + 1 ? &spans->spans[ev->open] : NULL;
	if (__builtin_expect(!span || (!span->is_seen && !table->is_part), 0)) {
		leave_unseen(table, spans, ev, span);
		return;
	}
	if (span->is_seen && end == T2X_SPAN_LEFT && span->start_ns != ev->ns - ev->rel_ns) {
		span->start_ns = ev->ns - ev->rel_ns;
		span->is_moved = 1;
	}
	end_innermost(table, spans, ev->ns, end);
	spans->at = span;
	if (__builtin_expect(ev->rel_ns > INT64_MAX, 0) && spans->open)
		span[-1].is_inner_unknown = 1;
}

/* ---- processes ---------------------------------------------------------------------------------- */

struct t2x_spans_process *t2x_spans_join_process(struct t2x_spans_table *table, uint32_t stream)
{
	struct t2x_spans_process *process = t2x_calloc(1, sizeof(*process));

	if (!process || t2x_map_put(&table->processes, stream, process)) {
		t2x_free(process);
		return NULL;
	}
	process->stream = stream;
	return process;
}

static void free_process(struct t2x_spans_table *table, struct t2x_spans_process *process)
{
	if (table->forget_process)
		table->forget_process(table, process);
	t2x_map_free(&process->threads);
	t2x_free(process);
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void unlink_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	*(spans->older ? &spans->older->newer : &table->oldest) = spans->newer;
	*(spans->newer ? &spans->newer->older : &table->newest) = spans->older;
}

static void link_newest(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	spans->older = table->newest;
	spans->newer = NULL;
	*(table->newest ? &table->newest->newer : &table->oldest) = spans;
	table->newest = spans;
	spans->looked_ns = spans->last_ns;
}

/* A thread whose own level began at this time. */
static struct t2x_spans *add_thread(struct t2x_spans_table *table, struct t2x_spans_process *process, uint32_t tid,
				    const char *name, uint64_t start_ns)
{
	struct t2x_spans *spans = t2x_calloc(1, sizeof(*spans));

	if (!spans || !fill_up_to(table, spans, 1) || t2x_map_put(&process->threads, tid, spans)) {
		if (spans)
			t2x_free(spans->spans);
		t2x_free(spans);
		return NULL;
	}
	spans->process = process;
	spans->tid = tid;
	memcpy(spans->name, name, sizeof(spans->name));
	spans->spans[0].start_ns = start_ns;
	spans->spans[0].is_seen = spans->spans[0].is_thread = 1;
	link_newest(table, spans);
	table->nthreads++;
	return spans;
}

struct t2x_spans *t2x_spans_join_thread(struct t2x_spans_table *table, struct t2x_spans_process *process,
					const struct t2x_spans *theirs)
{
	return add_thread(table, process, theirs->tid, theirs->name, theirs->spans[0].start_ns);
}

static void free_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	if (table->forget_thread)
		table->forget_thread(table, spans);
	while (spans->open)
		t2x_free(spans->spans[--spans->open].message);
	*(table->budget ? table->budget : &table->own_budget) += (spans->max - FIRST_SPANS) * sizeof(*spans->spans);
	t2x_free(spans->spans);
	t2x_free(spans);
}

static void forget_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	struct t2x_spans_process *process = spans->process;
	unsigned at = spans->number % T2X_SPANS_CACHED;

	if (table->cache[at].spans == spans)
		table->cache[at].thread = 0;
	unlink_thread(table, spans);
	table->nthreads--;
	t2x_map_remove(&process->threads, spans->tid);
	free_thread(table, spans);
	if (!process->threads.count && table->processes.count > T2X_SPANS_THREADS && !table->keeps_all) {
		t2x_map_remove(&table->processes, process->stream);
		free_process(table, process);
	}
}

/* Make room: the thread that has had no event for longest, or longer than most, is at its end here. */
static __attribute__((noinline)) void forget_oldest(struct t2x_spans_table *table)
{
	struct t2x_spans *spans = table->oldest;

	while (spans->last_ns != spans->looked_ns) {
		unlink_thread(table, spans);
		link_newest(table, spans);
		spans = table->oldest;
	}
	table->forgotten++;
	table->unfinished += !spans->process->is_over;
	t2x_spans_end_down_to(table, spans, 0, spans->last_ns,
			      spans->process->is_over ? T2X_SPAN_CUT : T2X_SPAN_OPEN);
	forget_thread(table, spans);
}

/* The thread, a new one where there is none.  *is_new: it is.  Return  NULL: no memory */
static struct t2x_spans *look_up(struct t2x_spans_table *table, const struct t2x_event *ev, int *is_new)
{
	const struct t2x_thread *thread = ev->thread;
	struct t2x_spans_process *process = t2x_map_get(&table->processes, thread->process->stream);
	struct t2x_spans *spans = process ? t2x_map_get(&process->threads, thread->tid) : NULL;
	uint64_t start_ns = thread->tid ? thread->start_ns : thread->process->start_ns;

	*is_new = !spans;
	if (spans)
		return spans;
	if (table->nthreads >= T2X_SPANS_THREADS && !table->keeps_all) {
		forget_oldest(table);    /* which may be the last one of this process */
		process = t2x_map_get(&table->processes, thread->process->stream);
	}
	if (!process)
		process = t2x_spans_join_process(table, thread->process->stream);
	return process ? add_thread(table, process, thread->tid, thread->name, start_ns ? start_ns : ev->ns) : NULL;
}

/* The writer hears of the thread, and of its process, when they are new or have another name.  Return  0: no memory */
static int meet(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev, int is_new)
{
	const struct t2x_thread *thread = ev->thread;
	int is_known = !is_new && spans->process->number == thread->process->number, is_renamed = is_new;

	if (is_known && (!thread->number || spans->number == thread->number))
		return 1;
	if (thread->number) {
		is_renamed |= strcmp(spans->name, thread->name) != 0;
		memcpy(spans->name, thread->name, sizeof(spans->name));
		spans->number = thread->number;
	}
	if (table->meet_thread && !table->meet_thread(table, spans, ev, is_renamed)) {
		if (is_new)
			forget_thread(table, spans);
		return 0;
	}
	spans->process->number = thread->process->number;
	return 1;
}

/* A thread that is not in the cache, or has another name, or its process another session id. */
static __attribute__((noinline)) struct t2x_spans *
find_thread(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	const uint64_t number = ev->thread->number;
	int is_new;
	struct t2x_spans *spans = look_up(table, ev, &is_new);

	if (!spans || !meet(table, spans, ev, is_new))
		return NULL;
	if (number) {
		table->cache[number % T2X_SPANS_CACHED].thread = number;
		table->cache[number % T2X_SPANS_CACHED].spans = spans;
	}
	return spans;
}

/* ---- events ------------------------------------------------------------------------------------- */

static inline struct t2x_spans *thread_of(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = t2x_spans_at_hand(table, ev->thread);

	return spans ? spans : find_thread(table, ev);
}

struct t2x_spans *t2x_spans_find(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	return thread_of(table, ev);
}

int t2x_spans_prepare(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open)
{
	return make_room(table, spans, open + 2) && fill_up_to(table, spans, open);
}

/* An event that neither enters nor leaves a region. */
static inline void be_inside(struct t2x_spans *spans, const struct t2x_event *ev)
{
	spans->at = spans->open && spans->open == ev->open ? &spans->spans[spans->open - 1] : NULL;
	if (__builtin_expect(ev->lost != NULL, 0) && spans->at)
		spans->at->is_inner_unknown = 1;
	if (__builtin_expect(ev->style == TLG_STYLE_atexit || ev->style == TLG_STYLE_signal, 0))
		spans->process->is_over = 1;
}

/* The thread of an event, which has come to its time. */
static inline struct t2x_spans *reach(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = thread_of(table, ev);

	if (spans && ev->ns > spans->last_ns) {
		spans->last_ns = ev->ns;
		spans->at_once = 0;
	}
	return spans;
}

struct t2x_spans *t2x_spans_take(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = reach(table, ev);

	if (!spans)
		return NULL;
	if (ev->style == TLG_STYLE_region_leave) {
		leave(table, spans, ev);
		return spans;
	}
	if (__builtin_expect(spans->open > ev->open, 0))
		t2x_spans_end_down_to(table, spans, ev->open, spans->last_ns,
				      tlg_style_unwinds(ev->style) ? T2X_SPAN_CUT : T2X_SPAN_LOST);
	if (ev->style == TLG_STYLE_region_enter)
		enter(table, spans, ev);
	else
		be_inside(spans, ev);
	return spans;
}

/* For a writer that asks for threads alone. */
static struct t2x_spans *follow(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = reach(table, ev);

	if (spans && (ev->style == TLG_STYLE_atexit || ev->style == TLG_STYLE_signal))
		spans->process->is_over = 1;
	return spans;
}

void t2x_spans_begin(struct t2x_spans_table *table, struct t2x_printer *printer)
{
	table->take = table->has_no_spans ? follow : t2x_spans_take;
	table->printer = printer;
	table->own_budget = T2X_SPANS_BYTES;
	printer->spans = table;
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* The outermost spans of the part are those that were open in front of it; the others were entered in it. */
int t2x_spans_join(struct t2x_spans_table *table, struct t2x_spans *ours, const struct t2x_spans *theirs,
		   void *find_own(struct t2x_spans_table *table, const struct t2x_span *span))
{
	for (uint32_t i = 0; i < theirs->open; i++) {
		struct t2x_span span = theirs->spans[i];

		if (!i || !span.is_seen) {
			if (i >= ours->open)
				return 0;
			ours->spans[i].inner_ns += span.inner_ns;
			ours->spans[i].is_inner_unknown |= span.is_inner_unknown;
			continue;
		}
		span.own = find_own(table, &span);
		span.node = 0;
		if (ours->open != i || !span.own || !make_room(table, ours, i + 1))
			return 0;
		ours->spans[ours->open++] = span;
	}
	if (theirs->last_ns > ours->last_ns)
		ours->last_ns = theirs->last_ns;
	return 1;
}

/* ---- ends --------------------------------------------------------------------------------------- */

void t2x_spans_end_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	t2x_spans_end_down_to(table, spans, 0, spans->last_ns, T2X_SPAN_CUT);
	forget_thread(table, spans);
}

void t2x_spans_end(struct t2x_spans_table *table)
{
	for (uint32_t i = 0; i < t2x_map_slots(&table->processes); i++) {
		const struct t2x_spans_process *process = t2x_map_at(&table->processes, i);

		for (uint32_t j = 0; process && j < t2x_map_slots(&process->threads); j++) {
			struct t2x_spans *spans = t2x_map_at(&process->threads, j);
			if (spans)
				t2x_spans_end_down_to(table, spans, 0, spans->last_ns,
						      process->is_over ? T2X_SPAN_CUT : T2X_SPAN_OPEN);
		}
	}
}

struct t2x_spans *t2x_spans_get(const struct t2x_spans_table *table, uint32_t stream, uint32_t tid)
{
	const struct t2x_spans_process *process = t2x_map_get(&table->processes, stream);

	return process ? t2x_map_get(&process->threads, tid) : NULL;
}

void t2x_spans_report(const struct t2x_spans_table *table)
{
	if (table->unfinished)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, "threads",
				"%" PRIu64 " were idle for long and had not ended: "
				"no room to follow more than %u at once",
				table->unfinished, (unsigned)T2X_SPANS_THREADS);
}

void t2x_spans_free(struct t2x_spans_table *table)
{
	for (uint32_t i = 0; i < t2x_map_slots(&table->processes); i++) {
		struct t2x_spans_process *process = t2x_map_at(&table->processes, i);

		for (uint32_t j = 0; process && j < t2x_map_slots(&process->threads); j++) {
			struct t2x_spans *spans = t2x_map_at(&process->threads, j);
			if (spans)
				free_thread(table, spans);
		}
		if (process)
			free_process(table, process);
	}
	t2x_map_free(&table->processes);
}
