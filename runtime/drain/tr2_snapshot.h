/* SPDX-License-Identifier: MIT */
/*
 * tr2_snapshot.h - the flight recorder's requests: with the policy overwrite the rings hold the latest that each
 * thread has recorded, and nothing is written before somebody asks for a snapshot.
 *
 * Whoever asks makes the moment: what has been recorded by then is not overwritten until it is written; a thread
 * that finds no other room drops its newest, which nobody has asked for.  The drain then writes, as a cycle of its
 * own, what every ring holds up to that moment and no snapshot has taken yet.  Owners read their rings, too,
 * when they overwrite: so regions and sequence numbers are followed through what is lost, and a snapshot begins
 * with what is open.
 *
 * Thread  any    Signal safe    Blocks never
 */
#ifndef TR2_SNAPSHOT_H
#define TR2_SNAPSHOT_H

#include <stdint.h>

#include "ring/tr2_thread.h"

/* Ask for one.  Return  0: this is no flight recorder, nothing was done */
int tr2_snapshot_request(void);

/* 1 if one is asked for and not taken. */
int tr2_snapshot_is_requested(void);

/* The drain takes one: which requests it serves; it has served them. */
uint32_t tr2_snapshot_begin(void);
void tr2_snapshot_end(uint32_t requests);

/* Make room in self's ring by overwriting.  0: not possible, or not allowed now.  Signals masked */
int tr2_snapshot_make_room(struct tr2_thread *self);

/* In a forked child: nothing is asked for. */
void tr2_snapshot_reset(void);

#endif
