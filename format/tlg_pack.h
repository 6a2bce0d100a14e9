/* SPDX-License-Identifier: MIT */
/*
 * tlg_pack.h - the `packed` encoding of a block: its events as differences from what can be expected.
 *
 * Each event becomes a tag byte and the bytes that cannot be foreseen: of a HIT how far the clock went on and the
 * scope index, of a VALUE the bytes that count, of an INFO the text without its padding.  A usual event takes 3 to 6
 * bytes instead of 24.  Any 24 bytes can be packed and come out bit for bit; FORMAT.md section 11 has the rules.
 *
 * The packed bytes do not depend on the machine's byte order, what they unpack to does: exactly the events that their
 * writer had in memory.
 */
#ifndef TLG_PACK_H
#define TLG_PACK_H

#include "tlg.h"

/*
 * What the BLOCK event says, which need not be said again.
 * pid  BLOCK's pid, 16 bits    tid  BLOCK.tid
 */
struct tlg_pack_key {
	unsigned pid;
	uint32_t tid;
};

/*
 * Pack the events of a block.
 * to      size bytes, all of which may be written
 * Return  bytes, filled up with zeros to a multiple of 24; 0: size does not suffice, and events that do not become
 *         at least 32 bytes shorter need not be tried
 * Signal  safe    Cost  about 4 ns an event
 */
size_t tlg_pack(const struct tlg_pack_key *key, const struct tlg_event *events, unsigned count, void *to,
		size_t size);

/*
 * Unpack the count events that were packed into these bytes, of which none is trusted.
 * is_swapped  1: their writer has the other byte order, and so will have the events
 * to          count events; their content is not defined when 0 is returned
 * Return      1; 0: these are not the bytes of so many packed events
 * Signal      safe    Cost  about 4 ns an event
 */
int tlg_unpack(const struct tlg_pack_key *key, const void *from, size_t bytes, int is_swapped, struct tlg_event *to,
	       unsigned count);

#endif
