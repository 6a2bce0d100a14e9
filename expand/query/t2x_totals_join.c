/* SPDX-License-Identifier: MIT */
/* t2x_totals_join.c - see t2x_totals_join.h. */
#include "t2x_totals_join.h"

#include <stdlib.h>

#include "t2x_totals_regions.h"
#include "t2x_totals_rows.h"

/* ---- rows --------------------------------------------------------------------------------------- */

/* How many values min and max are of. */
static uint64_t count_values(const struct t2x_row *row)
{
	return t2x_row_has_durations(row) ? row->count : row->values;
}

static void join_bounds(struct t2x_row *to, const struct t2x_row *from)
{
	if (!count_values(from))
		return;
	if (!count_values(to) || from->min < to->min)
		to->min = from->min;
	if (!count_values(to) || from->max > to->max)
		to->max = from->max;
}

static void join_times(struct t2x_row *to, const struct t2x_row *from)
{
	int is_later = from->last_ns > to->last_ns ||
		       (from->last_ns == to->last_ns && from->last_place >= to->last_place);

	if (to->kind == T2X_ROW_THREAD && from->count && !(to->count && to->first_ns < from->first_ns))
		to->first_ns = from->first_ns;
	if (to->kind == T2X_ROW_THREAD ? from->last_ns > to->last_ns : from->values && (!to->values || is_later)) {
		to->last = from->last;
		to->last_ns = from->last_ns;
		to->last_place = from->last_place;
	}
}

static void join_row(struct t2x_row *to, const struct t2x_row *from, size_t *budget)
{
	join_bounds(to, from);
	join_times(to, from);
	t2x_histogram_join(&to->durations, &from->durations, budget);
	t2x_row_add_total(to, from->total, from->total_high);
	to->entered += from->entered;
	to->count += from->count;
	to->nested += from->nested;
	to->self += from->self;
	to->unknown += from->unknown;
	to->self_unknown += from->self_unknown;
	to->values += from->values;
	to->failed += from->failed;
	to->lived += from->lived;
	to->waited += from->waited;
	to->mismatched += from->mismatched;
}

/* Return  0: no room */
static int join_rows(struct t2x_totals *to, struct t2x_totals *from)
{
	for (unsigned i = 0; i < from->n; i++) {
		struct t2x_row *row = from->rows[i];
		const struct t2x_row_key key = { row->kind, row->pid, row->thread, row->category, row->label,
						 row->value };

		row->joined = t2x_totals_row(to, &key);
		if (!row->joined)
			return 0;
		join_row(row->joined, row, &to->budget);
		if (row->joined->durations.is_cut)
			return 0;
	}
	return 1;
}

/* ---- threads ------------------------------------------------------------------------------------ */

/* What the part would have done if it had known when the region was entered.  Return  0: nobody knows */
static int join_leave(struct t2x_totals *to, const struct t2x_note *note)
{
	struct t2x_spans *spans = t2x_spans_get(&to->spans, note->stream, note->id);
	struct t2x_span *span = spans && note->level <= spans->open ? &spans->spans[note->level - 1] : NULL, *outer;
	uint64_t ns;

	if (!span || !span->is_seen || span->is_thread || !span->start_ns || !note->row)
		return 0;
	if (span->own && span->own != note->row->joined)
		return 0;
	ns = note->ns - span->start_ns;
	span->inner_ns += note->value;
	span->is_inner_unknown |= note->is_unknown != 0;
	outer = ns <= INT64_MAX ? t2x_totals_compare_around(spans, span, note->row->joined) : NULL;
	if (outer)
		t2x_totals_nest(note->row->joined, outer, ns);
	if (ns > INT64_MAX || span->own != note->row->joined)
		t2x_totals_unnest(spans, span);
	t2x_row_leave(note->row->joined, span, ns, &to->budget);
	t2x_spans_end_down_to(&to->spans, spans, note->level, note->ns, T2X_SPAN_CUT);
	spans->open--;
	if (spans->open)
		t2x_span_add_inner(span - 1, ns);
	return !note->row->joined->durations.is_cut;
}

/* Whether the region that the part took to be open in front of it is what was.  A row NULL: nobody saw its enter. */
static int is_around(const struct t2x_totals *to, const struct t2x_note *note)
{
	const struct t2x_spans *spans = t2x_spans_get(&to->spans, note->stream, note->id);
	const struct t2x_span *span = spans && note->level < spans->open ? &spans->spans[note->level] : NULL;

	return (span && span->is_seen ? span->own : NULL) == (note->row ? note->row->joined : NULL);
}

static void end_thread(struct t2x_totals *to, const struct t2x_note *note)
{
	struct t2x_spans *spans = t2x_spans_get(&to->spans, note->stream, note->id);

	if (spans)
		t2x_spans_end_thread(&to->spans, spans);
}

/* Since when the thread that waited for a child had done nothing is known to the parts in front, if to any. */
static void find_idle(const struct t2x_totals *to, struct t2x_note *note)
{
	const struct t2x_spans *spans = t2x_spans_get(&to->spans, note->stream, note->tid);
	const struct t2x_totals_thread *thread = spans ? spans->own : NULL;

	if (thread && thread->active_ns && thread->active_ns <= note->ns)
		note->end.idle_ns = note->ns - thread->active_ns;
}

static int join_notes(struct t2x_totals *to, const struct t2x_totals *from)
{
	for (unsigned i = 0; i < from->nnotes; i++) {
		struct t2x_note note = from->notes[i];

		if (note.kind == T2X_NOTE_AROUND && !is_around(to, &note))
			return 0;
		if (note.kind == T2X_NOTE_LEAVE && !join_leave(to, &note))
			return 0;
		if (note.kind == T2X_NOTE_THREAD_EXIT)
			end_thread(to, &note);
		if (note.kind < T2X_NOTE_CHILD_START)
			continue;
		if (note.row)
			note.row = note.row->joined;
		if (note.is_first)
			find_idle(to, &note);
		t2x_totals_note(to, &note);
	}
	return 1;
}

/* What was open in front of the part is open behind it only if the part says so. */
static void
join_open(struct t2x_totals *to, struct t2x_totals_thread *joined, const struct t2x_totals_thread *thread)
{
	struct t2x_row **open = calloc(thread->nopen + 1, sizeof(struct t2x_row *));

	to->is_cut |= !open;
	for (unsigned i = 0; open && i < thread->nopen; i++)
		open[i] = thread->open[i]->joined;
	free(joined->open);
	joined->open = open;
	joined->nopen = joined->max_open = open ? thread->nopen : 0;
}

static void *join_row_of(struct t2x_spans_table *table, const struct t2x_span *span)
{
	const struct t2x_row *row = span->own;

	(void)table;
	return row ? row->joined : NULL;
}

/* Regions that the part has entered lie in those that it found open; deeper ones were left in it, by the unwinding. */
static uint32_t count_found(const struct t2x_spans *spans)
{
	uint32_t found = 1;

	while (found < spans->open && !spans->spans[found].is_seen)
		found++;
	return found;
}

/* What is known of the thread at the end of the part: regions that it entered, or more of those around. */
static int join_thread(struct t2x_totals *to, struct t2x_spans_process *process, const struct t2x_spans *theirs)
{
	struct t2x_spans *ours = t2x_map_get(&process->threads, theirs->tid);
	const struct t2x_totals_thread *thread = theirs->own;
	struct t2x_totals_thread *joined;

	if (!ours)
		ours = t2x_spans_join_thread(&to->spans, process, theirs);
	if (ours && !ours->own)
		ours->own = calloc(1, sizeof(*joined));
	joined = ours ? ours->own : NULL;
	if (!joined || !thread)
		return 0;
	if (!joined->row && thread->row)
		joined->row = thread->row->joined;
	if (thread->active_ns)
		joined->active_ns = thread->active_ns;
	join_open(to, joined, thread);
	if (count_found(theirs) < theirs->open)
		t2x_spans_end_down_to(&to->spans, ours, count_found(theirs), theirs->last_ns, T2X_SPAN_CUT);
	return t2x_spans_join(&to->spans, ours, theirs, join_row_of);
}

static int join_threads(struct t2x_totals *to, const struct t2x_totals *from)
{
	for (uint32_t i = 0; i < t2x_map_slots(&from->spans.processes); i++) {
		const struct t2x_spans_process *theirs = t2x_map_at(&from->spans.processes, i);
		struct t2x_spans_process *ours = theirs ? t2x_map_get(&to->spans.processes, theirs->stream) : NULL;

		if (theirs && !ours)
			ours = t2x_spans_join_process(&to->spans, theirs->stream);
		for (uint32_t j = 0; theirs && j < t2x_map_slots(&theirs->threads); j++) {
			const struct t2x_spans *spans = t2x_map_at(&theirs->threads, j);

			if (spans && (!ours || !join_thread(to, ours, spans)))
				return 0;
		}
	}
	return to->spans.nthreads <= T2X_SPANS_THREADS;
}

/* ---- all of them -------------------------------------------------------------------------------- */

static void join_span(struct t2x_totals *to, const struct t2x_totals *from)
{
	to->events += from->events;
	if (from->first_ns - 1 < to->first_ns - 1)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
}

int t2x_totals_join(struct t2x_totals *to, struct t2x_totals *from)
{
	if (from->others || from->is_cut || to->spans.forgotten || from->spans.forgotten)
		return 0;               /* who is forgotten when depends on all that comes in front */
	if (!join_rows(to, from) || !join_notes(to, from))
		return 0;
	join_span(to, from);
	return join_threads(to, from) && !to->is_cut;
}

/* ---- children ----------------------------------------------------------------------------------- */

/* Notes of children; of processes that have ended. */
struct order {
	const struct t2x_note **children, **ended;
	unsigned nchildren, nended;
};

/* Each child by itself, what happened first before the rest. */
static int compare_children(const void *a, const void *b)
{
	const struct t2x_note *x = *(const struct t2x_note *const *)a, *y = *(const struct t2x_note *const *)b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Each process by itself, what happened first before the rest. */
static int compare_ended(const void *a, const void *b)
{
	const struct t2x_note *x = *(const struct t2x_note *const *)a, *y = *(const struct t2x_note *const *)b;

	if (x->process.parent != y->process.parent)
		return x->process.parent < y->process.parent ? -1 : 1;
	if (x->process.pid != y->process.pid)
		return x->process.pid < y->process.pid ? -1 : 1;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The child's own end, the last one in front of what its parent has recorded. */
static int find_lived(const struct order *order, const struct t2x_note *note, struct t2x_child_end *end)
{
	unsigned low = 0, high = order->nended;
	const struct t2x_note *ended;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (compare_ended(&order->ended[middle], &note) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	ended = low ? order->ended[low - 1] : NULL;
	if (!ended || ended->process.parent != note->process.parent || ended->process.pid != note->process.pid)
		return 0;
	t2x_child_end_lived(end, note->ns, ended->ns);
	return end->lived_ns != UINT64_MAX;
}

/* Each is started, and may end once, later.  Anything else depends on an order that parts do not have. */
static int join_children(struct t2x_totals *totals, const struct order *order, int *needs_order)
{
	for (unsigned i = 0; i < order->nchildren; i++) {
		const struct t2x_note *note = order->children[i], *start = i ? order->children[i - 1] : NULL;
		int is_same = start && start->stream == note->stream && start->id == note->id;
		struct t2x_child_end end = note->end;

		if (note->kind == T2X_NOTE_CHILD_START && !is_same)
			continue;
		if (!is_same || note->kind == start->kind || note->kind != T2X_NOTE_CHILD_EXIT || !start->row)
			return 0;
		if (start->tid != note->tid && start->ns >= note->ns)
			return 0;
		*needs_order |= find_lived(order, note, &end) || start->tid != note->tid;
		t2x_row_end_child(start->row, &end, &totals->budget);
		if (start->row->durations.is_cut)
			return 0;
	}
	return 1;
}

/* Whether only parts have the row, for what lies around: regions that a later part has left, or has found open. */
static int is_unused(const struct t2x_row *row)
{
	return (row->kind == T2X_ROW_OPEN && !row->count) || t2x_row_is_empty(row);
}

/* Nobody looks for rows any more. */
static void drop_unused(struct t2x_totals *totals)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < totals->n; i++) {
		struct t2x_row *row = totals->rows[i];

		if (is_unused(row))
			free(row);
		else
			totals->rows[kept++] = row;
	}
	totals->n = kept;
}

static int order_notes(struct order *order, const struct t2x_totals *totals)
{
	*order = (struct order){
		.children = calloc(totals->nnotes + 1, sizeof(order->children[0])),
		.ended = calloc(totals->nnotes + 1, sizeof(order->ended[0])),
	};
	if (!order->children || !order->ended)
		return 0;
	for (unsigned i = 0; i < totals->nnotes; i++) {
		const struct t2x_note *note = &totals->notes[i];

		if (note->kind == T2X_NOTE_PROCESS_END)
			order->ended[order->nended++] = note;
		else
			order->children[order->nchildren++] = note;
	}
	qsort(order->children, order->nchildren, sizeof(order->children[0]), compare_children);
	qsort(order->ended, order->nended, sizeof(order->ended[0]), compare_ended);
	return order->nended <= T2X_TOTALS_ENDED;     /* of more the whole knows some only */
}

int t2x_totals_join_end(struct t2x_totals *totals, int *needs_order)
{
	struct order order;
	int done = order_notes(&order, totals);

	*needs_order = 0;
	t2x_totals_count_all_open(totals);
	t2x_totals_unnest_open(totals);
	drop_unused(totals);
	if (done)
		done = !totals->is_cut && !totals->others && join_children(totals, &order, needs_order);
	free(order.children);
	free(order.ended);
	return done;
}
