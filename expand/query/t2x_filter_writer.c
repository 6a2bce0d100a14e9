/* SPDX-License-Identifier: MIT */
/*
 * t2x_filter_writer.c - the stage between model and writer, see t2x_filter.h.
 *
 *   take -> what is selected, and in time -> hold what waits -> emit: count the nesting -> the writer
 *
 * What is remembered of a thread stands on both sides of the queue: `early` of regions as they come, `nesting` behind.
 */
#include "t2x_filter.h"

#include <errno.h>
#include <stdlib.h>

#include "t2x_held.h"
#include "t2x_nesting.h"
#include "t2x_threads.h"
#include "model/t2x_spans.h"

enum {
	EARLY_MAX = 65536,                    /* levels of a thread, */
	EARLY_BUDGET = 256 * 1024,            /* of all */
	SCOPES = 2048, THREADS = 256,         /* whose matches are remembered */
	HIDDEN = T2X_NESTING_HIDDEN, EXCLUDED = T2X_NESTING_EXCLUDED, WANTED = T2X_NESTING_WANTED,
	SHOWN = T2X_NESTING_SHOWN, WAITS,
};

/* A region before it has come out. */
struct early {
	uint64_t held;                        /* one more than its number in the queue; 0: it never was there */
	struct t2x_event_copy *past;          /* its enter, before --since */
};

struct record {
	struct t2x_thread_record head;
	struct t2x_nesting nesting;
	struct early *early;                  /* by the number of regions open when it was entered */
	unsigned open, capacity;
};

struct match { uint64_t number; unsigned match; };

struct stage {
	struct t2x_filter *filter;            /* read, but for early_ns */
	struct t2x_printer behind;            /* the writer's */
	t2x_print_fn *print[TLG_STYLE_COUNT];
	struct t2x_threads threads;
	struct t2x_copies copies;
	struct t2x_held held;
	struct match scopes[SCOPES], thread_matches[THREADS];
	uint64_t now, first, since, until;
	int is_started;                       /* there was an event: it is known when since and until are */
	int is_inside;                        /* since is past */
	int reshapes;                         /* not all regions are shown */
	unsigned nesting_budget, early_budget;
	struct t2x_event_copy **past;         /* regions that are open at since */
	unsigned npast, max_past;
};

/* ---- out of the stage --------------------------------------------------------------------------- */

static void print(struct stage *stage, const struct t2x_event *ev)
{
	t2x_print_fn *fn = ev->scope ? stage->print[ev->style] : stage->filter->writer->unresolved;

	if (fn)
		t2x_spans_print(&stage->behind, fn, ev);
}

/* Of regions that a gap closed, those count that are shown; of what was entered in one nothing is. */
static void emit_lost(struct stage *stage, struct record *record, const struct t2x_event *event)
{
	struct t2x_event shown = *event, *ev = &shown;
	struct t2x_arg count = ev->args[0];
	uint32_t before = t2x_nesting_around(&record->nesting, UINT32_MAX), after;

	t2x_nesting_cut(&record->nesting, ev->open);
	after = ev->open = t2x_nesting_around(&record->nesting, ev->open);
	if (ev->lost->what == T2X_LOST_LEAVES)
		count.value = before > after ? before - after : 0;
	else if (ev->lost->what == T2X_LOST_ENTERS)
		count.value = 0;
	ev->args = &count;
	if (count.value)
		print(stage, ev);
}

static void emit_enter(struct stage *stage, struct record *record, struct t2x_event *ev, int verdict)
{
	unsigned level = ev->open;

	t2x_nesting_cut(&record->nesting, level);
	if (verdict == HIDDEN)
		return;
	ev->open = t2x_nesting_around(&record->nesting, level);
	if (t2x_nesting_enter(&record->nesting, level, (enum t2x_nesting_state)verdict, &stage->nesting_budget) ==
	    T2X_NESTING_SHOWN)
		print(stage, ev);
}

/* With the regions around it that are shown. */
static void emit(struct stage *stage, const struct t2x_event *event, int verdict)
{
	struct t2x_event ev = *event;
	struct record *record = stage->reshapes ? t2x_threads_get(&stage->threads, ev.thread) : NULL;

	if (!record) {
		if (verdict == SHOWN)
			print(stage, event);
		return;
	}
	if (ev.lost && verdict != HIDDEN) {
		emit_lost(stage, record, event);
		return;
	}
	if (ev.style == TLG_STYLE_region_enter) {
		emit_enter(stage, record, &ev, verdict);
		return;
	}
	if (ev.style == TLG_STYLE_region_leave && t2x_nesting_state(&record->nesting, ev.open) < T2X_NESTING_WANTED)
		verdict = HIDDEN;
	t2x_nesting_cut(&record->nesting, ev.open);
	if (ev.style == TLG_STYLE_sample && verdict == SHOWN &&
	    !t2x_filter_selects_sample(stage->filter, &ev, t2x_nesting_within(&record->nesting, ev.open)))
		verdict = HIDDEN;
	ev.open = t2x_nesting_around(&record->nesting, ev.open);
	if (verdict != HIDDEN)
		print(stage, &ev);
	if (ev.style == TLG_STYLE_thread_exit)
		t2x_threads_remove(&stage->threads, record);
}

/* ---- what waits --------------------------------------------------------------------------------- */

static int enter_verdict(const struct stage *stage, const struct t2x_event *ev)
{
	return t2x_filter_match(stage->filter, ev) & T2X_FILTER_KIND ? SHOWN : WANTED;
}

/* Let out what need not wait any more; all: nothing need. */
static void release(struct stage *stage, int all)
{
	while (!t2x_held_is_empty(&stage->held)) {
		struct t2x_event_copy *copy = t2x_held_get(&stage->held, stage->held.first);

		if (copy && copy->verdict == WAITS) {
			if (!all && stage->now - copy->event.ns < stage->filter->min_ns)
				return;
			copy->verdict = enter_verdict(stage, &copy->event);
		}
		copy = t2x_held_pop(&stage->held);
		if (copy)
			emit(stage, &copy->event, copy->verdict);
		t2x_copy_free(copy);
	}
}

/* One at least. */
static void make_room(struct stage *stage)
{
	struct t2x_event_copy *copy = t2x_held_get(&stage->held, stage->held.first);

	if (copy && copy->verdict == WAITS)
		copy->verdict = enter_verdict(stage, &copy->event);
	release(stage, 0);
}

/* Return  one more than its number in the queue, 0: it has come out */
static uint64_t pass(struct stage *stage, const struct t2x_event *ev, int verdict)
{
	struct t2x_event_copy *copy = NULL;

	if (verdict == HIDDEN && !t2x_filter_nests(ev) && ev->style != TLG_STYLE_thread_exit)
		return 0;
	if (verdict == WAITS || !t2x_held_is_empty(&stage->held)) {
		if (t2x_held_is_full(&stage->held))
			make_room(stage);
		copy = t2x_copy_event(&stage->copies, ev);
	}
	if (copy && !t2x_held_push(&stage->held, copy)) {
		copy->verdict = verdict;
		return stage->held.next;
	}
	t2x_copy_free(copy);
	release(stage, 1);
	emit(stage, ev, verdict == WAITS ? enter_verdict(stage, ev) : verdict);
	return 0;
}

/* The region was too short, which is known at its leave: drop it, and what is in it. */
static void drop_region(struct stage *stage, uint64_t number)
{
	const struct t2x_event *enter = &t2x_held_get(&stage->held, number)->event, *ev;
	uint32_t stream = enter->thread->process->stream, tid = enter->thread->tid;

	for (uint64_t i = stage->held.next; i-- > number;) {
		const struct t2x_event_copy *copy = t2x_held_get(&stage->held, i);

		ev = copy ? &copy->event : NULL;
		if (!ev || ev->thread->tid != tid || ev->thread->process->stream != stream)
			continue;
		if (t2x_filter_nests(ev))
			t2x_held_drop(&stage->held, i);
	}
	t2x_held_trim(&stage->held);
}

/* ---- regions as they come ----------------------------------------------------------------------- */

static void early_cut(struct record *record, unsigned open)
{
	while (record->open > open)
		t2x_copy_free(record->early[--record->open].past);
}

/* Return  NULL: no room */
static struct early *early_enter(struct stage *stage, struct record *record, unsigned level)
{
	unsigned capacity = record->capacity ? record->capacity : 8;
	struct early *early = record->early;

	while (capacity <= level && capacity < EARLY_MAX)
		capacity *= 2;
	if (capacity <= level || capacity - record->capacity > stage->early_budget)
		return NULL;
	if (capacity != record->capacity)
		early = realloc(early, capacity * sizeof(*early));
	if (!early)
		return NULL;
	stage->early_budget -= capacity - record->capacity;
	record->early = early;
	record->capacity = capacity;
	early_cut(record, level);
	while (record->open <= level)
		early[record->open++] = (struct early){ 0 };
	return &early[level];
}

/* A region that is selected and in time. */
static void open_region(struct stage *stage, struct record *record, const struct t2x_event *ev)
{
	struct early *early = stage->filter->min_ns ? early_enter(stage, record, ev->open) : NULL;
	uint64_t held = pass(stage, ev, early ? WAITS : enter_verdict(stage, ev));

	if (early)
		early->held = held;
}

/* It may be open at --since. */
static void remember(struct stage *stage, struct record *record, const struct t2x_event *ev)
{
	struct early *early = early_enter(stage, record, ev->open);
	struct t2x_event past = *ev;

	past.is_repeated = 1;
	past.message = NULL;
	past.nargs = 0;
	if (early)
		early->past = t2x_copy_event(&stage->copies, &past);
}

static void take_enter(struct stage *stage, struct record *record, const struct t2x_event *ev, int is_selected,
		       int is_excluded)
{
	early_cut(record, ev->open);
	if (!is_selected || (stage->is_inside && stage->now >= stage->until))
		pass(stage, ev, is_excluded ? EXCLUDED : HIDDEN);
	else if (stage->is_inside)
		open_region(stage, record, ev);
	else
		remember(stage, record, ev);
}

static void take_leave(struct stage *stage, struct record *record, const struct t2x_event *ev, int is_selected)
{
	const struct early *early = ev->open < record->open ? &record->early[ev->open] : NULL;
	struct t2x_event_copy *enter = early && early->held ? t2x_held_get(&stage->held, early->held - 1) : NULL;
	int is_short = 0;

	if (enter && enter->verdict == WAITS) {
		is_short = ev->ns - enter->event.ns < stage->filter->min_ns;
		if (is_short)
			drop_region(stage, early->held - 1);
		else
			enter->verdict = enter_verdict(stage, &enter->event);
	}
	early_cut(record, ev->open);
	pass(stage, ev, is_selected && !is_short ? SHOWN : HIDDEN);
}

/* ---- time --------------------------------------------------------------------------------------- */

static void list_past(void *target, void *record)
{
	struct stage *stage = target;
	struct record *of = record;

	for (unsigned i = 0; i < of->open; i++) {
		struct t2x_event_copy *past = of->early[i].past;

		if (past && stage->npast < stage->max_past) {
			past->record = of;
			stage->past[stage->npast++] = past;
		} else {
			t2x_copy_free(past);
		}
	}
	of->open = 0;
}

static int compare_past(const void *a, const void *b)
{
	const struct t2x_event *x = &(*(struct t2x_event_copy *const *)a)->event;
	const struct t2x_event *y = &(*(struct t2x_event_copy *const *)b)->event;

	return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) : x->open < y->open ? -1 : x->open > y->open;
}

static void count_past(void *target, void *record)
{
	((struct stage *)target)->max_past += ((struct record *)record)->open;
}

/* It is --since: show what is open, in the order of time. */
static void begin_inside(struct stage *stage)
{
	stage->is_inside = 1;
	t2x_threads_each(&stage->threads, count_past, stage);
	stage->past = stage->max_past ? calloc(stage->max_past, sizeof(*stage->past)) : NULL;
	stage->max_past = stage->past ? stage->max_past : 0;
	t2x_threads_each(&stage->threads, list_past, stage);
	if (stage->npast)
		qsort(stage->past, stage->npast, sizeof(*stage->past), compare_past);
	for (unsigned i = 0; i < stage->npast; i++) {
		open_region(stage, stage->past[i]->record, &stage->past[i]->event);
		t2x_copy_free(stage->past[i]);
	}
	free(stage->past);
	stage->past = NULL;
}

/* The first event is there: it is known when since and until are. */
static void start(struct stage *stage, const struct t2x_event *ev)
{
	const struct t2x_filter *filter = stage->filter;
	int32_t utcoff = filter->first_ns ? filter->utcoff : ev->thread->process->utcoff;

	stage->is_started = 1;
	stage->first = filter->first_ns ? filter->first_ns : ev->ns;
	stage->since = t2x_when_resolve(&filter->since, stage->first, utcoff, filter->end_ns);
	if (filter->until.kind)
		stage->until = t2x_when_resolve(&filter->until, stage->first, utcoff, filter->end_ns);
}

/* The time goes on to that of an event. */
static void advance(struct stage *stage, const struct t2x_event *ev)
{
	if (ev->is_repeated)
		return;
	if (!stage->is_started)
		start(stage, ev);
	if (ev->ns < stage->first && stage->first - ev->ns > stage->filter->early_ns)
		stage->filter->early_ns = stage->first - ev->ns;
	if (ev->ns > stage->now)
		stage->now = ev->ns;
	if (!stage->is_inside && stage->now >= stage->since)
		begin_inside(stage);
	if (!t2x_held_is_empty(&stage->held))
		release(stage, 0);
}

/* ---- into the stage ----------------------------------------------------------------------------- */

static int selects_thread(struct stage *stage, const struct t2x_thread *thread)
{
	struct match *match = &stage->thread_matches[thread->number % THREADS];

	if (!thread->number || match->number != thread->number) {
		match->number = thread->number;
		match->match = (unsigned)t2x_filter_selects_thread(stage->filter, thread);
	}
	return (int)match->match;
}

static unsigned find_match(struct stage *stage, const struct t2x_event *ev)
{
	uint64_t number = ev->scope ? ev->scope->number : 0;
	struct match *match = &stage->scopes[number % SCOPES];

	if (!number || match->number != number) {
		match->number = number;
		match->match = t2x_filter_match(stage->filter, ev);
	}
	return match->match;
}

/* A total of dropped events, which the model shows behind the last event of a process. */
static int is_drop(const struct t2x_event *ev)
{
	return !ev->thread->number && ev->scope && !ev->scope->number && ev->style == TLG_STYLE_counter;
}

static void take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct stage *stage = printer->own;
	unsigned match = find_match(stage, ev), depth = stage->filter->max_depth;
	int is_deep = depth && ev->open > depth && t2x_filter_nests(ev);
	int is_now;
	struct record *record;

	if (is_drop(ev)) {
		if (t2x_filter_selects_process(stage->filter, ev->thread->process))
			pass(stage, ev, SHOWN);
		return;
	}
	advance(stage, ev);
	if (!selects_thread(stage, ev->thread))
		return;
	is_now = stage->is_inside && stage->now < stage->until;
	record = stage->reshapes ? t2x_threads_get(&stage->threads, ev->thread) : NULL;
	if (record && ev->scope && ev->style == TLG_STYLE_region_enter) {
		take_enter(stage, record, ev, !is_deep && match & T2X_FILTER_NAMES, match & T2X_FILTER_EXCLUDED);
	} else if (record && ev->scope && ev->style == TLG_STYLE_region_leave) {
		take_leave(stage, record, ev, is_now && match & T2X_FILTER_KIND);
	} else {
		if (record)
			early_cut(record, ev->open);
		/* a step comes after its time, which is that of what was before it in its thread */
		is_now = stage->is_inside && ev->ns >= stage->since && ev->ns < stage->until;
		is_now = is_now && !is_deep && (ev->lost || match == (T2X_FILTER_KIND | T2X_FILTER_NAMES));
		pass(stage, ev, is_now ? SHOWN : HIDDEN);
	}
}

static void forget(void *target, void *record)
{
	struct stage *stage = target;
	struct record *of = record;

	early_cut(of, 0);
	stage->early_budget += of->capacity;
	free(of->early);
	t2x_nesting_free(&of->nesting, &stage->nesting_budget);
}

static void end_filter(struct stage *stage)
{
	t2x_held_free(&stage->held);
	t2x_threads_free(&stage->threads);
	t2x_copies_free(&stage->copies);
	free(stage);
}

static int begin(struct t2x_printer *printer)
{
	struct t2x_filter *filter = printer->options.filter;
	struct stage *stage = calloc(1, sizeof(*stage));

	if (!stage)
		return -ENOMEM;
	stage->filter = filter;
	stage->behind = *printer;
	stage->threads = (struct t2x_threads){ .bytes = sizeof(struct record), .forget = forget, .target = stage };
	stage->reshapes = filter->since.kind || filter->category.n || filter->label.n || filter->event.n ||
			  filter->min_ns || filter->max_depth;
	stage->is_inside = !filter->since.kind;
	stage->until = UINT64_MAX;
	stage->nesting_budget = T2X_NESTING_BUDGET;
	stage->early_budget = EARLY_BUDGET;
#define TLG_STYLE(id, name, args, desc) stage->print[id] = filter->writer->print.name;
#include "tlg_styles.def"
#undef TLG_STYLE
	printer->own = stage;
	if (!filter->writer->begin || !filter->writer->begin(&stage->behind))
		return 0;
	end_filter(stage);
	printer->own = NULL;
	return -ENOMEM;
}

static void finish(struct t2x_printer *printer)
{
	struct stage *stage = printer->own;

	release(stage, 1);
	if (stage->filter->writer->finish)
		stage->filter->writer->finish(&stage->behind);
	end_filter(stage);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_filter = {
	.begin = begin, .finish = finish, .unresolved = take,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = take,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
