/* SPDX-License-Identifier: MIT */
/* t2x_arguments.h - the arguments of a checkpoint, made from VALUEs and INFO text. */
#ifndef T2X_ARGUMENTS_H
#define T2X_ARGUMENTS_H

#include "t2x_stream.h"
#include "tlg_desc.h"

/* The arguments of one checkpoint.  The next checkpoint uses the same memory.  All zero: none. */
struct t2x_arguments {
	struct t2x_arg *args;
	size_t max;
	unsigned n;
	char *text;                       /* where text that lies in several events is put together */
	size_t max_text;
	int64_t shift_ns;                 /* see struct t2x_hit */
};

/*
 * Make the arguments of a HIT from what its chain has gathered.
 * scope      its scope, or NULL.  If the HIT brought its own along (index 0): NULL, and then that one
 * is_cached  see t2x_scope_inline(); 1 for all others
 * Texts point into the chain.
 */
void t2x_arguments_from_chain(struct t2x_arguments *arguments, struct t2x_chain *chain, struct t2x_scope **scope,
			      int *is_cached);

/* Not in line: see t2x_arguments_take_only(). */
unsigned t2x_arguments_take_text(struct t2x_arguments *arguments, struct t2x_context *context,
				 const struct tlg_event *hit, const struct tlg_event *end);

/*
 * The argument of a HIT that has one alone, right behind it, a number or a text, as most have that have any: nothing
 * has to be looked up for it.
 * end     of the events that are there
 * Return  how many events they are, the HIT included; 0: it is not so, nothing was done
 */
static inline unsigned
t2x_arguments_take_only(struct t2x_arguments *arguments, struct t2x_context *context, const struct tlg_event *hit,
			const struct tlg_event *end, const struct t2x_scope *scope)
{
	const unsigned all = TLG_TYPE_MASK | TLG_INFO_END, last_value = TLG_VALUE | TLG_INFO_END;
	const struct tlg_event *argument = hit + 1;
	char only = scope ? tlg_style_only[scope->style] : '\0';

	if (hit->flags & TLG_RENDERED || !arguments->max)
		return 0;
	if (only == 'S')
		return t2x_arguments_take_text(arguments, context, hit, end);
	if ((only != 'M' && only != 'i') || argument >= end || (argument->flags & all) != last_value ||
	    argument->sequence != hit->sequence || argument->u.value.argtype & TLG_ARG_TEXT)
		return 0;
	arguments->n = 1;
	arguments->args[0] = (struct t2x_arg){ .type = argument->u.value.argtype, .value = argument->u.value.value };
	return 2;
}

/*
 * The same for the HIT events[0], if all that belongs to it is right behind it, VALUEs before INFOs, as every writer
 * of ours has it: the arguments are made from the events where they lie.
 * end     of the events that are there
 * clock   of the HIT's block
 * Return  how many events they are, the HIT included; 0: it is not so, nothing was done
 */
unsigned t2x_arguments_from_events(struct t2x_arguments *arguments, struct t2x_stream *stream,
				   const struct tlg_event *events, const struct tlg_event *end,
				   struct t2x_clock *clock, struct t2x_scope **scope, int *is_cached);

void t2x_arguments_free(struct t2x_arguments *arguments, struct t2x_context *context);

/*
 * Whose a sample is (FORMAT.md section 8): the thread that records a sample of another one, which is blocked, names it
 * by the sample's first label.
 * Return  the cursor of the thread that a sample is of: the one that recorded it, or the one its first label names,
 *         which is no label of it any more
 */
struct t2x_cursor *t2x_owner_of(struct t2x_stream *stream, struct t2x_cursor *cursor, const struct t2x_scope *scope,
			       struct t2x_arguments *arguments);

#endif
