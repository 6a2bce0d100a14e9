/* SPDX-License-Identifier: MIT */
/*
 * tr2_encode.h - encodes the drain's plain blocks for the file: packs them, if the settings ask for it, and adds
 * checksums.
 *
 * Packing saves more time than it takes: write(2) then copies a fifth of the bytes.
 *
 * Thread  the holder of the drain's lock
 */
#ifndef TR2_ENCODE_H
#define TR2_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

/* Allocate what packing needs.  0 or -errno.  Signal unsafe */
int tr2_encode_init(void);

/*
 * Encode blocks that have been described (tlg_block.h): at least one, and as many as fit into limit bytes.
 * bytes   of the blocks, at most TLG_FRAME_BYTES; in: all, out: of those that were encoded
 * Return  *encoded bytes for the file, valid until the next call
 * Cost    an event: plain 3 ns, packed 6 ns
 */
const void *tr2_encode(struct tlg_event *blocks, size_t *bytes, size_t limit, uint32_t stream, size_t *encoded);

#endif
