/* SPDX-License-Identifier: MIT */
/*
 * t2x_range.h - a file cut into ranges, each of which can be read by itself.
 *
 * The cuts are at the marks of LZ4 frames (t2x_seek.h says how these are found).  A stream changes hands where it can:
 * at its first cycle behind a cut.  So the reader of a range leaves out what each stream has in front of its first
 * cycle, and goes on behind the end of the range up to the next one of each stream that it has begun.  All readers
 * together read every block of a good file once.
 *
 * What is no good file - damage, a cycle without a clock, a file without blocks - is irregular.  It is for somebody who
 * reads from the beginning.
 */
#ifndef T2X_RANGE_H
#define T2X_RANGE_H

#include "t2x_blocks.h"

enum { T2X_RANGES_MAX = 256 };        /* of a file */

/* Where ranges begin, in the file and in what is in its frames; and where each stream has its last frame. */
struct t2x_ranges_plan {
	unsigned n;                       /* ranges; 0: the file cannot be cut */
	struct t2x_range_cut {
		uint64_t offset, plain;
	} cuts[T2X_RANGES_MAX];
	struct t2x_map streams;           /* by id: where, in plain bytes, what they have ends */
	uint64_t plain_bytes;             /* of the file as it was then: what a writer adds is not read */
};

/*
 * Cut the file into at most so many ranges, none of which has less than least plain bytes.
 * plan  all zero; to be freed in any case
 */
void t2x_ranges_plan(struct t2x_ranges_plan *plan, const char *path, unsigned max, uint64_t least);
void t2x_ranges_plan_free(struct t2x_ranges_plan *plan);

/* The blocks of a stream that were read. */
struct t2x_range_stream {
	uint32_t first, last;             /* their numbers */
	uint64_t until;                   /* here it ends, in plain bytes */
	int is_over;                      /* its next cycle is that of another reader */
};

struct t2x_range {
	struct t2x_blocks blocks;         /* first: the address of a range's blocks is the range's */
	struct t2x_in in;
	uint64_t begin, end;              /* in plain bytes of the file */
	uint64_t until;                   /* as far as what was begun may go on */
	int is_first;                     /* of its file: what is in front of a stream's first cycle belongs to it */
	int is_irregular;
	struct t2x_map streams;           /* of struct t2x_range_stream */
	const struct t2x_ranges_plan *plan;
};

/* report: where damage is counted.  Return  0 or -errno; to be closed in the first case */
int t2x_range_open(struct t2x_range *range, const char *path, const struct t2x_ranges_plan *plan, unsigned nth,
		   struct t2x_report *report);
void t2x_range_close(struct t2x_range *range);

/* The next block of the range whose blocks these are, as t2x_blocks_next().  A t2x_next_fn */
int t2x_range_next(struct t2x_blocks *blocks, struct t2x_block *block);

#endif
