/* SPDX-License-Identifier: MIT */
/* t2x_unpack.c - see t2x_unpack.h. */
#include "t2x_unpack.h"

#include <string.h>

#include "tlg_block.h"
#include "tlg_pack.h"

static int is_swapped(const struct t2x_layout *layout)
{
	return layout->little_endian != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static int is_member(const struct t2x_layout *layout, unsigned which, unsigned offset, unsigned size)
{
	return layout->head[which].offset == offset && layout->head[which].size == size;
}

int t2x_unpack_is_for(const struct t2x_layout *layout)
{
	return layout->entry_size == TLG_EVENT_SIZE && layout->payload_offset == offsetof(struct tlg_event, u) &&
	       is_member(layout, T2X_HEAD_FLAGS, offsetof(struct tlg_event, flags), 2) &&
	       is_member(layout, T2X_HEAD_PID, offsetof(struct tlg_event, pid), 2) &&
	       is_member(layout, T2X_HEAD_SEQUENCE, offsetof(struct tlg_event, sequence), 4);
}

int t2x_unpack(const struct t2x_layout *layout, const struct tlg_event *head, const unsigned char *raw, size_t bytes,
	       struct tlg_event *to)
{
	const struct tlg_pack_key key = { head->pid, head->u.block.tid };

	memcpy(to, raw, sizeof(*to));
	return tlg_unpack(&key, raw + sizeof(*to), bytes - sizeof(*to), is_swapped(layout), to + 1,
			  head->u.block.count);
}

void t2x_unpack_seal(const struct t2x_layout *layout, struct tlg_event *block, unsigned count, uint32_t stream)
{
	struct tlg_block *head = &block->u.block;
	uint32_t crc;

	head->encoding = TLG_PLAIN;
	head->size = head->count;
	crc = tlg_block_crc(block, (count + 1) * sizeof(*block), TLG_BLOCK_CRC_AT, stream);
	head->crc = is_swapped(layout) ? __builtin_bswap32(crc) : crc;
}
