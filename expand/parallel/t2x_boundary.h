/* SPDX-License-Identifier: MIT */
/*
 * t2x_boundary.h - checks whether two ranges of a trace fit together where one ends and the other begins.
 *
 * A reader who begins at a cycle relies on what this cycle repeats: the process, the names of its threads, how many
 * regions are open in each, the definitions of numbers.  A reader of the whole file knows all this already and ignores
 * the repetition.  So both get the same result only if three conditions hold.  What the range in front knows at its end
 * equals what the cycle of the range behind repeats.  Between the two ranges no event of a thread is missing.  No event
 * of a thread is older than one in the range in front.  This module checks these conditions exactly.  Ranges that do
 * not fit cannot be used.
 */
#ifndef T2X_BOUNDARY_H
#define T2X_BOUNDARY_H

#include "merge/t2x_stream.h"
#include "read/t2x_range.h"

/* What a reader knows at the end of a part, or of several parts that were joined.  All zero: nothing yet. */
struct t2x_boundary {
	struct t2x_map streams;   /* of struct t2x_boundary_stream */
	unsigned goes_on;         /* streams that are not the first of their processes */
	/* Upper bounds for one reader of all parts: bytes of definitions, regions with allocated space, */
	size_t bytes, regions;
	size_t queued, peak_queued;   /* bytes of blocks that wait at the ends of parts; elsewhere */
	int is_undated;           /* the part must be read again with the state of the part in front of it */
	int is_irregular;         /* the part cannot be used */
};

/* The part has no more blocks of a stream: note its state, before it is freed.  input: number of its file */
void t2x_boundary_add(struct t2x_boundary *boundary, const struct t2x_stream *stream, unsigned input);

/* The context has read the whole part, from this range. */
void t2x_boundary_end(struct t2x_boundary *boundary, const struct t2x_context *context, const struct t2x_range *range);

/*
 * Whether the part must be read again with the time of the last event of each thread (t2x_boundary_last_ns()).
 *
 * There are two reasons.  A step has no time of its own; it gets that of the event before it.  And a cycle may know the
 * clock's rate better than the cycle before, so that a part seems to begin before the end of the part in front.  A
 * reader of the whole file does not let time run backwards there.
 */
int t2x_boundary_needs_past(const struct t2x_boundary *boundary, const struct t2x_boundary *part);
uint64_t t2x_boundary_last_ns(const struct t2x_boundary *boundary, uint32_t stream, uint32_t tid);

/* Join the part behind, from, to the boundary.  from is empty or irregular then.  Return  0: they do not fit */
int t2x_boundary_join(struct t2x_boundary *to, struct t2x_boundary *from);

/*
 * After all parts were joined: whether the result is that of one reader (needs_order: also in the order of events of
 * different threads); how many checkpoints are missing; for each of n inputs, how many streams have no END.
 */
int t2x_boundary_is_whole(const struct t2x_boundary *boundary, int needs_order);
uint64_t t2x_boundary_missing(const struct t2x_boundary *boundary);
void t2x_boundary_open_streams(const struct t2x_boundary *boundary, unsigned *open, unsigned n);

void t2x_boundary_free(struct t2x_boundary *boundary);

#endif
