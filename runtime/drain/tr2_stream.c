/* SPDX-License-Identifier: MIT */
/* tr2_stream.c - see tr2_stream.h. */
#include "tr2_stream.h"

#include <string.h>

#include "tr2_blocks.h"
#include "tr2_context.h"
#include "tr2_cycle.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_scope.h"

int tr2_stream_init(int (*make_room)(void))
{
	int error = tr2_blocks_init(make_room);

	if (!error)
		error = tr2_context_init();
	if (!error)
		tr2_losses_reset();
	return error;
}

/* ---- one chain ---------------------------------------------------------------------------------- */

/* Into the open block, which has room for it. */
static void copy_chain(struct tr2_track *track, const struct tlg_event *events, unsigned count)
{
	struct tlg_event *to = tr2_blocks_next();
	uint16_t cycle = (uint16_t)(tr2_cycle_number() << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK);

	for (unsigned i = 0; i < count; i++) {
		to[i] = events[i];
		to[i].flags = (uint16_t)(to[i].flags | cycle);
		to[i].sequence = track->position + 1;
	}
	tr2_blocks_appended(count);
	track->position += count;
}

/* Into the present cycle.  Return  0: a write has failed, and the cycle is over */
static int append_to_cycle(struct tr2_track *track, const struct tlg_ring_scope *scope, const struct tlg_event *events,
			   unsigned count)
{
	struct tr2_context context;
	const struct tlg_event *begin;

	tr2_cycle_begin();
	if (!tr2_context_find(&context, track, scope, events->u.hit.scopeIndex) ||
	    !tr2_blocks_open(track->tid, context.events + count))
		return 0;
	begin = tr2_blocks_next();
	tr2_context_append(&context, track);
	copy_chain(track, events, count);
	tr2_cycle_appended((unsigned)(tr2_blocks_next() - begin), tlg_event_type(events) == TLG_HIT);
	return 1;
}

int tr2_stream_append(struct tr2_track *track, const struct tlg_event *events, unsigned count)
{
	const struct tlg_hit *hit = &events->u.hit;
	const struct tlg_ring_scope *scope = tr2_scope_get(hit->scopeIndex);

	if (!scope && hit->scopeIndex)
		return -1;
	tr2_track_assume_missing(track);
	if (!append_to_cycle(track, scope, events, count) && !append_to_cycle(track, scope, events, count))
		return 0;
	if (hit->when)
		track->last_when = hit->when;
	if (tlg_event_type(events) == TLG_HIT)
		tr2_track_follow(track, events, count, tr2_track_style(scope, events, count));
	return 1;
}

/* ---- many chains -------------------------------------------------------------------------------- */

/* Nearly every chain needs no context and goes into the block that is open: what that takes, at hand. */
struct run {
	struct tlg_event *to;
	unsigned room, cycle;
	uint32_t sequence;
	unsigned hits;
};

/* What is in front of an event's payload, as one word. */
static inline uint64_t head_word(unsigned flags, unsigned pid, uint32_t sequence)
{
	const struct { uint16_t flags, pid; uint32_t sequence; } head = { (uint16_t)flags, (uint16_t)pid, sequence };
	uint64_t word;

	memcpy(&word, &head, sizeof(word));
	return word;
}

static inline void copy_event(struct tlg_event *to, const struct tlg_event *event, uint64_t mask, uint64_t stamp)
{
	uint64_t head;

	memcpy(&head, event, sizeof(head));
	head = (head & mask) | stamp;
	memcpy(to, &head, sizeof(head));
	to->u = event->u;
}

/* Copy a chain whose scope the cycle has. */
static inline void run_chain(struct run *run, struct tr2_track *track, const struct tlg_event *events, unsigned count)
{
	const uint64_t mask = head_word(UINT16_MAX, UINT16_MAX, 0), stamp = head_word(run->cycle, 0, run->sequence);

	copy_event(run->to++, events, mask, stamp);
	for (unsigned i = 1; __builtin_expect(i < count, 0); i++)
		copy_event(run->to++, &events[i], mask, stamp);
	run->sequence += count;
	run->room -= count;
	run->hits += tlg_event_type(events) == TLG_HIT;
	if (events->u.hit.when)
		track->last_when = events->u.hit.when;
}

unsigned tr2_stream_append_run(struct tr2_track *track, const struct tlg_event *events, unsigned n)
{
	const uint32_t cycle = tr2_cycle_number(), tid = track->tid;
	const struct tr2_defined_in *defined_in = tr2_context_table();
	struct run run = {
		tr2_blocks_next(), tr2_cycle_room(tr2_blocks_room(tid)), cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK,
		track->position + 1, 0
	};
	unsigned at = 0, count;

	if (!run.room || !track->start || track->missing || track->cycle != cycle)
		return 0;
	for (; at < n; at += count) {
		const struct tlg_hit *hit = &events[at].u.hit;
		count = tlg_chain_length(&events[at], n - at);
		if (count > run.room || hit->tid != tid || hit->scopeIndex >= TLG_MAX_SCOPES ||
		    defined_in[hit->scopeIndex].cycle != cycle)
			break;
		run_chain(&run, track, &events[at], count);
		if (tlg_event_type(&events[at]) == TLG_HIT)
			tr2_track_follow(track, &events[at], count, defined_in[hit->scopeIndex].style);
	}
	tr2_blocks_appended(at);
	tr2_cycle_appended(at, run.hits);
	track->position += at;
	track->waits_since = at ? 0 : track->waits_since;
	return at;
}

/* ---- without a chain ---------------------------------------------------------------------------- */

int tr2_stream_append_gap(struct tr2_track *track, const struct tlg_gap *gap)
{
	if (!tr2_cycle_open_block(track->tid, 1))
		return 0;
	tr2_blocks_append(TLG_GAP, track->position + 1)->u.gap = *gap;
	tr2_cycle_appended(1, 0);
	tr2_track_follow_gap(track, gap);
	return 1;
}

static int append_context_to_cycle(struct tr2_track *track)
{
	struct tr2_context context;

	tr2_cycle_begin();
	if (!tr2_context_find(&context, track, NULL, 0))
		return 0;
	if (context.events && !tr2_blocks_open(track->tid, context.events))
		return 0;
	tr2_context_append(&context, track);
	return 1;
}

void tr2_stream_append_context(struct tr2_track *track)
{
	if (!append_context_to_cycle(track))
		append_context_to_cycle(track);
}
