/* SPDX-License-Identifier: MIT */
/*
 * t2x_ranges.h - implements --jobs for formats that print totals (t2x_adder.h).  It divides files into ranges
 * (read/t2x_range.h).  Each range has a front end, a model and totals of its own, and is read, merged and added up by
 * itself.  In the end the totals are joined.
 *
 * The result equals that of one reader, to the byte.  So it counts only if the parts fit together (t2x_boundary.h) and
 * if nothing in them is irregular.  Irregular are damage, a file that ends inside of a frame, dropped events, events
 * that cannot be resolved, and threads that change their names.  Then this module prints and reports nothing, and the
 * caller reads everything again as a whole.
 *
 * Some inputs cannot be divided and are read as a whole from the beginning: pipes, plain files, ring files, parts of a
 * trace (filters), files of one frame.
 */
#ifndef T2X_RANGES_H
#define T2X_RANGES_H

#include "t2x_adder.h"
#include "t2x_pool.h"
#include "merge/t2x_stream.h"
#include "model/t2x_dropped.h"
#include "read/t2x_input.h"

/* What to read, with how many threads, and where to print. */
struct t2x_ranges_task {
	struct t2x_pool *pool;
	unsigned jobs;
	const struct t2x_adder *adder;
	const struct t2x_options *options;
	struct t2x_input *inputs;
	unsigned n;                       /* inputs */
	struct t2x_out *out;
};

/* What the caller reports about the inputs as a whole. */
struct t2x_ranges {
	struct t2x_context context;       /* its counts */
	struct t2x_summary summary;
	unsigned *open;                   /* of each input, streams without END */
};

/* Return  1: the output is complete; 0: nothing has happened.  The caller frees found in any case */
int t2x_ranges_expand(const struct t2x_ranges_task *task, struct t2x_ranges *found);
void t2x_ranges_free(struct t2x_ranges *found);

#endif
