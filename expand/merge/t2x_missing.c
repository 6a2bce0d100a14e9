/* SPDX-License-Identifier: MIT */
/* t2x_missing.c - see t2x_missing.h. */
#include "t2x_missing.h"

#include "t2x_queue.h"

/* ---- what is told of it ------------------------------------------------------------------------- */

/* GAP: it may come in several pieces, one behind the other. */
void t2x_missing_take(struct t2x_track *track, const struct tlg_gap *gap, struct t2x_clock *clock)
{
	unsigned left, entered, inner;

	if (!track->told_ns)
		track->told_events = track->told_left = track->told_entered = 0;
	inner = gap->left < track->told_entered ? gap->left : track->told_entered;
	left = track->told_left + gap->left - inner;
	entered = track->told_entered + gap->entered - inner;
	if (left > TLG_GAP_MOST || entered > TLG_GAP_MOST)
		left = TLG_GAP_UNKNOWN;
	track->told_ns = t2x_clock_ns(clock, gap->when);
	track->told_events += gap->events;
	track->told_left = (uint16_t)left;
	track->told_entered = left == TLG_GAP_UNKNOWN ? 0 : (uint16_t)entered;
}

/* What is known of what is missing in front of the event with this number. */
struct t2x_gap t2x_missing_find(const struct t2x_track *track, uint32_t sequence)
{
	uint32_t missing = sequence - track->next_sequence;
	int is_counted = track->has_sequence && missing < UINT32_MAX / 2;
	int is_reported = track->told_ns && is_counted && track->told_events == missing &&
		      track->told_left != TLG_GAP_UNKNOWN && track->repeated != sequence;

	return (struct t2x_gap){
		.events = is_counted ? missing : 0, .is_known = is_reported || track->repeated == sequence,
		.left = is_reported ? track->told_left : 0, .entered = is_reported ? track->told_entered : 0,
	};
}

/* ---- regions that are repeated ------------------------------------------------------------------ */

/*
 * A thread's regions are about to be repeated, in front of its event with this number.  Who has seen all of its events
 * knows better: regions beyond those that are repeated, and the enters' messages.
 */
void t2x_missing_thread(struct t2x_repeated *repeated, struct t2x_stream *stream, const struct tlg_event *event)
{
	struct t2x_track *track = t2x_stream_track(stream, event->u.thread.tid);

	if (!track || (track->has_regions && (event->sequence == track->next_sequence ||
					      t2x_missing_find(track, event->sequence).is_known)))
		return;
	repeated->is_shown = track->has_sequence || !t2x_stream_is_continued(stream);
	repeated->track = track;
	repeated->assumed = 0;
	track->repeated = event->sequence;
	track->has_regions = 1;
}

void t2x_missing_open(struct t2x_repeated *repeated, struct t2x_pending *pending, const struct tlg_open *open)
{
	uint64_t ns = 0;

	if (!repeated->track || repeated->count == TLG_BLOCK_LIMIT)
		return;
	if (open->when == TLG_OPEN_ASSUMED) {
		repeated->assumed = repeated->count + 1;
		return;
	}
	if (open->when && open->when != TLG_OPEN_LOST)
		ns = t2x_clock_ns(&pending->clock, open->when);
	repeated->open[repeated->count++] = (struct t2x_open){
		.scope = t2x_scope_get(&pending->stream->scopes, open->scopeIndex), .ns = ns, .when = open->when,
	};
}

void t2x_missing_flush(struct t2x_repeated *repeated, struct t2x_context *context)
{
	struct t2x_update update = {
		.kind = T2X_OPEN_REGIONS,
		.opens = { repeated->open, repeated->count, repeated->assumed, repeated->is_shown },
	};

	if (repeated->track) {
		update.thread = repeated->track->thread;
		t2x_model_update(context->model, &update);
	}
	repeated->track = NULL;
	repeated->count = 0;
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* The time of what comes next.  Return  0: nothing that has one does, yet */
static uint64_t find_next_time(struct t2x_pending *pending, const struct tlg_event *event)
{
	for (; event < pending->events + pending->count; event++) {
		if (tlg_event_type(event) == TLG_HIT && event->u.hit.when)
			return t2x_clock_ns(&pending->clock, event->u.hit.when);
		if (tlg_event_type(event) == TLG_GAP)
			return t2x_clock_ns(&pending->clock, event->u.gap.when);
	}
	return 0;
}

uint64_t t2x_missing_first_time(struct t2x_pending *pending, const struct tlg_event *event)
{
	const struct t2x_stream *stream = pending->stream;
	uint64_t ns = find_next_time(pending, event);

	if (ns)
		return ns;
	return stream->mark_ns ? stream->mark_ns : stream->facts.start_ns;
}

/* A step behind what is missing is younger than that: not as old as what came before.  Return  0: it has to be */
uint64_t t2x_missing_step_time(struct t2x_pending *pending, const struct t2x_track *track,
			       const struct tlg_event *event)
{
	uint64_t ns = track->told_ns;

	if (!ns && track->now_ns)
		ns = find_next_time(pending, event);
	return ns > track->now_ns ? ns : 0;
}
