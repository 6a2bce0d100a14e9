/* SPDX-License-Identifier: MIT */
/*
 * tr2_stream.h - the stream's state, and its buffer of plain blocks: what tr2_post.c and tr2_post_chain.c share, and
 * nobody else includes.
 */
#ifndef TR2_STREAM_H
#define TR2_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

enum { TR2_STREAM_EVENTS = TLG_FRAME_BYTES / TLG_EVENT_SIZE };   /* in the buffer */

/* What the stream knows about scope i, and about file i: the cycle in which it was last posted; 0: never. */
struct tr2_posted {
	uint32_t cycle, style;
	uint32_t file_cycle;
};

struct tr2_stream {
	uint32_t id, blocks, cycle;
	int cycle_due;
	size_t cycle_bytes;               /* posted in this cycle */
	uint64_t stored;                  /* HITs */
	uint64_t timebase_at;             /* raw clock when TIMEINFO was last posted */
	char sid[1024];
	int32_t utcoff;

	struct tlg_event *buffer;
	unsigned used;                    /* events in it */
	unsigned block;                   /* index of the open block's BLOCK event */
	unsigned in_block;                /* events behind it; 0: no block is open */
	uint32_t block_tid;
	unsigned room;                    /* events that the open block takes at least, nothing else being due */

	struct tr2_posted *posted;
};
extern struct tr2_stream tr2_g_stream;

/* See to it that events of tid can be appended to one block.  Return  0: the buffer is too full */
int tr2_stream_open(uint32_t tid, unsigned events);

/* End the open block, if there is one. */
void tr2_stream_seal(void);

/* Say in room how much can be appended to the open block before anything else has to be looked at. */
void tr2_stream_find_room(void);

/* The next event of the open block, its payload zero. */
struct tlg_event *tr2_stream_append(unsigned flags, uint32_t sequence);

/* INFO events with a text, the last one marked; how many these will be. */
void tr2_stream_append_text(const char *text, size_t bytes, uint32_t sequence);
unsigned tr2_stream_text_events(size_t bytes);

/* Whatever comes next, its cycle is open.  Return  0: the buffer is too full */
int tr2_post_begin(void);

#endif
