/* SPDX-License-Identifier: MIT */
/*
 * t2x_salvage.h - delivers the events of a ring file that are not in its .tlg file, as blocks of the same stream.
 *
 * The first block begins with RECOVERED; a prologue group stands in front of it if no file has anything of the stream.
 * The last ones have the totals of dropped events, MARK and RECOVERED.  Between them come the chunks in the order in
 * which they were opened.  A MARK stands in front of each chunk, so that a merge needs little memory.
 *
 * Memory: 200 KB, 100 bytes for each chunk, and 5 KB for each ring that has events left.
 */
#ifndef T2X_SALVAGE_H
#define T2X_SALVAGE_H

#include "t2x_ring.h"
#include "read/t2x_blocks.h"

struct t2x_salvage_totals {
	uint64_t hits;                    /* checkpoints that were recovered */
	uint64_t in_flight;               /* events whose calls had not returned */
	unsigned damaged;                 /* chunks that could not be read, or that have events which nobody writes */
};

struct t2x_salvage;

/*
 * Salvage what a ring file has.  The caller keeps the ring file open.
 * Return  NULL: no memory
 */
struct t2x_salvage *t2x_salvage_new(const struct t2x_ring *ring);
void t2x_salvage_free(struct t2x_salvage *salvage);

/* Follow a block of the stream in the .tlg file, in order: what it defines need not be defined again. */
void t2x_salvage_follow(struct t2x_salvage *salvage, const struct t2x_block *block);

/* The next block, valid until the next call.  Return  1; 0 at the end, when the totals are complete */
int t2x_salvage_next(struct t2x_salvage *salvage, struct t2x_block *block);

const struct t2x_salvage_totals *t2x_salvage_totals(const struct t2x_salvage *salvage);

#endif
