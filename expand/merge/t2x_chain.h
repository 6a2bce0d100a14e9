/* SPDX-License-Identifier: MIT */
/*
 * t2x_chain.h - chains: an event whose VALUEs and INFO text are being gathered.
 */
#ifndef T2X_CHAIN_H
#define T2X_CHAIN_H

#include "t2x_stream.h"

enum {
	T2X_CHAIN_BYTES = 1024 * 1024,    /* of text of one checkpoint; the rest is cut off */
	T2X_CHAIN_VALUES = 4 * T2X_CHAIN_BYTES,   /* of VALUEs: more words than a command line can have */
};

struct t2x_chain {
	struct t2x_chain *next;           /* older */
	struct tlg_event head;            /* HIT; MORE whose HIT is lost; a definition */
	uint32_t sequence;                /* of the events awaited: the head's, or that of its latest MORE */
	int waits_for_more;               /* for MORE, not for VALUE and INFO */
	struct t2x_stream *stream;
	struct t2x_track *track;          /* of a HIT */
	struct t2x_clock clock;           /* of the head's block */
	uint64_t ns;                      /* of a HIT */
	struct tlg_value *values;
	size_t nvalues, max_values;       /* max: bytes, as below */
	char *text;
	size_t bytes, max_bytes;
};

/* Add a VALUE, or the text of an INFO.  What there is no room for is left out. */
void t2x_chain_add(struct t2x_chain *chain, const struct tlg_event *event);

/* Free what it has gathered, and the chain itself. */
void t2x_chain_free(struct t2x_chain *chain, struct t2x_context *context);

/* Chains that are not complete.  All zero: none. */
struct t2x_chains {
	struct t2x_chain *newest;
	unsigned count;
};

void t2x_chains_push(struct t2x_chains *chains, struct t2x_chain *chain);
void t2x_chains_remove(struct t2x_chains *chains, struct t2x_chain *chain);

/* There is one. */
struct t2x_chain *t2x_chains_oldest(const struct t2x_chains *chains);

/* Chains that are not in use, with their memory.  All zero: none. */
struct t2x_chain_pool {
	struct t2x_chain *first;
	unsigned count;
};

/* A chain without VALUEs and text; what else is in it is to be set.  Return  NULL: no memory */
struct t2x_chain *t2x_chain_pool_take(struct t2x_chain_pool *pool);

/* Give one back that is in no list. */
void t2x_chain_pool_give(struct t2x_chain_pool *pool, struct t2x_chain *chain, struct t2x_context *context);
void t2x_chain_pool_free(struct t2x_chain_pool *pool, struct t2x_context *context);

#endif
