/* SPDX-License-Identifier: MIT */
/*
 * tlg_crc.h - CRC-32C (Castagnoli, reflected, 0x82f63b78), the checksum of a block.
 */
#ifndef TLG_CRC_H
#define TLG_CRC_H

#include <stddef.h>
#include <stdint.h>

/*
 * The CRC of n bytes that continue bytes with the CRC crc (at the beginning: the seed).
 * The function does pre- and post-inversion, so tlg_crc32c(tlg_crc32c(s, a, n), b, m) is the CRC of a and b.
 * Thread any    Signal safe    Cost  about 0.13 ns a byte with SSE4.2, 0.5 ns without
 */
uint32_t tlg_crc32c(uint32_t crc, const void *data, size_t n);

/*
 * The seed for which tlg_crc32c(seed, data, n) is crc: the calculation backwards.  With it a reader that begins in the
 * middle of a stream finds the stream's id.  Cost  about 1.5 ns a byte.
 */
uint32_t tlg_crc32c_seed(uint32_t crc, const void *data, size_t n);

#endif
