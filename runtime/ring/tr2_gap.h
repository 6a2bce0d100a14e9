/* SPDX-License-Identifier: MIT */
/*
 * tr2_gap.h - how dropped checkpoints have changed the nesting of a thread's regions.
 *
 * The thread counts two numbers: of the regions that were open before the drops, how many it has left; of those that it
 * has entered since, how many are still open.  When it can record again, it first writes both into its ring, as GAP.
 * So a reader knows the nesting behind the gap, and the times of the regions around it.
 */
#ifndef TR2_GAP_H
#define TR2_GAP_H

#include "tr2_ring.h"

/* Of a thread, since GAP was last written. */
struct tr2_gap {
	uint64_t dropped;                 /* events and what they did, see tr2_gap.c */
	uint64_t reported_events;         /* what the ring had dropped then */
	int is_torn;                      /* a handler came in between */
};

/*
 * The thread drops a chain of so many events.  TLG_STYLE_none: nobody knows what it did.  The ring counts it next.
 * Thread  the ring's    Signal safe    Cost  10 ns
 */
void tr2_gap_count(struct tr2_gap *gap, enum tlg_style style, unsigned events);

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
