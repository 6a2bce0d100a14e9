/* SPDX-License-Identifier: MIT */
/*
 * tr2_gap.h - what the checkpoints that a thread drops would have done to its nesting.
 *
 * Whatever is dropped, of the regions that were open before some were left, and of those that were entered some are
 * still open: two numbers, kept up with each drop.  When the thread finds room again it says them in its ring, in front
 * of what it records next (GAP).  So the nesting, and the times of regions around a gap, are known behind it.
 */
#ifndef TR2_GAP_H
#define TR2_GAP_H

#include "tr2_ring.h"

/* Of a thread, since GAP was last written. */
struct tr2_gap {
	uint64_t dropped;                 /* checkpoints and what they did, see tr2_gap.c */
	uint64_t told_hits, told_events;  /* what the ring had lost then */
	int is_torn;                      /* a handler came in between */
};

/*
 * A checkpoint of this scope, 0 for one that it brings along, finds no room; its ring counts it next.
 * Thread  the ring's    Signal safe    Cost  10 ns
 */
void tr2_gap_count(struct tr2_gap *gap, uint32_t scope);

/* The ring is a new thread's, who has dropped nothing yet. */
void tr2_gap_reset(struct tr2_gap *gap, const struct tlg_ring *ring);

/* Something was dropped that the ring does not tell of yet. */
static inline int tr2_gap_is_due(const struct tr2_gap *gap, const struct tlg_ring *ring)
{
	return ring->lost_events != gap->told_events;
}

/* Tell of it in this event of the ring.  Signals masked. */
void tr2_gap_tell(struct tr2_gap *gap, const struct tlg_ring *ring, struct tlg_event *event);

#endif
