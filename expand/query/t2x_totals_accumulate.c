/* SPDX-License-Identifier: MIT */
/* t2x_totals_accumulate.c - what each event adds. */
#include "t2x_totals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_totals_children.h"
#include "t2x_totals_regions.h"
#include "t2x_totals_rows.h"
#include "t2x_totals_values.h"
#include "profile/t2x_prof_kinds.h"

/* Of memory, what a thread takes: its spans, and this; an entry in a map. */
enum { THREAD_BYTES = sizeof(struct t2x_spans) + sizeof(struct t2x_totals_thread) + T2X_MAP_ENTRY_BYTES + 48 };

enum {
	COMMAND_MAX = 100, COMMAND_BYTES = COMMAND_MAX + 28,      /* of memory, the name of a process's command */
	MODE_BYTES = 256, FUNCTION_BYTES = 1024,
};

/* ---- threads ------------------------------------------------------------------------------------ */

static struct t2x_row *find_thread_row(struct t2x_totals *totals, const struct t2x_thread *thread, uint64_t ns)
{
	const struct t2x_row_key key = {
		.kind = T2X_ROW_THREAD, .pid = thread->process->pid, .thread = thread->name, .category = "",
		.label = thread->name, .value = "",
	};
	struct t2x_row *row = t2x_totals_row(totals, &key);

	if (row && !(row->count && row->first_ns < ns))
		row->first_ns = ns;
	return row;
}

/*
 * Its events are those of the thread with the new name, also the earlier ones.  What stays behind is empty, and not
 * shown.  A process that had the same id, and a thread with the same number and name, goes along.
 */
static void rename_thread(struct t2x_totals *totals, struct t2x_totals_thread *thread, const struct t2x_thread *of)
{
	struct t2x_row *old = thread->row, *row = old ? find_thread_row(totals, of, old->first_ns) : NULL;

	if (!row || row == old)
		return;
	row->count += old->count;
	if (old->last_ns > row->last_ns)
		row->last_ns = old->last_ns;
	old->count = 0;
	thread->row = row;
}

static int meet_thread(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
		       int is_renamed)
{
	struct t2x_totals *totals = t2x_totals_of(table);

	if (spans->own && is_renamed)
		rename_thread(totals, spans->own, ev->thread);
	if (spans->own)
		t2x_totals_go_on(spans->own, ev->thread->process->file);
	if (spans->own || totals->budget < THREAD_BYTES)
		return spans->own != NULL;
	spans->own = calloc(1, sizeof(struct t2x_totals_thread));
	totals->budget -= spans->own ? THREAD_BYTES : 0;
	if (spans->own)
		t2x_totals_go_on(spans->own, ev->thread->process->file);
	if (spans->own && totals->part == T2X_PART_LATER)
		totals->is_cut |= !t2x_totals_learn_around(totals, spans->own, ev);
	return spans->own != NULL;
}

static void forget_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	struct t2x_totals_thread *thread = spans->own;

	if (!thread)
		return;
	if (t2x_totals_of(table)->part == T2X_PART_WHOLE)
		t2x_totals_count_open(thread);
	t2x_totals_of(table)->budget += THREAD_BYTES;
	t2x_totals_forget_around(t2x_totals_of(table), thread);
	free(thread->open);
	free(thread);
}

static void forget_process(struct t2x_spans_table *table, struct t2x_spans_process *process)
{
	t2x_totals_of(table)->budget += process->own ? COMMAND_BYTES : 0;
	free(process->own);
	process->own = NULL;
}

/* Count the event.  thread  NULL: no memory */
static inline void count_event(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_totals_thread *thread)
{
	if (thread && !thread->row)
		thread->row = find_thread_row(totals, ev->thread, ev->ns);
	/* none, 0, is later than any, and so is what has no time */
	if (__builtin_expect(ev->ns - 1 < totals->first_ns - 1 && !ev->is_repeated, 0))
		totals->first_ns = ev->ns;
	t2x_totals_count(totals, thread ? thread->row : NULL, 1, ev->ns);
	totals->is_cut |= !thread;
	totals->others += !thread || !thread->row;
}

/* What parts in front of this one know of the thread, it takes with it. */
static void note_exit(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_note note = {
		.kind = T2X_NOTE_THREAD_EXIT, .stream = ev->thread->process->stream, .id = ev->thread->tid,
	};

	if (totals->part == T2X_PART_LATER)
		t2x_totals_note(totals, &note);
}

/* ---- durations ---------------------------------------------------------------------------------- */

static void take_enter(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_row *row = totals->value ? t2x_totals_value_enter(totals, ev)
					    : t2x_totals_scope(totals, ev, T2X_ROW_REGION);

	if (row)
		row->entered++;
	if (!ev->spans || !ev->spans->at)
		return;
	ev->spans->at->own = row;
	if (ev->spans->at == ev->spans->spans)
		return;
	t2x_totals_expect_enters(ev->spans, ev->spans->at - 1);
	ev->spans->at->node = ev->spans->at[-1].node | (row ? row->bit : 0);
}

/* A region that was entered, and is left: of the row, and so long. */
static void leave_seen(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_row *row)
{
	const struct t2x_span *span = ev->spans->at;
	struct t2x_span *outer = NULL;

	if (ev->rel_ns <= INT64_MAX && span > ev->spans->spans)
		outer = t2x_totals_find_outer(ev->spans, span, row);
	if (outer)
		t2x_totals_nest(row, outer, ev->rel_ns);
	t2x_row_leave(row, span, ev->rel_ns, &totals->budget);
}

/* It was entered in front of this part. */
static void
note_leave(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_row *row, const struct t2x_span *span)
{
	const struct t2x_note note = {
		.kind = T2X_NOTE_LEAVE, .stream = ev->thread->process->stream, .id = ev->thread->tid, .row = row,
		.ns = ev->ns, .value = span->inner_ns, .level = ev->open + 1, .is_unknown = span->is_inner_unknown,
	};

	t2x_totals_note(totals, &note);
}

/*
 * A leave that is none of the region that it closes: the duration is that region's.  What is in parts is then read
 * again as a whole.
 */
static void take_mismatch(struct t2x_totals *totals, const struct t2x_event *ev, const struct t2x_span *span)
{
	struct t2x_row *missing = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", "mismatched-leaves");
	struct t2x_row *row = span->own;

	totals->is_cut |= totals->part != T2X_PART_WHOLE;
	if (missing)
		missing->total = ++missing->count;
	if (!row)
		return;
	row->mismatched++;
	leave_seen(totals, ev, row);
}

/*
 * Whether it closes a region that was entered by other names, or, at the thread's own level, none.  Behind a gap
 * another region may have taken the place of the one that was seen: then they have other times.
 */
static int is_mismatch(const struct t2x_event *ev, const struct t2x_row *row, const struct t2x_span *span)
{
	if (ev->rel_ns == T2X_NO_TIME)
		return 0;
	if (span->is_thread || !span->is_seen)
		return !ev->open;
	return row && span->own && span->own != row && !span->is_moved;
}

/* The leave of a region of another row than the one that was seen, or of one that was not.  span  NULL: it has none */
static void
leave_other(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_row *row, struct t2x_span *span)
{
	if (span && span->nested_ns)
		t2x_totals_unnest(ev->spans, span);
	t2x_row_leave(row, span, ev->rel_ns, &totals->budget);
}

static void take_leave(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_row *row = totals->value ? t2x_totals_value_leave(totals, ev)
					    : t2x_totals_scope(totals, ev, T2X_ROW_REGION);
	struct t2x_span *span = ev->spans ? ev->spans->at : NULL;

	if (span && totals->part == T2X_PART_LATER && (!span->is_seen || span->is_thread))
		note_leave(totals, ev, row, span);
	else if (span && is_mismatch(ev, row, span))
		take_mismatch(totals, ev, span);
	else if (row && span && span->is_seen && span->own == row)
		leave_seen(totals, ev, row);
	else if (row)
		leave_other(totals, ev, row, span);
}

/* ---- values ------------------------------------------------------------------------------------- */

static void add_timer(struct t2x_row *row, const struct t2x_arg *args)
{
	int is_first = !row->values;

	if (!args[T2X_TIMER_INTERVALS].value)
		return;
	row->values++;
	if (is_first || args[T2X_TIMER_MIN].value < row->min)
		row->min = args[T2X_TIMER_MIN].value;
	if (is_first || args[T2X_TIMER_MAX].value > row->max)
		row->max = args[T2X_TIMER_MAX].value;
	row->count += (uint64_t)args[T2X_TIMER_INTERVALS].value;
	row->total += (uint64_t)args[T2X_TIMER_TOTAL].value;
}

/* It is no event of the program. */
static void take_missing(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_row *row = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", ev->scope->label);

	if (!row)
		return;
	row->count++;
	row->total += (uint64_t)ev->args[0].value;
}

/* Integers have values to be added, others are counted. */
static void take_value(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	struct t2x_row *row = t2x_totals_scope(totals, ev, kind);

	if (!row)
		return;
	if (kind == T2X_ROW_TIMER || kind == T2X_ROW_TH_TIMER) {
		add_timer(row, ev->args);
		return;
	}
	row->count++;
	if (kind != T2X_ROW_STEP && ev->style != TLG_STYLE_data && ev->style != TLG_STYLE_data_json)
		t2x_row_add_value(row, ev->thread, ev->ns, ev->args[0].value);
}

/* The process remembers the name of its command, for the modes that follow. */
static void name_command(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_arg *name = &ev->args[T2X_NAME_OWN];
	struct t2x_spans_process *process = ev->spans ? ev->spans->process : NULL;
	size_t length = name->text ? strnlen(name->text, name->length) : 0;
	char *copy;

	if (!process || !length || totals->budget < COMMAND_BYTES)
		return;
	copy = strndup(name->text, length < COMMAND_MAX ? length : COMMAND_MAX);
	if (!copy)
		return;
	totals->budget -= COMMAND_BYTES;
	forget_process(&totals->spans, process);
	process->own = copy;
}

/* What the command does.  A part does not know a name that came in front of it. */
static void take_mode(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const char *command = ev->spans ? ev->spans->process->own : NULL;
	const struct t2x_arg *arg = &ev->args[0];
	char mode[MODE_BYTES];
	struct t2x_row *row;

	totals->is_cut |= totals->part == T2X_PART_LATER && !command;
	snprintf(mode, sizeof(mode), "%.*s", arg->text ? (int)arg->length : 0, arg->text ? arg->text : "");
	row = t2x_totals_names(totals, ev, T2X_ROW_MODE, command, mode);
	if (row)
		row->count++;
}

/* ---- samples ------------------------------------------------------------------------------------- */

static void add_sample(struct t2x_row *row, const struct t2x_event *ev)
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
	char category[MODE_BYTES] = "", function[FUNCTION_BYTES];

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	if (region)
		snprintf(category, sizeof(category), "%s%s%s", region->category, *region->category ? "/" : "",
			 region->label);
	if (names && names->n)
		snprintf(function, sizeof(function), "%s", names->at[0]);
	else
		snprintf(function, sizeof(function), "%.*s", (int)strcspn(stack, " "), stack);
	add_sample(t2x_totals_names(printer->own, ev, T2X_ROW_FUNCTION, category, function), ev);
}

/*
 * A part of a trace does not know the regions that were entered in front of it, and only one thread looks up names:
 * so a trace that has samples is not joined of parts.
 */
static void take_sample(struct t2x_printer *printer, const struct t2x_event *ev)
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
		add_sample(row, ev);
	if (t2x_prof_kind_of(ev->scope->category)->during == T2X_PROF_RUNS)
		take_function(printer, ev, around ? around->own : NULL);
}

/* ---- all kinds ----------------------------------------------------------------------------------- */

/* What a process has dropped in all, which the model shows as a counter. */
static inline int is_drop(const struct t2x_event *ev)
{
	return ev->style == TLG_STYLE_counter && !ev->thread->number && !ev->scope->number;
}

/* Rows of kinds of which nothing but a count or a number is taken; 0: it is another kind. */
static const unsigned char kinds[TLG_STYLE_COUNT] = {
	[TLG_STYLE_step] = T2X_ROW_STEP,
	[TLG_STYLE_timer] = T2X_ROW_TIMER, [TLG_STYLE_th_timer] = T2X_ROW_TH_TIMER,
	[TLG_STYLE_counter] = T2X_ROW_COUNTER, [TLG_STYLE_th_counter] = T2X_ROW_TH_COUNTER,
};

void t2x_totals_accumulate(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_totals *totals = printer->own;
	struct t2x_totals_thread *thread = ev->spans ? ev->spans->own : NULL;
	uint64_t active_ns = thread ? thread->active_ns : 0;
	struct t2x_row *row;

	if (thread && thread->naround > ev->open)
		thread->naround = ev->open;
	if (ev->lost || is_drop(ev)) {
		take_missing(totals, ev);
		return;
	}
	count_event(totals, ev, thread);
	if (thread && ev->style != TLG_STYLE_sample)
		thread->active_ns = ev->ns;
	if (thread && thread->nopen && tlg_style_unwinds(ev->style))
		t2x_totals_count_open(thread);
	switch (ev->style) {
	case TLG_STYLE_none:
		row = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", "unresolved");
		if (row)
			row->total = ++row->count;
		break;
	case TLG_STYLE_region_enter:
		take_enter(totals, ev);
		break;
	case TLG_STYLE_region_leave:
		take_leave(totals, ev);
		break;
	case TLG_STYLE_data: case TLG_STYLE_data_intmax: case TLG_STYLE_data_json:
		t2x_totals_value_data(totals, ev);
		take_value(totals, ev, T2X_ROW_DATA);
		break;
	case TLG_STYLE_cmd_name:
		name_command(totals, ev);
		break;
	case TLG_STYLE_cmd_mode:
		take_mode(totals, ev);
		break;
	case TLG_STYLE_sample:
		take_sample(printer, ev);
		break;
	case TLG_STYLE_child_start:
		t2x_totals_start_child(totals, ev);
		break;
	case TLG_STYLE_child_exit:
		t2x_totals_end_child(totals, ev, active_ns);
		break;
	case TLG_STYLE_atexit: case TLG_STYLE_signal:
		t2x_totals_end_process(totals, ev);
		break;
	case TLG_STYLE_thread_exit:
		note_exit(totals, ev);
		if (ev->spans)
			t2x_spans_end_thread(&totals->spans, ev->spans);
		break;
	default:
		if (kinds[ev->style])
			take_value(totals, ev, kinds[ev->style]);
		break;
	}
}

/* ---- all of them -------------------------------------------------------------------------------- */

struct t2x_totals *t2x_totals_new(enum t2x_by by)
{
	return t2x_totals_new_part(by, T2X_PART_WHOLE);
}

struct t2x_totals *t2x_totals_new_part(enum t2x_by by, enum t2x_part part)
{
	struct t2x_totals *totals = calloc(1, sizeof(*totals));

	if (!totals)
		return NULL;
	totals->by = by;
	totals->part = part;
	totals->row_budget = T2X_ROWS_BYTES;
	totals->budget = T2X_TOTALS_BYTES;
	totals->seed = (uint32_t)((uintptr_t)totals >> 12);
	totals->spans = (struct t2x_spans_table){
		.meet_thread = meet_thread, .forget_thread = forget_thread, .forget_process = forget_process,
		.end_span = t2x_totals_end_span, .end_unseen = t2x_totals_end_span, .budget = &totals->budget,
		.is_part = part == T2X_PART_LATER,
	};
	totals->children = (struct t2x_threads){ .bytes = t2x_totals_child_bytes(), .budget = &totals->budget };
	totals->ended = (struct t2x_threads){ .bytes = t2x_totals_ended_bytes() };
	return totals;
}

int t2x_totals_use(struct t2x_printer *printer, struct t2x_totals *totals)
{
	if (!totals)
		return -ENOMEM;
	t2x_spans_begin(&totals->spans, printer);
	printer->own = totals;
	return 0;
}

void t2x_totals_free(struct t2x_totals *totals)
{
	if (!totals)
		return;
	t2x_spans_free(&totals->spans);       /* first: threads refer to rows */
	for (unsigned i = 0; i < totals->n; i++) {
		t2x_histogram_free(&totals->rows[i]->durations);
		free(totals->rows[i]);
	}
	free(totals->rows);
	free(totals->notes);
	t2x_map_free(&totals->by_hash);
	t2x_threads_free(&totals->children);
	t2x_threads_free(&totals->ended);
	free(totals);
}
