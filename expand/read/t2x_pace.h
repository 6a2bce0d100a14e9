/* SPDX-License-Identifier: MIT */
/*
 * t2x_pace.h - follows how far in time a stream has come, by its process blocks.
 */
#ifndef T2X_PACE_H
#define T2X_PACE_H

#include "t2x_blocks.h"
#include "base/t2x_clock.h"

/* All zero: nothing is known. */
struct t2x_pace {
	struct t2x_clock clock;
	uint64_t start;                   /* of the process, raw clock */
	int has_clock, has_rate;
	uint64_t start_ns;                /* the same since 1970; 0: not known */
	uint64_t ns;                      /* no older events of the stream will come; 0: not known */
};

/* Follow a block of the stream that has been read.  Blocks of threads change nothing. */
void t2x_pace_follow(struct t2x_pace *pace, const struct t2x_block *block);

#endif
