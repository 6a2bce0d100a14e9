/* SPDX-License-Identifier: MIT */
/*
 * tr2_stream.h - from rings to the stream of the file: appends chains, each behind the context that a reader needs.
 *
 * The stream is a sequence of cycles (tr2_cycle.h), these of blocks (tr2_blocks.h).  What stands in front of a chain is
 * found by tr2_context.h, from what the cycle has and what tr2_track.h knows about the thread.  Nothing here knows
 * rings or files: tr2_collect.c reads the one and writes the other.
 *
 * Thread  the holder of the drain's lock
 */
#ifndef TR2_STREAM_H
#define TR2_STREAM_H

#include "tr2_track.h"

/*
 * Allocate what the stream needs.  0 or -errno.  Before anything else; again in a forked child.
 * make_room  as for tr2_blocks_init(); whatever is appended may call it
 */
int tr2_stream_init(int (*make_room)(void));

/*
 * Append a committed chain, HIT or MORE.
 * Return  1; 0: not now, writing fails; -1: its scope cannot be read yet
 */
int tr2_stream_append(struct tr2_track *track, const struct tlg_event *events, unsigned count);

/*
 * Append the first of these whole chains, HIT or MORE, as many as need no context and fit into the open block: the
 * drain's innermost loop.  The next one is for tr2_stream_append().
 * n       events in all    Return  events appended    Cost  3 ns an event
 */
unsigned tr2_stream_append_run(struct tr2_track *track, const struct tlg_event *events, unsigned n);

/* Append GAP: what some of the events were that are missing.  Return  1; 0: not now */
int tr2_stream_append_gap(struct tr2_track *track, const struct tlg_gap *gap);

/* Define the thread and its open regions ahead of its next chain, if this cycle does not have them yet. */
void tr2_stream_append_context(struct tr2_track *track);

#endif
