/* SPDX-License-Identifier: MIT */
/*
 * t2x_join.h - joins a .tlg file and the ring files of its processes into one input.
 *
 * A ring file says how many blocks of its stream are certainly in the .tlg file.  The join delivers these blocks from
 * the .tlg file, then the events of the ring.  It drops later blocks of the stream, because the ring has their events
 * too.  So no event comes twice.
 *
 * A ring file begins when the .tlg file has delivered those blocks.  A ring file of which the .tlg file has no block
 * begins when the .tlg file reaches the start time of its process.  From then on the join delivers the earliest block
 * of all inputs that have begun.  If the order of the .tlg file is not known (read/t2x_order.h), a ring file is
 * delivered without interruption once it has begun, and a ring file without blocks in the .tlg file comes last.
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
	uint32_t stream;
	uint32_t blocks;                  /* of the stream, certainly in the .tlg file; 0: all are in the ring file */
	uint32_t seen;                    /* number of the latest of these */
	struct t2x_pace pace;             /* time that the ring's blocks have reached; at first the process's start */
	enum { T2X_JOIN_WAITS, T2X_JOIN_NOW, T2X_JOIN_DONE } stage;
	int is_alone;                     /* deliver only streams that have a ring file */
};

/* Add a ring file to an input.  The input's .tlg file need not exist. */
void t2x_join_add(struct t2x_input *input, struct t2x_join *join);

/* A t2x_next_fn: the next block of the input whose blocks these are.  Without ring files as t2x_input_next() */
int t2x_join_next(struct t2x_blocks *blocks, struct t2x_block *block);

#endif
