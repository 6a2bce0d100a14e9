/* SPDX-License-Identifier: MIT */
/*
 * tr2_overwrite.h - rings that their owners read, too: under the policy overwrite a thread that finds its ring full
 * gives up the oldest chunk, but follows what was in it, so that sequence numbers and open regions stay known.
 *
 * The drain and the owner take turns by the tail's lock.  Without that policy there is nothing to lock.
 */
#ifndef TR2_OVERWRITE_H
#define TR2_OVERWRITE_H

#include <stdint.h>

#include "tr2_track.h"

/*
 * Make room in self's own ring: its oldest chunk is given up, and counted as overwritten.
 * kept_upto  chunks up to this number stay
 * Return  0: that is not possible now    Thread  the ring's owner, signals masked    Orders [M12]    Cost  10 us
 */
int tr2_overwrite_oldest(struct tr2_thread *self, uint32_t kept_upto);

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

/* At the end of a flight recorder: what no snapshot has taken is lost. */
void tr2_overwrite_skip(struct tr2_thread *thread);

#endif
