/* SPDX-License-Identifier: MIT */
/*
 * tr2_ring_glance.h - the consumer thread looks at a flight recorder's ring without reading it: it copies what is
 * committed, and the ring's owner may overwrite that meanwhile.
 *
 * A glance takes no lock, so the owner never waits for it and never drops an event because of it.  It copies events
 * first, and then looks whether the chunk still has the same number.  If not, the copy is worthless: the owner was
 * faster, and the glance goes on in the ring's current chunk.  Nothing that the owner or the reader uses is changed.
 */
#ifndef TR2_RING_GLANCE_H
#define TR2_RING_GLANCE_H

#include "tr2_ring.h"

/* A longer chain than TR2_CHAIN_EVENTS does not exist: so one always fits. */
enum { TR2_GLANCE_EVENTS = 2 * TR2_CHAIN_EVENTS };

/* Where the next glance begins.  All zero: at the ring's first event */
struct tr2_glance {
	uint32_t chunk;                   /* index + 1; 0: none yet */
	uint32_t number;                  /* of the chunk */
	uint32_t event;                   /* the next one in it */
	uint64_t lost_events;             /* that the ring had dropped when the chunk was opened */
	uint64_t since;                   /* raw clock since when an uncommitted event has stopped it; 0: none does */
};

/*
 * Copy the next whole chains.
 * now      raw clock    timeout  ticks to wait for an uncommitted event, before the glance goes around it
 * missed   grows by the events in front of the copied ones that the ring dropped, and by 1 if some were overwritten
 *          before they were seen
 * Return   events; 0: there is nothing more now
 * Thread   one at a time for each glance    Signal safe    Orders [M1] [M3] [M13]    Cost  1 ns each
 */
unsigned tr2_ring_glance(struct tr2_glance *glance, const struct tr2_ring *ring, uint64_t now, uint64_t timeout,
			 struct tlg_event to[TR2_GLANCE_EVENTS], uint64_t *missed);

#endif
