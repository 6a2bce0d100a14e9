/* SPDX-License-Identifier: MIT */
/* tr2_stream.c - see tr2_stream.h. */
#include "tr2_stream.h"

#include <string.h>

#include "tlg_block.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

struct tr2_stream tr2_g_stream;

void tr2_stream_seal(void)
{
	if (!tr2_g_stream.in_block)
		return;
	tlg_block_describe(&tr2_g_stream.buffer[tr2_g_stream.block], tr2_g_shm.head->pid, ++tr2_g_stream.blocks,
			   tr2_g_stream.block_tid, tr2_g_stream.in_block);
	tr2_g_stream.in_block = tr2_g_stream.room = 0;
}

static unsigned max_in_block(void)
{
	return tr2_g_settings.raw_packed ? TLG_PACK_EVENTS : TLG_BLOCK_EVENTS;
}

int tr2_stream_open(uint32_t tid, unsigned events)
{
	if (tr2_g_stream.in_block &&
	    (tr2_g_stream.block_tid != tid || tr2_g_stream.in_block + events > max_in_block()))
		tr2_stream_seal();
	if (tr2_g_stream.used + events + 1 > TR2_STREAM_EVENTS)
		return 0;
	if (!tr2_g_stream.in_block) {
		tr2_g_stream.block = tr2_g_stream.used++;
		tr2_g_stream.block_tid = tid;
	}
	return 1;
}

struct tlg_event *tr2_stream_append(unsigned flags, uint32_t sequence)
{
	struct tlg_event *event = &tr2_g_stream.buffer[tr2_g_stream.used++];

	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)(flags | (tr2_g_stream.cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK));
	event->pid = (uint16_t)tr2_g_shm.head->pid;
	event->sequence = sequence;
	tr2_g_stream.in_block++;
	return event;
}

unsigned tr2_stream_text_events(size_t bytes)
{
	return (unsigned)((bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
}

void tr2_stream_append_text(const char *text, size_t bytes, uint32_t sequence)
{
	while (bytes) {
		size_t n = bytes < TLG_TEXT_SIZE ? bytes : TLG_TEXT_SIZE;
		struct tlg_event *event = tr2_stream_append(TLG_INFO | (n == bytes ? TLG_INFO_END : 0), sequence);
		memcpy(event->u.info.text.c, text, n);
		text += n;
		bytes -= n;
	}
}

void tr2_stream_find_room(void)
{
	unsigned most = max_in_block(), room = tr2_g_stream.in_block < most ? most - tr2_g_stream.in_block : 0;
	size_t limit = tr2_g_settings.cycle_bytes, used = tr2_g_stream.cycle_bytes;
	size_t left = used < limit ? (limit - used) / sizeof(struct tlg_event) : 0;

	if (room > TR2_STREAM_EVENTS - tr2_g_stream.used)
		room = TR2_STREAM_EVENTS - tr2_g_stream.used;
	tr2_g_stream.room = room < left ? room : (unsigned)left;
}
