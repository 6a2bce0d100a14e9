/* SPDX-License-Identifier: MIT */
/* tlg_block.c - seals blocks; calculates the checksum of a block, or the stream from the checksum. */
#include "tlg_block.h"

#include "tlg_crc.h"
#include "tlg_pack.h"

static const unsigned char zero[4];

uint32_t tlg_block_crc(const void *block, size_t bytes, size_t crc_at, uint32_t stream)
{
	const unsigned char *p = block;
	uint32_t crc = tlg_crc32c(stream, p, crc_at);

	crc = tlg_crc32c(crc, zero, 4);
	return tlg_crc32c(crc, p + crc_at + 4, bytes - crc_at - 4);
}

uint32_t tlg_block_stream(const void *block, size_t bytes, size_t crc_at, uint32_t crc)
{
	const unsigned char *p = block;

	crc = tlg_crc32c_seed(crc, p + crc_at + 4, bytes - crc_at - 4);
	crc = tlg_crc32c_seed(crc, zero, 4);
	return tlg_crc32c_seed(crc, p, crc_at);
}

void tlg_block_describe(struct tlg_event *block, unsigned pid, uint32_t number, uint32_t tid, unsigned count)
{
	block->flags = TLG_BLOCK;
	block->pid = (uint16_t)pid;
	block->sequence = number;
	block->u.block = (struct tlg_block){
		.magic = TLG_BLOCK_MAGIC,
		.encoding = TLG_PLAIN,
		.tid = tid,
		.count = (uint16_t)count,
		.size = (uint16_t)count,
	};
}

void tlg_block_sign(struct tlg_event *block, uint32_t stream)
{
	block->u.block.crc = tlg_block_crc(block, (block->u.block.size + 1u) * sizeof(*block), TLG_BLOCK_CRC_AT,
					   stream);
}

void tlg_block_seal(struct tlg_event *block, uint32_t stream, unsigned pid, uint32_t number, uint32_t tid,
		    unsigned count)
{
	tlg_block_describe(block, pid, number, tid, count);
	tlg_block_sign(block, stream);
}

unsigned tlg_block_pack(const struct tlg_event *block, uint32_t stream, struct tlg_event *to)
{
	const struct tlg_pack_key key = { block->pid, block->u.block.tid };
	unsigned count = block->u.block.count;
	size_t bytes;

	if (key.tid == TLG_NO_THREAD)
		return 0;
	bytes = tlg_pack(&key, block + 1, count, to + 1, (count - 1) * sizeof(*to));
	if (!bytes)
		return 0;
	to[0] = block[0];
	to[0].u.block.encoding = TLG_PACKED;
	to[0].u.block.size = (uint16_t)(bytes / sizeof(*to));
	tlg_block_sign(to, stream);
	return to[0].u.block.size + 1u;
}
