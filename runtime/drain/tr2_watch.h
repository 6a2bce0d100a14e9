/* SPDX-License-Identifier: MIT */
/*
 * tr2_watch.h - the consumer thread watches a flight recorder's rings for the rules that look at events: slow, p99,
 * rate, value, error (tr2_judge.h).
 *
 * It follows each ring by glances (ring/tr2_ring_glance.h), which neither read nor hold anything, and keeps a track of
 * its own of the open regions.  What a ring's owner has overwritten before it was seen is not judged: the
 * regions that were open there are then only assumed to be open.
 *
 * Thread  the holder of the drain's lock    Signal safe
 */
#ifndef TR2_WATCH_H
#define TR2_WATCH_H

#include <stdint.h>

#include "settings/tr2_rules.h"

/*
 * Watch for these rules, which stay where they are, from now on.
 * Return  0; -errno: no memory, and nothing is watched
 */
int tr2_watch_begin(const struct tr2_rules *rules);

/* In a forked child: the rings are new, and what was seen was its parent's. */
void tr2_watch_reset(void);

/*
 * Look at what all threads have recorded since the last look, and at the regions that are open.  Each that a rule is
 * for becomes a cause.
 * Return  events seen
 */
uint64_t tr2_watch_look(uint64_t now);

/* ns until the next open region has been open for as long as a rule allows; UINT64_MAX: none is */
uint64_t tr2_watch_wait_ns(uint64_t now);

/* How often events were overwritten before they were seen, or dropped by the program. */
uint64_t tr2_watch_missed(void);

#endif
