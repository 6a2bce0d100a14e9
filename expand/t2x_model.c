/* SPDX-License-Identifier: MIT */
/* t2x_model.c - see t2x_model.h. */
#include "t2x_model.h"

#include <stdio.h>

#include "t2x_alone.h"
#include "t2x_losses.h"
#include "t2x_memory.h"
#include "t2x_regions.h"
#include "t2x_render.h"
#include "tlg_desc.h"

enum {
	MESSAGE_BYTES = 1024 * 1024,      /* of a rendered message; the rest is cut off */
	REGION_BUDGET = 256 * 1024,       /* times of open regions in all threads together */
	LOSS_BUDGET = 2 * 1024 * 1024,    /* bytes of tables of losses, of all processes */
	SETTLED_ARGS = 8,                 /* arguments of a kind whose last may be absent */
};

/* What a kind of event changes, and which time has elapsed for it.  In this order, printing comes before ENTERS. */
enum {
	UNWINDS = 1,                      /* all regions but the outermost are left: tlg_style_unwinds() */
	ELAPSES = 2,                      /* its time is that since the innermost region was entered */
	LEAVES = 4,                       /* that region is left */
	ENDS_CHILD = 8, READIES_CHILD = 16,   /* its time is that of the child, see find_child_us() */
	ENDS_THREAD = 32,
	ENTERS = 64,                      /* a region is entered: its own line stands outside of it */
	RARE = UNWINDS | ENDS_CHILD | READIES_CHILD | ENDS_THREAD,
};
static const unsigned char effects[TLG_STYLE_COUNT] = {
	[TLG_STYLE_region_enter] = ENTERS,
	[TLG_STYLE_region_leave] = ELAPSES | LEAVES,
	[TLG_STYLE_data] = ELAPSES,
	[TLG_STYLE_data_intmax] = ELAPSES,
	[TLG_STYLE_data_json] = ELAPSES,
	[TLG_STYLE_thread_exit] = ELAPSES | ENDS_THREAD,
	[TLG_STYLE_child_exit] = ENDS_CHILD,
	[TLG_STYLE_child_ready] = READIES_CHILD,
};

/* A kind of event: how it is printed, what arguments it has, what it changes. */
struct kind {
	t2x_print_fn *print;
	unsigned char style;
	unsigned char effect;
	char only;                        /* of a signature of one argument, its letter; else 0 */
};

struct t2x_model {
	struct kind kinds[UINT8_MAX + 1]; /* by a scope's style; what is no style is TLG_STYLE_none */
	/* read by those who have hits: not in one cache line with what changes with each */
	const struct t2x_detour *detour;  /* NULL: none */
	void *target;                     /* of the detour */
	t2x_print_fn *print_unresolved;
	t2x_finish_fn *finish;
	struct t2x_printer printer;
	struct t2x_summary summary;
	struct t2x_arg settled[SETTLED_ARGS];
	unsigned region_budget;
	size_t loss_budget;
	char *message;                    /* MESSAGE_BYTES, when the first message is rendered */
};

/* What this format does not show. */
static void print_nothing(struct t2x_printer *printer, const struct t2x_event *ev)
{
	(void)printer;
	(void)ev;
}

static struct kind make_kind(unsigned style, t2x_print_fn *print)
{
	return (struct kind){
		.print = print ? print : print_nothing, .style = (unsigned char)style,
		.effect = (unsigned char)(effects[style] | (tlg_style_unwinds(style) ? UNWINDS : 0)),
		.only = tlg_style_only[style],
	};
}

struct t2x_model *t2x_model_new(const struct t2x_writer *writer, struct t2x_out *out,
				const struct t2x_options *options)
{
	struct t2x_model *m = t2x_alone_new(sizeof(*m));

	if (!m)
		return NULL;
	m->printer.templates = t2x_calloc(1, sizeof(*m->printer.templates));
	if (!m->printer.templates) {
		t2x_free(m);
		return NULL;
	}
	m->printer.out = out;
	m->printer.options = *options;
	m->region_budget = REGION_BUDGET;
	m->loss_budget = LOSS_BUDGET;
	m->print_unresolved = writer->unresolved;
	m->finish = writer->finish;
	for (unsigned i = 0; i <= UINT8_MAX; i++)
		m->kinds[i] = make_kind(TLG_STYLE_none, NULL);
#define TLG_STYLE(id, name, args, desc) m->kinds[id] = make_kind(id, writer->print.name);
#include "tlg_styles.def"
#undef TLG_STYLE
	return m;
}

int t2x_model_finish(struct t2x_model *m)
{
	if (m->finish)
		m->finish(&m->printer);
	return t2x_out_flush(m->printer.out);
}

const struct t2x_summary *t2x_model_summary(const struct t2x_model *m)
{
	return &m->summary;
}

void t2x_model_free(struct t2x_model *m)
{
	if (!m)
		return;
	t2x_free(m->printer.templates);
	t2x_free(m->message);
	t2x_free(m);
}

/* ---- threads and processes ---------------------------------------------------------------------- */

/* When the thread's outermost region began; the main thread is as old as its process. */
static uint64_t find_start_us(const struct t2x_thread *thread)
{
	return thread->tid ? thread->start_ns / 1000 : thread->process->start_us;
}

/* Regions for a thread that has none yet.  Return  NULL: no memory */
static struct t2x_regions *new_regions(struct t2x_thread *thread)
{
	thread->model = t2x_alone_new(sizeof(struct t2x_regions));
	if (thread->model)
		t2x_regions_init(thread->model, find_start_us(thread));
	return thread->model;
}

/* The point in time as microseconds since the process began. */
static inline uint64_t find_abs_us(const struct t2x_process *process, uint64_t us)
{
	return process->start_us ? us - process->start_us : 0;
}

/* Its enter was not seen: show it, with the time at which it was. */
static void show_open(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_open *open, unsigned around)
{
	const struct t2x_event ev = {
		.thread = thread, .scope = open->scope,
		.style = TLG_STYLE_region_enter, .us = open->ns / 1000,
		.abs_us = find_abs_us(thread->process, open->ns / 1000), .open = around,
		.is_restated = 1,
	};

	m->kinds[ev.style].print(&m->printer, &ev);
}

/* What is known and restated stays: at least the thread's own level, if it has not left that. */
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
		regions->entered[0].us = find_start_us(thread);   /* it may not have been known */
}

/* A region of which nobody has seen the enter. */
static struct t2x_region make_region(const struct t2x_open *open)
{
	return (struct t2x_region){
		open->when == TLG_OPEN_LOST ? 0 : open->ns / 1000, open->when, open->scope ? open->scope->names : 0
	};
}

void t2x_model_open_regions(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_opens *opens)
{
	unsigned own = !opens->count || opens->open[0].when;   /* its outermost level */
	const struct t2x_open *open = opens->open + !own;
	unsigned count = opens->count - !own;
	struct t2x_regions *regions;
	struct t2x_region region;

	t2x_model_settle(m);
	regions = thread->model ? thread->model : new_regions(thread);
	if (!regions)
		return;
	forget_others(m, thread, open, count, own);
	for (unsigned i = t2x_regions_open(regions) - own; i < count; i++) {
		int is_shown = opens->is_shown && open[i].when != TLG_OPEN_LOST;
		if (is_shown && open[i].scope && open[i].scope->style == TLG_STYLE_region_enter)
			show_open(m, thread, &open[i], t2x_regions_open(regions));
		region = make_region(&open[i]);
		t2x_regions_enter(regions, &region, &m->region_budget);
	}
	regions->doubt = opens->assumed ? own + opens->assumed : 0;
}

/* ---- what is missing ---------------------------------------------------------------------------- */

/* A line in the place of what is missing: git's for data, so that readers of git's formats get on with it. */
static void show_missing(struct t2x_model *m, const struct t2x_thread *thread, uint64_t us, const char *what,
			 uint64_t count)
{
	const struct t2x_arg number = { .type = TLG_ARG_UINT, .value = (int64_t)count };
	struct t2x_scope scope = { .style = TLG_STYLE_data_intmax, .category = "trace2", .label = what };
	const struct t2x_event ev = {
		.thread = thread, .scope = &scope, .style = TLG_STYLE_data_intmax, .us = us,
		.abs_us = find_abs_us(thread->process, us), .rel_us = T2X_NO_TIME,
		.open = t2x_regions_open(thread->model), .nargs = 1, .args = &number, .is_mark = 1,
	};

	if (count)
		m->kinds[ev.style].print(&m->printer, &ev);
}

void t2x_model_gap(struct t2x_model *m, struct t2x_thread *thread, uint64_t ns, const struct t2x_gap *gap)
{
	struct t2x_regions *regions;
	unsigned before;

	t2x_model_settle(m);
	m->summary.gaps += gap->events != 0;
	m->summary.gap_events += gap->events;
	regions = thread->model ? thread->model : new_regions(thread);
	if (!regions)
		return;
	show_missing(m, thread, ns / 1000, "lost-events", gap->events);
	if (!gap->is_known) {
		show_missing(m, thread, ns / 1000, "lost-leaves", t2x_regions_doubt(regions));
		return;
	}
	before = t2x_regions_open(regions);
	t2x_regions_pass(regions, gap->left, 0, &m->region_budget);
	show_missing(m, thread, ns / 1000, "lost-leaves", before - t2x_regions_open(regions));
	t2x_regions_pass(regions, 0, gap->entered, &m->region_budget);
	show_missing(m, thread, ns / 1000, "lost-enters", gap->entered);
}

void t2x_model_loss(struct t2x_model *m, struct t2x_process *process, uint32_t tid, unsigned reason,
		    uint64_t total)
{
	struct t2x_losses *losses = process->model;

	if (reason == 0 || reason >= TLG_LOSS_REASONS)
		return;
	m->summary.losses[reason] += t2x_losses_update(&losses, &m->loss_budget, tid, reason, total);
	process->model = losses;
}

void t2x_model_forget_thread(struct t2x_model *m, struct t2x_thread *thread)
{
	t2x_model_settle(m);
	if (thread->model)
		t2x_regions_free(thread->model, &m->region_budget);
	t2x_free(thread->model);
	thread->model = NULL;
}

void t2x_model_forget_process(struct t2x_model *m, struct t2x_process *process)
{
	t2x_model_settle(m);
	t2x_losses_free(process->model, &m->loss_budget);
	process->model = NULL;
}

/* ---- what a process lost ------------------------------------------------------------------------ */

/* "ring full" as the name of a counter. */
static void name_loss(char *name, size_t size, unsigned reason)
{
	snprintf(name, size, "lost-%s", tlg_loss_name(reason));
	for (; *name; name++)
		if (*name == ' ')
			*name = '-';
}

static void print_loss(struct t2x_model *m, struct t2x_process *process, unsigned reason, uint64_t ns)
{
	char name[32];
	struct t2x_thread thread = { .process = process, .name = "main" };
	struct t2x_scope scope = { .style = TLG_STYLE_counter, .category = "trace2", .label = name };
	const struct t2x_arg count = {
		.type = TLG_ARG_UINT, .value = (int64_t)t2x_losses_total(process->model, reason),
	};
	const struct t2x_event ev = {
		.thread = &thread, .scope = &scope, .style = TLG_STYLE_counter,
		.us = ns / 1000, .abs_us = find_abs_us(process, ns / 1000), .open = 1, .nargs = 1, .args = &count,
	};

	if (!count.value)
		return;
	name_loss(name, sizeof(name), reason);
	m->kinds[ev.style].print(&m->printer, &ev);
}

void t2x_model_end_process(struct t2x_model *m, struct t2x_process *process, uint64_t ns)
{
	t2x_model_settle(m);
	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++)
		print_loss(m, process, reason, ns);
}

/* ---- arguments and messages --------------------------------------------------------------------- */

static inline int is_text(const struct t2x_arg *arg)
{
	return arg->type == TLG_ARG_TEXT && arg->text;
}

/* Whether the argument is what the letter of a signature asks for. */
static inline int is_right(const struct t2x_arg *arg, char letter)
{
	switch (letter) {
	case 's':
		return is_text(arg) || arg->type == TLG_ARG_NULL;
	case 'S':
		return is_text(arg);
	default:
		return arg->type == TLG_ARG_INT || arg->type == TLG_ARG_UINT;
	}
}

/* A last text that is absent or null: print it as an empty one. */
static void add_empty_text(struct t2x_model *m, struct t2x_event *ev, unsigned at)
{
	if (at)
		memcpy(m->settled, ev->args, at * sizeof(m->settled[0]));
	m->settled[at] = (struct t2x_arg){ .type = TLG_ARG_TEXT, .text = "" };
	ev->args = m->settled;
	ev->nargs = at + 1;
}

/* Whether the arguments are those of the signature (see tlg_styles.def), but for a message. */
static __attribute__((noinline)) int
settle_arguments(struct t2x_model *m, struct t2x_event *ev, const char *signature)
{
	unsigned i = 0;

	/* writers go on behind the last argument, and behind a null pointer is nothing */
	if (!ev->nargs)
		ev->args = m->settled;
	for (; *signature && *signature != 'M'; signature++) {
		const struct t2x_arg *arg = i < ev->nargs ? &ev->args[i] : NULL;

		if (*signature == '*') {
			while (i < ev->nargs && is_text(&ev->args[i]))
				i++;
			continue;
		}
		if (*signature == 'S' && (!arg || (arg->type == TLG_ARG_NULL && i + 1 == ev->nargs)))
			add_empty_text(m, ev, i);
		else if (!arg || !is_right(arg, *signature))
			return 0;
		i++;
	}
	return *signature == 'M' || i == ev->nargs;
}

static int render_message(struct t2x_model *m, struct t2x_event *ev, const char *format)
{
	const char *nul;

	if (!m->message)
		m->message = t2x_malloc(MESSAGE_BYTES);
	if (!m->message)
		return 0;
	ev->message = m->message;
	ev->message_length = t2x_render(m->message, MESSAGE_BYTES, format, ev->args, ev->nargs);
	/* %c can print a NUL, and texts end there. */
	nul = memchr(m->message, '\0', ev->message_length);
	if (nul)
		ev->message_length = (size_t)(nul - m->message);
	return 1;
}

/* The message that a checkpoint brought along, or that is made of its arguments.  Return  0: it should be there */
static __attribute__((noinline)) int find_message(struct t2x_model *m, struct t2x_event *ev, unsigned flags)
{
	const char *format = ev->scope->format;

	if (format && !*format)
		return 1;   /* an empty format is no message, rendered or not */
	if (flags & TLG_RENDERED) {
		const struct t2x_arg *last = ev->nargs ? &ev->args[ev->nargs - 1] : NULL;
		int done = !last || is_text(last);

		ev->message = last && done ? last->text : "";
		ev->message_length = last ? last->length : 0;
		return done;
	}
	return render_message(m, ev, format);
}

/* The message of a kind that has one.  Return  0: it should be there, and is not */
static inline int settle_message(struct t2x_model *m, struct t2x_event *ev, unsigned flags)
{
	int done = !(ev->scope->format || flags & TLG_RENDERED) || find_message(m, ev, flags);

	ev->nargs = 0;
	return done;
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

/* Since a child was started; a child that never was has no time. */
static uint64_t find_child_us(const struct t2x_event *ev, unsigned start)
{
	uint64_t start_ns = (uint64_t)ev->args[start].value;

	return start_ns ? ev->us - start_ns / 1000 : 0;
}

static __attribute__((noinline)) void apply_rare(struct t2x_thread *thread, struct t2x_event *ev,
						 struct t2x_regions *regions, unsigned effect)
{
	if (effect & UNWINDS)
		t2x_regions_unwind(regions);
	if (effect & (ENDS_CHILD | READIES_CHILD))
		ev->rel_us = find_child_us(ev, effect & ENDS_CHILD ? T2X_CHILD_START : T2X_READY_START);
	if (effect & ENDS_THREAD)
		thread->is_over = 1;
}

/* Where only assumed regions are left: see t2x_regions.h.  Return  0: the region that is left was never known */
static int repair(struct t2x_model *m, const struct t2x_event *ev, struct t2x_regions *regions, unsigned effect)
{
	int is_missing = 0;
	unsigned closed;

	if (effect & LEAVES)
		closed = t2x_regions_repair_leave(regions, ev->scope->names, &is_missing);
	else
		closed = t2x_regions_repair_enter(regions, ev->scope->names);
	show_missing(m, ev->thread, ev->us, "lost-leaves", closed);
	show_missing(m, ev->thread, ev->us, "lost-enters", (uint64_t)is_missing);
	return !is_missing;
}

/* As apply(), where regions are only assumed. */
static __attribute__((noinline)) void apply_in_doubt(struct t2x_model *m, struct t2x_thread *thread,
						     struct t2x_event *ev, struct t2x_regions *regions, unsigned effect)
{
	int is_there = 1;

	if (effect & RARE)
		apply_rare(thread, ev, regions, effect);
	if (effect & (ENTERS | LEAVES) && t2x_regions_are_assumed(regions))
		is_there = repair(m, ev, regions, effect);
	if (effect & ELAPSES)
		ev->rel_us = t2x_regions_elapsed(regions, ev->us);
	if (effect & LEAVES && is_there && t2x_regions_open(regions))
		t2x_regions_cut(regions, t2x_regions_open(regions) - 1);
	ev->open = t2x_regions_open(regions);
}

/* What an event changes before it is printed, and the time that has elapsed for it. */
static inline void apply(struct t2x_model *m, struct t2x_thread *thread, struct t2x_event *ev,
			 struct t2x_regions *regions, unsigned effect)
{
	if (__builtin_expect(t2x_regions_are_assumed(regions), 0)) {
		apply_in_doubt(m, thread, ev, regions, effect);
		return;
	}
	if (effect & RARE)
		apply_rare(thread, ev, regions, effect);
	if (effect & ELAPSES)
		ev->rel_us = t2x_regions_elapsed(regions, ev->us);
	if (effect & LEAVES)
		t2x_regions_leave(regions);
	ev->open = t2x_regions_open(regions);
}

/* Whether the arguments are right for the kind; fills in what depends on them. */
static inline int resolve(struct t2x_model *m, struct t2x_event *ev, unsigned flags, const struct kind *kind)
{
	if (kind->only == 'M')
		return settle_message(m, ev, flags);
	if (kind->only && ev->nargs == 1 && is_right(ev->args, kind->only))
		return 1;
	return kind->style && settle_arguments(m, ev, tlg_style_by_id(kind->style)->args);
}

static __attribute__((noinline)) void show_unresolved(struct t2x_model *m, const struct t2x_hit *hit)
{
	const struct t2x_thread *thread = hit->thread;
	const unsigned nests = UNWINDS | ENTERS | LEAVES;
	const struct t2x_event ev = {
		.thread = thread, .scope_index = hit->scope_index,
		.us = hit->ns / 1000, .abs_us = find_abs_us(thread->process, hit->ns / 1000),
		.open = thread->model ? t2x_regions_open(thread->model) : 0,
	};

	m->summary.unresolved++;
	m->print_unresolved(&m->printer, &ev);
	if (thread->model && (!hit->scope || m->kinds[hit->scope->style].effect & nests))
		t2x_regions_doubt(thread->model);   /* it may have been an enter or a leave */
}

/* Return  0: it has no meaning */
static inline int take_hit(struct t2x_model *m, const struct t2x_hit *hit)
{
	struct t2x_thread *thread = hit->thread;
	struct t2x_regions *regions = thread->model;
	const struct kind *kind = &m->kinds[hit->scope->style];
	uint64_t us = hit->ns / 1000;
	struct t2x_event ev = {
		.thread = thread,
		.scope = hit->scope,
		.style = (enum tlg_style)kind->style,
		.us = us,
		.abs_us = find_abs_us(thread->process, us),
		.nargs = hit->nargs,
		.args = hit->args,
		.open = t2x_regions_open(regions),
	};

	if (!resolve(m, &ev, hit->flags, kind))
		return 0;
	apply(m, thread, &ev, regions, kind->effect);
	kind->print(&m->printer, &ev);
	if (kind->effect & ENTERS)
		t2x_regions_enter(regions, &(struct t2x_region){ us, hit->when, hit->scope->names }, &m->region_budget);
	return 1;
}

void t2x_model_take_hit(struct t2x_model *m, const struct t2x_hit *hit)
{
	m->summary.checkpoints++;
	if (!(hit->thread->model || new_regions(hit->thread)) || !hit->scope || !take_hit(m, hit))
		show_unresolved(m, hit);
}

void t2x_model_hit(struct t2x_model *m, const struct t2x_hit *hit)
{
	if (m->detour)
		m->detour->hit(m->target, hit);
	else
		t2x_model_take_hit(m, hit);
}

void t2x_model_settle(struct t2x_model *m)
{
	if (m->detour)
		m->detour->settle(m->target);
}

void t2x_model_detour(struct t2x_model *m, const struct t2x_detour *detour, void *target)
{
	m->detour = detour;
	m->target = target;
}
