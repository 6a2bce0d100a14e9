/* SPDX-License-Identifier: MIT */
/*
 * tr2_context.h - the context of a chain: definitions that a reader needs in front of it, and that the present cycle
 * does not have yet.  These are its scope, the file of that, its thread with the regions that are open, and the scopes
 * of these.
 *
 * Thread  the holder of the drain's lock
 */
#ifndef TR2_CONTEXT_H
#define TR2_CONTEXT_H

#include "tr2_track.h"

struct tlg_ring_scope;

/* The definitions for one chain. */
struct tr2_context {
	const struct tlg_ring_scope *scope;   /* to be defined, or NULL */
	uint32_t scope_index;
	const char *file;                 /* to be defined, or NULL */
	int thread;                       /* to be defined */
	unsigned events;                  /* that all of it takes, at most */
};

/* What the stream knows about scope i, and about file i: the cycle in which it was last defined; 0: none. */
struct tr2_defined_in {
	uint32_t cycle, style;
	uint32_t file_cycle;
};

/* Allocate the table of scopes.  Again in a forked child.  Return  0 or -errno */
int tr2_context_init(void);

/* For every index below TLG_MAX_SCOPES. */
const struct tr2_defined_in *tr2_context_table(void);

/*
 * Find what a chain of the thread needs, in the present cycle; the scopes of open regions are appended already.
 * scope   of the chain, NULL: it has none    Return  0: not now, writing fails
 */
int tr2_context_find(struct tr2_context *context, const struct tr2_track *track, const struct tlg_ring_scope *scope,
		     uint32_t scope_index);

/* Append it to the open block, which has room for that. */
void tr2_context_append(const struct tr2_context *context, struct tr2_track *track);

#endif
