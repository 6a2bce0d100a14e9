/* SPDX-License-Identifier: MIT */
/*
 * sixblocks.h - for the tests of the block reader: a short stream, and what reading a file gives.
 */
#ifndef SIXBLOCKS_H
#define SIXBLOCKS_H

#include "tlgmake.h"
#include "read/t2x_blocks.h"

enum { SIXBLOCKS_HITS = 5, SIXBLOCKS_BYTES = (SIXBLOCKS_HITS + 1) * TLG_EVENT_SIZE };   /* of a block of HITs */

/* A cycle, block 1, and five blocks of HITs, 2 to 6.  The caller frees make */
void sixblocks_make(struct tlgmake *make, uint32_t id);

/* Offset of the i-th block of HITs, from 0. */
size_t sixblocks_hits_at(const struct tlgmake *make, unsigned i);

/* What reading a file gave. */
struct sixblocks_read {
	struct t2x_report report;
	char said[4096];          /* on stderr */
	unsigned blocks;
	uint32_t numbers[64];     /* of the first blocks */
	uint32_t stream;          /* of the last one */
	int is_plain_sequence;
};

/* Read a file of these n bytes. */
void sixblocks_read(struct sixblocks_read *result, const void *bytes, size_t n);

#endif
