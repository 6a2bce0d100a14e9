/* SPDX-License-Identifier: MIT */
/* tr2_frame.c - framing; the library's only user of lz4. */
#include "tr2_frame.h"

#include <errno.h>
#include <lz4.h>
#include <string.h>

#include "tlg.h"
#include "tlg_crc.h"
#include "base/tr2_memory.h"

enum {
	MARK_BYTES = 24,
	/*
	 * LZ4's acceleration in fast mode.  For a usual mix of packed events it is 1.7 times as fast as the default,
	 * and saves 15 % instead of 24 %.
	 */
	FAST_ACCELERATION = 9,
	FLAGS = 0x7c,             /* version 1, independent blocks, checksums of block and content, content size */
	MOST_256_KIB = 5 << 4,    /* in a block */
	HEADER_BYTES = 4 + 2 + 8 + 1,
};
#define FRAME_MAGIC UINT32_C(0x184d2204)
#define IS_STORED UINT32_C(0x80000000)

#define OUTPUT_BYTES(bytes) (MARK_BYTES + HEADER_BYTES + (bytes) + 16)

static struct memory {
	LZ4_stream_t state;
	unsigned char output[OUTPUT_BYTES(LZ4_COMPRESSBOUND(TLG_FRAME_BYTES))];
} *g_memory;

/* Of a frame that is not compressed.  A short process has no other: this shares a page with what is packed. */
static unsigned char *g_stored;        /* OUTPUT_BYTES(TR2_FRAME_STORED) */

static unsigned char *store_le32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		*to++ = (unsigned char)value;
	return to;
}

/* ---- XXH32, the checksum of LZ4's frames, seed 0 ----------------------------------------------------- */

static const uint32_t prime[] = { 0, 2654435761, 2246822519, 3266489917, 668265263, 374761393 };

static uint32_t rotate(uint32_t value, int bits)
{
	return value << bits | value >> (32 - bits);
}

static uint32_t load_le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint32_t mix(uint32_t sum, const unsigned char *p)
{
	return rotate(sum + load_le32(p) * prime[2], 13) * prime[1];
}

/*
 * The part of whole 16 bytes: four accumulators side by side.  Not an array: gcc would put that into one SSE register,
 * and make shifts and adds of each multiplication, which takes six times as long.
 */
static uint32_t mix_stripes(const unsigned char *p, size_t stripes)
{
	uint32_t a = prime[1] + prime[2], b = prime[2], c = 0, d = -prime[1];

	for (; stripes; stripes--, p += 16) {
		a = mix(a, p);
		b = mix(b, p + 4);
		c = mix(c, p + 8);
		d = mix(d, p + 12);
	}
	return rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
}

static uint32_t xxh32(const unsigned char *p, size_t n)
{
	uint32_t hash = n >= 16 ? mix_stripes(p, n / 16) : prime[5];
	size_t left = n % 16;

	p += n - left;
	hash += (uint32_t)n;
	for (; left >= 4; left -= 4, p += 4)
		hash = rotate(hash + load_le32(p) * prime[3], 17) * prime[4];
	for (; left; left--, p++)
		hash = rotate(hash + *p * prime[5], 11) * prime[1];
	hash = (hash ^ hash >> 15) * prime[2];
	hash = (hash ^ hash >> 13) * prime[3];
	return hash ^ hash >> 16;
}

/* ---- the frame --------------------------------------------------------------------------------------- */

static unsigned char *store_mark(unsigned char *to, uint32_t stream, uint32_t number, size_t bytes)
{
	unsigned char *body = store_le32(store_le32(to, TLG_SKIP_MAGIC), MARK_BYTES - 8), *end;

	end = store_le32(store_le32(store_le32(body, stream), number), (uint32_t)bytes);
	return store_le32(end, tlg_crc32c(0, body, (size_t)(end - body)));
}

static unsigned char *store_header(unsigned char *to, size_t bytes)
{
	unsigned char *descriptor = store_le32(to, FRAME_MAGIC), *end = descriptor;

	*end++ = FLAGS;
	*end++ = MOST_256_KIB;
	end = store_le32(store_le32(end, (uint32_t)bytes), 0);
	*end = (unsigned char)(xxh32(descriptor, (size_t)(end - descriptor)) >> 8);
	return end + 1;
}

/*
 * The one block: compressed, or stored where that is no longer.  It has its own checksum: a corrupted byte may decode
 * to the same content, and go unnoticed.
 */
static unsigned char *store_block(unsigned char *to, const void *plain, size_t bytes, int is_fast)
{
	unsigned char *data = to + 4;
	int n = 0;

	if (bytes >= TR2_FRAME_STORED)
		n = LZ4_compress_fast_extState(&g_memory->state, plain, (char *)data, (int)bytes, (int)bytes - 1,
					       is_fast ? FAST_ACCELERATION : 1);
	if (n <= 0)
		memcpy(data, plain, bytes);
	store_le32(to, n > 0 ? (uint32_t)n : (uint32_t)bytes | IS_STORED);
	bytes = n > 0 ? (size_t)n : bytes;
	return store_le32(data + bytes, xxh32(data, bytes));
}

int tr2_frame_is(const unsigned char begin[4])
{
	uint32_t magic = load_le32(begin);

	return magic == FRAME_MAGIC || (magic & ~UINT32_C(15)) == (TLG_SKIP_MAGIC & ~UINT32_C(15));
}

int tr2_frame_init(void)
{
	if (!g_memory)
		g_memory = tr2_memory_acquire_far(sizeof(*g_memory));
	if (!g_stored)
		g_stored = tr2_memory_acquire(OUTPUT_BYTES(TR2_FRAME_STORED));
	return g_memory && g_stored ? 0 : -errno;
}

const void *tr2_frame_make(const void *plain, size_t bytes, uint32_t stream, uint32_t number, int is_fast,
			   size_t *framed)
{
	unsigned char *output = bytes < TR2_FRAME_STORED ? g_stored : g_memory->output;
	unsigned char *at = store_header(store_mark(output, stream, number, bytes), bytes);

	at = store_block(at, plain, bytes, is_fast);
	at = store_le32(store_le32(at, 0), xxh32(plain, bytes));
	*framed = (size_t)(at - output);
	return output;
}
