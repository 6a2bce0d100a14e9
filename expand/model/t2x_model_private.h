/* SPDX-License-Identifier: MIT */
/*
 * t2x_model_private.h - the model's state: what t2x_model.c, t2x_regions.c and t2x_dropped.c share, and nobody else
 * includes.
 */
#ifndef T2X_MODEL_PRIVATE_H
#define T2X_MODEL_PRIVATE_H

#include "t2x_spans.h"
#include "t2x_writer.h"

enum { T2X_MODEL_ARGS = 8 };              /* most that a kind has whose last may be absent */

/* What a kind of event changes, and which time has elapsed for it.  In this order; it is shown before T2X_ENTERS. */
enum {
	T2X_UNWINDS = 1,                  /* all regions but the outermost are left: tlg_style_unwinds() */
	T2X_ELAPSES = 2,                  /* its time is that since the innermost region was entered */
	T2X_LEAVES = 4,                   /* that region is left */
	T2X_ENDS_CHILD = 8,               /* its time is that of the child, as it says when that was started */
	T2X_READIES_CHILD = 16,           /* likewise */
	T2X_ENTERS = 32,                  /* a region is entered: its own line stands outside of it */
	T2X_CUTS = 64,                    /* it stands for leaves, of all regions since a mark */
	T2X_RARE = T2X_UNWINDS | T2X_ENDS_CHILD | T2X_READIES_CHILD | T2X_CUTS,
};

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

/* What a region remembers of its enter: a scope without a number is gone behind its checkpoint. */
static inline const struct t2x_scope *t2x_model_keep(const struct t2x_scope *scope)
{
	return scope->number ? scope : NULL;
}

/* Print an event, with its spans if the writer asks for them. */
void t2x_model_print(struct t2x_model *m, struct t2x_event *ev);

/*
 * Apply to the thread's open regions what an event changes before it is printed, and set ev's rel_ns and open.  Leaves
 * that are missing in front of it are printed as events of their own.  The caller enters what the event enters.
 */
void t2x_model_apply(struct t2x_model *m, struct t2x_event *ev, unsigned effect);

/* Updates of open regions: see enum t2x_update_kind.  And what is forgotten with its thread. */
void t2x_model_repeat(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_opens *opens);
void t2x_model_gap(struct t2x_model *m, struct t2x_thread *thread, uint64_t ns, const struct t2x_gap *gap);
void t2x_model_forget_regions(struct t2x_model *m, struct t2x_thread *thread);

/* Updates of what a process dropped.  At the end of a process its totals are shown. */
void t2x_model_drop(struct t2x_model *m, struct t2x_process *process, const struct t2x_drop *drop);
void t2x_model_show_drops(struct t2x_model *m, struct t2x_process *process, uint64_t ns);
void t2x_model_forget_drops(struct t2x_model *m, struct t2x_process *process);

#endif
