/* SPDX-License-Identifier: MIT */
/* tr2_encode.c - see tr2_encode.h. */
#include "tr2_encode.h"

#include <errno.h>
#include <string.h>

#include "tlg_block.h"
#include "base/tr2_memory.h"
#include "settings/tr2_env.h"

static struct tlg_event *g_packed;     /* TLG_FRAME_BYTES */

int tr2_encode_init(void)
{
	if (!g_packed && tr2_g_settings.raw_packed)
		g_packed = tr2_memory_acquire_beside(TLG_FRAME_BYTES);
	return g_packed || !tr2_g_settings.raw_packed ? 0 : -errno;
}

/* One block into to.  Return  entries */
static unsigned encode_block(const struct tlg_event *block, uint32_t stream, struct tlg_event *to)
{
	unsigned entries = tlg_block_pack(block, stream, to);

	if (entries)
		return entries;
	entries = block->u.block.size + 1u;
	memcpy(to, block, entries * sizeof(*to));
	tlg_block_sign(to, stream);
	return entries;
}

/* The same where it is. */
static unsigned sign_block(struct tlg_event *block, uint32_t stream)
{
	tlg_block_sign(block, stream);
	return block->u.block.size + 1u;
}

const void *tr2_encode(struct tlg_event *blocks, size_t *bytes, size_t limit, uint32_t stream, size_t *encoded)
{
	const int is_packed = g_packed && tr2_g_settings.raw_packed;
	struct tlg_event *to = is_packed ? g_packed : blocks;
	size_t from = 0, n = 0, end = *bytes / sizeof(*blocks);

	while (from < end) {
		unsigned size = blocks[from].u.block.size + 1u;
		unsigned entries = is_packed ? encode_block(&blocks[from], stream, to + n)
					     : sign_block(&blocks[from], stream);
		if (n && (n + entries) * sizeof(*to) > limit)
			break;
		n += entries;
		from += size;
	}
	*bytes = from * sizeof(*blocks);
	*encoded = n * sizeof(*to);
	return to;
}
