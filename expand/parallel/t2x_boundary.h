/* SPDX-License-Identifier: MIT */
/*
 * t2x_boundary.h - whether two ranges of a trace fit together where one ends and the other begins.
 *
 * A reader who begins at a cycle believes what that cycle says: who the process is, what its threads are called, how
 * many regions are open in them, what numbers mean.  A reader of the whole file ignores it, for he knows.  So both get
 * the same result only if the range in front knew at its end what the range behind was told, and if no event of a
 * thread is missing between the two, or older than one in front.  This module checks that exactly.  Ranges that do not
 * fit are of no use.
 */
#ifndef T2X_BOUNDARY_H
#define T2X_BOUNDARY_H

#include "merge/t2x_stream.h"
#include "read/t2x_range.h"

/* What is known at the end of a part, or of several that were joined.  All zero: nothing yet. */
struct t2x_boundary {
	struct t2x_map streams;   /* of struct t2x_boundary_stream */
	unsigned goes_on;         /* streams that are not the first of their processes */
	/* at most, if one had read all parts: bytes of definitions, regions for which he has room ... */
	size_t bytes, regions;
	size_t pending, peak_pending;   /* ... and bytes of blocks that wait where parts end, and elsewhere */
	int is_undated;           /* the part has to be read again by somebody who knows what is in front of it */
	int is_irregular;         /* nothing of it may be used */
};

/* A stream is complete, as far as the part goes: note it, before it is forgotten.  input: the number of its file */
void t2x_boundary_add(struct t2x_boundary *boundary, const struct t2x_stream *stream, unsigned input);

/* The whole part has been read by this context, from this range. */
void t2x_boundary_end(struct t2x_boundary *boundary, const struct t2x_context *context, const struct t2x_range *range);

/*
 * Whether the part has to be read again by somebody who knows when each thread did something last.
 *
 * Steps have the time of what was before them.  And a cycle may know the clock better than the one before, so that
 * by it a part begins earlier than the one in front has ended; who reads all does not let time go back.
 */
int t2x_boundary_needs_past(const struct t2x_boundary *boundary, const struct t2x_boundary *part);
uint64_t t2x_boundary_last_ns(const struct t2x_boundary *boundary, uint32_t stream, uint32_t tid);

/* Join what is known with the part behind.  from is empty then, or irregular.  Return  0: they do not fit */
int t2x_boundary_join(struct t2x_boundary *to, struct t2x_boundary *from);

/*
 * Of all parts: whether it all fits, also, if it matters, for the order of events of different threads; checkpoints
 * missing; for each of n inputs, streams without END.
 */
int t2x_boundary_is_whole(const struct t2x_boundary *boundary, int needs_order);
uint64_t t2x_boundary_missing(const struct t2x_boundary *boundary);
void t2x_boundary_open_streams(const struct t2x_boundary *boundary, unsigned *open, unsigned n);

void t2x_boundary_free(struct t2x_boundary *boundary);

#endif
