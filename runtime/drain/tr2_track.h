/* SPDX-License-Identifier: MIT */
/*
 * tr2_track.h - what the stream knows about a thread from its events: its id and name, the number of its events,
 * dropped ones included, and its open regions.
 *
 * Every reader of a ring keeps the ring's track up to date, whether it writes the events or skips them.  The drain is a
 * reader, and under the policy overwrite the ring's owner is one, too (tr2_overwrite.h).
 *
 * Thread  one at a time: the ring's reader
 */
#ifndef TR2_TRACK_H
#define TR2_TRACK_H

#include <stdint.h>

#include "ring/tr2_thread.h"

enum {
	TR2_OPEN_REGIONS = 256,              /* of a thread, that a new cycle repeats */
	TR2_TRACK_OPENS = TR2_OPEN_REGIONS + 2,  /* OPEN events: two may be no regions, see tr2_track_open_region() */
};

struct tlg_ring_scope;

struct tr2_track {
	uint32_t tid, ostid;
	uint64_t start;
	char name[TLG_THREAD_NAME];
	uint32_t position;        /* events so far, dropped ones included: the next chain's sequence - 1 */
	uint64_t overwritten;     /* checkpoints skipped, not counted as dropped yet */
	uint32_t cycle;           /* in which THREAD was last appended; 0: none */
	uint64_t last_when;
	uint64_t waits_since;     /* raw clock since when its next chain's scope is missing; 0: it is not */
	uint32_t depth;           /* open regions; the first TR2_OPEN_REGIONS are known */
	uint32_t is_below_root;   /* it has left more regions than it had entered, see OPEN */
	uint32_t missing;         /* unknown events in front of the next one */
	uint32_t assumed;         /* 1 + how many of the outermost regions are only assumed to be open; 0: none is */
	struct { uint64_t when; uint32_t scope; } open[TR2_OPEN_REGIONS];
};

/* The ring's track; made at the first call.  NULL: no memory */
struct tr2_track *tr2_track_of(struct tr2_thread *thread);

/*
 * THREAD in a ring names the thread of the events behind it, its open regions, and how many events the ring had dropped
 * before.  If it is the same thread, THREAD only brings a new name.
 * Return  0: it does
 */
void tr2_track_meet_thread(struct tr2_track *track, const struct tr2_chain *chain);
int tr2_track_change_thread(struct tr2_thread *thread, struct tr2_track *track, const struct tr2_chain *chain);

/* A HIT of tid.  THREAD comes before a thread's HITs.  If it does not, memory is damaged, and the thread gets "?". */
void tr2_track_check_thread(struct tr2_track *track, uint32_t tid);

/* So many events are missing here; count those that were dropped before the chunk of this chain was opened. */
void tr2_track_skip_missing(struct tr2_track *track, uint64_t events);
void tr2_track_count_missing(struct tr2_thread *thread, struct tr2_track *track, const struct tr2_chain *chain);

/* The next event is there: the missing ones in front of it stay unknown. */
void tr2_track_assume_missing(struct tr2_track *track);

/*
 * Skip these whole chains, n events in all: the track follows them, the stream does not get them.
 * Return  events, up to the first chain of another thread    Signal safe    Cost  3 ns each
 */
unsigned tr2_track_skip(struct tr2_track *track, const struct tlg_event *events, unsigned n);

/* The style of a checkpoint.  scope NULL: the checkpoint has its definition with it */
unsigned tr2_track_style(const struct tlg_ring_scope *scope, const struct tlg_event *events, unsigned count);

/* GAP: what some of the missing events were.  Signal safe */
void tr2_track_follow_gap(struct tr2_track *track, const struct tlg_gap *gap);

/* Open regions of which something is known. */
static inline unsigned tr2_track_known_regions(const struct tr2_track *track)
{
	return track->depth < TR2_OPEN_REGIONS ? track->depth : TR2_OPEN_REGIONS;
}

/* The open regions as OPEN has them, the one at `at` of at most so many.  Return  0: there is none */
int tr2_track_open_region(const struct tr2_track *track, unsigned at, unsigned max, struct tlg_open *open);

/* ---- inline: the drain's innermost loop ----------------------------------------------------------- */

/* A region was entered at this time, inside those so far.  scope 0: it is not known */
static inline void tr2_track_enter(struct tr2_track *track, uint64_t when, uint32_t scope)
{
	if (track->depth < TR2_OPEN_REGIONS) {
		track->open[track->depth].when = when;
		track->open[track->depth].scope = scope;
	}
	track->depth++;
}

/* A region is left, or entered, where regions are only assumed to be open. */
void tr2_track_repair(struct tr2_track *track, const struct tlg_hit *hit, unsigned style);

/* A checkpoint ends all regions. */
static inline void tr2_track_unwind(struct tr2_track *track)
{
	track->depth = track->is_below_root && track->depth;
	track->assumed = 0;
}

/* region_unwind, a chain of so many events: those are left that were entered from its mark on. */
void tr2_track_unwind_to(struct tr2_track *track, const struct tlg_event *events, unsigned count);

static inline int tr2_track_is_assumed(const struct tr2_track *track)
{
	return track->depth < track->assumed;
}

/* A checkpoint of this style, with its arguments: what it enters and leaves. */
static inline void
tr2_track_follow(struct tr2_track *track, const struct tlg_event *events, unsigned count, unsigned style)
{
	const struct tlg_hit *hit = &events->u.hit;

	if (style == TLG_STYLE_region_enter || style == TLG_STYLE_region_leave) {
		if (__builtin_expect(tr2_track_is_assumed(track), 0)) {
			tr2_track_repair(track, hit, style);
			return;
		}
	}
	if (style == TLG_STYLE_region_enter)
		tr2_track_enter(track, hit->when, hit->scopeIndex);
	else if (style == TLG_STYLE_region_leave && track->depth)
		track->depth--;
	else if (style == TLG_STYLE_region_leave)
		track->is_below_root = 1;
	else if (__builtin_expect(tlg_style_cuts(style), 0))
		style == TLG_STYLE_region_unwind ? tr2_track_unwind_to(track, events, count) : tr2_track_unwind(track);
}

#endif
