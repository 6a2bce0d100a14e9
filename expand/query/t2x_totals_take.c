/* SPDX-License-Identifier: MIT */
/* t2x_totals_take.c - what each event adds. */
#include "t2x_totals_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 65536, LEVELS_FIRST = 16 };

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

/* Rows are kept apart by thread, also where they are by process: the row of another thread is looked for once. */
static inline uint64_t find_apart(const struct t2x_totals *totals, const struct t2x_event *ev)
{
	return totals->by ? ev->thread->number : 0;
}

static inline unsigned find_place(uint64_t scope, uint64_t thread)
{
	return (unsigned)(scope + thread * 61) % T2X_ROWS_AT_HAND;
}

/* The row of the event's scope, as far as it is at hand.  Return  NULL: it is not */
static inline struct t2x_row *row_at_hand(const struct t2x_totals *totals, const struct t2x_event *ev)
{
	uint64_t scope = ev->scope->number, thread = find_apart(totals, ev);
	const struct t2x_totals_row *at_hand = &totals->at_hand[find_place(scope, thread)];

	return at_hand->scope == scope && at_hand->thread == thread ? at_hand->row : NULL;
}

/* The row of the event's scope.  Return  NULL: no room */
static struct t2x_row *find_scope(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	uint64_t scope = ev->scope->number, thread = find_apart(totals, ev);
	struct t2x_row *row = row_at_hand(totals, ev);

	if (row)
		return row;
	row = t2x_totals_names(totals, ev, kind, ev->scope->category, ev->scope->label);
	if (row && scope && ev->thread->number)
		totals->at_hand[find_place(scope, thread)] = (struct t2x_totals_row){ scope, thread, row };
	return row;
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

/* thread  its row; NULL: no room */
static inline void count_with(struct t2x_totals *totals, struct t2x_row *thread, const struct t2x_event *ev)
{
	totals->events++;
	/* none, 0, is later than any, and so is what has no time */
	if (__builtin_expect(ev->ns - 1 < totals->first_ns - 1 && !ev->is_repeated, 0))
		totals->first_ns = ev->ns;
	if (ev->ns > totals->last_ns)
		totals->last_ns = ev->ns;
	if (!thread)
		return;
	thread->count++;
	if (ev->ns > thread->last_ns)
		thread->last_ns = ev->ns;
}

/* Count the event.  Return  NULL: no memory */
static struct t2x_totals_thread *count_event(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_totals_thread *thread = t2x_threads_get(&totals->threads, ev->thread);

	if (thread && !thread->row)
		thread->row = find_thread_row(totals, ev->thread, ev->ns);
	count_with(totals, thread ? thread->row : NULL, ev);
	totals->is_cut |= !thread;
	return thread;
}

int t2x_totals_grow(struct t2x_totals_thread *thread, unsigned level)
{
	unsigned capacity = thread->capacity ? thread->capacity : LEVELS_FIRST;
	struct t2x_level *levels;

	while (capacity <= level && capacity < LEVELS_MAX)
		capacity *= 2;
	levels = capacity > level ? realloc(thread->levels, capacity * sizeof(*levels)) : NULL;
	if (!levels)
		return 0;
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

static void forget_thread(void *totals, void *record)
{
	(void)totals;
	free(((struct t2x_totals_thread *)record)->levels);
}

/* ---- durations ---------------------------------------------------------------------------------- */

/*
 * Most events are of a thread and a scope that were there before.  Then no function is called, so no register has to be
 * saved from one, which would be a quarter of all instructions.  The others go the long way.
 */
static inline void enter(struct t2x_row *row, struct t2x_level *inside, const struct t2x_event *ev)
{
	if (row)
		row->entered++;
	if (inside)
		*inside = (struct t2x_level){ .entered_ns = ev->ns, .is_entered = 1, .region = row };
}

static __attribute__((noinline)) void enter_long_way(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_totals_thread *thread = count_event(totals, ev);
	struct t2x_row *row = find_scope(totals, ev, T2X_ROW_REGION);

	enter(row, thread ? t2x_totals_level(thread, ev->open + 1) : NULL, ev);
}

void t2x_totals_take_enter(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_totals *totals = printer->own;
	struct t2x_totals_thread *thread = t2x_threads_at_hand(&totals->threads, ev->thread);
	struct t2x_row *row = row_at_hand(totals, ev);

	if (!thread || !thread->row || !row || ev->open + 1 >= thread->capacity) {
		enter_long_way(totals, ev);
		return;
	}
	count_with(totals, thread->row, ev);
	enter(row, &thread->levels[ev->open + 1], ev);
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

static inline void leave(struct t2x_totals *totals, struct t2x_row *row, struct t2x_level *inside, uint64_t ns)
{
	struct t2x_level left;

	if (!inside) {
		if (row)
			t2x_row_leave(row, NULL, ns, &totals->budget);
		return;
	}
	left = *inside;
	*inside = (struct t2x_level){ 0 };
	t2x_level_leave(&inside[-1], ns);
	if (row)
		t2x_row_leave(row, &left, ns, &totals->budget);
}

static __attribute__((noinline)) void leave_long_way(struct t2x_totals *totals, const struct t2x_event *ev)
{
	struct t2x_totals_thread *thread = count_event(totals, ev);
	struct t2x_row *row = find_scope(totals, ev, T2X_ROW_REGION);
	struct t2x_level *inside = thread ? t2x_totals_level(thread, ev->open + 1) : NULL;

	if (inside && !inside->is_entered && totals->part == T2X_PART_LATER)
		note_leave(totals, ev, row, inside);
	else
		leave(totals, row, inside, ev->rel_ns);
}

void t2x_totals_take_leave(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_totals *totals = printer->own;
	struct t2x_totals_thread *thread = t2x_threads_at_hand(&totals->threads, ev->thread);
	struct t2x_row *row = row_at_hand(totals, ev);

	if (!thread || !thread->row || !row || ev->open + 1 >= thread->capacity ||
	    !thread->levels[ev->open + 1].is_entered) {
		leave_long_way(totals, ev);
		return;
	}
	count_with(totals, thread->row, ev);
	leave(totals, row, &thread->levels[ev->open + 1], ev->rel_ns);
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

static void take_missing(struct t2x_totals *totals, const struct t2x_event *ev, struct t2x_totals_thread *thread)
{
	struct t2x_row *row = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", ev->scope->label);
	struct t2x_level *level = thread && ev->lost ? t2x_totals_level(thread, ev->open) : NULL;

	if (level)
		level->is_unknown = 1;
	if (!row)
		return;
	row->count++;
	row->total += (uint64_t)ev->args[0].value;
}

/* Integers have values to be added, others are counted. */
static inline void add_value(struct t2x_row *row, const struct t2x_event *ev)
{
	row->count++;
	if (ev->style != TLG_STYLE_data && ev->style != TLG_STYLE_data_json)
		t2x_row_add_value(row, ev);
}

static void take_value(struct t2x_totals *totals, const struct t2x_event *ev, enum t2x_row_kind kind)
{
	struct t2x_row *row = find_scope(totals, ev, kind);

	if (!row)
		return;
	if (kind == T2X_ROW_TIMER || kind == T2X_ROW_TH_TIMER) {
		add_timer(row, ev->args);
		return;
	}
	add_value(row, ev);
}

void t2x_totals_take_data(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_totals *totals = printer->own;
	struct t2x_totals_thread *thread = t2x_threads_at_hand(&totals->threads, ev->thread);
	struct t2x_row *row = row_at_hand(totals, ev);

	if (!thread || !thread->row || !row || ev->lost) {
		t2x_totals_take(printer, ev);
		return;
	}
	count_with(totals, thread->row, ev);
	add_value(row, ev);
}

void t2x_totals_take_step(struct t2x_printer *printer, const struct t2x_event *ev)
{
	count_event(printer->own, ev);
}

void t2x_totals_take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_totals *totals = printer->own;
	int is_drop = !ev->thread->number && ev->scope && !ev->scope->number && ev->style == TLG_STYLE_counter;
	struct t2x_totals_thread *thread = is_drop || ev->lost ? NULL : count_event(totals, ev);
	struct t2x_row *row;

	if (ev->lost)
		thread = t2x_threads_get(&totals->threads, ev->thread);
	if (ev->lost || is_drop) {
		take_missing(totals, ev, thread);
		return;
	}
	switch (ev->style) {
	case TLG_STYLE_none:
		row = t2x_totals_names(totals, ev, T2X_ROW_MISSING, "trace2", "unresolved");
		if (row)
			row->total = ++row->count;
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
		t2x_totals_take_sample(printer, ev, thread ? t2x_totals_level(thread, ev->open) : NULL);
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
	totals->budget = T2X_TOTALS_BYTES;
	totals->seed = (uint32_t)((uintptr_t)totals >> 12);
	totals->threads = (struct t2x_threads){ .bytes = sizeof(struct t2x_totals_thread), .forget = forget_thread };
	totals->children = (struct t2x_threads){ .bytes = sizeof(struct child) };
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
