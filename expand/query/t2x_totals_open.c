/* SPDX-License-Identifier: MIT */
/* t2x_totals_open.c - see t2x_totals_open.h. */
#include "t2x_totals_open.h"

#include <stdio.h>
#include <stdlib.h>

#include "t2x_totals_rows.h"

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
