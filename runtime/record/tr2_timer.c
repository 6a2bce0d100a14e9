/* SPDX-License-Identifier: MIT */
/* tr2_timer.c - timers and counters. */
#include "tr2_timer.h"

#include "tr2_emit.h"
#include "tr2_reserve.h"
#include "trace2.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"

/* What a timer or counter is called; git's two test ones come first. */
struct definition {
	const char *category, *name;
	int per_thread;
};

static struct definition g_timers[TR2_MAX_TIMERS] = { { "test", "test1", 0 }, { "test", "test2", 1 } };
static struct definition g_counters[TR2_MAX_COUNTERS] = { { "test", "test1", 0 }, { "test", "test2", 1 } };

static_assert(TR2_MAX_TIMERS == TR2_MAX_COUNTERS, "one kind of table serves both");

/* Of the threads that have ended. */
TR2_LARGE static struct tr2_timer g_timer_totals[TR2_MAX_TIMERS];
TR2_LARGE static uint64_t g_counter_totals[TR2_MAX_COUNTERS];
static int g_has_totals;

static int define(struct definition *table, uint32_t *count, struct definition definition)
{
	uint32_t i = tr2_add_rlx(count, 1); /* relaxed: only the number matters */

	if (i >= TR2_MAX_TIMERS) {
		tr2_store_rlx(count, TR2_MAX_TIMERS); /* relaxed: as above; must not wrap */
		return -1;
	}
	table[i] = definition;
	return (int)i;
}

int trace2_timer_define(const char *category, const char *name, int per_thread)
{
	return define(g_timers, &tr2_g_defined.timers, (struct definition){ category, name, per_thread });
}

int trace2_counter_define(const char *category, const char *name, int per_thread)
{
	return define(g_counters, &tr2_g_defined.counters, (struct definition){ category, name, per_thread });
}

/* 1 if id is one of those defined.  A wrong id is ignored. */
static int is_defined(const uint32_t *count, int id)
{
	uint32_t defined = tr2_load_rlx(count); /* relaxed: the caller got its id from trace2_*_define() */

	return id >= 0 && (uint32_t)id < (defined < TR2_MAX_TIMERS ? defined : TR2_MAX_TIMERS);
}

/*
 * The calling thread.  Its position is not 0, unless its ring is full, or this is a forked child, in which it is
 * wiped: so most often one look replaces two calls, which would cost 3 ns, more than the adding.
 */
static struct tr2_thread *current_thread(void)
{
	struct tr2_thread *self = tr2_self;

	if (self && tr2_load_rlx(&self->ring.hot->cur)) /* relaxed: the thread's own */
		return self;
	return tr2_self_or_new();
}

void trace2_timer_start(int timer_id)
{
	struct tr2_thread *self;

	if (!tr2_is_enabled() || !is_defined(&tr2_g_defined.timers, timer_id) || !(self = current_thread()))
		return;
	if (!tr2_local_add(&self->timers[timer_id].depth, 1))
		self->timers[timer_id].started = tr2_clock_raw();
}

/* A handler may do the same between any two instructions. */
static void raise_to(uint64_t *max, uint64_t value)
{
	uint64_t seen;

	do
		seen = tr2_load_rlx(max); /* relaxed: the thread's own */
	while (value > seen && !tr2_local_replace(max, seen, value));
}

static void add_interval(struct tr2_timer *timer, uint64_t ticks)
{
	raise_to(&timer->not_min, ~ticks);
	raise_to(&timer->max, ticks);
	tr2_local_increase(&timer->total, ticks);
	tr2_local_increase(&timer->intervals, 1);
}

/* One start less.  Return  1: it was the outermost one; 0: it was not, or there was none */
static int leave(struct tr2_timer *timer)
{
	uintptr_t depth;

	do
		depth = tr2_load_rlx(&timer->depth); /* relaxed: the thread's own */
	while (depth && !tr2_local_cas(&timer->depth, depth, depth - 1));
	return depth == 1;
}

void trace2_timer_stop(int timer_id)
{
	struct tr2_thread *self;
	struct tr2_timer *timer;
	uint64_t ticks;

	if (!tr2_is_enabled() || !is_defined(&tr2_g_defined.timers, timer_id) || !(self = current_thread()))
		return;
	timer = &self->timers[timer_id];
	/* relaxed: the thread's own.  Once it is left a handler may start it anew */
	ticks = tr2_clock_raw() - tr2_load_rlx(&timer->started);
	if (leave(timer))
		add_interval(timer, ticks);
}

void trace2_counter_add(int counter_id, uint64_t value)
{
	struct tr2_thread *self;

	if (tr2_is_enabled() && is_defined(&tr2_g_defined.counters, counter_id) && (self = current_thread()))
		tr2_local_increase(&self->counters[counter_id], value);   /* a handler may add to it, too */
}

/* ---- recording ---------------------------------------------------------------------------------- */

static void emit_timer(int style, const struct definition *d, const struct tr2_timer *timer, uint64_t when)
{
	struct tr2_scope_key key = { .category = d->category, .label = d->name, .style = (uint8_t)style };
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_uint(&args, timer->intervals);
	tr2_args_uint(&args, tr2_clock_ns(timer->total));
	tr2_args_uint(&args, tr2_clock_ns(~timer->not_min));
	tr2_args_uint(&args, tr2_clock_ns(timer->max));
	tr2_emit(&key, &args, 0, when);
}

static void emit_counter(int style, const struct definition *d, uint64_t value, uint64_t when)
{
	struct tr2_scope_key key = { .category = d->category, .label = d->name, .style = (uint8_t)style };
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_uint(&args, value);
	tr2_emit(&key, &args, 0, when);
}

/* Threads may end at the same time, and while the process does, so each member is added by itself. */
static void add_total(struct tr2_timer *total, const struct tr2_timer *timer)
{
	uint64_t seen = tr2_load_rlx(&total->max); /* relaxed: totals are read when their threads are done */

	tr2_add_rlx(&total->total, timer->total); /* relaxed: as above */
	while (timer->max > seen && !tr2_cas_rlx(&total->max, seen, timer->max)) /* relaxed: as above */
		seen = tr2_load_rlx(&total->max); /* relaxed: as above */
	seen = tr2_load_rlx(&total->not_min); /* relaxed: as above */
	while (timer->not_min > seen && !tr2_cas_rlx(&total->not_min, seen, timer->not_min)) /* relaxed: as above */
		seen = tr2_load_rlx(&total->not_min); /* relaxed: as above */
	tr2_add_rel(&total->intervals, timer->intervals); /* [M18] release: the rest, and the timer's name */
	tr2_store_rlx(&g_has_totals, 1); /* relaxed: as above */
}

void tr2_timer_end_thread(struct tr2_thread *self, uint64_t when)
{
	for (int i = 0; is_defined(&tr2_g_defined.timers, i); i++) {
		if (!self->timers[i].intervals)
			continue;
		if (g_timers[i].per_thread)
			emit_timer(TLG_STYLE_th_timer, &g_timers[i], &self->timers[i], when);
		add_total(&g_timer_totals[i], &self->timers[i]);
	}
	for (int i = 0; is_defined(&tr2_g_defined.counters, i); i++) {
		if (!self->counters[i])
			continue;
		if (g_counters[i].per_thread)
			emit_counter(TLG_STYLE_th_counter, &g_counters[i], self->counters[i], when);
		tr2_add_rel(&g_counter_totals[i], self->counters[i]); /* [M18] release: the counter's name */
		tr2_store_rlx(&g_has_totals, 1); /* relaxed: as above */
	}
}

static struct tr2_timer total_of(const struct tr2_timer *total)
{
	/* [M18] acquire: the rest, and the timer's name.  Pairs with add_total() */
	struct tr2_timer now = { .intervals = tr2_load_acq(&total->intervals) };

	now.total = tr2_load_rlx(&total->total); /* relaxed: each for itself; threads that end now may be half in it */
	now.not_min = tr2_load_rlx(&total->not_min); /* relaxed: as above */
	now.max = tr2_load_rlx(&total->max); /* relaxed: as above */
	return now;
}

void tr2_timer_end_process(uint64_t when)
{
	if (!tr2_load_rlx(&g_has_totals)) /* relaxed: read when the threads are done */
		return;
	for (int i = 0; is_defined(&tr2_g_defined.timers, i); i++) {
		struct tr2_timer total = total_of(&g_timer_totals[i]);
		if (total.intervals)
			emit_timer(TLG_STYLE_timer, &g_timers[i], &total, when);
	}
	for (int i = 0; is_defined(&tr2_g_defined.counters, i); i++) {
		/* [M18] acquire: its name.  Pairs with tr2_timer_end_thread() */
		uint64_t total = tr2_load_acq(&g_counter_totals[i]);
		if (total)
			emit_counter(TLG_STYLE_counter, &g_counters[i], total, when);
	}
}
