/* SPDX-License-Identifier: MIT */
/*
 * tr2_pass.h - once through the rings: what is committed goes into the stream, then MARK and the dropped events.
 *
 * All of it under the drain's lock, signals blocked; nothing allocates memory.
 */
#ifndef TR2_PASS_H
#define TR2_PASS_H

#include <stdint.h>

void tr2_pass_reset(void);

/*
 * A pass over all rings.
 * timeout_us  with an unfinished event, before going around it
 * upto        raw clock: all that was recorded before it is in the stream
 * Return      IDLE: there was nothing; MOVED: there was; WAITING: for what is unfinished
 */
enum tr2_pass { TR2_PASS_IDLE, TR2_PASS_MOVED, TR2_PASS_WAITING };
enum tr2_pass tr2_pass(unsigned timeout_us, uint64_t *upto);

/*
 * Text outputs hold an event back until its margin is over.  Wait for that: the caller may leave by exec or _exit().
 * Return  0: nothing is held back    Blocks  10 us
 */
int tr2_pass_wait_for_margin(void);

/* Flight recorder: if a snapshot was requested, write what all rings hold, as a cycle of its own.  Return  1: done */
int tr2_pass_snapshot(void);

/*
 * tr2_pass_ask_for_cycle()   the next pass begins a new cycle    Thread  any, without the lock
 * tr2_pass_begin_cycle()     begin it now, if somebody has asked
 */
void tr2_pass_ask_for_cycle(void);
void tr2_pass_begin_cycle(void);

/* Append the counts of events dropped since the last call.  TRACE2_DST_DEBUG also gets one line, once. */
void tr2_pass_append_dropped(void);

#endif
