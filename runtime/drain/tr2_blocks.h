/* SPDX-License-Identifier: MIT */
/*
 * tr2_blocks.h - the stream's buffer: events gather in it as plain blocks, each of one thread.
 *
 * Open a block for all events that belong together, then append these.  The buffer holds one LZ4 frame.  When it is
 * too full, tr2_blocks_open() calls make_room(), which the drain gave it and which writes the buffer out.
 *
 * Thread  the holder of the drain's lock
 */
#ifndef TR2_BLOCKS_H
#define TR2_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

enum { TR2_BLOCKS_EVENTS = TLG_FRAME_BYTES / TLG_EVENT_SIZE };   /* in the buffer */

/*
 * Allocate the buffer; again in a forked child.  Return  0 or -errno
 * make_room  write the buffer out, then tr2_blocks_clear().  0; -errno: what was in it is lost, with the context that
 *            the rest of this cycle needs
 */
int tr2_blocks_init(int (*make_room)(void));

/* A new stream: the buffer is empty, block numbers start at 1. */
void tr2_blocks_begin(void);

/* Events that are appended from here on belong to this cycle. */
void tr2_blocks_set_cycle(uint32_t cycle);

/*
 * So many events of tid can be appended to one block.  Return  1; 0: room had to be made and that failed; the buffer is
 * empty now, and a new cycle is to begin before anything is appended
 */
int tr2_blocks_open(uint32_t tid, unsigned events);

/* End the open block, if there is one. */
void tr2_blocks_seal(void);

/* Append an event, its payload zero; INFO events with a text, the last one marked; how many these will be. */
struct tlg_event *tr2_blocks_append(unsigned flags, uint32_t sequence);
void tr2_blocks_append_text(const char *text, size_t bytes, uint32_t sequence);
unsigned tr2_blocks_text_events(size_t bytes);

/*
 * To append in place: how many events the open block takes, 0 if it is not tid's; where they go; so many are there.
 */
unsigned tr2_blocks_room(uint32_t tid);
struct tlg_event *tr2_blocks_next(void);
void tr2_blocks_appended(unsigned events);

/* Blocks sealed in this stream. */
uint32_t tr2_blocks_count(void);

/* The buffer: whole plain blocks without checksums, bytes of them.  Empty it. */
struct tlg_event *tr2_blocks_buffer(size_t *bytes);
void tr2_blocks_clear(void);

#endif
