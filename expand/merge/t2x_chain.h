/* SPDX-License-Identifier: MIT */
/*
 * t2x_chain.h - an event whose VALUEs and INFO text are being gathered, and the arguments made from them.
 */
#ifndef T2X_CHAIN_H
#define T2X_CHAIN_H

#include "t2x_stream.h"

enum {
	T2X_CHAIN_BYTES = 1024 * 1024,    /* of text of one checkpoint; the rest is cut off */
	T2X_CHAIN_VALUES = 4 * T2X_CHAIN_BYTES,   /* of VALUEs: more words than a command line can have */
};

struct t2x_chain {
	struct t2x_chain *next;           /* of the queue, newest first; of the spare ones */
	struct tlg_event head;            /* HIT; MORE whose HIT is lost; a definition */
	uint32_t sequence;                /* of the events awaited: the head's, or that of its latest MORE */
	int waits_for_more;               /* for MORE, not for VALUE and INFO */
	struct t2x_stream *stream;
	struct t2x_track *track;          /* of a HIT */
	struct t2x_clock clock;           /* of the head's block */
	uint64_t ns;                      /* of a HIT */
	struct tlg_value *values;
	size_t nvalues, max_values;
	char *text;
	size_t bytes, max_bytes;
};

/* Arguments of a checkpoint. */
struct t2x_arguments {
	struct t2x_arg *args;
	size_t max;
	unsigned n;
};

/* Add a VALUE, or the text of an INFO.  What there is no room for is left out. */
void t2x_chain_add(struct t2x_chain *chain, const struct tlg_event *event);

/* Free what it has gathered; and the chain itself. */
void t2x_chain_clear(struct t2x_chain *chain, struct t2x_context *context);
void t2x_chain_free(struct t2x_chain *chain, struct t2x_context *context);

/*
 * Make the arguments of a HIT from what its chain has gathered.
 * clock    of the HIT's block
 * scope    its scope, or NULL.  If the HIT brought its own along (index 0): NULL, and then that one
 * is_kept  see t2x_scope_passing(); 1 for all others
 * Texts point into the chain.  arguments keeps its memory for the next call
 */
void t2x_chain_arguments(struct t2x_chain *chain, struct t2x_clock *clock, struct t2x_arguments *arguments,
			 struct t2x_scope **scope, int *is_kept);

/*
 * The same for the HIT events[0], if all that belongs to it is right behind it, VALUEs before INFOs, as every writer
 * of ours has it: the arguments are made from the events where they lie.
 * end     of the events that are there
 * chain   with a stream, and memory for text; nothing is gathered in it
 * Return  how many events they are, the HIT included; 0: it is not so, nothing was done
 */
unsigned t2x_chain_whole(struct t2x_chain *chain, const struct tlg_event *events, const struct tlg_event *end,
			 struct t2x_clock *clock, struct t2x_arguments *arguments, struct t2x_scope **scope,
			 int *is_kept);

#endif
