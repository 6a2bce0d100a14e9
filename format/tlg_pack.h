/* SPDX-License-Identifier: MIT */
/*
 * tlg_pack.h - the `packed` encoding of a block: its events as differences from predicted ones.
 *
 * Each event becomes a tag byte and the bytes that cannot be predicted.  A HIT has the progress of the clock and the
 * scope index, a VALUE its significant bytes, an INFO its text without padding.  A usual event takes 3 to 6 bytes
 * instead of 24.  Any 24 bytes can be packed, and unpack to the same bits.  FORMAT.md section 11 has the rules.
 *
 * The packed bytes do not depend on the machine's byte order.  The events to which they unpack do: these are the bytes
 * that the writer had in memory.
 */
#ifndef TLG_PACK_H
#define TLG_PACK_H

#include "tlg.h"

/*
 * Members of the BLOCK event that its packed events need not repeat.
 * pid  BLOCK's pid, 16 bits    tid  BLOCK.tid
 */
struct tlg_pack_key {
	unsigned pid;
	uint32_t tid;
};

/*
 * Pack the events of a block.
 * to      size bytes, all of which may be written
 * Return  bytes, padded with zeros to a multiple of 24; 0: size does not suffice.  That may also be returned if the
 *         events do not become at least 32 bytes shorter
 * Signal  safe    Cost  about 4 ns an event
 */
size_t tlg_pack(const struct tlg_pack_key *key, const struct tlg_event *events, unsigned count, void *to,
		size_t size);

/*
 * Unpack count events from bytes that nobody has checked.
 * is_swapped  1: the writer had the other byte order, and so will the events have
 * to          count events; their content is undefined if the call returns 0
 * Return      1; 0: these are not the bytes of so many packed events
 * Signal      safe    Cost  about 4 ns an event
 */
int tlg_unpack(const struct tlg_pack_key *key, const void *from, size_t bytes, int is_swapped, struct tlg_event *to,
	       unsigned count);

#endif
