/* SPDX-License-Identifier: MIT */
/*
 * t2x_raw.h - the good blocks of a file as a plain .tlg: decompressed, without damage.
 *
 * Bytes stay as they are, byte order included.  Events of a foreign layout become native ones: their blocks
 * are made anew.
 */
#ifndef T2X_RAW_H
#define T2X_RAW_H

#include "base/t2x_out.h"
#include "read/t2x_blocks.h"

struct t2x_raw {
	struct t2x_out *out;
	struct tlg_event *made;          /* a block that is made anew */
	uint32_t added;                  /* blocks that were split off others so far */
};

/* Append a block.  Return  0 or -ENOMEM */
int t2x_raw_block(struct t2x_raw *raw, const struct t2x_block *block);

void t2x_raw_free(struct t2x_raw *raw);

#endif
