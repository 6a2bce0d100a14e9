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

#include "tr2_thread.h"

/*
 * The calling thread's checkpoint of this scope, 0 for one that it brings along, found no room and was counted.
 * Signal safe    Cost  10 ns
 */
void tr2_gap_count(uint32_t scope);

/* Self is a new thread: it has dropped nothing yet. */
void tr2_gap_reset(struct tr2_thread *self);

/* Something was dropped that the ring does not tell of yet. */
static inline int tr2_gap_is_due(const struct tr2_thread *self)
{
	return self->ring.head->lost_events != self->told_events;
}

/* Tell of it in this event of self's ring.  Signals masked. */
void tr2_gap_tell(struct tr2_thread *self, struct tlg_event *event);

#endif
