/* SPDX-License-Identifier: MIT */
/* t2x_spans_table.c - spans: the processes and threads that have them, see t2x_spans.h. */
#include "t2x_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "t2x_regions.h"
#include "t2x_spans_private.h"
#include "base/t2x_memory.h"
#include "base/t2x_report.h"

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

	if (!spans || !t2x_spans_fill_up_to(table, spans, 1) || t2x_map_put(&process->threads, tid, spans)) {
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
	*(table->budget ? table->budget : &table->own_budget) += (spans->max - T2X_SPANS_FIRST) * sizeof(*spans->spans);
	t2x_free(spans->spans);
	t2x_free(spans);
}

/* A thread is in the cache at most once, under its latest number, however many inputs have it. */
static void uncache(struct t2x_spans_table *table, const struct t2x_spans *spans)
{
	unsigned at = spans->number % T2X_SPANS_CACHED;

	if (table->cache[at].spans == spans)
		table->cache[at].thread = 0;
}

static void forget_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	struct t2x_spans_process *process = spans->process;

	uncache(table, spans);
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

/* Call the writer's meet_thread if the thread or its process is new or has another name.  Return  0: no memory */
static int meet(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev, int is_new)
{
	const struct t2x_thread *thread = ev->thread;
	int is_known = !is_new && spans->process->number == thread->process->number, is_renamed = is_new;

	if (is_known && (!thread->number || spans->number == thread->number))
		return 1;
	if (thread->number) {
		is_renamed |= strcmp(spans->name, thread->name) != 0;
		memcpy(spans->name, thread->name, sizeof(spans->name));
		uncache(table, spans);
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

/* A region that began then cannot be the one of the span: the thread has had events since, and it was not open. */
static int is_later(const struct t2x_spans *spans, const struct t2x_span *span, uint64_t start_ns)
{
	return start_ns > spans->last_ns && start_ns - span->start_ns > T2X_SPANS_SKEW_NS;
}

/* Whether the model knows another region at this depth, around the event or left by it, than the span is of. */
static int is_replaced(const struct t2x_spans *spans, const struct t2x_event *ev, uint32_t depth)
{
	const struct t2x_regions *regions = ev->thread->model;
	const struct t2x_span *span = &spans->spans[depth];

	if (!span->is_seen)
		return 0;
	if (depth == ev->open)
		return ev->style == TLG_STYLE_region_leave && ev->rel_ns <= INT64_MAX &&
		       is_later(spans, span, ev->ns - ev->rel_ns);
	return depth < regions->open && depth < regions->capacity &&
	       (regions->entered[depth].when == TLG_OPEN_LOST || is_later(spans, span, regions->entered[depth].ns));
}

/*
 * Another file goes on with the thread, which repeats the regions that are open there.  Where a file between the two is
 * missing, some that were open have been left, and others have been entered: only their times tell them apart.
 */
static void end_replaced(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev)
{
	uint32_t same = 1;

	if (!ev->thread->model || table->is_filtered)
		return;
	while (same < spans->open && same <= ev->open && !is_replaced(spans, ev, same))
		same++;
	if (same <= ev->open)
		t2x_spans_end_down_to(table, spans, same, spans->last_ns, T2X_SPAN_LOST);
}

/* The thread of an event, not in the cache, or with another name.  Return  NULL: no memory */
static __attribute__((noinline)) struct t2x_spans *
find_anew(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	const uint64_t number = ev->thread->number;
	int is_new;
	struct t2x_spans *spans = look_up(table, ev, &is_new);

	if (spans && !is_new && spans->number != number)
		end_replaced(table, spans, ev);
	if (!spans || !meet(table, spans, ev, is_new))
		return NULL;
	if (number) {
		table->cache[number % T2X_SPANS_CACHED].thread = number;
		table->cache[number % T2X_SPANS_CACHED].spans = spans;
	}
	return spans;
}

/* ---- events ------------------------------------------------------------------------------------- */

struct t2x_spans *t2x_spans_find(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = t2x_spans_at_hand(table, ev->thread);

	return spans ? spans : find_anew(table, ev);
}

/* Functions of their own for what is rare, so that the usual ways have no registers to save. */
static __attribute__((noinline)) struct t2x_spans *
take_anew(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = find_anew(table, ev);

	return spans ? t2x_spans_apply(table, spans, ev) : NULL;
}

struct t2x_spans *t2x_spans_take(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = t2x_spans_at_hand(table, ev->thread);

	return spans ? t2x_spans_apply(table, spans, ev) : take_anew(table, ev);
}

static struct t2x_spans *follow(struct t2x_spans *spans, const struct t2x_event *ev)
{
	t2x_spans_reach(spans, ev->ns);
	if (__builtin_expect(t2x_spans_ends_process(ev), 0))
		spans->process->is_over = 1;
	return spans;
}

static __attribute__((noinline)) struct t2x_spans *
follow_anew(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = find_anew(table, ev);

	return spans ? follow(spans, ev) : NULL;
}

/* As t2x_spans_take(), for a writer that asks for threads alone. */
static struct t2x_spans *take_thread(struct t2x_spans_table *table, const struct t2x_event *ev)
{
	struct t2x_spans *spans = t2x_spans_at_hand(table, ev->thread);

	return spans ? follow(spans, ev) : follow_anew(table, ev);
}

void t2x_spans_init(struct t2x_spans_table *table)
{
	table->take = table->has_no_spans ? take_thread : t2x_spans_take;
	table->own_budget = T2X_SPANS_BYTES;
}

void t2x_spans_begin(struct t2x_spans_table *table, struct t2x_printer *printer)
{
	t2x_spans_init(table);
	table->printer = printer;
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
			ours->spans[i].nested_ns += span.nested_ns;
			ours->spans[i].is_inner_unknown |= span.is_inner_unknown;
			continue;
		}
		span.own = find_own(table, &span);
		span.node = 0;
		if (ours->open != i || !span.own || !t2x_spans_make_room(table, ours, i + 1))
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
