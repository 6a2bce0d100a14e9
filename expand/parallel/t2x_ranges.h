/* SPDX-License-Identifier: MIT */
/*
 * t2x_ranges.h - --jobs for formats that add up (t2x_adder.h): files are divided into ranges (read/t2x_range.h), each
 * is read, merged and added up by itself, with a front end, a model and totals of its own, and the totals are joined.
 *
 * The result is that of one reader, to the byte.  So it counts only if the parts fit together (t2x_boundary.h), and
 * if nothing in them was out of the ordinary.  Otherwise nothing has been printed or reported, and all is read again as
 * a whole: where the file is damaged, or ends inside of a frame; where events were dropped, or could not be resolved;
 * where threads change their names.  What cannot be divided is read as a whole from the beginning: pipes, plain files,
 * ring files, parts of a trace (filters), files of one frame.
 */
#ifndef T2X_RANGES_H
#define T2X_RANGES_H

#include "t2x_adder.h"
#include "t2x_pool.h"
#include "merge/t2x_context.h"
#include "model/t2x_dropped.h"
#include "read/t2x_input.h"

/* What is read, by how many, and where the text goes. */
struct t2x_ranges_task {
	struct t2x_pool *pool;
	unsigned jobs;
	const struct t2x_adder *adder;
	const struct t2x_options *options;
	struct t2x_input *inputs;
	unsigned n;                       /* inputs */
	struct t2x_out *out;
};

/* What is to be said of the inputs as a whole. */
struct t2x_ranges {
	struct t2x_context context;       /* its counts */
	struct t2x_summary summary;
	unsigned *open;                   /* of each input, streams without END */
};

/* Return  1: the output is complete; 0: nothing has happened.  found is to be freed in any case */
int t2x_ranges_expand(const struct t2x_ranges_task *task, struct t2x_ranges *found);
void t2x_ranges_free(struct t2x_ranges *found);

#endif
