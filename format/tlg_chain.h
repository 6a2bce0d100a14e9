/* SPDX-License-Identifier: MIT */
/*
 * tlg_chain.h - chains in the chunks of a ring: which events are committed, where a chain begins, what THREAD says.
 *
 * The library records and reads at the same time, so it loads header words itself, with the right memory ordering.  A
 * reader of ring files trusts nothing and checks event by event whether a chain is committed.  Both use the rules here.
 */
#ifndef TLG_CHAIN_H
#define TLG_CHAIN_H

#include "tlg_ring.h"

/* 1 if an event with this sequence is committed in the present use of the chunk. */
static inline int tlg_is_committed(const struct tlg_chunk *chunk, uint32_t sequence)
{
	return sequence == chunk->number;
}

/* 1 if this type can begin a chain.  An argument without a chain in front belongs to an abandoned reservation. */
static inline int tlg_begins_chain(unsigned type)
{
	return !tlg_is_argument(type);
}

/*
 * For a chunk that does not change any more.
 * Return  how many events the chain at event has, if all are committed and in front of limit; 0: no such chain
 */
uint32_t tlg_chunk_chain(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit);

/* Return  where the next such chain, or PAD, begins, from event on; limit: nowhere */
uint32_t tlg_chunk_find(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit);

/* ---- THREAD in a ring --------------------------------------------------------------------------- */

/*
 * A chain that says which thread's events follow in the ring: THREAD, VALUEs for the ring's drops so far and for the
 * times at which the open regions were entered, and the name as INFO.
 */
struct tlg_announce {
	uint32_t tid, ostid;
	uint64_t start;
	uint64_t lost_events;             /* that the ring had dropped before */
	unsigned nopen;
	char name[TLG_THREAD_NAME];
};

/* The number of events of the chain. */
unsigned tlg_announce_events(const struct tlg_announce *announce);

/*
 * Fill in the payload of event i.  enters: OPEN.when of the open regions, outermost first
 * Return  the event's flags.  The caller writes the header words, that of the first event last
 */
unsigned tlg_announce_fill(const struct tlg_announce *announce, const uint64_t *enters, unsigned i,
			   struct tlg_event *event);

/* Parse such a chain of n events; members that it lacks become 0. */
void tlg_announce_read(struct tlg_announce *announce, const struct tlg_event *chain, unsigned n);

/* When open region i was entered, by a chain that has been parsed.  i  below nopen */
uint64_t tlg_announce_enter(const struct tlg_event *chain, unsigned i);

#endif
