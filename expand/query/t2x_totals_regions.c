/* SPDX-License-Identifier: MIT */
/* t2x_totals_regions.c - see t2x_totals_regions.h. */
#include "t2x_totals_regions.h"

#include <stdio.h>
#include <stdlib.h>

#include "t2x_totals_rows.h"
#include "model/t2x_regions.h"

enum { AROUND_BYTES = 16 + sizeof(struct t2x_row *) };   /* of memory, for the row of a region and malloc */

/* The row of a region that was entered in front of the part.  Return  NULL: its enter was lost, as in the whole */
static struct t2x_row *
find_row(struct t2x_totals *totals, const struct t2x_event *ev, const struct t2x_region *region)
{
	const struct t2x_scope *scope = region->scope;

	if (!region->ns || !scope || scope->style != TLG_STYLE_region_enter)
		return NULL;
	return t2x_totals_names(totals, ev, T2X_ROW_REGION, scope->category, scope->label);
}

int t2x_totals_learn_around(struct t2x_totals *totals, struct t2x_totals_thread *thread, const struct t2x_event *ev)
{
	const struct t2x_regions *regions = ev->thread->model;
	unsigned known = !regions ? 0 : ev->open < regions->capacity ? ev->open : regions->capacity;
	size_t bytes = (size_t)known * AROUND_BYTES;

	if (known < 2)
		return 1;
	if (bytes > totals->budget)
		return 0;
	thread->around = calloc(known, sizeof(struct t2x_row *));
	if (!thread->around)
		return 0;
	totals->budget -= bytes;
	thread->naround = thread->nlearned = known;
	for (unsigned i = 1; i < known; i++) {
		thread->around[i] = find_row(totals, ev, &regions->entered[i]);
		t2x_totals_note(totals, &(struct t2x_note){
			.kind = T2X_NOTE_AROUND, .stream = ev->thread->process->stream, .id = ev->thread->tid,
			.row = thread->around[i], .level = i,
		});
	}
	return 1;
}

void t2x_totals_forget_around(struct t2x_totals *totals, struct t2x_totals_thread *thread)
{
	totals->budget += (size_t)thread->nlearned * AROUND_BYTES;
	free(thread->around);
}

/* The row of a region around, which may lie in front of the part.  Return  NULL: nobody knows */
static struct t2x_row *find_around(const struct t2x_spans *spans, const struct t2x_span *span)
{
	const struct t2x_totals_thread *thread = spans->own;
	size_t level = (size_t)(span - spans->spans);

	if (span->is_seen)
		return span->is_thread ? NULL : span->own;
	return thread && level < thread->naround ? thread->around[level] : NULL;
}

void t2x_totals_set_unseen_bits(struct t2x_spans *spans, struct t2x_span *innermost)
{
	struct t2x_span *span = innermost;

	while (span > spans->spans && !span[-1].is_seen && !(span[-1].node & T2X_TOTALS_KNOWN))
		span--;
	for (; span <= innermost; span++) {
		const struct t2x_row *row = find_around(spans, span);

		span->node = (span > spans->spans ? span[-1].node : 0) | (row ? row->bit : 0) | T2X_TOTALS_KNOWN;
	}
}

struct t2x_span *
t2x_totals_compare_around(const struct t2x_spans *spans, const struct t2x_span *span, const struct t2x_row *row)
{
	for (size_t level = (size_t)(span - spans->spans); level--;)
		if (find_around(spans, &spans->spans[level]) == row)
			return &spans->spans[level];
	return NULL;
}

struct t2x_span *
t2x_totals_find_around(const struct t2x_spans *spans, const struct t2x_span *span, struct t2x_row *row)
{
	struct t2x_span *around = &spans->spans[span - spans->spans - 1], *outer;
	const struct t2x_row *of_around = around->is_seen ? around->own : NULL;
	struct t2x_row_around *known = &row->around;
	uint32_t depth = (uint32_t)(around - spans->spans);

	if (of_around == row)
		return around;
	if (!of_around)
		return t2x_totals_compare_around(spans, span, row);
	if (known->spans == spans && known->row == of_around && known->entered == of_around->entered &&
	    known->depth == depth)
		return known->outer ? &spans->spans[known->outer] : NULL;
	outer = t2x_totals_compare_around(spans, span, row);
	*known = (struct t2x_row_around){
		.spans = spans, .row = of_around, .entered = of_around->entered, .depth = depth,
		.outer = outer ? (uint32_t)(outer - spans->spans) : 0,
	};
	return outer;
}

void t2x_totals_unnest(const struct t2x_spans *spans, struct t2x_span *span)
{
	struct t2x_row *row = find_around(spans, span);
	struct t2x_span *outer = row && span->nested_ns ? t2x_totals_compare_around(spans, span, row) : NULL;

	if (outer)
		outer->nested_ns += span->nested_ns;
	else if (row)
		row->nested -= span->nested_ns;
	span->nested_ns = 0;
}

void t2x_totals_end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
			 enum t2x_span_end end)
{
	(void)table;
	if (end != T2X_SPAN_LEFT && span->nested_ns)
		t2x_totals_unnest(spans, span);
}

void t2x_totals_unnest_open(struct t2x_totals *totals)
{
	for (const struct t2x_spans *spans = totals->spans.oldest; spans; spans = spans->newer)
		for (uint32_t i = spans->open; i--;)
			if (spans->spans[i].nested_ns)
				t2x_totals_unnest(spans, &spans->spans[i]);
}

/* ---- never left ---------------------------------------------------------------------------------- */

void t2x_totals_count_open(struct t2x_totals_thread *thread)
{
	while (thread->nopen)
		thread->open[--thread->nopen]->count++;
}

void t2x_totals_count_all_open(const struct t2x_totals *totals)
{
	for (const struct t2x_spans *spans = totals->spans.oldest; spans; spans = spans->newer)
		t2x_totals_count_open(spans->own);
}

/* The thread as its latest event left it; a new one, if it has none.  Return  NULL: no memory */
static struct t2x_totals_thread *find_thread(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_thread *thread = ev->thread;
	const struct t2x_spans *spans = t2x_spans_get(&totals->spans, thread->process->stream, thread->tid);

	if (!spans)
		spans = t2x_spans_find(&totals->spans, ev);
	return spans ? spans->own : NULL;
}

static void keep_open(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_row *row)
{
	struct t2x_totals_thread *thread = find_thread(totals, ev);
	struct t2x_row **larger;

	if (thread && thread->file != ev->thread->process->file)
		return;                       /* another file has gone on with it already */
	if (thread && thread->nopen == thread->max_open) {
		larger = realloc(thread->open, (2 * thread->max_open + 8) * sizeof(struct t2x_row *));
		thread->open = larger ? larger : thread->open;
		thread->max_open = larger ? 2 * thread->max_open + 8 : thread->max_open;
	}
	if (thread && thread->nopen < thread->max_open)
		thread->open[thread->nopen++] = row;
	else if (totals->part)
		totals->is_cut = 1;
	else
		row->count++;
}

void t2x_totals_never_left(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_scope *scope = ev->scope;
	const char *category = t2x_totals_text(scope->category);
	struct t2x_totals *totals = printer->own;
	char names[256], place[256];
	struct t2x_row *row;

	snprintf(names, sizeof(names), "%s%s%s", category, *category ? "/" : "", t2x_totals_text(scope->label));
	snprintf(place, sizeof(place), "%s:%d", scope->file ? scope->file : "?", scope->line);
	row = t2x_totals_names(totals, ev, T2X_ROW_OPEN, names, place);
	if (row)
		keep_open(totals, ev, row);
}
