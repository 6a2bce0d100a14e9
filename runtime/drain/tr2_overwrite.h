/* SPDX-License-Identifier: MIT */
/*
 * tr2_overwrite.h - the flight recorder: with the policy overwrite the rings hold the latest that each thread has
 * recorded, and nothing is written before somebody asks for a snapshot.
 *
 * A thread that finds its ring full gives up its oldest chunk.  It follows what was in it (tr2_track.h), so sequence
 * numbers and open regions stay known, and a snapshot begins with what is open.
 *
 * Whoever asks for a snapshot makes the moment: what has been recorded by then is not overwritten until it is written.
 * A thread that finds no other room drops its newest, which nobody has asked for.  The drain then writes, as a cycle of
 * its own, what every ring holds up to that moment and no snapshot has taken yet.
 *
 * So a ring has two readers, its owner and the drain, which take turns by the tail's lock.  Without this policy there
 * is nothing to lock.
 */
#ifndef TR2_OVERWRITE_H
#define TR2_OVERWRITE_H

#include <stdint.h>

#include "tr2_track.h"

/* ---- requests for snapshots.  Thread any    Signal safe    Blocks never ---------------------------- */

/* Ask for one.  Return  0: this is no flight recorder, nothing was done */
int tr2_snapshot_request(void);

/* 1 if one is asked for and not taken. */
int tr2_snapshot_is_requested(void);

/* The drain takes one: which requests it serves; it has served them. */
uint32_t tr2_snapshot_begin(void);
void tr2_snapshot_end(uint32_t requests);

/* In a forked child: nothing is asked for. */
void tr2_snapshot_reset(void);

/* ---- overwriting ---------------------------------------------------------------------------------- */

/*
 * Make room in self's ring: its oldest chunk is given up, and counted as overwritten.
 * Return  0: not possible, or not allowed now    Thread  the ring's owner, signals masked    Orders [M12]
 * Cost    10 us
 */
int tr2_overwrite_make_room(struct tr2_thread *self);

/*
 * Keep a ring's owner from reading it, let it again; nothing but where the owner may.
 * Return  0: the owner reads it, and has not come to an end: it is stopped, or has no processor
 * Blocks  for 5 ms and more, while the owner reads
 */
int tr2_overwrite_hold(struct tr2_thread *thread);
void tr2_overwrite_release(struct tr2_thread *thread);

/* The regions that the calling thread has open, read as far as it has recorded.  Signals masked, drain's lock held */
void tr2_overwrite_look_ahead(struct tr2_thread *self, struct tr2_track *track);

/* 1 if the HIT tells what process this is; MORE, or one whose scope is not known: 0. */
int tr2_overwrite_is_identity(const struct tr2_chain *chain);

/* At the end: what no snapshot has taken is counted as overwritten. */
void tr2_overwrite_skip(struct tr2_thread *thread);

#endif
