/* SPDX-License-Identifier: MIT */
/*
 * tlg_block.h - blocks: a writer seals them, a reader checks them.
 *
 * A block is a BLOCK event and BLOCK.size entries behind it.  Its checksum covers the raw bytes of all of them, with 0
 * in the crc member.  The id of the stream is the seed of the checksum.  So no reader mistakes a block of another
 * stream, or of what the file contained before, for a block of this stream.
 */
#ifndef TLG_BLOCK_H
#define TLG_BLOCK_H

#include "tlg.h"

/*
 * Fill in the BLOCK event at block[0] for the count plain events at block[1..count].
 * stream  id of the stream     pid  of the process     number  of the block in the stream, from 1
 * tid     thread whose events these are, or TLG_NO_THREAD     count  1..TLG_BLOCK_LIMIT
 * Signal  safe
 */
void tlg_block_seal(struct tlg_event *block, uint32_t stream, unsigned pid, uint32_t number, uint32_t tid,
		    unsigned count);

/* The two steps of sealing: fill in all but the checksum, which becomes 0; set the checksum, for any encoding. */
void tlg_block_describe(struct tlg_event *block, unsigned pid, uint32_t number, uint32_t tid, unsigned count);
void tlg_block_sign(struct tlg_event *block, uint32_t stream);

/*
 * Pack a block that has been described, and seal it.  A caller does not pack blocks of the process, so that every
 * reader finds the cycle in them.
 * block   is not changed
 * to      space for as many entries as the block has
 * Return  entries at to, BLOCK included; 0: packing would not make the block shorter
 * Signal  safe
 */
unsigned tlg_block_pack(const struct tlg_event *block, uint32_t stream, struct tlg_event *to);

/*
 * The checksum of a block of this stream.
 * block     raw bytes of the BLOCK event and the size entries behind it, bytes of them in all
 * crc_at    offset of the 4-byte crc member in block
 */
uint32_t tlg_block_crc(const void *block, size_t bytes, size_t crc_at, uint32_t stream);

/* The stream id for which the block has the checksum crc.  Arguments as tlg_block_crc(). */
uint32_t tlg_block_stream(const void *block, size_t bytes, size_t crc_at, uint32_t crc);

enum { TLG_BLOCK_CRC_AT = 8 + offsetof(struct tlg_block, crc) };   /* in the native layout */

#endif
