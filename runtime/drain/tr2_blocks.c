/* SPDX-License-Identifier: MIT */
/* tr2_blocks.c - see tr2_blocks.h. */
#include "tr2_blocks.h"

#include <errno.h>
#include <string.h>

#include "tlg_block.h"
#include "base/tr2_memory.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

static struct blocks {
	struct tlg_event *buffer;
	int (*make_room)(void);
	unsigned used;                    /* events in the buffer */
	unsigned block;                   /* index of the open block's BLOCK event */
	unsigned in_block;                /* events behind it; 0: no block is open */
	uint32_t tid;                     /* whose it is */
	uint32_t count;                   /* blocks sealed in this stream */
	uint16_t cycle;                   /* the flags that say it */
} g_blocks;

int tr2_blocks_init(int (*make_room)(void))
{
	if (!g_blocks.buffer)
		g_blocks.buffer = tr2_memory_acquire_beside(TR2_BLOCKS_EVENTS * sizeof(struct tlg_event));
	g_blocks.make_room = make_room;
	return g_blocks.buffer ? 0 : -errno;
}

void tr2_blocks_begin(void)
{
	g_blocks.count = 0;
	g_blocks.used = g_blocks.in_block = 0;
}

void tr2_blocks_set_cycle(uint32_t cycle)
{
	g_blocks.cycle = (uint16_t)(cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static unsigned max_in_block(void)
{
	return tr2_g_settings.raw_packed ? TLG_PACK_EVENTS : TLG_BLOCK_EVENTS;
}

void tr2_blocks_seal(void)
{
	if (!g_blocks.in_block)
		return;
	tlg_block_describe(&g_blocks.buffer[g_blocks.block], tr2_g_shm.head->pid, ++g_blocks.count, g_blocks.tid,
			   g_blocks.in_block);
	g_blocks.in_block = 0;
}

int tr2_blocks_open(uint32_t tid, unsigned events)
{
	if (g_blocks.in_block && (g_blocks.tid != tid || g_blocks.in_block + events > max_in_block()))
		tr2_blocks_seal();
	if (g_blocks.used + events + 1 > TR2_BLOCKS_EVENTS && (g_blocks.make_room() || events + 1 > TR2_BLOCKS_EVENTS))
		return 0;
	if (!g_blocks.in_block) {
		g_blocks.block = g_blocks.used++;
		g_blocks.tid = tid;
	}
	return 1;
}

unsigned tr2_blocks_room(uint32_t tid)
{
	unsigned max = max_in_block(), left = TR2_BLOCKS_EVENTS - g_blocks.used;

	if (!g_blocks.in_block || g_blocks.tid != tid || g_blocks.in_block >= max)
		return 0;
	return max - g_blocks.in_block < left ? max - g_blocks.in_block : left;
}

/* ---- events ------------------------------------------------------------------------------------- */

struct tlg_event *tr2_blocks_next(void)
{
	return &g_blocks.buffer[g_blocks.used];
}

void tr2_blocks_appended(unsigned events)
{
	g_blocks.used += events;
	g_blocks.in_block += events;
}

struct tlg_event *tr2_blocks_append(unsigned flags, uint32_t sequence)
{
	struct tlg_event *event = tr2_blocks_next();

	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)(flags | g_blocks.cycle);
	event->pid = (uint16_t)tr2_g_shm.head->pid;
	event->sequence = sequence;
	tr2_blocks_appended(1);
	return event;
}

unsigned tr2_blocks_text_events(size_t bytes)
{
	return (unsigned)((bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
}

void tr2_blocks_append_text(const char *text, size_t bytes, uint32_t sequence)
{
	while (bytes) {
		size_t n = bytes < TLG_TEXT_SIZE ? bytes : TLG_TEXT_SIZE;
		struct tlg_event *event = tr2_blocks_append(TLG_INFO | (n == bytes ? TLG_INFO_END : 0), sequence);
		memcpy(event->u.info.text.c, text, n);
		text += n;
		bytes -= n;
	}
}

/* ---- the buffer --------------------------------------------------------------------------------- */

uint32_t tr2_blocks_count(void)
{
	return g_blocks.count;
}

struct tlg_event *tr2_blocks_buffer(size_t *bytes)
{
	tr2_blocks_seal();
	*bytes = g_blocks.used * sizeof(*g_blocks.buffer);
	return g_blocks.buffer;
}

void tr2_blocks_clear(void)
{
	g_blocks.used = 0;
}
