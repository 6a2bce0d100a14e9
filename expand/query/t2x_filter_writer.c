/* SPDX-License-Identifier: MIT */
/*
 * t2x_filter_writer.c - the stage between model and writer, see t2x_filter.h.
 *
 *   take -> what is selected, and in time -> queue what waits -> emit: count the regions that are shown -> the writer
 *
 * The regions of the threads that are selected are spans of the stage's own; each has what the filter knows of it.
 */
#include "t2x_filter.h"

#include <errno.h>
#include <stdlib.h>

#include "t2x_filtered.h"
#include "t2x_queued.h"
#include "model/t2x_spans.h"

enum {
	SCOPES = 2048, THREADS = 256,         /* whose matches are remembered */
	HIDDEN = T2X_FILTERED_HIDDEN, WANTED = T2X_FILTERED_WANTED, SHOWN = T2X_FILTERED_SHOWN, WAITS,
};

struct match {
	uint64_t number;
	unsigned match;
};

struct stage {
	struct t2x_spans_table spans;         /* first.  Of regions as they come, if not all are shown */
	struct t2x_filter *filter;            /* read, but for early_ns */
	struct t2x_printer behind;            /* the writer's */
	t2x_print_fn *print[TLG_STYLE_COUNT];
	struct t2x_filtered_pool regions;
	struct t2x_filtered outside[2];       /* see t2x_filtered_init() */
	struct t2x_filtered *left;            /* the region that ended last */
	struct t2x_copies copies;
	struct t2x_queued queued;
	struct match scopes[SCOPES], thread_matches[THREADS];
	uint64_t now, first, since, until;
	int is_started;                       /* there was an event: it is known when since and until are */
	int is_inside;                        /* since is past */
	int reshapes;                         /* not all regions are shown */
};

/* An event on its way: in which region it is; of a leave, which one it left.  before  of lost leaves: the innermost */
struct passing {
	struct t2x_filtered *region, *before;
};

/* ---- out of the stage --------------------------------------------------------------------------- */

/* Spans of the writer behind are of the regions that are shown. */
static inline __attribute__((always_inline)) void print(struct stage *stage, struct t2x_event *ev)
{
	t2x_print_fn *fn = ev->scope ? stage->print[ev->style] : stage->filter->writer->unresolved;

	if (!fn)
		return;
	if (stage->behind.spans)
		ev->spans = stage->behind.spans->take(stage->behind.spans, ev);
	fn(&stage->behind, ev);
}

static void print_as_it_is(struct stage *stage, const struct t2x_event *event)
{
	struct t2x_event ev = *event;

	print(stage, &ev);
}

/* Of regions that a gap closed, those count that are shown; of what was entered in one nothing is. */
static void emit_lost(struct stage *stage, const struct t2x_event *event, const struct passing *way)
{
	const uint32_t before = way->before ? t2x_filtered_shown(way->before) : 0;
	struct t2x_event ev = *event;
	struct t2x_arg count = ev.args[0];

	ev.open = t2x_filtered_shown(way->region);
	if (ev.lost->what == T2X_LOST_LEAVES)
		count.value = before > ev.open ? before - ev.open : 0;
	else if (ev.lost->what == T2X_LOST_ENTERS)
		count.value = 0;
	ev.args = &count;
	if (count.value)
		print(stage, &ev);
}

/* With the regions around it that are shown. */
static inline __attribute__((always_inline)) void
emit(struct stage *stage, const struct t2x_event *event, int verdict, const struct passing *way)
{
	const int is_pair = event->style == TLG_STYLE_region_enter || event->style == TLG_STYLE_region_leave;
	const struct t2x_filtered *around = is_pair && event->scope ? way->region->around : way->region;
	struct t2x_event ev;

	if (event->lost) {
		emit_lost(stage, event, way);
		return;
	}
	ev = *event;
	if (ev.style == TLG_STYLE_region_enter)
		t2x_filtered_come_out(way->region, (enum t2x_filtered_state)verdict);
	if (ev.style == TLG_STYLE_region_leave && way->region->state < WANTED)
		return;
	if (ev.style == TLG_STYLE_sample &&
	    !t2x_filter_selects_sample(stage->filter, &ev, t2x_filtered_within(around)))
		return;
	ev.open = t2x_filtered_shown(around);
	if (verdict == SHOWN)
		print(stage, &ev);
}

/* ---- what waits --------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) unsigned find_match(struct stage *stage, const struct t2x_event *ev)
{
	uint64_t number = ev->scope ? ev->scope->number : 0;
	struct match *match = &stage->scopes[number % SCOPES];

	if (!number || match->number != number) {
		match->number = number;
		match->match = t2x_filter_match(stage->filter, ev);
	}
	return match->match;
}

static int enter_verdict(struct stage *stage, const struct t2x_event *ev)
{
	return find_match(stage, ev) & T2X_FILTER_KIND ? SHOWN : WANTED;
}

static void free_copy(struct stage *stage, struct t2x_event_copy *copy)
{
	if (!copy)
		return;
	t2x_filtered_put(&stage->regions, copy->region);
	t2x_filtered_put(&stage->regions, copy->before);
	t2x_copy_free(copy);
}

/* Let out what need not wait any more; all: nothing need. */
static void release(struct stage *stage, int all)
{
	while (!t2x_queued_is_empty(&stage->queued)) {
		struct t2x_event_copy *copy = t2x_queued_get(&stage->queued, stage->queued.first);

		if (copy && copy->verdict == WAITS) {
			if (!all && stage->now - copy->event.ns < stage->filter->min_ns)
				return;
			copy->verdict = enter_verdict(stage, &copy->event);
		}
		copy = t2x_queued_pop(&stage->queued);
		if (copy)
			emit(stage, &copy->event, copy->verdict, &(struct passing){ copy->region, copy->before });
		free_copy(stage, copy);
	}
}

/* One at least. */
static void make_room(struct stage *stage)
{
	struct t2x_event_copy *copy = t2x_queued_get(&stage->queued, stage->queued.first);

	if (copy && copy->verdict == WAITS)
		copy->verdict = enter_verdict(stage, &copy->event);
	release(stage, 0);
}

/* Return  0: no memory */
static int enqueue(struct stage *stage, const struct t2x_event *ev, int verdict, const struct passing *way)
{
	struct t2x_event_copy *copy;

	if (t2x_queued_is_full(&stage->queued))
		make_room(stage);
	copy = t2x_copy_event(&stage->copies, ev);
	if (!copy || t2x_queued_push(&stage->queued, copy)) {
		t2x_copy_free(copy);
		return 0;
	}
	copy->verdict = verdict;
	copy->region = t2x_filtered_get(way->region);
	copy->before = way->before ? t2x_filtered_get(way->before) : NULL;
	return 1;
}

/* Return  one more than its number in the queue, 0: it has come out */
static uint64_t pass(struct stage *stage, const struct t2x_event *ev, int verdict, const struct passing *way)
{
	if (verdict == WAITS || !t2x_queued_is_empty(&stage->queued)) {
		if (enqueue(stage, ev, verdict, way))
			return stage->queued.next;
		release(stage, 1);
		verdict = verdict == WAITS ? enter_verdict(stage, ev) : verdict;
	}
	emit(stage, ev, verdict, way);
	return 0;
}

/* The region was too short, which is known at its leave: drop it, and what is in it. */
static void drop_region(struct stage *stage, uint64_t number)
{
	const struct t2x_event *enter = &t2x_queued_get(&stage->queued, number)->event, *ev;
	uint32_t stream = enter->thread->process->stream, tid = enter->thread->tid;

	for (uint64_t i = stage->queued.next; i-- > number;) {
		struct t2x_event_copy *copy = t2x_queued_get(&stage->queued, i);

		ev = copy ? &copy->event : NULL;
		if (!ev || ev->thread->tid != tid || ev->thread->process->stream != stream)
			continue;
		if (t2x_filter_nests(ev))
			free_copy(stage, t2x_queued_take(&stage->queued, i));
	}
	t2x_queued_trim(&stage->queued);
}

/* ---- regions as they come ----------------------------------------------------------------------- */

/* What ended last stays for the leave that ended it. */
static void end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	struct stage *stage = (struct stage *)(void *)table;

	(void)spans;
	(void)end;
	t2x_filtered_put(&stage->regions, stage->left);
	stage->left = span->own;
}

/* A region that is selected and in time. */
static void open_region(struct stage *stage, struct t2x_filtered *region, const struct t2x_event *ev, int verdict)
{
	const struct passing way = { .region = region };

	region->queued = pass(stage, ev, stage->filter->min_ns ? WAITS : verdict, &way);
}

/* It may be open at --since. */
static void remember(struct stage *stage, struct t2x_filtered *region, const struct t2x_event *ev)
{
	struct t2x_event past = *ev;

	past.is_repeated = 1;
	past.message = NULL;
	past.nargs = 0;
	region->past = t2x_copy_event(&stage->copies, &past);
}

static void take_enter(struct stage *stage, struct t2x_spans *spans, const struct t2x_event *ev, unsigned match)
{
	int is_selected = (match & T2X_FILTER_NAMES) != 0;
	struct t2x_filtered *around, *region = NULL;

	if (!spans->at)
		return;                       /* it is too deep */
	around = t2x_filtered_find(&stage->outside[ev->open > 0], spans, ev->open);
	is_selected = is_selected && !(stage->is_inside && stage->now >= stage->until);
	if (is_selected || (match & T2X_FILTER_EXCLUDED && around->state != T2X_FILTERED_EXCLUDED))
		region = t2x_filtered_new(&stage->regions, around, ev->open);
	spans->at->own = region;
	if (!region)
		return;                       /* it is hidden, or no memory */
	if (!is_selected)
		region->state = T2X_FILTERED_EXCLUDED;
	else if (stage->is_inside)
		open_region(stage, region, ev, match & T2X_FILTER_KIND ? SHOWN : WANTED);
	else
		remember(stage, region, ev);
}

static void take_leave(struct stage *stage, const struct t2x_spans *spans, const struct t2x_event *ev, int is_selected)
{
	struct t2x_filtered *region = spans->at ? spans->at->own : NULL;
	struct t2x_event_copy *enter;
	int is_short = 0;

	if (!region || region->level != ev->open)
		return;                       /* it is hidden */
	enter = region->queued ? t2x_queued_get(&stage->queued, region->queued - 1) : NULL;
	if (enter && enter->verdict == WAITS) {
		is_short = ev->ns - enter->event.ns < stage->filter->min_ns;
		if (is_short)
			drop_region(stage, region->queued - 1);
		else
			enter->verdict = enter_verdict(stage, &enter->event);
	}
	if (is_selected && !is_short)
		pass(stage, ev, SHOWN, &(struct passing){ .region = region });
}

/* ---- time --------------------------------------------------------------------------------------- */

static int compare_past(const void *a, const void *b)
{
	const struct t2x_event *x = &(*(struct t2x_filtered *const *)a)->past->event;
	const struct t2x_event *y = &(*(struct t2x_filtered *const *)b)->past->event;

	return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) : x->open < y->open ? -1 : x->open > y->open;
}

/* It is --since: show what is open, in the order of time. */
static void begin_inside(struct stage *stage)
{
	size_t n = t2x_filtered_list(&stage->spans, NULL);
	struct t2x_filtered **list = n ? calloc(n, sizeof(struct t2x_filtered *)) : NULL;

	stage->is_inside = 1;
	if (!list)
		return;
	t2x_filtered_list(&stage->spans, list);
	qsort(list, n, sizeof(list[0]), compare_past);
	for (size_t i = 0; i < n; i++) {
		open_region(stage, list[i], &list[i]->past->event, enter_verdict(stage, &list[i]->past->event));
		t2x_copy_free(list[i]->past);
		list[i]->past = NULL;
	}
	free(list);
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
	if (!t2x_queued_is_empty(&stage->queued))
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

/* A total of dropped events, which the model shows behind the last event of a process. */
static int is_drop(const struct t2x_event *ev)
{
	return !ev->thread->number && ev->scope && !ev->scope->number && ev->style == TLG_STYLE_counter;
}

/* What is neither a region nor in an order with one. */
static void take_other(struct stage *stage, struct t2x_spans *spans, const struct t2x_event *ev,
		       struct t2x_filtered *before)
{
	struct passing way = { .region = &stage->outside[1], .before = before };

	if (spans)
		way.region = t2x_filtered_find(&stage->outside[ev->open > 0], spans, spans->open);
	pass(stage, ev, SHOWN, &way);
}

/* Of a thread that is selected, where not all regions are shown. */
static void take_within(struct stage *stage, const struct t2x_event *ev, unsigned match, int is_now, int is_deep)
{
	const int is_pair = ev->scope && (ev->style == TLG_STYLE_region_enter || ev->style == TLG_STYLE_region_leave);
	struct t2x_filtered *before = NULL;
	struct t2x_spans *spans;

	if (ev->lost && (spans = t2x_spans_find(&stage->spans, ev)))
		before = t2x_filtered_get(t2x_filtered_find(&stage->outside[1], spans, spans->open));
	spans = t2x_spans_take(&stage->spans, ev);
	if (!spans && is_pair)
		return;
	if (!is_pair && is_now)
		take_other(stage, spans, ev, before);
	else if (is_pair && ev->style == TLG_STYLE_region_enter)
		take_enter(stage, spans, ev, is_deep ? match & ~(unsigned)T2X_FILTER_NAMES : match);
	else if (is_pair)
		take_leave(stage, spans, ev, is_now && match & T2X_FILTER_KIND);
	t2x_filtered_put(&stage->regions, before);
	if (spans && ev->style == TLG_STYLE_thread_exit)
		t2x_spans_end_thread(&stage->spans, spans);
}

static void take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct stage *stage = printer->own;
	unsigned match = find_match(stage, ev), depth = stage->filter->max_depth;
	int is_deep = depth && ev->open > depth && t2x_filter_nests(ev), is_now;

	if (is_drop(ev)) {
		if (t2x_filter_selects_process(stage->filter, ev->thread->process))
			take_other(stage, NULL, ev, NULL);
		return;
	}
	advance(stage, ev);
	if (!selects_thread(stage, ev->thread))
		return;
	if (ev->style == TLG_STYLE_region_leave && ev->scope && stage->reshapes) {
		is_now = stage->is_inside && stage->now < stage->until;
	} else {
		/* a step comes after its time, which is that of what was before it in its thread */
		is_now = stage->is_inside && ev->ns >= stage->since && ev->ns < stage->until;
		is_now = is_now && !is_deep && (ev->lost || match == (T2X_FILTER_KIND | T2X_FILTER_NAMES));
	}
	if (stage->reshapes)
		take_within(stage, ev, match, is_now, is_deep);
	else if (is_now)
		print_as_it_is(stage, ev);
}

static void end_filter(struct stage *stage)
{
	while (!t2x_queued_is_empty(&stage->queued))
		free_copy(stage, t2x_queued_pop(&stage->queued));
	t2x_queued_free(&stage->queued);
	t2x_spans_end(&stage->spans);
	t2x_spans_free(&stage->spans);
	t2x_filtered_put(&stage->regions, stage->left);
	t2x_filtered_free(&stage->regions);
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
	stage->spans = (struct t2x_spans_table){ .is_part = 1, .end_span = end_span, .end_unseen = end_span };
	t2x_spans_init(&stage->spans);
	t2x_filtered_init(stage->outside);
	stage->reshapes = filter->since.kind || filter->category.n || filter->label.n || filter->event.n ||
			  filter->min_ns || filter->max_depth;
	stage->is_inside = !filter->since.kind;
	stage->until = UINT64_MAX;
#define TLG_STYLE(id, name, args, desc) stage->print[id] = filter->writer->print.name;
#include "tlg_styles.def"
#undef TLG_STYLE
	printer->own = stage;
	if (!filter->writer->begin || !filter->writer->begin(&stage->behind)) {
		if (stage->behind.spans)
			stage->behind.spans->is_filtered = 1;
		return 0;
	}
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
