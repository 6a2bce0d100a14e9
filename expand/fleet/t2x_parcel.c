/* SPDX-License-Identifier: MIT */
/* t2x_parcel.c - see t2x_parcel.h. */
#include "t2x_parcel.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "tlg_block.h"
#include "tlg_crc.h"
#include "read/t2x_lz4.h"

static_assert(T2X_LZ4_PACKED <= T2X_ENVELOPE_MESSAGE - T2X_ENVELOPE_BYTES, "a frame fits into a message");

/* ---- frames ------------------------------------------------------------------------------------- */

void t2x_parcel_mark(unsigned char *to, uint32_t stream, uint32_t number, size_t plain_bytes)
{
	uint32_t mark[6] = { htole32(TLG_SKIP_MAGIC), htole32(T2X_LZ4_MARK_BYTES - 8), htole32(stream),
			     htole32(number), htole32((uint32_t)plain_bytes) };

	mark[5] = htole32(tlg_crc32c(0, &mark[2], 3 * sizeof(mark[0])));
	memcpy(to, mark, sizeof(mark));
}

size_t t2x_parcel_pack(unsigned char *to, const unsigned char *plain, size_t n)
{
	return t2x_lz4_pack(to, T2X_LZ4_PACKED, plain, n);
}

/* A piece of memory that a window slides over. */
struct memory {
	const unsigned char *at;
	size_t left;
};

static ssize_t read_memory(void *source, unsigned char *to, size_t room)
{
	struct memory *memory = source;
	size_t n = memory->left < room ? memory->left : room;

	memcpy(to, memory->at, n);
	memory->at += n;
	memory->left -= n;
	return (ssize_t)n;
}

size_t t2x_parcel_unpack(unsigned char *plain, const unsigned char *marked, size_t n)
{
	struct memory memory = { marked, n };
	struct t2x_report report = { .to = NULL };
	struct t2x_window window;
	const unsigned char *rest;
	struct t2x_lz4 *lz4;
	ssize_t made = 0;

	if (!t2x_lz4_is_mark(marked, n) || t2x_window_init(&window, T2X_LZ4_SEEN, read_memory, &memory, 4096))
		return 0;
	lz4 = t2x_lz4_new(&window, "message", &report);
	if (lz4)
		made = t2x_lz4_fill(lz4, plain, TLG_FRAME_BYTES);
	if (made < 0 || report.damages || t2x_window_peek(&window, 1, &rest))
		made = 0;
	t2x_lz4_free(lz4);
	t2x_window_free(&window);
	return (size_t)made;
}

/* ---- making ------------------------------------------------------------------------------------- */

int t2x_parcel_add(struct t2x_parcel *parcel, const struct t2x_envelope *head, const struct t2x_parcel_block *block,
		   const void *bytes)
{
	struct t2x_envelope *mine = &parcel->head;

	if (mine->stream && (mine->stream != head->stream || mine->ring != head->ring))
		return 0;
	if (parcel->n + block->bytes > TLG_FRAME_BYTES)
		return 0;
	if (!mine->stream) {
		*mine = *head;
		mine->first = block->number;
		mine->blocks = 0;
		mine->events = 0;
	}
	mine->last = block->number;
	mine->blocks++;
	mine->events += block->events;
	memcpy(parcel->plain + parcel->n, bytes, block->bytes);
	parcel->n += block->bytes;
	return 1;
}

size_t t2x_parcel_seal(struct t2x_parcel *parcel, unsigned char *to)
{
	struct t2x_envelope *head = &parcel->head;
	unsigned char *frame = to + T2X_ENVELOPE_BYTES;
	size_t packed = t2x_parcel_pack(frame, parcel->plain, parcel->n);

	if (!packed)
		return 0;
	head->reason = T2X_GAP_NONE;
	head->plain_bytes = (uint32_t)parcel->n;
	head->packed_bytes = (uint32_t)packed;
	head->packed_crc = tlg_crc32c(0, frame, packed);
	t2x_envelope_write(head, to);
	memset(head, 0, sizeof(*head));
	parcel->n = 0;
	return T2X_ENVELOPE_BYTES + packed;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* Return  1: the frame has as many plain bytes as the envelope says */
static int unpack(const struct t2x_envelope *head, const unsigned char *frame, unsigned char *plain)
{
	unsigned char *marked = malloc(T2X_LZ4_MARK_BYTES + head->packed_bytes);
	size_t n = 0;

	if (marked) {
		t2x_parcel_mark(marked, head->stream, 1, head->plain_bytes);
		memcpy(marked + T2X_LZ4_MARK_BYTES, frame, head->packed_bytes);
		n = t2x_parcel_unpack(plain, marked, T2X_LZ4_MARK_BYTES + head->packed_bytes);
	}
	free(marked);
	return n == head->plain_bytes;
}

int t2x_parcel_block(struct t2x_parcel_block *block, uint32_t stream, const unsigned char *plain, size_t n)
{
	struct tlg_event head;
	uint32_t crc;
	int is_swapped;

	if (n < sizeof(head))
		return 0;
	memcpy(&head, plain, sizeof(head));
	is_swapped = head.u.block.magic == __builtin_bswap16(TLG_BLOCK_MAGIC);
	if (is_swapped) {
		head.flags = __builtin_bswap16(head.flags);
		head.sequence = __builtin_bswap32(head.sequence);
		head.u.block.magic = __builtin_bswap16(head.u.block.magic);
		head.u.block.crc = __builtin_bswap32(head.u.block.crc);
		head.u.block.count = __builtin_bswap16(head.u.block.count);
		head.u.block.size = __builtin_bswap16(head.u.block.size);
	}
	*block = (struct t2x_parcel_block){ head.sequence, head.u.block.count,
					    (head.u.block.size + (size_t)1) * sizeof(head) };
	if (tlg_event_type(&head) != TLG_BLOCK || head.u.block.magic != TLG_BLOCK_MAGIC || block->bytes > n ||
	    head.u.block.count > TLG_BLOCK_LIMIT || head.u.block.size > TLG_BLOCK_LIMIT)
		return 0;
	crc = tlg_block_crc(plain, block->bytes, TLG_BLOCK_CRC_AT, stream);
	return crc == head.u.block.crc;
}

const char *t2x_parcel_open(struct t2x_envelope *head, const unsigned char *message, size_t n, unsigned char *plain)
{
	const char *why = t2x_envelope_read(head, message, n);
	struct t2x_parcel_block block;
	uint32_t last = 0, blocks = 0;
	uint64_t events = 0;

	if (why || head->reason != T2X_GAP_NONE)
		return why;
	if (!unpack(head, message + T2X_ENVELOPE_BYTES, plain))
		return "a frame that cannot be unpacked";
	for (size_t at = 0; at < head->plain_bytes; at += block.bytes) {
		if (!t2x_parcel_block(&block, head->stream, plain + at, head->plain_bytes - at))
			return "a damaged block";
		if (blocks++ ? block.number <= last : block.number != head->first)
			return "blocks in another order than their numbers";
		last = block.number;
		events += block.events;
	}
	return last != head->last || blocks != head->blocks || events != head->events ?
		       "other blocks than the envelope says" : NULL;
}
