/* SPDX-License-Identifier: MIT */
/*
 * tr2_judge.h - triggers: the rules that look at events (slow, p99, rate, value, error) judge what the consumer thread
 * has seen of a thread, and add causes (tr2_cause.h).
 *
 * A region is judged when it is left, by its own leave or by what ends all regions, and while it is open.  One that was
 * entered where events are missing is not judged: nobody knows when.
 *
 * Thread  the holder of the drain's lock    Signal safe
 */
#ifndef TR2_JUDGE_H
#define TR2_JUDGE_H

#include <stdint.h>

#include "tr2_track.h"
#include "ring/tr2_ring_glance.h"
#include "settings/tr2_rules.h"

/* What has been seen of a ring. */
struct tr2_watch {
	struct tr2_glance glance;
	struct tr2_track track;
	/* A bit for each open region: it was too slow while it was open; that was part of a snapshot. */
	uint64_t slow[TR2_OPEN_REGIONS / 64], reported[TR2_OPEN_REGIONS / 64];
};

/* Judge by these rules, which stay where they are, from now on.  Return  0; -errno: no memory */
int tr2_judge_begin(const struct tr2_rules *rules);

/* Forget what was seen.  A forked child's scopes have its parent's numbers, so what is known of them stays. */
void tr2_judge_reset(void);

/* Before a look: the clock's rate is known the better the longer the process lives, and an hour goes on. */
void tr2_judge_refresh(uint64_t now);

/* The next chain of a ring. */
void tr2_judge_chain(struct tr2_watch *watch, const struct tlg_event *events, unsigned count);

/* Behind a look, for the threads' events come in no order. */
void tr2_judge_rates(uint64_t now);

/* Return  raw clock: when the next open region will have been open for too long; UINT64_MAX: there is none */
uint64_t tr2_judge_open_regions(struct tr2_watch *watch, uint64_t now);

#endif
