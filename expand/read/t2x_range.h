/* SPDX-License-Identifier: MIT */
/*
 * t2x_range.h - divides a file into ranges, each of which can be read by itself.
 *
 * A range starts at the mark of an LZ4 frame (t2x_seek.h says how marks are found).  A stream can be read from a cycle
 * on.  So the reader of a range begins a stream at its first cycle behind the start of the range, and leaves out what
 * the stream has in front of that.  Behind the end of the range, it continues each stream that it has begun up to the
 * stream's next cycle.  All readers together read every block of a good file once.
 *
 * A file is irregular if it has damage, or a cycle without a clock, or no blocks.  One reader must read an irregular
 * file from the beginning.
 */
#ifndef T2X_RANGE_H
#define T2X_RANGE_H

#include "t2x_blocks.h"

enum { T2X_RANGES_MAX = 256 };        /* of a file */

/* The starts of the ranges, and the end of each stream. */
struct t2x_ranges_plan {
	unsigned n;                       /* ranges; 0: the file cannot be divided */
	struct t2x_range_start {
		uint64_t offset, plain;   /* in the file, in its plain bytes */
	} starts[T2X_RANGES_MAX];
	struct t2x_map streams;           /* by id: the end of the stream's last frame, in plain bytes */
	uint64_t plain_bytes;             /* of the file when it was divided; what a writer appends later is not read */
};

/*
 * Divide the file into at most max ranges, none of which has fewer than least plain bytes.
 * plan  all zero; the caller frees it in any case
 */
void t2x_ranges_plan(struct t2x_ranges_plan *plan, const char *path, unsigned max, uint64_t least);
void t2x_ranges_plan_free(struct t2x_ranges_plan *plan);

/* The blocks of a stream that this range has read. */
struct t2x_range_stream {
	uint32_t first, last;             /* their numbers */
	uint64_t until;                   /* end of the stream, in plain bytes */
	int is_over;                      /* the reader of a later range has the stream's next cycle */
};

struct t2x_range {
	struct t2x_blocks blocks;         /* first: the address of a range's blocks is the range's */
	struct t2x_in in;
	uint64_t begin, end;              /* in plain bytes of the file */
	uint64_t until;                   /* end of the last of the streams that it has begun */
	int is_first;                     /* of its file: it also reads what a stream has in front of its first cycle */
	int is_irregular;
	struct t2x_map streams;           /* of struct t2x_range_stream */
	const struct t2x_ranges_plan *plan;
};

/* report: counts damage.  Return  0 or -errno; the caller closes the range if it is 0 */
int t2x_range_open(struct t2x_range *range, const char *path, const struct t2x_ranges_plan *plan, unsigned nth,
		   struct t2x_report *report);
void t2x_range_close(struct t2x_range *range);

/* The next block of the range whose blocks these are, as t2x_blocks_next().  A t2x_next_fn */
int t2x_range_next(struct t2x_blocks *blocks, struct t2x_block *block);

#endif
