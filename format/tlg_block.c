/* SPDX-License-Identifier: MIT */
/* tlg_block.c - the checksum over a block, forwards and backwards. */
#include "tlg_block.h"

#include "tlg_crc.h"

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

void tlg_block_seal(struct tlg_event *block, uint32_t stream, unsigned pid, uint32_t number, uint32_t tid,
		    unsigned count)
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
	block->u.block.crc = tlg_block_crc(block, (count + 1) * sizeof(*block), TLG_BLOCK_CRC_AT, stream);
}
