/* SPDX-License-Identifier: MIT */
/* t2x_missing.c - see t2x_missing.h. */
#include "t2x_missing.h"

/* ---- what is known of it ------------------------------------------------------------------------ */

/* Several GAPs may come, one behind the other: they add up. */
void t2x_missing_take(struct t2x_cursor *cursor, const struct tlg_gap *gap, struct t2x_clock *clock)
{
	unsigned left, entered, inner;

	if (!cursor->gap_ns)
		cursor->gap_events = cursor->gap_left = cursor->gap_entered = 0;
	inner = gap->left < cursor->gap_entered ? gap->left : cursor->gap_entered;
	left = cursor->gap_left + gap->left - inner;
	entered = cursor->gap_entered + gap->entered - inner;
	if (left > TLG_GAP_MAX || entered > TLG_GAP_MAX)
		left = TLG_GAP_UNKNOWN;
	cursor->gap_ns = t2x_clock_ns(clock, gap->when);
	cursor->gap_events += gap->events;
	cursor->gap_left = (uint16_t)left;
	cursor->gap_entered = left == TLG_GAP_UNKNOWN ? 0 : (uint16_t)entered;
}

struct t2x_gap t2x_missing_find(const struct t2x_cursor *cursor, uint32_t sequence)
{
	uint32_t missing = sequence - cursor->next_sequence;
	int is_counted = cursor->has_sequence && missing < UINT32_MAX / 2;
	int is_reported = cursor->gap_ns && is_counted && cursor->gap_events == missing &&
		      cursor->gap_left != TLG_GAP_UNKNOWN && cursor->repeated != sequence;

	return (struct t2x_gap){
		.events = is_counted ? missing : 0, .is_known = is_reported || cursor->repeated == sequence,
		.left = is_reported ? cursor->gap_left : 0, .entered = is_reported ? cursor->gap_entered : 0,
	};
}

/* ---- regions that are repeated ------------------------------------------------------------------ */

/*
 * The stream is about to repeat a thread's open regions, in front of the thread's event with this number.  A reader
 * that has seen all events of the thread ignores them: it knows deeper regions, too, and the messages of the enters.
 */
void t2x_missing_thread(struct t2x_repeated *repeated, struct t2x_stream *stream, const struct tlg_event *event)
{
	struct t2x_cursor *cursor = t2x_stream_cursor(stream, event->u.thread.tid);

	if (!cursor || (cursor->has_regions && (event->sequence == cursor->next_sequence ||
					      t2x_missing_find(cursor, event->sequence).is_known)))
		return;
	repeated->is_shown = cursor->has_sequence || !(stream->is_part || t2x_stream_is_continued(stream));
	repeated->cursor = cursor;
	repeated->stream = stream;
	repeated->assumed = 0;
	cursor->repeated = event->sequence;
	cursor->has_regions = 1;
}

void t2x_missing_open(struct t2x_repeated *repeated, const struct t2x_stream *stream, struct t2x_clock *clock,
		      const struct tlg_open *open)
{
	uint64_t ns = 0;

	if (!repeated->cursor || repeated->count == TLG_BLOCK_LIMIT)
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

/* Note how many regions are open where a part begins: as many must be open where the part in front of it ends. */
static void note_repeated(const struct t2x_repeated *repeated, struct t2x_context *context)
{
	struct t2x_stream_start *start = t2x_stream_start(repeated->stream, repeated->cursor->facts.tid);
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

	update.thread = repeated->cursor->thread;
	t2x_model_update(context->model, &update);
	note_repeated(repeated, context);
	repeated->cursor = NULL;
	repeated->count = 0;
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* Return  the first time that an event of the block has, from this one on; 0: none has one */
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
	const struct t2x_scope *scope = t2x_scope_get(&stream->scopes, event->u.hit.scopeIndex);
	uint64_t ns = find_next_time(pending, event);

	/* in a part only the reader of the part in front knows; for a step the time of what comes next will do */
	if (stream->is_part && !(ns && scope && scope->style == TLG_STYLE_step))
		stream->context->undated++;
	/* the event before it is older than what was sought, so it is not wanted either */
	if (stream->sought_ns && event->sequence != 1 && (!ns || ns >= stream->sought_ns))
		return stream->sought_ns - 1;
	if (ns)
		return ns;
	return stream->mark_ns ? stream->mark_ns : stream->facts.start_ns;
}

uint64_t t2x_missing_step_time(struct t2x_pending *pending, const struct tlg_event *event,
			       const struct t2x_cursor *cursor)
{
	uint64_t ns = cursor->gap_ns;

	if (!ns && cursor->now_ns)
		ns = find_next_time(pending, event);
	return ns > cursor->now_ns ? ns : 0;
}
