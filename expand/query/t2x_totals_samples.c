/* SPDX-License-Identifier: MIT */
/*
 * t2x_totals_samples.c - see t2x_totals_samples.h.
 *
 * A part of a trace does not know the regions that were entered in front of it, and names are looked up by one thread:
 * so a trace that has samples is not joined of parts.
 */
#include "t2x_totals_samples.h"

#include <stdio.h>
#include <string.h>

#include "t2x_totals_rows.h"
#include "profile/t2x_prof_kinds.h"

enum { NAMES_BYTES = 256, FUNCTION_BYTES = 1024 };

static void add(struct t2x_row *row, const struct t2x_event *ev)
{
	if (!row)
		return;
	row->count += (uint64_t)ev->args[T2X_SAMPLE_COUNT].value;
	row->total += (uint64_t)ev->args[T2X_SAMPLE_VALUE].value;
}

/* What runs in the innermost region: the innermost function, or its address. */
static void take_function(struct t2x_printer *printer, const struct t2x_event *ev, const struct t2x_row *region)
{
	const struct t2x_options *options = &printer->options;
	const struct t2x_stack_names *names = NULL;
	const char *stack = ev->scope->format ? ev->scope->format : "";
	char category[NAMES_BYTES] = "", function[FUNCTION_BYTES];

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	if (region)
		snprintf(category, sizeof(category), "%s%s%s", region->category, *region->category ? "/" : "",
			 region->label);
	if (names && names->n)
		snprintf(function, sizeof(function), "%s", names->at[0]);
	else
		snprintf(function, sizeof(function), "%.*s", (int)strcspn(stack, " "), stack);
	add(t2x_totals_names(printer->own, ev, T2X_ROW_FUNCTION, category, function), ev);
}

void t2x_totals_take_sample(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_span *around = ev->spans ? ev->spans->at : NULL;
	struct t2x_totals *totals = printer->own;
	struct t2x_row *row;

	if (totals->part) {
		totals->is_cut = 1;
		return;
	}
	row = t2x_totals_names(totals, ev, T2X_ROW_PROFILE, ev->scope->category, NULL);
	if (ev->args[T2X_SAMPLE_COUNT].value > 0)
		add(row, ev);
	if (t2x_prof_kind_of(ev->scope->category)->during == T2X_PROF_RUNS)
		take_function(printer, ev, around ? around->own : NULL);
}
