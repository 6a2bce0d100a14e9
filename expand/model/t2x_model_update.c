/* SPDX-License-Identifier: MIT */
/*
 * t2x_model_update.c - the model: what changes between checkpoints.  Regions that are repeated, what is missing or was
 * dropped, what is over.
 */
#include "t2x_model.h"

#include <stdio.h>

#include "t2x_model_private.h"
#include "tlg_desc.h"
#include "base/t2x_memory.h"

/* ---- regions ------------------------------------------------------------------------------------ */

/* When the thread's outermost region began; the main thread is as old as its process. */
static uint64_t find_start_ns(const struct t2x_thread *thread)
{
	return thread->tid ? thread->start_ns : thread->process->start_ns;
}

/* Regions for a thread that has none yet.  Return  NULL: no memory */
struct t2x_regions *t2x_model_new_regions(struct t2x_thread *thread)
{
	thread->model = t2x_cache_line_new(sizeof(struct t2x_regions));
	if (thread->model)
		t2x_regions_init(thread->model, find_start_ns(thread));
	return thread->model;
}

uint64_t t2x_model_since_start(const struct t2x_thread *thread, uint64_t ns)
{
	struct t2x_regions *regions = thread->model;

	if (regions->open == 1 && t2x_regions_is(regions, 0, 0) && !regions->entered[0].ns)
		regions->entered[0].ns = find_start_ns(thread);
	return t2x_regions_elapsed(regions, ns);
}

/* Its enter was not seen: show it, with the time at which it was. */
static void show_open(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_open *open, unsigned around)
{
	struct t2x_event ev = {
		.thread = thread, .scope = open->scope,
		.style = TLG_STYLE_region_enter, .ns = open->ns, .open = around, .is_repeated = 1,
	};

	t2x_model_print(m, m->kinds[ev.style].print, &ev);
}

/* What is known and repeated stays: at least the thread's own level, if it has not left that. */
static void forget_others(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_open *open, unsigned count,
			  unsigned own)
{
	struct t2x_regions *regions = thread->model;
	unsigned same = own && t2x_regions_is(regions, 0, 0);

	while (same >= own && same - own < count && t2x_regions_is(regions, same, open[same - own].when))
		same++;
	t2x_regions_cut(regions, same);
	if (same < own) {
		t2x_regions_free(regions, &m->region_budget);
		t2x_regions_init(regions, 0);
	}
	if (own)
		regions->entered[0].ns = find_start_ns(thread);   /* it may not have been known */
}

/* A region of which nobody has seen the enter. */
static struct t2x_region make_region(const struct t2x_open *open)
{
	return (struct t2x_region){
		open->when == TLG_OPEN_LOST ? 0 : open->ns, open->when, open->scope ? t2x_model_keep(open->scope) : NULL
	};
}

static void repeat_regions(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_opens *opens)
{
	unsigned own = !opens->count || opens->open[0].when;   /* its outermost level */
	const struct t2x_open *open = opens->open + !own;
	unsigned count = opens->count - !own;
	struct t2x_regions *regions;
	struct t2x_region region;

	regions = thread->model ? thread->model : t2x_model_new_regions(thread);
	if (!regions)
		return;
	forget_others(m, thread, open, count, own);
	t2x_regions_check_again(regions);
	for (unsigned i = t2x_regions_open(regions) - own; i < count; i++) {
		int is_shown = opens->is_shown && open[i].when != TLG_OPEN_LOST;
		if (is_shown && open[i].scope && open[i].scope->style == TLG_STYLE_region_enter)
			show_open(m, thread, &open[i], t2x_regions_open(regions));
		region = make_region(&open[i]);
		t2x_regions_enter(regions, &region, &m->region_budget);
	}
	regions->assumed = opens->assumed ? own + opens->assumed : 0;
}

/* ---- what is missing ---------------------------------------------------------------------------- */

/* A line in the place of what is missing: git's for data, so that readers of git's formats get on with it. */
void t2x_model_show_missing(struct t2x_model *m, const struct t2x_thread *thread, uint64_t ns,
			    enum t2x_lost_what what, uint64_t count)
{
	static const char *const labels[] = { "lost-events", "lost-leaves", "lost-enters" };
	const struct t2x_regions *regions = thread->model;
	const struct t2x_lost lost = { what, regions->last_ns };
	const struct t2x_arg number = { .type = TLG_ARG_UINT, .value = (int64_t)count };
	struct t2x_scope scope = { .style = TLG_STYLE_data_intmax, .category = "trace2", .label = labels[what] };
	struct t2x_event ev = {
		.thread = thread, .scope = &scope, .style = TLG_STYLE_data_intmax, .ns = ns,
		.rel_ns = T2X_NO_TIME,
		.open = t2x_regions_open(regions), .nargs = 1, .args = &number, .lost = &lost,
	};

	if (count)
		t2x_model_print(m, m->kinds[ev.style].print, &ev);
}

static void take_gap(struct t2x_model *m, struct t2x_thread *thread, uint64_t ns, const struct t2x_gap *gap)
{
	struct t2x_regions *regions;
	unsigned before;

	m->summary.gaps += gap->events != 0;
	m->summary.gap_events += gap->events;
	regions = thread->model ? thread->model : t2x_model_new_regions(thread);
	if (!regions)
		return;
	t2x_model_show_missing(m, thread, ns, T2X_LOST_EVENTS, gap->events);
	if (!gap->is_known) {
		t2x_model_show_missing(m, thread, ns, T2X_LOST_LEAVES, t2x_regions_assume(regions));
		return;
	}
	before = t2x_regions_open(regions);
	t2x_regions_apply_gap(regions, gap->left, 0, &m->region_budget);
	t2x_model_show_missing(m, thread, ns, T2X_LOST_LEAVES, before - t2x_regions_open(regions));
	t2x_regions_apply_gap(regions, 0, gap->entered, &m->region_budget);
	t2x_model_show_missing(m, thread, ns, T2X_LOST_ENTERS, gap->entered);
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
		.rel_ns = rel_ns, .open = t2x_regions_open(unwind->thread->model),
	};

	t2x_model_print(m, m->kinds[ev.style].print, &ev);
}

/* The innermost region, if it was entered from the mark on, and not the thread's own.  Deeper ones are not known. */
static const struct t2x_region *find_since(const struct t2x_regions *regions, uint64_t mark)
{
	unsigned open = regions->open < regions->capacity ? regions->open : regions->capacity;
	const struct t2x_region *region = open ? &regions->entered[open - 1] : NULL;

	return region && region->when && region->when >= mark ? region : NULL;
}

void t2x_model_cut(struct t2x_model *m, const struct t2x_event *unwind)
{
	const struct t2x_thread *thread = unwind->thread;
	struct t2x_regions *regions = thread->model;
	const uint64_t mark = (uint64_t)unwind->args[0].value;
	const struct t2x_region *region = find_since(regions, mark);
	unsigned lost = region && regions->open > regions->capacity ? regions->open - regions->capacity : 0;

	t2x_regions_cut(regions, regions->open - lost);
	t2x_model_show_missing(m, thread, unwind->ns, T2X_LOST_LEAVES, lost);
	for (; region; region = find_since(regions, mark)) {
		uint64_t rel_ns = t2x_regions_elapsed(regions, unwind->ns);

		t2x_regions_cut(regions, regions->open - 1);
		if (region->when == TLG_OPEN_LOST)
			t2x_model_show_missing(m, thread, unwind->ns, T2X_LOST_LEAVES, 1);
		else
			show_leave(m, unwind, region->scope, rel_ns);
	}
}

void t2x_model_tell_open(struct t2x_model *m, const struct t2x_thread *thread)
{
	const struct t2x_regions *regions = thread->model;
	unsigned known = regions->open < regions->capacity ? regions->open : regions->capacity;

	for (unsigned i = 0; m->print_never_left && i < known; i++) {
		const struct t2x_region *region = &regions->entered[i];
		const struct t2x_event ev = {
			.thread = thread, .scope = region->scope, .style = TLG_STYLE_region_enter,
			.ns = region->ns, .open = i, .is_repeated = 1,
		};

		if (region->when && region->scope)
			m->print_never_left(&m->printer, &ev);
	}
}

/* ---- what a process dropped --------------------------------------------------------------------- */

static void take_drop(struct t2x_model *m, struct t2x_process *process, const struct t2x_drop *drop)
{
	struct t2x_dropped *dropped = process->model;

	if (drop->reason == 0 || drop->reason >= TLG_LOSS_REASONS)
		return;
	m->summary.dropped[drop->reason] +=
		t2x_dropped_update(&dropped, &m->dropped_budget, drop->tid, drop->reason, drop->total);
	process->model = dropped;
}

/* "ring full" as the name of a counter. */
static void name_drop(char *name, size_t size, unsigned reason)
{
	snprintf(name, size, "lost-%s", tlg_loss_name(reason));
	for (; *name; name++)
		if (*name == ' ')
			*name = '-';
}

static void print_drop(struct t2x_model *m, struct t2x_process *process, unsigned reason, uint64_t ns)
{
	char name[32];
	struct t2x_thread thread = { .process = process, .name = "main" };
	struct t2x_scope scope = { .style = TLG_STYLE_counter, .category = "trace2", .label = name };
	const struct t2x_arg count = {
		.type = TLG_ARG_UINT, .value = (int64_t)t2x_dropped_total(process->model, reason),
	};
	struct t2x_event ev = {
		.thread = &thread, .scope = &scope, .style = TLG_STYLE_counter,
		.ns = ns, .open = 1, .nargs = 1, .args = &count,
	};

	if (!count.value)
		return;
	name_drop(name, sizeof(name), reason);
	t2x_model_print(m, m->kinds[ev.style].print, &ev);
}

/* Totals are shown as git shows them at the end of a process: a counter "lost-ring-full" of category "trace2". */
static void end_process(struct t2x_model *m, struct t2x_process *process, uint64_t ns)
{
	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++)
		print_drop(m, process, reason, ns);
}

/* ---- what is known of processes and threads ----------------------------------------------------- */

static void set_process(struct t2x_process *process, const struct t2x_process *to)
{
	void *model = process->model;

	*process = *to;
	process->model = model;
}

static void set_thread(struct t2x_thread *thread, const struct t2x_thread *to)
{
	void *model = thread->model;

	*thread = *to;
	thread->model = model;
}

static void forget_process(struct t2x_model *m, struct t2x_process *process)
{
	t2x_dropped_free(process->model, &m->dropped_budget);
	process->model = NULL;
}

static void forget_thread(struct t2x_model *m, struct t2x_thread *thread)
{
	if (thread->model) {
		t2x_model_tell_open(m, thread);
		t2x_regions_free(thread->model, &m->region_budget);
	}
	t2x_cache_line_free(thread->model);
	thread->model = NULL;
}

/* ---- all of them -------------------------------------------------------------------------------- */

void t2x_model_take_update(struct t2x_model *m, const struct t2x_update *update)
{
	switch (update->kind) {
	case T2X_SET_PROCESS:
		set_process(update->process, &update->set_process);
		break;
	case T2X_SET_THREAD:
		set_thread(update->thread, &update->set_thread);
		break;
	case T2X_OPEN_REGIONS:
		repeat_regions(m, update->thread, &update->opens);
		break;
	case T2X_GAP:
		take_gap(m, update->thread, update->ns, &update->gap);
		break;
	case T2X_DROP:
		take_drop(m, update->process, &update->drop);
		break;
	case T2X_END_PROCESS:
		end_process(m, update->process, update->ns);
		break;
	case T2X_FORGET_PROCESS:
		forget_process(m, update->process);
		break;
	case T2X_FORGET_THREAD:
		forget_thread(m, update->thread);
		break;
	case T2X_RELEASE:
		t2x_cache_line_free(update->release.memory);
		break;
	}
}
