/* SPDX-License-Identifier: MIT */
/*
 * t2x_cut.h - whether the parts of a trace fit together where it was cut.
 *
 * Who reads a part from a cycle on, and has not read what is in front of it, takes for granted what the cycle says: who
 * the process is, how its threads are called, how many regions are open in them, what numbers mean.  Who reads all
 * ignores that, for he knows.  So the two agree only if what the part in front of the cut knew at its end is what the
 * part behind it was told, and if no event of a thread is missing between the two, or older than one in front.  That
 * is checked here, exactly.  Where it is not so, for whatever reason, the parts are of no use.
 */
#ifndef T2X_CUT_H
#define T2X_CUT_H

#include "merge/t2x_stream.h"
#include "read/t2x_range.h"

/* What is known at the end of a part, or of several that were joined.  All zero: nothing yet. */
struct t2x_cut {
	struct t2x_map streams;   /* of struct t2x_cut_stream */
	unsigned goes_on;         /* streams that are not the first of their processes */
	/* at most, if one had read all parts: bytes of definitions, regions for which he has room ... */
	size_t bytes, regions;
	size_t pending, peak_pending;   /* ... and bytes of blocks that wait where parts end, and elsewhere */
	int is_undated;           /* the part has to be read again by somebody who knows what is in front of it */
	int is_irregular;         /* nothing of it may be used */
};

/* A stream is complete, as far as the part goes: note it, before it is forgotten.  input: the number of its file */
void t2x_cut_add(struct t2x_cut *cut, const struct t2x_stream *stream, unsigned input);

/* The whole part has been read by this context, from this range. */
void t2x_cut_end(struct t2x_cut *cut, const struct t2x_context *context, const struct t2x_range *range);

/*
 * Whether the part has to be read again by somebody who knows when each thread did something last.
 *
 * Steps have the time of what was before them.  And a cycle may know the clock better than the one before, so that
 * by it a part begins earlier than the one in front has ended; who reads all does not let time go back.
 */
int t2x_cut_needs_past(const struct t2x_cut *cut, const struct t2x_cut *part);
uint64_t t2x_cut_last_ns(const struct t2x_cut *cut, uint32_t stream, uint32_t tid);

/* Join what is known with the part behind.  from is empty then, or irregular.  Return  0: they do not fit */
int t2x_cut_join(struct t2x_cut *to, struct t2x_cut *from);

/*
 * Of all parts: whether it all fits, also, if it matters, for the order of events of different threads; checkpoints
 * missing; for each of n inputs, streams without END.
 */
int t2x_cut_is_whole(const struct t2x_cut *cut, int needs_order);
uint64_t t2x_cut_missing(const struct t2x_cut *cut);
void t2x_cut_open_streams(const struct t2x_cut *cut, unsigned *open, unsigned n);

void t2x_cut_free(struct t2x_cut *cut);

#endif
