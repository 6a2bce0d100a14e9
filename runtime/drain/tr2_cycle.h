/* SPDX-License-Identifier: MIT */
/*
 * tr2_cycle.h - cycles, the parts of a stream by which a reader can begin: what stands at the start of each, and what
 * it says of the process as a whole.
 *
 * A cycle begins with its prologue: format, process, clock, stream, dropped events.  Behind it every definition is
 * repeated that an event needs (tr2_context.h).  A new one begins after so many bytes, when somebody asks for it, and
 * behind a write that failed, which lost the definitions of the one before.
 *
 * Thread  the holder of the drain's lock
 */
#ifndef TR2_CYCLE_H
#define TR2_CYCLE_H

#include <stddef.h>
#include <stdint.h>

/* Begin a new stream with this id: the next event opens a cycle. */
void tr2_cycle_new_stream(uint32_t stream);

/* What every cycle says of the process.  utcoff: seconds east of UTC */
void tr2_cycle_set_process(const char *sid, int32_t utcoff);
const char *tr2_cycle_process(int32_t *utcoff);

/* Begin a new cycle with the next event. */
void tr2_cycle_next(void);

/* The present cycle, its stream, and the HITs that this stream has so far. */
uint32_t tr2_cycle_number(void);
uint32_t tr2_cycle_stream(void);
uint64_t tr2_cycle_stored(void);

/*
 * Open the cycle, if the next event is to begin one; that, and a block as tr2_blocks_open(), for what needs no context.
 * Return  0: not now, writing fails
 */
void tr2_cycle_begin(void);
int tr2_cycle_open_block(uint32_t tid, unsigned events);

/* How many of so many events of threads the cycle takes; so many were appended, and HITs among them. */
unsigned tr2_cycle_room(unsigned events);
void tr2_cycle_appended(unsigned events, unsigned hits);

/* Append the totals of dropped events, if they have changed; MARK; END. */
void tr2_cycle_append_dropped(void);
void tr2_cycle_append_mark(uint64_t when);
void tr2_cycle_append_end(unsigned reason);

/* Of the buffer only so many bytes, whole blocks, were written: count the rest as dropped, and begin a new cycle. */
void tr2_cycle_write_failed(size_t written);

#endif
