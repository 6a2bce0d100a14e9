/* SPDX-License-Identifier: MIT */
/*
 * tr2_overwrite.h - the flight recorder: with the policy overwrite each ring holds the latest events of its thread, and
 * the drain writes nothing until somebody requests a snapshot.
 *
 * A thread whose ring is full overwrites its oldest chunk.  It first reads that chunk (tr2_track.h), so that sequence
 * numbers and open regions stay known.  A snapshot begins with the regions that are open.
 *
 * A snapshot covers what was recorded before its request.  Until the drain has written that, no thread overwrites it: a
 * thread whose ring is full then drops its new events, which are not part of the snapshot.  The drain writes, as a
 * cycle of its own, all events up to the request that no earlier snapshot has written.
 *
 * So a ring has two readers, its owner and the drain, which take turns by the tail's lock.  Other policies need none.
 */
#ifndef TR2_OVERWRITE_H
#define TR2_OVERWRITE_H

#include <stdint.h>

#include "tr2_track.h"

/* ---- requests for snapshots.  Thread any    Signal safe    Blocks never ---------------------------- */

/* Request one.  Return  0: this is no flight recorder, nothing was done */
int tr2_snapshot_request(void);

/*
 * The same for a trigger: only what was recorded since that time of the raw clock is wanted, unless somebody else wants
 * all.  Older events are overwritten then.  Thread  the holder of the drain's lock
 */
void tr2_snapshot_request_since(uint64_t since);

/* 1 if a request has not been served. */
int tr2_snapshot_is_requested(void);

/* The drain serves all requests so far: it begins, and gets their number and *since; it has served them. */
uint32_t tr2_snapshot_begin(uint64_t *since);
void tr2_snapshot_end(uint32_t requests);

/* In a forked child: there are no requests. */
void tr2_snapshot_reset(void);

/* ---- overwriting ---------------------------------------------------------------------------------- */

/*
 * Make room in self's ring: overwrite its oldest chunk, and count the events that were in it.
 * Return  0: not possible, or not allowed now    Thread  the ring's owner, signals masked    Orders [M12]
 * Cost    10 us
 */
int tr2_overwrite_make_room(struct tr2_thread *self);

/*
 * The drain acquires the tail's lock, releases it.  Under other policies these do nothing.
 * Return  0: timed out; the owner has the lock, and is stopped or has no processor
 * Blocks  for 5 ms and more, while the owner reads
 */
int tr2_overwrite_hold(struct tr2_thread *thread);
void tr2_overwrite_release(struct tr2_thread *thread);

/*
 * What a snapshot leaves out: overwrite what was recorded before that time.  The tail's lock is held.  The process's
 * first chunk goes with it only as a whole, so that the first snapshot identifies the process.
 */
void tr2_overwrite_skip_until(struct tr2_thread *thread, uint64_t since);

/* Read self's ring to its end, so that track has its open regions.  Signals masked, drain's lock held */
void tr2_overwrite_look_ahead(struct tr2_thread *self, struct tr2_track *track);

/* 1 if the HIT identifies the process, as `version` does.  0 also of MORE, and of a HIT whose scope is unknown. */
int tr2_overwrite_is_identity(const struct tr2_chain *chain);

/* At the end: count what no snapshot has written as overwritten. */
void tr2_overwrite_skip(struct tr2_thread *thread);

#endif
