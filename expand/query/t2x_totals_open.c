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

/* In a part that is so only if the thread is about to end, or no later part has anything of it. */
static void keep_open(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_row *row)
{
	const struct t2x_spans *spans = t2x_spans_find(&totals->spans, ev);
	struct t2x_totals_thread *thread = spans ? spans->own : NULL;
	struct t2x_row **larger;

	if (thread && thread->nopen == thread->max_open) {
		larger = realloc(thread->open, (2 * thread->max_open + 8) * sizeof(struct t2x_row *));
		thread->open = larger ? larger : thread->open;
		thread->max_open = larger ? 2 * thread->max_open + 8 : thread->max_open;
	}
	if (thread && thread->nopen < thread->max_open)
		thread->open[thread->nopen++] = row;
	else
		totals->is_cut = 1;
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
	if (row && totals->part)
		keep_open(totals, ev, row);
	else if (row)
		row->count++;
}
