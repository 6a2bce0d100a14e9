/* SPDX-License-Identifier: MIT */
/*
 * tr2_cycle.h - cycles: a reader can begin to read a stream at the start of any of its cycles.
 *
 * A cycle begins with a prologue: format, process, clock, stream, dropped events.  Behind it the drain repeats every
 * definition that an event needs (tr2_context.h).  A new cycle begins after so many bytes, on request, and behind a
 * write that failed, for that has lost the definitions of the cycle before.
 *
 * Thread  the holder of the drain's lock
 */
#ifndef TR2_CYCLE_H
#define TR2_CYCLE_H

#include <stddef.h>
#include <stdint.h>

/* Begin a new stream with this id: the next event opens a cycle. */
void tr2_cycle_new_stream(uint32_t stream);

/* The session id and the UTC offset in each prologue.  utcoff: seconds east of UTC */
void tr2_cycle_set_process(const char *sid, int32_t utcoff);
const char *tr2_cycle_process(int32_t *utcoff);

/* Begin a new cycle with the next event. */
void tr2_cycle_next(void);

/* The present cycle, its stream, and the HITs that this stream has so far. */
uint32_t tr2_cycle_number(void);
uint32_t tr2_cycle_stream(void);
uint64_t tr2_cycle_stored(void);

/*
 * tr2_cycle_begin()       write the prologue, if the next event begins a cycle
 * tr2_cycle_open_block()  do that, and open a block as tr2_blocks_open(), for events that need no context
 * Return  0: not now, writing fails
 */
void tr2_cycle_begin(void);
int tr2_cycle_open_block(uint32_t tid, unsigned events);

/* How many of these events the cycle still has room for; so many were appended, HITs among them. */
unsigned tr2_cycle_room(unsigned events);
void tr2_cycle_appended(unsigned events, unsigned hits);

/* Append the totals of dropped events, if they have changed; MARK; END. */
void tr2_cycle_append_dropped(void);
void tr2_cycle_append_mark(uint64_t when);
void tr2_cycle_append_end(unsigned reason);

/* Only these first bytes of the buffer were written, whole blocks: count the rest as dropped, and begin a new cycle. */
void tr2_cycle_write_failed(size_t written);

#endif
