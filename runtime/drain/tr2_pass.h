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

/* The caller may be about to leave, by exec or _exit(): nothing may be held back.  Blocks  10 us    0: nothing is */
int tr2_pass_wait_for_margin(void);

/* A flight recorder's: what all rings hold now, as a cycle of its own, if it was requested.  Return  1: it was */
int tr2_pass_snapshot(void);

/* Have the next pass begin a new cycle, in any thread, without the lock; begin it, if it was asked for. */
void tr2_pass_ask_for_cycle(void);
void tr2_pass_begin_cycle(void);

/* What was dropped since the last time, also said to who asked for such things. */
void tr2_pass_append_dropped(void);

#endif
