/* SPDX-License-Identifier: MIT */
/* t2x_model.c - see t2x_model.h. */
#include "t2x_model.h"

#include <limits.h>

#include "t2x_model_private.h"
#include "t2x_regions.h"
#include "t2x_render.h"
#include "t2x_run.h"
#include "tlg_desc.h"
#include "base/t2x_memory.h"

enum {
	MESSAGE_BYTES = 1024 * 1024,      /* of a rendered message; the rest is cut off */
	DROPPED_BUDGET = 2 * 1024 * 1024,    /* bytes of tables of dropped events, of all processes */
};

static const unsigned char effects[TLG_STYLE_COUNT] = {
	[TLG_STYLE_region_enter] = T2X_ENTERS,
	[TLG_STYLE_region_leave] = T2X_ELAPSES | T2X_LEAVES,
	[TLG_STYLE_data] = T2X_ELAPSES,
	[TLG_STYLE_data_intmax] = T2X_ELAPSES,
	[TLG_STYLE_data_json] = T2X_ELAPSES,
	[TLG_STYLE_thread_exit] = T2X_ELAPSES,
	[TLG_STYLE_child_exit] = T2X_ENDS_CHILD,
	[TLG_STYLE_child_ready] = T2X_READIES_CHILD,
	[TLG_STYLE_region_unwind] = T2X_CUTS,
};

/* What this format does not show. */
static void print_nothing(struct t2x_printer *printer, const struct t2x_event *ev)
{
	(void)printer;
	(void)ev;
}

static t2x_take_fn *find_take(unsigned style, int has_spans);

static struct t2x_kind make_kind(unsigned style, t2x_print_fn *print, int has_spans)
{
	return (struct t2x_kind){
		.print = print ? print : print_nothing, .take = find_take(style, has_spans),
		.style = (unsigned char)style,
		.effect = (unsigned char)(effects[style] | (tlg_style_unwinds(style) ? T2X_UNWINDS : 0)),
		.only = tlg_style_only[style],
	};
}

struct t2x_model *t2x_model_new(const struct t2x_writer *writer, struct t2x_out *out,
				const struct t2x_options *options)
{
	struct t2x_model *m = t2x_cache_line_new(sizeof(*m));

	if (!m)
		return NULL;
	m->printer.templates = t2x_calloc(1, sizeof(*m->printer.templates));
	if (!m->printer.templates) {
		t2x_cache_line_free(m);
		return NULL;
	}
	m->printer.out = out;
	m->printer.options = *options;
	m->region_budget = T2X_REGIONS_BUDGET;
	m->dropped_budget = DROPPED_BUDGET;
	m->print_unresolved = writer->unresolved;
	m->print_never_left = writer->never_left;
	m->finish = writer->finish;
	m->ignores_messages = writer->ignores_messages;
	m->add = writer->add;
	if (writer->begin && writer->begin(&m->printer)) {
		t2x_model_free(m);
		return NULL;
	}
	for (unsigned i = 0; i <= UINT8_MAX; i++)
		m->kinds[i] = make_kind(TLG_STYLE_none, NULL, m->printer.spans != NULL);
#define TLG_STYLE(id, name, args, desc) m->kinds[id] = make_kind(id, writer->print.name, m->printer.spans != NULL);
#include "tlg_styles.def"
#undef TLG_STYLE
	return m;
}

int t2x_model_finish(struct t2x_model *m)
{
	if (m->finish)
		m->finish(&m->printer);
	m->print_never_left = NULL;       /* there is nobody any more who would hear of it */
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
	t2x_cache_line_free(m);
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
		memcpy(m->args, ev->args, at * sizeof(m->args[0]));
	m->args[at] = (struct t2x_arg){ .type = TLG_ARG_TEXT, .text = "" };
	ev->args = m->args;
	ev->nargs = at + 1;
}

/* Whether the arguments are those of the signature (see tlg_styles.def), but for a message. */
static __attribute__((noinline)) int
check_arguments(struct t2x_model *m, struct t2x_event *ev, const char *signature)
{
	unsigned i = 0;

	/* writers go on behind the last argument, and behind a null pointer is nothing */
	if (!ev->nargs)
		ev->args = m->args;
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
	return m->ignores_messages || render_message(m, ev, format);
}

/* The message of a kind that has one.  Return  0: it should be there, and is not */
static inline int resolve_message(struct t2x_model *m, struct t2x_event *ev, unsigned flags)
{
	int done = !(ev->scope->format || flags & TLG_RENDERED) || find_message(m, ev, flags);

	ev->nargs = 0;
	return done;
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

/* Whether the arguments are right for the kind; fills in what depends on them.  See has_usual_arguments(), too. */
static inline int resolve(struct t2x_model *m, struct t2x_event *ev, unsigned flags, const struct t2x_kind *kind)
{
	if (kind->only == 'M')
		return resolve_message(m, ev, flags);
	return kind->style && check_arguments(m, ev, tlg_style_by_id(kind->style)->args);
}

static __attribute__((noinline)) void show_unresolved(struct t2x_model *m, const struct t2x_hit *hit)
{
	const struct t2x_thread *thread = hit->thread;
	const unsigned nests = T2X_UNWINDS | T2X_ENTERS | T2X_LEAVES | T2X_CUTS;
	struct t2x_event ev = {
		.thread = thread, .scope_index = hit->scope_index, .ns = hit->ns, .shift_ns = hit->shift_ns,
		.open = thread->model ? t2x_regions_open(thread->model) : 0,
	};

	m->summary.unresolved++;
	t2x_model_print(m, &ev);
	if (thread->model && (!hit->scope || m->kinds[hit->scope->style].effect & nests))
		t2x_regions_assume(thread->model);   /* it may have been an enter or a leave */
}

/* Return  0: it has no meaning */
static int resolve_hit(struct t2x_model *m, const struct t2x_hit *hit)
{
	struct t2x_thread *thread = hit->thread;
	struct t2x_regions *regions = thread->model;
	const struct t2x_kind *kind = &m->kinds[hit->scope->style];
	struct t2x_event ev = {
		.thread = thread,
		.scope = hit->scope,
		.style = (enum tlg_style)kind->style,
		.ns = hit->ns, .shift_ns = hit->shift_ns,
		.nargs = hit->nargs,
		.args = hit->args,
		.open = t2x_regions_open(regions),
	};

	if (!resolve(m, &ev, hit->flags, kind))
		return 0;
	t2x_model_apply(m, &ev, kind->effect);
	regions->last_ns = hit->ns;
	if (kind->effect & T2X_ENTERS)
		t2x_regions_enter(regions, &(struct t2x_region){ hit->ns, hit->when, t2x_model_keep(hit->scope) },
				  &m->region_budget);
	t2x_model_print(m, &ev);
	return 1;
}

/* Whatever it is. */
static __attribute__((noinline)) void take_any(struct t2x_model *m, const struct t2x_hit *hit)
{
	if (!t2x_regions_of(hit->thread) || !hit->scope || !resolve_hit(m, hit))
		show_unresolved(m, hit);
}

/* ---- the usual checkpoint -------------------------------------------------------------------------- */

/* They are right, and there is no message to be made of them. */
static inline int has_usual_arguments(const struct t2x_model *m, const struct t2x_hit *hit, char only)
{
	if (only == 'M')
		return !(hit->flags & TLG_RENDERED) && (!hit->scope->format || m->ignores_messages);
	return only ? hit->nargs == 1 && is_right(hit->args, only) : !hit->nargs;
}

/* There is a region around it, of which all is known, and room for one more in it. */
static inline int has_usual_regions(const struct t2x_regions *regions)
{
	return regions && regions->open && regions->open < regions->capacity &&
	       regions->entered[regions->open - 1].ns && !t2x_regions_are_assumed(regions);
}

/*
 * As take_any(), where nothing is rare, missing or to be made.  For each of the kinds of which there are many this is a
 * function of its own, in which effect, only and has_spans are constants.  For a writer that asks for no spans it calls
 * no other function but the writer's, so it has no registers to save.
 */
static inline __attribute__((always_inline)) void
take_usual(struct t2x_model *m, const struct t2x_hit *hit, unsigned effect, char only, int has_spans)
{
	const struct t2x_kind *kind = &m->kinds[hit->scope->style];
	struct t2x_regions *regions = hit->thread->model;
	struct t2x_region *innermost;
	struct t2x_event ev;

	if (!has_usual_regions(regions) || !has_usual_arguments(m, hit, only)) {
		take_any(m, hit);
		return;
	}
	innermost = &regions->entered[regions->open - 1];
	ev = (struct t2x_event){
		.thread = hit->thread,
		.scope = hit->scope,
		.style = (enum tlg_style)kind->style,
		.ns = hit->ns, .shift_ns = hit->shift_ns,
		.rel_ns = effect & T2X_ELAPSES ? hit->ns - innermost->ns : 0,
		.nargs = only == 'M' ? 0 : hit->nargs,
		.args = hit->args,
		.open = regions->open - !!(effect & T2X_LEAVES),
	};
	regions->last_ns = hit->ns;
	if (effect & T2X_ENTERS)
		innermost[1] = (struct t2x_region){ hit->ns, hit->when, t2x_model_keep(hit->scope) };
	regions->open = ev.open + !!(effect & T2X_ENTERS);
	if (has_spans)
		ev.spans = m->printer.spans->take(m->printer.spans, &ev);
	kind->print(&m->printer, &ev);
}

/* Each of them, for a writer that asks for spans and for one that does not. */
#define USUAL(name, effect, only) \
	static void take_##name(struct t2x_model *m, const struct t2x_hit *hit) \
	{ \
		take_usual(m, hit, effect, only, 0); \
	} \
	static void take_##name##_spans(struct t2x_model *m, const struct t2x_hit *hit) \
	{ \
		take_usual(m, hit, effect, only, 1); \
	}
USUAL(enter, T2X_ENTERS, 'M')
USUAL(leave, T2X_ELAPSES | T2X_LEAVES, 'M')
USUAL(text, T2X_ELAPSES, 'S')
USUAL(number, T2X_ELAPSES, 'i')
USUAL(bare, 0, '\0')

static t2x_take_fn *find_take(unsigned style, int has_spans)
{
	switch (style) {
	case TLG_STYLE_region_enter:
		return has_spans ? take_enter_spans : take_enter;
	case TLG_STYLE_region_leave:
		return has_spans ? take_leave_spans : take_leave;
	case TLG_STYLE_data: case TLG_STYLE_data_json:
		return has_spans ? take_text_spans : take_text;
	case TLG_STYLE_data_intmax:
		return has_spans ? take_number_spans : take_number;
	case TLG_STYLE_step:
		return has_spans ? take_bare_spans : take_bare;
	default:
		return take_any;
	}
}

void t2x_model_take_hit(struct t2x_model *m, const struct t2x_hit *hit)
{
	m->summary.checkpoints++;
	if (hit->scope)
		m->kinds[hit->scope->style].take(m, hit);
	else
		take_any(m, hit);
}

void t2x_model_hit(struct t2x_model *m, const struct t2x_hit *hit)
{
	if (m->detour)
		m->detour->hit(m->target, hit);
	else
		t2x_model_take_hit(m, hit);
}

int t2x_model_adds(const struct t2x_model *m)
{
	return m->add && !m->detour;
}

void t2x_model_run(struct t2x_model *m, struct t2x_run *run)
{
	struct t2x_regions *regions = t2x_model_adds(m) ? run->thread->model : NULL;

	if (!regions)
		return;
	run->regions = regions->entered;
	run->open = regions->open;
	run->least = regions->assumed > 1 ? regions->assumed : 1;
	run->room = UINT_MAX;
	t2x_run_limit(run, regions->capacity);
	m->add(&m->printer, run);
	if (!run->hits)
		return;
	m->summary.checkpoints += run->hits;
	regions->open = run->open;
	regions->last_ns = run->now_ns;
}

/* ---- updates ------------------------------------------------------------------------------------ */

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
		t2x_model_repeat(m, update->thread, &update->opens);
		break;
	case T2X_GAP:
		t2x_model_gap(m, update->thread, update->ns, &update->gap);
		break;
	case T2X_FORGET_THREAD:
		t2x_model_forget_regions(m, update->thread);
		break;
	case T2X_RELEASE:
		t2x_cache_line_free(update->release.memory);
		break;
	case T2X_DROP:
		t2x_model_drop(m, update->process, &update->drop);
		break;
	case T2X_FORGET_PROCESS:
		t2x_model_forget_drops(m, update->process);
		break;
	case T2X_END_PROCESS:
		t2x_model_show_drops(m, update->process, update->ns);
		break;
	}
}

void t2x_model_update(struct t2x_model *m, const struct t2x_update *update)
{
	if (m->detour)
		m->detour->update(m->target, update);
	else
		t2x_model_take_update(m, update);
}

void t2x_model_detour(struct t2x_model *m, const struct t2x_detour *detour, void *target)
{
	m->detour = detour;
	m->target = target;
}
