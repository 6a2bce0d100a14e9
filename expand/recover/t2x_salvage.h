/* SPDX-License-Identifier: MIT */
/*
 * t2x_salvage.h - the events of a ring file that are not in its .tlg file, as blocks of the same stream.
 *
 * They begin with RECOVERED, behind a prologue group if nothing of the stream is in a file, and end with the totals of
 * dropped events, MARK and RECOVERED.  Chunks come in the order in which they were opened, a MARK in front of each, so
 * that a merge needs little memory.  Memory: 200 KB, 100 bytes a chunk, and 5 KB for each ring that has something left.
 */
#ifndef T2X_SALVAGE_H
#define T2X_SALVAGE_H

#include "t2x_ring.h"
#include "read/t2x_blocks.h"

struct t2x_salvage_totals {
	uint64_t hits;                    /* checkpoints that were collected */
	uint64_t in_flight;               /* events whose calls had not returned */
	unsigned damaged;                 /* chunks that could not be read, or held what nobody writes */
};

struct t2x_salvage;

/*
 * The ring file stays the caller's, and open.
 * Return  NULL: no memory
 */
struct t2x_salvage *t2x_salvage_new(const struct t2x_ring *ring);
void t2x_salvage_free(struct t2x_salvage *salvage);

/* Blocks of the stream in the file, in order: what they define need not be defined again. */
void t2x_salvage_follow(struct t2x_salvage *salvage, const struct t2x_block *block);

/* The next block, valid until the next call.  Return  1; 0 at the end, when the totals are complete */
int t2x_salvage_next(struct t2x_salvage *salvage, struct t2x_block *block);

const struct t2x_salvage_totals *t2x_salvage_totals(const struct t2x_salvage *salvage);

#endif
