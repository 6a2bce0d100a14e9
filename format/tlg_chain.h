/* SPDX-License-Identifier: MIT */
/*
 * tlg_chain.h - chains as they lie in the chunks of a ring: what is committed, where a chain begins, what THREAD says.
 *
 * The library, which records and reads at the same time, loads header words itself, in the right order.  A reader of
 * ring files, which trusts nothing, finds chains that are committed event by event.  Both go by the rules here.
 */
#ifndef TLG_CHAIN_H
#define TLG_CHAIN_H

#include "tlg_ring.h"

/* 1 for the sequence of an event that is committed in this use of the chunk. */
static inline int tlg_is_committed(const struct tlg_chunk *chunk, uint32_t sequence)
{
	return sequence == chunk->number;
}

/* 1 for the type of a chain's first event.  An argument that no chain has led to belongs to one that was abandoned. */
static inline int tlg_begins_chain(unsigned type)
{
	return !tlg_is_argument(type);
}

/*
 * In a chunk that does not change: events of the chain at event, all of which are committed, in front of limit.
 * Return  0: none begins there
 */
uint32_t tlg_chunk_chain(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit);

/* Where the next such chain begins, from event on, PAD included; limit: nowhere. */
uint32_t tlg_chunk_find(const struct tlg_chunk *chunk, uint32_t event, uint32_t limit);

/* ---- THREAD in a ring --------------------------------------------------------------------------- */

/*
 * Whose events follow in the ring.  A chain: THREAD, VALUEs with what the ring had dropped before and when the regions
 * were entered that are open, the name as INFO.
 */
struct tlg_announce {
	uint32_t tid, ostid;
	uint64_t start;
	uint64_t lost_hits, lost_events;  /* that the ring had dropped */
	unsigned nopen;
	char name[TLG_THREAD_NAME];
};

/* Events of that chain. */
unsigned tlg_announce_events(const struct tlg_announce *announce);

/*
 * The payload of its event i.  enters: when the open regions were entered, outermost first, as OPEN.when has it
 * Return  the event's flags: the caller writes the header words, the first event's last
 */
unsigned tlg_announce_fill(const struct tlg_announce *announce, const uint64_t *enters, unsigned i,
			   struct tlg_event *event);

/* What such a chain of n events says; what it lacks is 0. */
void tlg_announce_read(struct tlg_announce *announce, const struct tlg_event *chain, unsigned n);

/* When open region i was entered, of a chain that was read.  i  below nopen */
uint64_t tlg_announce_enter(const struct tlg_event *chain, unsigned i);

#endif
