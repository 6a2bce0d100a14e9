/* SPDX-License-Identifier: MIT */
/*
 * t2x_model_private.h - the model's state: what t2x_model.c and t2x_model_update.c share, and nobody else includes.
 */
#ifndef T2X_MODEL_PRIVATE_H
#define T2X_MODEL_PRIVATE_H

#include "t2x_dropped.h"
#include "t2x_regions.h"
#include "t2x_spans.h"
#include "t2x_writer.h"

enum { T2X_MODEL_ARGS = 8 };              /* most that a kind has whose last may be absent */

typedef void t2x_take_fn(struct t2x_model *m, const struct t2x_hit *hit);

/* A kind of event: how it is printed, what arguments it has, what it changes. */
struct t2x_kind {
	t2x_print_fn *print;
	t2x_take_fn *take;
	unsigned char style;
	unsigned char effect;
	char only;                        /* of a signature of one argument, its letter; else 0 */
};

struct t2x_model {
	struct t2x_kind kinds[UINT8_MAX + 1]; /* by a scope's style; what is no style is TLG_STYLE_none */
	/* read by those who have hits: not in one cache line with what changes with each */
	const struct t2x_detour *detour;  /* see t2x_model.h; NULL: none */
	void *target;                     /* of the detour */
	t2x_print_fn *print_unresolved;
	t2x_print_fn *print_never_left;   /* NULL: nobody asks for it */
	t2x_finish_fn *finish;
	int ignores_messages;             /* the writer does */
	t2x_add_fn *add;                  /* the writer's */
	struct t2x_printer printer;
	struct t2x_summary summary;
	struct t2x_arg args[T2X_MODEL_ARGS];
	unsigned region_budget;
	size_t dropped_budget;
	char *message;                    /* MESSAGE_BYTES, when the first message is rendered */
};

/* Print an event, with its spans if the writer asks for them. */
static inline void t2x_model_print(struct t2x_model *m, t2x_print_fn *print, struct t2x_event *ev)
{
	if (m->printer.spans)
		ev->spans = m->printer.spans->take(m->printer.spans, ev);
	print(&m->printer, ev);
}

/* What a region remembers of its enter: a scope without a number is gone behind its checkpoint. */
static inline const struct t2x_scope *t2x_model_keep(const struct t2x_scope *scope)
{
	return scope->number ? scope : NULL;
}

/* Regions for a thread that has none yet.  Return  NULL: no memory */
struct t2x_regions *t2x_model_new_regions(struct t2x_thread *thread);

/* The time elapsed, which was not known: when the thread began may be known by now. */
uint64_t t2x_model_since_start(const struct t2x_thread *thread, uint64_t ns);

/* region_unwind: leave the regions that were entered from its mark on, innermost first; each leave is an event. */
void t2x_model_cut(struct t2x_model *m, const struct t2x_event *unwind);

/* The thread leaves all regions at once, or ends: those that are open now are never left. */
void t2x_model_tell_open(struct t2x_model *m, const struct t2x_thread *thread);

/* A line in the place of what is missing, unless count is 0. */
void t2x_model_show_missing(struct t2x_model *m, const struct t2x_thread *thread, uint64_t ns,
			    enum t2x_lost_what what, uint64_t count);

#endif
