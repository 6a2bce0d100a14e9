/* SPDX-License-Identifier: MIT */
/*
 * t2x_join.h - a .tlg file and what its processes left in their ring files, as one input.
 *
 * The blocks of a ring file's stream count up to the last one that the ring file vouches for; there the ring's events
 * follow.  Later blocks of the stream are left out, for the ring has their events.  So nothing comes twice.
 *
 * From its turn on a ring file and the file go on in step: the one that is the earliest comes first.  A process of
 * which nothing is in the file has its turn when the file comes to its start.  Where the order of the file is not known
 * (read/t2x_order.h), nothing interrupts a ring file's turn, and such a process comes last.
 */
#ifndef T2X_JOIN_H
#define T2X_JOIN_H

#include "t2x_salvage.h"
#include "read/t2x_input.h"
#include "read/t2x_pace.h"

/* What one ring file adds to an input. */
struct t2x_join {
	struct t2x_join *next;            /* of the input */
	struct t2x_salvage *salvage;
	uint32_t stream, blocks;          /* which the ring file vouches for; 0: all is in the ring file */
	struct t2x_pace pace;             /* how far the ring file's blocks have come; its ns at first: the start */
	enum { T2X_JOIN_WAITS, T2X_JOIN_NOW, T2X_JOIN_DONE } stage;
	int is_alone;                     /* no streams of the input count but those of ring files */
};

/* Append to the input, whose file may be missing. */
void t2x_join_add(struct t2x_input *input, struct t2x_join *join);

/* The next block of the input whose blocks these are.  A t2x_next_fn; without ring files t2x_input_next() */
int t2x_join_next(struct t2x_blocks *blocks, struct t2x_block *block);

#endif
