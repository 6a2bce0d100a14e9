/* SPDX-License-Identifier: MIT */
/*
 * tr2_gap.h - what the checkpoints that a thread drops would have done to its nesting.
 *
 * Two numbers say it: how many of the regions open before the drops were left, and how many of those entered since are
 * still open.  When the thread can record again it reports them in its ring, as GAP, in front of what comes next.  So
 * nesting, and the times of regions around a gap, are known behind it.
 */
#ifndef TR2_GAP_H
#define TR2_GAP_H

#include "tr2_ring.h"

/* Of a thread, since GAP was last written. */
struct tr2_gap {
	uint64_t dropped;                 /* checkpoints and what they did, see tr2_gap.c */
	uint64_t reported_hits, reported_events;  /* what the ring had dropped then */
	int is_torn;                      /* a handler came in between */
};

/*
 * A checkpoint of this scope, 0 for one that it brings along, is dropped; its ring counts it next.
 * Thread  the ring's    Signal safe    Cost  10 ns
 */
void tr2_gap_count(struct tr2_gap *gap, uint32_t scope);

/* The ring is a new thread's, which has dropped nothing yet. */
void tr2_gap_reset(struct tr2_gap *gap, const struct tlg_ring *ring);

/* Something was dropped that is not reported yet. */
static inline int tr2_gap_is_due(const struct tr2_gap *gap, const struct tlg_ring *ring)
{
	return ring->lost_events != gap->reported_events;
}

/* Report it in this event of the ring.  Signals masked. */
void tr2_gap_report(struct tr2_gap *gap, const struct tlg_ring *ring, struct tlg_event *event);

#endif
