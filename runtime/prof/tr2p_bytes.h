/* SPDX-License-Identifier: MIT */
/*
 * tr2p_bytes.h - read an unwind table byte by byte, never behind its end.
 *
 * A read that does not fit returns 0 and marks the reader as broken.  The caller checks that mark once, at the end.
 */
#ifndef TR2P_BYTES_H
#define TR2P_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tr2p_bytes {
	const uint8_t *at, *end;
	int is_broken;
};

static inline size_t tr2p_bytes_left(const struct tr2p_bytes *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

/* Move over n bytes.  Return  where they are; NULL: there are not so many */
static inline const uint8_t *tr2p_bytes_skip(struct tr2p_bytes *bytes, uint64_t n)
{
	const uint8_t *at = bytes->at;

	if (n > tr2p_bytes_left(bytes)) {
		bytes->at = bytes->end;
		bytes->is_broken = 1;
		return NULL;
	}
	bytes->at += n;
	return at;
}

static inline uint8_t tr2p_bytes_u8(struct tr2p_bytes *bytes)
{
	const uint8_t *at = tr2p_bytes_skip(bytes, 1);

	return at ? *at : 0;
}

/* A number in this machine's order, which stays as it is if there are not so many bytes. */
static inline void tr2p_bytes_take(struct tr2p_bytes *bytes, void *number, size_t n)
{
	const uint8_t *at = tr2p_bytes_skip(bytes, n);

	if (at)
		memcpy(number, at, n);
}

static inline uint16_t tr2p_bytes_u16(struct tr2p_bytes *bytes)
{
	uint16_t value = 0;

	tr2p_bytes_take(bytes, &value, sizeof(value));
	return value;
}

static inline uint32_t tr2p_bytes_u32(struct tr2p_bytes *bytes)
{
	uint32_t value = 0;

	tr2p_bytes_take(bytes, &value, sizeof(value));
	return value;
}

static inline uint64_t tr2p_bytes_u64(struct tr2p_bytes *bytes)
{
	uint64_t value = 0;

	tr2p_bytes_take(bytes, &value, sizeof(value));
	return value;
}

static inline uint64_t tr2p_bytes_uleb(struct tr2p_bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = tr2p_bytes_u8(bytes);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static inline int64_t tr2p_bytes_sleb(struct tr2p_bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0;;) {
		uint8_t byte = tr2p_bytes_u8(bytes);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && byte & 0x40)
			value |= ~UINT64_C(0) << shift;
		return (int64_t)value;
	}
}

#endif
