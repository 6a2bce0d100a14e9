/* SPDX-License-Identifier: MIT */
/* fuzzseal.c - fuzz_reseal(), see fuzz.h. */
#include <string.h>

#include "fuzz.h"
#include "tlg_block.h"
#include "tlg_crc.h"
#include "read/t2x_lz4.h"

/* ---- blocks ------------------------------------------------------------------------------------- */

/* The stream of the last CYCLE among the entries of a block, if there is one. */
static void follow_stream(const struct t2x_layout *layout, const uint8_t *block, size_t bytes, uint32_t *stream)
{
	struct tlg_event event[T2X_MAX_SPLIT];

	for (size_t at = layout->entry_size; at < bytes; at += layout->entry_size) {
		t2x_layout_decode(layout, block + at, 1, event);
		if (tlg_event_type(event) == TLG_CYCLE)
			*stream = event->u.cycle.stream;
	}
}

/* Return  bytes of the block at p; 0: none begins there */
static size_t seal_block(const struct t2x_layout *layout, uint8_t *p, size_t n, uint32_t *stream)
{
	struct tlg_event head[T2X_MAX_SPLIT];
	uint32_t crc;
	size_t bytes;

	if (!layout->block || n < layout->entry_size || memcmp(p + layout->magic_at, layout->magic, 2))
		return 0;
	t2x_layout_decode(layout, p, 1, head);
	bytes = (head->u.block.size + (size_t)1) * layout->entry_size;
	if (tlg_event_type(head) != TLG_BLOCK || bytes > n)
		return 0;
	if (head->u.block.tid == TLG_NO_THREAD)
		follow_stream(layout, p, bytes, stream);
	crc = tlg_block_crc(p, bytes, layout->crc_at, *stream);
	for (unsigned i = 0; i < 4; i++, crc >>= 8)
		p[layout->crc_at + (layout->little_endian ? i : 3 - i)] = (uint8_t)crc;
	return bytes;
}

/* ---- LZ4 frames --------------------------------------------------------------------------------- */

enum { FRAME_MAGIC = 0x184d2204, MARK_BYTES = 24 };

static uint32_t load_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t rotate(uint32_t value, int bits)
{
	return value << bits | value >> (32 - bits);
}

/* XXH32 of fewer than 16 bytes, seed 0: of the header of a frame. */
static uint32_t xxh32_of_few(const uint8_t *p, size_t n)
{
	const uint32_t prime[] = { 2654435761U, 2246822519U, 3266489917U, 668265263U, 374761393U };
	uint32_t hash = prime[4] + (uint32_t)n;

	for (; n >= 4; n -= 4, p += 4)
		hash = rotate(hash + load_le32(p) * prime[2], 17) * prime[3];
	for (; n; n--, p++)
		hash = rotate(hash + *p * prime[4], 11) * prime[0];
	hash = (hash ^ hash >> 15) * prime[1];
	hash = (hash ^ hash >> 13) * prime[2];
	return hash ^ hash >> 16;
}

static void seal_frame(uint8_t *p, size_t n)
{
	size_t described;
	uint32_t crc;

	if (n < 7)
		return;
	if (load_le32(p) == TLG_SKIP_MAGIC && n >= MARK_BYTES) {
		crc = tlg_crc32c(0, p + 8, 12);
		for (unsigned i = 0; i < 4; i++, crc >>= 8)
			p[20 + i] = (uint8_t)crc;
	}
	if (load_le32(p) != FRAME_MAGIC)
		return;
	/* flags, block size; content size, dictionary */
	described = 2 + (p[4] & 8 ? 8U : 0) + (p[4] & 1 ? 4U : 0);
	if (4 + described < n)
		p[4 + described] = (uint8_t)(xxh32_of_few(p + 4, described) >> 8);
}

static void seal_blocks(uint8_t *bytes, size_t n, const struct t2x_layout *layout)
{
	const struct t2x_layout *layouts[2] = { layout ? layout : t2x_layout_native(1), t2x_layout_native(0) };
	unsigned nlayouts = layout ? 1 : 2;
	uint32_t stream = 0;

	for (size_t at = 0, step; at < n; at += step ? step : 1) {
		step = 0;
		for (unsigned i = 0; i < nlayouts && !step; i++)
			step = seal_block(layouts[i], bytes + at, n - at, &stream);
	}
}

void fuzz_reseal(uint8_t *bytes, size_t n, const struct t2x_layout *layout)
{
	if (!t2x_lz4_is_frame(bytes, n)) {
		seal_blocks(bytes, n, layout);
		return;
	}
	for (size_t at = 0; at < n; at++)
		seal_frame(bytes + at, n - at);
}
