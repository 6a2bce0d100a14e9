/* SPDX-License-Identifier: MIT */
/* t2x_missing.c - see t2x_missing.h. */
#include "t2x_missing.h"

/* ---- what is known of it ------------------------------------------------------------------------ */

/* GAP: it may come in several pieces, one behind the other. */
void t2x_missing_take(struct t2x_track *track, const struct tlg_gap *gap, struct t2x_clock *clock)
{
	unsigned left, entered, inner;

	if (!track->gap_ns)
		track->gap_events = track->gap_left = track->gap_entered = 0;
	inner = gap->left < track->gap_entered ? gap->left : track->gap_entered;
	left = track->gap_left + gap->left - inner;
	entered = track->gap_entered + gap->entered - inner;
	if (left > TLG_GAP_MAX || entered > TLG_GAP_MAX)
		left = TLG_GAP_UNKNOWN;
	track->gap_ns = t2x_clock_ns(clock, gap->when);
	track->gap_events += gap->events;
	track->gap_left = (uint16_t)left;
	track->gap_entered = left == TLG_GAP_UNKNOWN ? 0 : (uint16_t)entered;
}

/* What is known of what is missing in front of the event with this number. */
struct t2x_gap t2x_missing_find(const struct t2x_track *track, uint32_t sequence)
{
	uint32_t missing = sequence - track->next_sequence;
	int is_counted = track->has_sequence && missing < UINT32_MAX / 2;
	int is_reported = track->gap_ns && is_counted && track->gap_events == missing &&
		      track->gap_left != TLG_GAP_UNKNOWN && track->repeated != sequence;

	return (struct t2x_gap){
		.events = is_counted ? missing : 0, .is_known = is_reported || track->repeated == sequence,
		.left = is_reported ? track->gap_left : 0, .entered = is_reported ? track->gap_entered : 0,
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
	repeated->is_shown = track->has_sequence || !(stream->is_part || t2x_stream_is_continued(stream));
	repeated->track = track;
	repeated->stream = stream;
	repeated->assumed = 0;
	track->repeated = event->sequence;
	track->has_regions = 1;
}

void t2x_missing_open(struct t2x_repeated *repeated, const struct t2x_stream *stream, struct t2x_clock *clock,
		      const struct tlg_open *open)
{
	uint64_t ns = 0;

	if (!repeated->track || repeated->count == TLG_BLOCK_LIMIT)
		return;
	if (open->when == TLG_OPEN_ASSUMED) {
		repeated->assumed = repeated->count + 1;
		return;
	}
	if (open->when && open->when != TLG_OPEN_LOST)
		ns = t2x_clock_ns(clock, open->when);
	repeated->open[repeated->count++] = (struct t2x_open){
		.scope = t2x_scope_get(&stream->scopes, open->scopeIndex), .ns = ns, .when = open->when,
	};
}

/* Where a part begins, these have to be as many as were open at the end of the part in front of it. */
static void note_repeated(const struct t2x_repeated *repeated, struct t2x_context *context)
{
	struct t2x_track_start *start = t2x_stream_start(repeated->stream, repeated->track->facts.tid);
	int is_own_left = repeated->count && !repeated->open[0].when;

	if (!start)
		return;
	start->repeats++;
	start->open = repeated->count + 1;
	context->irregular += is_own_left || repeated->assumed;
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
		note_repeated(repeated, context);
	}
	repeated->track = NULL;
	repeated->count = 0;
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* The time of what comes next.  Return  0: nothing behind it has one, so far */
static uint64_t find_next_time(const struct t2x_tail *tail)
{
	for (const struct tlg_event *event = tail->event; event < tail->end; event++) {
		if (tlg_event_type(event) == TLG_HIT && event->u.hit.when)
			return t2x_clock_ns(tail->clock, event->u.hit.when);
		if (tlg_event_type(event) == TLG_GAP)
			return t2x_clock_ns(tail->clock, event->u.gap.when);
	}
	return 0;
}

uint64_t t2x_missing_first_time(const struct t2x_stream *stream, const struct t2x_tail *tail)
{
	const struct t2x_scope *scope = t2x_scope_get(&stream->scopes, tail->event->u.hit.scopeIndex);
	uint64_t ns = find_next_time(tail);

	/* In a part: the reader of the one in front knows.  What comes next will do if it is certain, for a step. */
	if (stream->is_part && !(ns && scope && scope->style == TLG_STYLE_step))
		stream->context->undated++;
	/* Its predecessor lies in front of where reading began: with that one's time it is not wanted, either. */
	if (stream->sought_ns && tail->event->sequence != 1 && (!ns || ns >= stream->sought_ns))
		return stream->sought_ns - 1;
	if (ns)
		return ns;
	return stream->mark_ns ? stream->mark_ns : stream->facts.start_ns;
}

/* A step behind what is missing is younger than that.  Return  0: nobody knows by how much */
uint64_t t2x_missing_step_time(const struct t2x_track *track, const struct t2x_tail *tail)
{
	uint64_t ns = track->gap_ns;

	if (!ns && track->now_ns)
		ns = find_next_time(tail);
	return ns > track->now_ns ? ns : 0;
}
