/* SPDX-License-Identifier: MIT */
/*
 * t2x_regions.c - see t2x_regions.h.  Behind the operations come the updates that use them: a cycle repeats regions,
 * events are missing, leaves are missing.  The model shows these as events of its own.
 */
#include "t2x_regions.h"

#include <string.h>

#include "t2x_model_private.h"
#include "base/t2x_memory.h"

enum { MOST_LOOKED_AT = 1024 };        /* regions, for one of the same names: what is deeper is not repaired */

/* ---- operations --------------------------------------------------------------------------------- */

void t2x_regions_init(struct t2x_regions *regions, uint64_t start_ns)
{
	regions->open = 1;
	regions->assumed = 0;
	regions->checked = 0;
	regions->entered = regions->small;
	regions->capacity = T2X_REGIONS_SMALL;
	regions->small[0] = (struct t2x_region){ start_ns, 0, NULL };
}

void t2x_regions_free(struct t2x_regions *regions, unsigned *budget)
{
	if (regions->entered == regions->small)
		return;
	*budget += regions->capacity;
	t2x_free(regions->entered);
	regions->entered = regions->small;
}

/* Twice the room, if it can be had. */
static void grow(struct t2x_regions *regions, unsigned *budget)
{
	int is_small = regions->entered == regions->small;
	unsigned more = 2 * regions->capacity, price = is_small ? more : regions->capacity;
	struct t2x_region *entered;

	if (more > T2X_REGIONS_MAX || price > *budget)
		return;
	entered = t2x_realloc(is_small ? NULL : regions->entered, more * sizeof(*entered));
	if (!entered)
		return;
	if (is_small)
		memcpy(entered, regions->small, sizeof(regions->small));
	regions->entered = entered;
	regions->capacity = more;
	*budget -= price;
}

void t2x_regions_enter(struct t2x_regions *regions, const struct t2x_region *region, unsigned *budget)
{
	if (regions->open == regions->capacity)
		grow(regions, budget);
	if (regions->open < regions->capacity)
		regions->entered[regions->open] = *region;
	regions->open += regions->open < UINT32_MAX;
}

/* Leave all but the n outermost, if there are more.  What is only assumed stays so. */
static void leave_down_to(struct t2x_regions *regions, unsigned n)
{
	if (regions->open > n)
		regions->open = n;
	if (regions->open < regions->assumed)
		regions->assumed = regions->open + 1;
}

void t2x_regions_unwind(struct t2x_regions *regions)
{
	regions->open = regions->open > 1 ? 1 : regions->open;
	regions->assumed = 0;
}

unsigned t2x_regions_assume(struct t2x_regions *regions)
{
	unsigned open = regions->open, kept = regions->checked < open ? regions->checked : open;

	while (kept < open && kept < regions->capacity && regions->entered[kept].when != TLG_OPEN_LOST)
		kept++;
	regions->checked = kept;
	leave_down_to(regions, kept < regions->capacity ? kept : open);
	regions->assumed = regions->open + (regions->open < UINT32_MAX);
	return open - regions->open;
}

/* The next region that is entered may be one whose enter was lost: t2x_regions_assume() has to look at it. */
static void check_again(struct t2x_regions *regions)
{
	if (regions->checked > regions->open)
		regions->checked = regions->open;
}

void t2x_regions_apply_gap(struct t2x_regions *regions, unsigned left, unsigned entered, unsigned *budget)
{
	static const struct t2x_region lost = { 0, TLG_OPEN_LOST, NULL };

	unsigned least = regions->assumed && regions->open;   /* the thread's own level is not taken for what it left */

	leave_down_to(regions, regions->open > left + least ? regions->open - left : least);
	check_again(regions);
	while (entered--)
		t2x_regions_enter(regions, &lost, budget);
}

/* The innermost region of these names, the thread's own excepted; 0: there is none. */
static unsigned find(const struct t2x_regions *regions, uint32_t names)
{
	unsigned at = regions->open < regions->capacity ? regions->open : regions->capacity;
	unsigned outermost = at > MOST_LOOKED_AT ? at - MOST_LOOKED_AT : 1;

	while (at > outermost && t2x_region_names(&regions->entered[at - 1]) != names)
		at--;
	return at > outermost ? at - 1 : 0;
}

unsigned t2x_regions_repair_leave(struct t2x_regions *regions, uint32_t names, int *is_missing)
{
	unsigned open = regions->open, own = find(regions, names);

	*is_missing = !own;
	leave_down_to(regions, own + 1);
	return open - regions->open;
}

unsigned t2x_regions_repair_enter(struct t2x_regions *regions, uint32_t names)
{
	unsigned open = regions->open, own = find(regions, names);

	if (own)
		leave_down_to(regions, own);
	return open - regions->open;
}

/* When the thread's outermost region began; the main thread is as old as its process. */
static uint64_t find_start_ns(const struct t2x_thread *thread)
{
	return thread->tid ? thread->start_ns : thread->process->start_ns;
}

struct t2x_regions *t2x_regions_of(struct t2x_thread *thread)
{
	if (thread->model)
		return thread->model;
	thread->model = t2x_cache_line_new(sizeof(struct t2x_regions));
	if (thread->model)
		t2x_regions_init(thread->model, find_start_ns(thread));
	return thread->model;
}

/* Since the innermost region was entered.  When the thread began may have become known since. */
static uint64_t find_elapsed(const struct t2x_thread *thread, struct t2x_regions *regions, uint64_t now_ns)
{
	if (regions->open == 1 && !regions->entered[0].when && !regions->entered[0].ns)
		regions->entered[0].ns = find_start_ns(thread);
	return t2x_regions_elapsed(regions, now_ns);
}

/* ---- events of the model's own ------------------------------------------------------------------ */

void t2x_model_print(struct t2x_model *m, struct t2x_event *ev)
{
	t2x_print_fn *print = ev->scope ? m->kinds[ev->style].print : m->print_unresolved;

	if (m->printer.spans)
		ev->spans = m->printer.spans->take(m->printer.spans, ev);
	print(&m->printer, ev);
}

/* A line in the place of what is missing: git's for data, so that readers of git's formats get on with it. */
static void show_missing(struct t2x_model *m, const struct t2x_thread *thread, uint64_t ns, enum t2x_lost_what what,
			 uint64_t count)
{
	static const char *const labels[] = { "lost-events", "lost-leaves", "lost-enters" };
	const struct t2x_regions *regions = thread->model;
	const struct t2x_lost lost = { what, regions->last_ns };
	const struct t2x_arg number = { .type = TLG_ARG_UINT, .value = (int64_t)count };
	struct t2x_scope scope = { .style = TLG_STYLE_data_intmax, .category = "trace2", .label = labels[what] };
	struct t2x_event ev = {
		.thread = thread, .scope = &scope, .style = TLG_STYLE_data_intmax, .ns = ns,
		.rel_ns = T2X_NO_TIME,
		.open = regions->open, .nargs = 1, .args = &number, .lost = &lost,
	};

	if (count)
		t2x_model_print(m, &ev);
}

/* ---- regions that are repeated ------------------------------------------------------------------- */

/* Its enter was not seen: show it, with the time at which it was. */
static void show_open(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_open *open, unsigned around)
{
	struct t2x_event ev = {
		.thread = thread, .scope = open->scope,
		.style = TLG_STYLE_region_enter, .ns = open->ns, .open = around, .is_repeated = 1,
	};

	t2x_model_print(m, &ev);
}

/* Whether the region at this depth, 0 for the outermost, is open and is known to be the one entered then. */
static int is_entered_at(const struct t2x_regions *regions, unsigned depth, uint64_t when)
{
	return depth < regions->open && depth < regions->capacity && regions->entered[depth].when == when;
}

/* What is known and repeated stays: at least the thread's own level, if it has not left that. */
static void forget_others(const struct t2x_thread *thread, const struct t2x_open *open, unsigned count, unsigned own)
{
	struct t2x_regions *regions = thread->model;
	unsigned same = own && is_entered_at(regions, 0, 0);

	while (same >= own && same - own < count && is_entered_at(regions, same, open[same - own].when))
		same++;
	leave_down_to(regions, same);
	if (!own)
		return;
	if (!same) {
		regions->entered[0] = (struct t2x_region){ .when = 0 };
		regions->open = 1;
	}
	regions->entered[0].ns = find_start_ns(thread);   /* it may not have been known */
}

/* A region of which nobody has seen the enter. */
static struct t2x_region make_region(const struct t2x_open *open)
{
	const int is_kept = open->scope && open->scope->number;

	return (struct t2x_region){
		open->when == TLG_OPEN_LOST ? 0 : open->ns, open->when, is_kept ? open->scope : NULL
	};
}

void t2x_model_repeat(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_opens *opens)
{
	unsigned own = !opens->count || opens->open[0].when;   /* its outermost level */
	const struct t2x_open *open = opens->open + !own;
	unsigned count = opens->count - !own;
	struct t2x_regions *regions = t2x_regions_of(thread);
	struct t2x_region region;

	if (!regions)
		return;
	forget_others(thread, open, count, own);
	check_again(regions);
	for (unsigned i = regions->open - own; i < count; i++) {
		int is_shown = opens->is_shown && open[i].when != TLG_OPEN_LOST;
		if (is_shown && open[i].scope && open[i].scope->style == TLG_STYLE_region_enter)
			show_open(m, thread, &open[i], regions->open);
		region = make_region(&open[i]);
		t2x_regions_enter(regions, &region, &m->region_budget);
	}
	regions->assumed = opens->assumed ? own + opens->assumed : 0;
}

/* ---- gaps ---------------------------------------------------------------------------------------- */

void t2x_model_gap(struct t2x_model *m, struct t2x_thread *thread, uint64_t ns, const struct t2x_gap *gap)
{
	struct t2x_regions *regions = t2x_regions_of(thread);
	unsigned before;

	m->summary.gaps += gap->events != 0;
	m->summary.gap_events += gap->events;
	if (!regions)
		return;
	show_missing(m, thread, ns, T2X_LOST_EVENTS, gap->events);
	if (!gap->is_known) {
		show_missing(m, thread, ns, T2X_LOST_LEAVES, t2x_regions_assume(regions));
		return;
	}
	before = regions->open;
	t2x_regions_apply_gap(regions, gap->left, 0, &m->region_budget);
	show_missing(m, thread, ns, T2X_LOST_LEAVES, before - regions->open);
	t2x_regions_apply_gap(regions, 0, gap->entered, &m->region_budget);
	show_missing(m, thread, ns, T2X_LOST_ENTERS, gap->entered);
}

/* ---- regions that are left without their leaves -------------------------------------------------- */

/* The leave has the place of the unwinding, and the names of the region. */
static void show_leave(struct t2x_model *m, const struct t2x_event *unwind, const struct t2x_scope *entered,
		       uint64_t rel_ns)
{
	const struct t2x_scope scope = {
		.style = TLG_STYLE_region_leave, .file = unwind->scope->file, .line = unwind->scope->line,
		.repo = entered ? entered->repo : 0, .category = entered ? entered->category : NULL,
		.label = entered ? entered->label : NULL, .names = entered ? entered->names : 0,
	};
	struct t2x_event ev = {
		.thread = unwind->thread, .scope = &scope, .style = TLG_STYLE_region_leave, .ns = unwind->ns,
		.rel_ns = rel_ns, .open = ((struct t2x_regions *)unwind->thread->model)->open,
	};

	t2x_model_print(m, &ev);
}

/* The innermost region, if it was entered from the mark on, and not the thread's own.  Deeper ones are not known. */
static const struct t2x_region *find_since(const struct t2x_regions *regions, uint64_t mark)
{
	unsigned open = regions->open < regions->capacity ? regions->open : regions->capacity;
	const struct t2x_region *region = open ? &regions->entered[open - 1] : NULL;

	return region && region->when && region->when >= mark ? region : NULL;
}

/* region_unwind: leave the regions that were entered from its mark on, innermost first; each leave is an event. */
static void leave_since_mark(struct t2x_model *m, const struct t2x_event *unwind)
{
	const struct t2x_thread *thread = unwind->thread;
	struct t2x_regions *regions = thread->model;
	const uint64_t mark = (uint64_t)unwind->args[0].value;
	const struct t2x_region *region = find_since(regions, mark);
	unsigned lost = region && regions->open > regions->capacity ? regions->open - regions->capacity : 0;

	leave_down_to(regions, regions->open - lost);
	show_missing(m, thread, unwind->ns, T2X_LOST_LEAVES, lost);
	for (; region; region = find_since(regions, mark)) {
		uint64_t rel_ns = t2x_regions_elapsed(regions, unwind->ns);

		leave_down_to(regions, regions->open - 1);
		if (region->when == TLG_OPEN_LOST)
			show_missing(m, thread, unwind->ns, T2X_LOST_LEAVES, 1);
		else
			show_leave(m, unwind, region->scope, rel_ns);
	}
}

/* The thread leaves all regions at once, or ends: those that are open now are never left. */
static void show_never_left(struct t2x_model *m, const struct t2x_thread *thread)
{
	struct t2x_regions *regions = thread->model;
	unsigned known = regions->open < regions->capacity ? regions->open : regions->capacity;

	for (unsigned i = 0; m->print_never_left && i < known; i++) {
		struct t2x_region *region = &regions->entered[i];
		const struct t2x_event ev = {
			.thread = thread, .scope = region->scope, .style = TLG_STYLE_region_enter,
			.ns = region->ns, .open = i, .is_repeated = 1,
		};

		if (region->when && region->scope)
			m->print_never_left(&m->printer, &ev);
		region->when = 0;   /* one in the place of the thread's own level stays open: it has been shown */
	}
}

void t2x_model_forget_regions(struct t2x_model *m, struct t2x_thread *thread)
{
	if (!thread->model)
		return;
	show_never_left(m, thread);
	t2x_regions_free(thread->model, &m->region_budget);
	t2x_cache_line_free(thread->model);
	thread->model = NULL;
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

/* Since a child was started; a child that never was has no time. */
static uint64_t find_child_ns(const struct t2x_event *ev, unsigned start)
{
	uint64_t start_ns = (uint64_t)ev->args[start].value;

	return start_ns ? ev->ns - start_ns : 0;
}

/* Where only assumed regions are left: see t2x_regions.h.  Return  0: the region that is left was never known */
static int repair(struct t2x_model *m, const struct t2x_event *ev, struct t2x_regions *regions, unsigned effect)
{
	int is_missing = 0;
	unsigned closed;

	if (effect & T2X_LEAVES)
		closed = t2x_regions_repair_leave(regions, ev->scope->names, &is_missing);
	else
		closed = t2x_regions_repair_enter(regions, ev->scope->names);
	show_missing(m, ev->thread, ev->ns, T2X_LOST_LEAVES, closed);
	show_missing(m, ev->thread, ev->ns, T2X_LOST_ENTERS, (uint64_t)is_missing);
	return !is_missing;
}

static __attribute__((noinline)) void
apply_rare(struct t2x_model *m, struct t2x_event *ev, struct t2x_regions *regions, unsigned effect)
{
	if (effect & T2X_CUTS)
		leave_since_mark(m, ev);
	if (effect & T2X_UNWINDS) {
		show_never_left(m, ev->thread);
		t2x_regions_unwind(regions);
	}
	if (effect & (T2X_ENDS_CHILD | T2X_READIES_CHILD))
		ev->rel_ns = find_child_ns(ev, effect & T2X_ENDS_CHILD ? T2X_CHILD_START : T2X_READY_START);
}

void t2x_model_apply(struct t2x_model *m, struct t2x_event *ev, unsigned effect)
{
	struct t2x_regions *regions = ev->thread->model;
	int is_there = 1;

	if (effect & T2X_RARE)
		apply_rare(m, ev, regions, effect);
	if (effect & (T2X_ENTERS | T2X_LEAVES) && t2x_regions_are_assumed(regions))
		is_there = repair(m, ev, regions, effect);
	if (effect & T2X_ELAPSES)
		ev->rel_ns = find_elapsed(ev->thread, regions, ev->ns);
	if (effect & T2X_LEAVES && is_there && regions->open)
		leave_down_to(regions, regions->open - 1);
	ev->open = regions->open;
}
