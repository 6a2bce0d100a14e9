/* SPDX-License-Identifier: MIT */
/* t2x_totals_take.c - what each event adds. */
#include "t2x_totals_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 65536, LEVELS_FIRST = 8 };

struct child {
	struct t2x_thread_record head;    /* tid: the id of the child */
	struct t2x_row *row;
};

/* ---- rows --------------------------------------------------------------------------------------- */

static const char *text_of(const char *text)
{
	return text ? text : "";
}

struct t2x_row *t2x_totals_names(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind,
				 const char *category, const char *label)
{
	const struct t2x_row_key key = {
		.kind = kind, .category = text_of(category), .label = text_of(label),
		.pid = totals->by >= T2X_BY_PROCESS ? ev->thread->process->pid : 0,
		.thread = totals->by == T2X_BY_THREAD ? ev->thread->name : "",
	};
	struct t2x_row *row = t2x_totals_row(totals, &key);

	totals->others += !row;
	return row;
}

/* By its names; from then on it is at hand. */
static __attribute__((noinline)) struct t2x_row *
find_names(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	struct t2x_row *row = t2x_totals_names(totals, ev, kind, ev->scope->category, ev->scope->label);

	if (row && ev->scope->number && ev->thread->number)
		t2x_totals_keep(totals, ev->scope->number, t2x_totals_apart(totals, ev->thread), row);
	return row;
}

/* The row of the event's scope.  Return  NULL: no room */
static inline struct t2x_row *find_scope(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	struct t2x_row *row = t2x_totals_at_hand(totals, ev->scope->number, t2x_totals_apart(totals, ev->thread));

	return row ? row : find_names(totals, ev, kind);
}

/* ---- threads ------------------------------------------------------------------------------------ */

static struct t2x_row *find_thread_row(struct t2x_totals *totals, const struct t2x_thread *thread, uint64_t ns)
{
	const struct t2x_row_key key = {
		.kind = T2X_ROW_THREAD, .pid = thread->process->pid, .thread = thread->name, .category = "",
		.label = thread->name,
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
static void rename_thread(void *data, void *record, const struct t2x_thread *of)
{
	struct t2x_totals *totals = data;
	struct t2x_totals_thread *thread = record;
	struct t2x_row *old = thread->row, *row = old ? find_thread_row(totals, of, old->first_ns) : NULL;

	if (!row || row == old)
		return;
	row->count += old->count;
	if (old->last_ns > row->last_ns)
		row->last_ns = old->last_ns;
	old->count = 0;
	thread->row = row;
}

/* Count the event.  Return  NULL: no memory */
static inline struct t2x_totals_thread *count_event(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_totals_thread *thread = t2x_threads_get(&totals->threads, ev->thread);

	if (thread && !thread->row)
		thread->row = find_thread_row(totals, ev->thread, ev->ns);
	/* none, 0, is later than any, and so is what has no time */
	if (__builtin_expect(ev->ns - 1 < totals->first_ns - 1 && !ev->is_repeated, 0))
		totals->first_ns = ev->ns;
	t2x_totals_count(totals, thread ? thread->row : NULL, 1, ev->ns);
	totals->is_cut |= !thread;
	totals->others += !thread || !thread->row;
	return thread;
}

int t2x_totals_grow(struct t2x_totals *totals, struct t2x_totals_thread *thread, unsigned level)
{
	unsigned capacity = thread->capacity ? thread->capacity : LEVELS_FIRST;
	struct t2x_level *levels = NULL;
	size_t more;

	while (capacity <= level && capacity < LEVELS_MAX)
		capacity *= 2;
	more = (capacity - thread->capacity) * sizeof(*levels);
	if (capacity > level && more <= totals->budget)
		levels = realloc(thread->levels, capacity * sizeof(*levels));
	if (!levels)
		return 0;
	totals->budget -= more;
	memset(levels + thread->capacity, 0, (capacity - thread->capacity) * sizeof(*levels));
	thread->levels = levels;
	thread->capacity = capacity;
	return 1;
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

static void forget_thread(void *data, void *record)
{
	struct t2x_totals *totals = data;
	struct t2x_totals_thread *thread = record;

	totals->budget += thread->capacity * sizeof(*thread->levels);
	free(thread->levels);
	free(thread->open);
}

/* ---- durations ---------------------------------------------------------------------------------- */

static void take_enter(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_totals_thread *thread)
{
	struct t2x_row *row = find_scope(totals, ev, T2X_ROW_REGION);
	struct t2x_level *inside = thread ? t2x_totals_level(totals, thread, ev->open + 1) : NULL;

	if (row)
		row->entered++;
	if (inside)
		t2x_level_enter(inside, row, ev->ns);
}

/* It was entered in front of this part. */
static void
note_leave(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_row *row, struct t2x_level *inside)
{
	const struct t2x_note note = {
		.kind = T2X_NOTE_LEAVE, .stream = ev->thread->process->stream, .id = ev->thread->tid, .row = row,
		.ns = ev->ns, .value = inside->inner_ns, .level = ev->open + 1, .is_unknown = inside->is_unknown,
	};

	t2x_totals_note(totals, &note);
	*inside = (struct t2x_level){ 0 };
}

/*
 * A leave that is none of the region that it closes: the duration is that region's.  What is in parts is then read
 * again as a whole.
 */
static void
take_mismatch(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_level *inside)
{
	struct t2x_row *missing = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", "mismatched-leaves");
	struct t2x_row *row = inside->region;
	struct t2x_level left;

	totals->is_cut |= totals->part != T2X_PART_WHOLE;
	if (missing)
		missing->total = ++missing->count;
	if (!row)
		return;
	left = t2x_level_leave(inside, ev->rel_ns);
	row->mismatched++;
	t2x_row_leave(row, &left, ev->rel_ns, &totals->budget);
}

/*
 * Whether it closes a region that was entered by other names, or, at the thread's own level, none.  Behind a gap
 * another region may have taken the place of the one that was seen: then they have other times.
 */
static int is_mismatch(const struct t2x_event *ev, const struct t2x_row *row, const struct t2x_level *inside)
{
	if (ev->rel_ns == T2X_NO_TIME)
		return 0;
	if (!inside->is_entered)
		return !ev->open;
	return row && inside->region && inside->region != row && inside->entered_ns == ev->ns - ev->rel_ns;
}

static void take_leave(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_totals_thread *thread)
{
	struct t2x_row *row = find_scope(totals, ev, T2X_ROW_REGION);
	struct t2x_level *inside = thread ? t2x_totals_level(totals, thread, ev->open + 1) : NULL, left;

	if (inside && !inside->is_entered && totals->part == T2X_PART_LATER) {
		note_leave(totals, ev, row, inside);
		return;
	}
	if (inside && is_mismatch(ev, row, inside)) {
		take_mismatch(totals, ev, inside);
		return;
	}
	if (inside)
		left = t2x_level_leave(inside, ev->rel_ns);
	if (row)
		t2x_row_leave(row, inside ? &left : NULL, ev->rel_ns, &totals->budget);
}

/* "git", of "/usr/bin/git" */
static void name_program(char *name, size_t size, const struct t2x_event *ev)
{
	const struct t2x_arg *arg = ev->nargs > T2X_CHILD_ARGV ? &ev->args[T2X_CHILD_ARGV] : NULL;
	const char *text = arg && arg->text ? arg->text : "", *slash;
	size_t n = arg && arg->text ? arg->length : 0;

	if (ev->args[T2X_CHILD_FLAGS].value & TLG_CHILD_GIT) {
		text = "git";
		n = 3;
	}
	slash = memrchr(text, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	n = n < size ? n : size - 1;
	memcpy(name, text, n);
	name[n] = '\0';
}

/* A part does not know what other parts know of the child. */
static void note_child(struct t2x_totals *totals, const struct t2x_event *ev, unsigned kind, struct t2x_row *row)
{
	struct t2x_note note = {
		.kind = kind, .stream = ev->thread->process->stream, .id = (uint32_t)ev->args[T2X_CHILD_ID].value,
		.tid = ev->thread->tid, .row = row, .ns = ev->ns,
	};

	if (kind == T2X_NOTE_CHILD_EXIT) {
		note.value = ev->rel_ns;
		note.is_unknown = !ev->args[T2X_CHILD_START].value;
		note.has_failed = ev->args[T2X_CHILD_CODE].value != 0;
	}
	t2x_totals_note(totals, &note);
}

/* What is remembered of a child until it has ended. */
static struct child *find_child(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_thread key = { .process = ev->thread->process, .tid = (uint32_t)ev->args[T2X_CHILD_ID].value };

	return t2x_threads_get(&totals->children, &key);
}

static void start_child(struct t2x_totals *totals, const struct t2x_event *ev)
{
	const struct t2x_arg *class = &ev->args[T2X_CHILD_CLASS];
	char category[64], label[128];
	struct child *child;
	struct t2x_row *row;

	snprintf(category, sizeof(category), "%.*s", class->text ? (int)class->length : 1,
		 class->text ? class->text : "?");
	if (ev->args[T2X_CHILD_HOOK].text)
		strcpy(category, "hook");
	name_program(label, sizeof(label), ev);
	row = t2x_totals_names(totals, ev, T2X_ROW_CHILD, category, label);
	if (row)
		row->entered++;
	if (totals->part) {
		note_child(totals, ev, T2X_NOTE_CHILD_START, row);
		return;
	}
	child = find_child(totals, ev);
	if (child)
		child->row = row;
}

static void end_child(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct child *child;
	struct t2x_row *row;

	if (totals->part) {
		note_child(totals, ev, T2X_NOTE_CHILD_EXIT, NULL);
		return;
	}
	child = find_child(totals, ev);
	row = child && child->row ? child->row : t2x_totals_names(totals, ev, T2X_ROW_CHILD, "?", "?");
	if (child)
		t2x_threads_remove(&totals->children, child);
	if (row)
		t2x_row_end_child(row, ev->rel_ns, !ev->args[T2X_CHILD_START].value,
				  ev->args[T2X_CHILD_CODE].value != 0, &totals->budget);
}

void t2x_totals_count_open(struct t2x_totals_thread *thread)
{
	while (thread->nopen)
		thread->open[--thread->nopen]->count++;
}

/* In a part that is so only if the thread is about to end, or no later part has anything of it. */
static void keep_open(struct t2x_totals *totals, const struct t2x_thread *of, struct t2x_row *row)
{
	struct t2x_totals_thread *thread = t2x_threads_get(&totals->threads, of);
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
	const char *category = text_of(scope->category);
	struct t2x_totals *totals = printer->own;
	char names[256], place[256];
	struct t2x_row *row;

	snprintf(names, sizeof(names), "%s%s%s", category, *category ? "/" : "", text_of(scope->label));
	snprintf(place, sizeof(place), "%s:%d", scope->file ? scope->file : "?", scope->line);
	row = t2x_totals_names(totals, ev, T2X_ROW_OPEN, names, place);
	if (row && totals->part)
		keep_open(totals, ev->thread, row);
	else if (row)
		row->count++;
}

/* ---- values ------------------------------------------------------------------------------------- */

static void add_timer(struct t2x_row *row, const struct t2x_arg *args)
{
	int is_first = !row->left;

	if (!args[T2X_TIMER_INTERVALS].value)
		return;
	row->left++;
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
	struct t2x_totals_thread *thread = ev->lost ? t2x_threads_get(&totals->threads, ev->thread) : NULL;
	struct t2x_row *row = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", ev->scope->label);
	struct t2x_level *level = thread ? t2x_totals_level(totals, thread, ev->open) : NULL;

	if (level)
		level->is_unknown = 1;
	if (!row)
		return;
	row->count++;
	row->total += (uint64_t)ev->args[0].value;
}

/* Integers have values to be added, others are counted. */
static void take_value(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	struct t2x_row *row = find_scope(totals, ev, kind);

	if (!row)
		return;
	if (kind == T2X_ROW_TIMER || kind == T2X_ROW_TH_TIMER) {
		add_timer(row, ev->args);
		return;
	}
	row->count++;
	if (ev->style != TLG_STYLE_data && ev->style != TLG_STYLE_data_json)
		t2x_row_add_value(row, ev->thread, ev->ns, ev->args[0].value);
}

/* What a process has dropped in all, which the model shows as a counter. */
static inline int is_drop(const struct t2x_event *ev)
{
	return ev->style == TLG_STYLE_counter && !ev->thread->number && !ev->scope->number;
}

void t2x_totals_take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_totals *totals = printer->own;
	struct t2x_totals_thread *thread;
	struct t2x_row *row;

	if (ev->lost || is_drop(ev)) {
		take_missing(totals, ev);
		return;
	}
	thread = count_event(totals, ev);
	if (thread && thread->nopen && tlg_style_unwinds(ev->style))
		t2x_totals_count_open(thread);
	switch (ev->style) {
	case TLG_STYLE_none:
		row = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", "unresolved");
		if (row)
			row->total = ++row->count;
		break;
	case TLG_STYLE_region_enter:
		take_enter(totals, ev, thread);
		break;
	case TLG_STYLE_region_leave:
		take_leave(totals, ev, thread);
		break;
	case TLG_STYLE_data: case TLG_STYLE_data_intmax: case TLG_STYLE_data_json:
		take_value(totals, ev, T2X_ROW_DATA);
		break;
	case TLG_STYLE_timer: case TLG_STYLE_th_timer:
		take_value(totals, ev, ev->style == TLG_STYLE_timer ? T2X_ROW_TIMER : T2X_ROW_TH_TIMER);
		break;
	case TLG_STYLE_counter: case TLG_STYLE_th_counter:
		take_value(totals, ev, ev->style == TLG_STYLE_counter ? T2X_ROW_COUNTER : T2X_ROW_TH_COUNTER);
		break;
	case TLG_STYLE_sample:
		t2x_totals_take_sample(printer, ev, thread ? t2x_totals_level(totals, thread, ev->open) : NULL);
		break;
	case TLG_STYLE_child_start:
		start_child(totals, ev);
		break;
	case TLG_STYLE_child_exit:
		end_child(totals, ev);
		break;
	case TLG_STYLE_thread_exit:
		note_exit(totals, ev);
		if (thread)
			t2x_threads_remove(&totals->threads, thread);
		break;
	default:
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
	totals->threads = (struct t2x_threads){
		.bytes = sizeof(struct t2x_totals_thread), .forget = forget_thread, .renamed = rename_thread,
		.target = totals, .budget = &totals->budget,
	};
	totals->children = (struct t2x_threads){ .bytes = sizeof(struct child), .budget = &totals->budget };
	return totals;
}

void t2x_totals_free(struct t2x_totals *totals)
{
	if (!totals)
		return;
	for (unsigned i = 0; i < totals->n; i++) {
		t2x_histogram_free(&totals->rows[i]->durations);
		free(totals->rows[i]);
	}
	free(totals->rows);
	free(totals->notes);
	t2x_map_free(&totals->by_hash);
	t2x_threads_free(&totals->threads);
	t2x_threads_free(&totals->children);
	free(totals);
}
