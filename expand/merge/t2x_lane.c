/* SPDX-License-Identifier: MIT */
/* t2x_lane.c - what each event does. */
#include "t2x_lane.h"

#include <errno.h>
#include <string.h>

#include "tlg_desc.h"
#include "base/t2x_memory.h"

enum {
	MAX_SPARE = 64,
	SPARE_BYTES = 16384,      /* a chain that has gathered more is not worth keeping */
	PASSED_BYTES = 65536,     /* of scopes that wait to be dropped together */
};

/* ---- blocks ------------------------------------------------------------------------------------- */

int t2x_lane_append(struct t2x_lane *lane, struct t2x_stream *stream, const struct t2x_block *block)
{
	struct t2x_waiting *waiting = t2x_waiting_new(stream, block);

	if (!waiting)
		return -ENOMEM;
	if (lane->last)
		lane->last->next = waiting;
	else
		lane->first = waiting;
	lane->last = waiting;
	lane->lanes->waiting_bytes += t2x_waiting_bytes(waiting);
	return 0;
}

static void drop_first(struct t2x_lane *lane)
{
	struct t2x_waiting *waiting = lane->first;

	lane->first = waiting->next;
	if (!lane->first)
		lane->last = NULL;
	lane->at = 0;
	lane->lanes->waiting_bytes -= t2x_waiting_bytes(waiting);
	t2x_waiting_free(waiting);
}

/* ---- chains ------------------------------------------------------------------------------------- */

static struct t2x_chain *new_chain(struct t2x_lanes *lanes)
{
	struct t2x_chain *chain = lanes->spare;

	if (!chain)
		return t2x_calloc(1, sizeof(*chain));
	lanes->spare = chain->next;
	lanes->nspare--;
	chain->nvalues = chain->bytes = 0;
	chain->waits_for_more = 0;
	return chain;
}

static void unlink_chain(struct t2x_lane *lane, struct t2x_chain *chain)
{
	struct t2x_chain **at = &lane->chains;

	while (*at != chain)
		at = &(*at)->next;
	*at = chain->next;
	lane->nchains--;
}

static void discard_chain(struct t2x_lanes *lanes, struct t2x_chain *chain)
{
	if (lanes->nspare >= MAX_SPARE || chain->max_bytes + chain->max_values > SPARE_BYTES) {
		t2x_chain_free(chain, lanes->context);
		return;
	}
	chain->next = lanes->spare;
	lanes->spare = chain;
	lanes->nspare++;
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

static void give_hit(struct t2x_stream *stream, struct t2x_track *track, const struct tlg_event *event,
		     uint64_t ns, struct t2x_scope *scope, const struct t2x_arguments *arguments)
{
	const struct t2x_hit hit = {
		.thread = &track->thread, .scope = scope, .scope_index = event->u.hit.scopeIndex,
		.flags = event->flags, .ns = ns, .when = event->u.hit.when,
		.nargs = arguments ? arguments->n : 0, .args = arguments ? arguments->args : NULL,
	};

	if (!scope)
		track->has_regions = 0;   /* it may have been an enter or a leave */
	t2x_model_hit(stream->context->model, &hit);
}

static void drop_passed(struct t2x_lanes *lanes)
{
	if (lanes->passed)
		t2x_model_settle(lanes->context->model);
	while (lanes->passed) {
		struct t2x_scope_box *next = lanes->passed->next;
		t2x_scope_drop(lanes->context, &lanes->passed->scope);
		lanes->passed = next;
	}
	lanes->passed_bytes = 0;
}

/* Drop a scope soon: at once where its bytes might be missed. */
static void let_pass(struct t2x_lanes *lanes, struct t2x_scope *scope)
{
	struct t2x_scope_box *box = (struct t2x_scope_box *)scope;

	box->next = lanes->passed;
	lanes->passed = box;
	lanes->passed_bytes += box->bytes;
	if (lanes->passed_bytes > PASSED_BYTES || lanes->context->used_bytes > T2X_CONTEXT_BYTES / 2)
		drop_passed(lanes);
}

static void finish_hit(struct t2x_lanes *lanes, struct t2x_chain *chain)
{
	struct t2x_scope *scope = t2x_scope_get(&chain->stream->scopes, chain->head.u.hit.scopeIndex);
	int is_kept;

	t2x_chain_arguments(chain, &chain->clock, &lanes->arguments, &scope, &is_kept);
	give_hit(chain->stream, chain->track, &chain->head, chain->ns, scope, &lanes->arguments);
	if (!is_kept)
		let_pass(lanes, scope);
}

/* All that belongs to the chain is there, or will not come any more. */
static void finish_chain(struct t2x_lane *lane, struct t2x_chain *chain)
{
	if (tlg_event_type(&chain->head) == TLG_HIT)
		finish_hit(lane->lanes, chain);
	unlink_chain(lane, chain);
	discard_chain(lane->lanes, chain);
}

static void end_piece(struct t2x_lane *lane, struct t2x_chain *chain)
{
	if (chain->head.flags & TLG_HAS_MORE)
		chain->waits_for_more = 1;
	else
		finish_chain(lane, chain);
}

static struct t2x_chain *oldest_chain(struct t2x_lane *lane)
{
	struct t2x_chain *chain = lane->chains;

	while (chain->next)
		chain = chain->next;
	return chain;
}

/* The event is the head of a chain; nothing may follow it. */
static void begin_chain(struct t2x_lane *lane, const struct tlg_event *event, struct t2x_track *track,
			uint64_t ns)
{
	struct t2x_chain *chain;

	if (lane->nchains >= T2X_MAX_CHAINS)
		finish_chain(lane, oldest_chain(lane));
	chain = new_chain(lane->lanes);
	if (!chain)
		return;
	chain->head = *event;
	chain->sequence = event->sequence;
	chain->stream = lane->first->stream;
	chain->clock = lane->first->clock;
	chain->track = track;
	chain->ns = ns;
	chain->next = lane->chains;
	lane->chains = chain;
	lane->nchains++;
	if (!(event->flags & TLG_HAS_INFO))
		end_piece(lane, chain);
}

/* VALUE or INFO: of the newest chain with this number. */
static void add_to_chain(struct t2x_lane *lane, const struct tlg_event *event)
{
	struct t2x_chain *chain = lane->chains;
	const struct t2x_stream *stream = lane->first->stream;

	while (chain &&
	       (chain->sequence != event->sequence || chain->stream != stream || chain->waits_for_more))
		chain = chain->next;
	if (!chain)
		return;
	t2x_chain_add(chain, event);
	chain->track->next_sequence++;
	if (event->flags & TLG_INFO_END)
		end_piece(lane, chain);
}

/* ---- events ------------------------------------------------------------------------------------- */

/* What a chain of the thread waits for was lost: it takes its place now, in front of what the thread did next. */
static void finish_waiting(struct t2x_lane *lane, const struct t2x_track *track)
{
	for (struct t2x_chain *chain = lane->chains, *next; chain; chain = next) {
		next = chain->next;
		if (chain->waits_for_more && chain->track == track)
			finish_chain(lane, chain);
	}
}

static __attribute__((noinline)) struct t2x_track *find_track(struct t2x_lane *lane, const struct tlg_event *event)
{
	if (!lane->is_framed)
		return t2x_stream_track(lane->first->stream, event->u.hit.tid);
	lane->track = t2x_stream_track(lane->first->stream, lane->tid);
	return lane->track;
}

static inline struct t2x_track *track_of(struct t2x_lane *lane, const struct tlg_event *event)
{
	return lane->track ? lane->track : find_track(lane, event);
}

/* Nobody knows what is missing in front of the thread's next event. */
static void tell_hole(struct t2x_lane *lane, struct t2x_track *track, uint64_t ns)
{
	const struct t2x_gap gap = { .events = 0 };

	track->has_holes = 1;
	t2x_model_gap(lane->lanes->context->model, &track->thread, ns, &gap);
}

/* A file without blocks does not count events: there is no telling whether anything is missing. */
static __attribute__((noinline)) void
note_missing(struct t2x_lane *lane, struct t2x_track *track, uint32_t sequence, uint64_t ns)
{
	const struct t2x_gap gap = t2x_missing_find(track, sequence);

	finish_waiting(lane, track);
	track->has_regions = gap.is_known && (track->has_regions || track->restated == sequence);
	track->told_ns = 0;
	if (!lane->counts_events)
		return;
	track->has_holes |= !gap.is_known;
	if (gap.is_known && !gap.events)
		return;
	t2x_model_gap(lane->lanes->context->model, &track->thread, ns, &gap);
}

/* Sequence numbers of blocks count a thread's events: what is missing between them was lost. */
static inline void follow_sequence(struct t2x_lane *lane, struct t2x_track *track, uint32_t sequence, uint64_t ns)
{
	if (sequence != track->next_sequence)
		note_missing(lane, track, sequence, ns);
	track->next_sequence = sequence;
	track->has_sequence = 1;
}

/*
 * The checkpoint with all its arguments, if they are right behind it: the usual way, for chains stay together.
 * Return  events used; 0: some are elsewhere, or there is no memory
 */
static unsigned
pass_whole(struct t2x_lane *lane, const struct tlg_event *event, struct t2x_track *track, uint64_t ns)
{
	struct t2x_waiting *waiting = lane->first;
	struct t2x_lanes *lanes = lane->lanes;
	struct t2x_scope *scope;
	unsigned used;
	int is_kept;

	if (lane->chains || event->flags & TLG_HAS_MORE)
		return 0;
	lanes->whole.stream = waiting->stream;
	scope = t2x_scope_get(&waiting->stream->scopes, event->u.hit.scopeIndex);
	used = t2x_chain_whole(&lanes->whole, event, waiting->events + waiting->count, &waiting->clock,
			       &lanes->arguments, &scope, &is_kept);
	if (!used)
		return 0;
	track->next_sequence += used - 1;
	give_hit(waiting->stream, track, event, ns, scope, &lanes->arguments);
	if (!is_kept)
		let_pass(lanes, scope);
	return used;
}

/* A checkpoint with arguments, or the beginning of one.  Return  events used */
static __attribute__((noinline)) unsigned
pass_chain(struct t2x_lane *lane, const struct tlg_event *event, struct t2x_track *track, uint64_t ns)
{
	unsigned used = event->flags & TLG_HAS_INFO ? pass_whole(lane, event, track, ns) : 0;

	if (used)
		return used;
	begin_chain(lane, event, track, ns);
	return 1;
}

/* The track has come to the checkpoint.  Return  events used */
static inline unsigned
pass_next(struct t2x_lane *lane, const struct tlg_event *event, struct t2x_track *track, uint64_t ns)
{
	struct t2x_stream *stream = lane->first->stream;

	track->now_ns = ns;
	follow_sequence(lane, track, event->sequence, ns);
	track->next_sequence++;
	if (event->flags & (TLG_HAS_INFO | TLG_HAS_MORE))
		return pass_chain(lane, event, track, ns);
	give_hit(stream, track, event, ns, t2x_scope_get(&stream->scopes, event->u.hit.scopeIndex), NULL);
	return 1;
}

/*
 * One that is older than what came before it: it was interrupted by that, or it was too slow for the writer, who went
 * around it and posted it late.  Then what lies around it is not what was around it when it was passed.
 */
static __attribute__((noinline)) unsigned
pass_late(struct t2x_lane *lane, const struct tlg_event *event, struct t2x_track *track)
{
	uint64_t ns = track->now_ns;
	unsigned used;

	if (!track->has_holes)
		return pass_next(lane, event, track, ns);
	tell_hole(lane, track, ns);
	used = pass_next(lane, event, track, ns);
	tell_hole(lane, track, ns);
	return used;
}

/*
 * ns      0: a step, which has the time of the thread's latest checkpoint
 * Return  events used
 */
static inline unsigned pass_hit(struct t2x_lane *lane, const struct tlg_event *event, uint64_t ns)
{
	struct t2x_stream *stream = lane->first->stream;
	struct t2x_track *track = track_of(lane, event);

	stream->hits++;
	if (!track)
		return 1;
	if (!ns)
		ns = track->now_ns ? track->now_ns : t2x_missing_first_time(lane->first, event);
	if (ns < track->now_ns)
		return pass_late(lane, event, track);
	return pass_next(lane, event, track, ns);
}

/* The arguments of an earlier HIT go on. */
static void pass_more(struct t2x_lane *lane, const struct tlg_event *event)
{
	struct t2x_track *track = track_of(lane, event);
	const struct tlg_more *more = &event->u.more;
	struct t2x_chain *chain = lane->chains;

	if (!track)
		return;
	while (chain &&
	       !(chain->waits_for_more && chain->track == track && chain->head.u.hit.when == more->when &&
		 chain->head.u.hit.scopeIndex == more->scopeIndex))
		chain = chain->next;
	if (chain)
		chain->waits_for_more = 0;
	follow_sequence(lane, track, event->sequence, track->now_ns);
	track->next_sequence++;
	if (!chain) {
		/* its HIT was lost: its events are counted, nobody wants them */
		begin_chain(lane, event, track, 0);
		return;
	}
	chain->sequence = event->sequence;
	if (!(event->flags & TLG_HAS_MORE))
		chain->head.flags &= (uint16_t)~TLG_HAS_MORE;
	if (!(event->flags & TLG_HAS_INFO))
		end_piece(lane, chain);
}

/* Anything but a HIT. */
static __attribute__((noinline)) void pass_other(struct t2x_lane *lane, const struct tlg_event *event)
{
	struct t2x_lanes *lanes = lane->lanes;
	struct t2x_track *track;
	unsigned type = tlg_event_type(event);

	if (type != TLG_OPEN && type != TLG_INFO)
		t2x_missing_settle(&lanes->restated, lanes->context);
	switch (type) {
	case TLG_MORE:
		pass_more(lane, event);
		break;
	case TLG_VALUE:
	case TLG_INFO:
		add_to_chain(lane, event);
		break;
	case TLG_THREAD:
		t2x_missing_thread(&lanes->restated, lane->first->stream, event);
		break;
	case TLG_OPEN:
		t2x_missing_open(&lanes->restated, lane->first, &event->u.open);
		break;
	case TLG_GAP:
		if (lane->counts_events && (track = track_of(lane, event)))
			t2x_missing_take(track, &event->u.gap, &lane->first->clock);
		break;
	default:
		lanes->context->unknown += !tlg_type_by_id(type);
		break;
	}
}

/* ---- lanes -------------------------------------------------------------------------------------- */

/* A block that was read before its stream's clock was known goes by the first that was. */
static void settle_clock(struct t2x_waiting *waiting)
{
	if (waiting->has_clock)
		return;
	waiting->clock = waiting->stream->clock;
	waiting->has_clock = 1;
}

/* Process the events of the first block.  Return  1: a checkpoint that is younger than until_ns is next */
static int run_block(struct t2x_lane *lane, uint64_t until_ns)
{
	struct t2x_waiting *waiting = lane->first;
	const struct tlg_event *event = waiting->events + lane->at, *end = waiting->events + waiting->count;

	while (event < end) {
		uint64_t ns = 0;

		if (tlg_event_type(event) != TLG_HIT) {
			pass_other(lane, event++);
			continue;
		}
		if (event->u.hit.when)
			ns = t2x_clock_ns(&waiting->clock, event->u.hit.when);
		else if (lane->track && event->sequence != lane->track->next_sequence)
			ns = t2x_missing_step_time(waiting, lane->track, event);
		if (ns > until_ns) {
			lane->rest.key_ns = ns;
			lane->at = (unsigned)(event - waiting->events);
			return 1;
		}
		if (lane->lanes->restated.track)
			t2x_missing_settle(&lane->lanes->restated, lane->lanes->context);
		event += pass_hit(lane, event, ns);
	}
	return 0;
}

int t2x_lane_run(struct t2x_lane *lane, uint64_t until_ns)
{
	while (lane->first) {
		settle_clock(lane->first);
		if (run_block(lane, until_ns))
			return 1;
		t2x_missing_settle(&lane->lanes->restated, lane->lanes->context);
		drop_first(lane);
	}
	return 0;
}

void t2x_lane_finish(struct t2x_lane *lane)
{
	t2x_lane_run(lane, UINT64_MAX);
	while (lane->chains)
		finish_chain(lane, oldest_chain(lane));
}

void t2x_lanes_free(struct t2x_lanes *lanes)
{
	drop_passed(lanes);
	while (lanes->spare) {
		struct t2x_chain *next = lanes->spare->next;
		t2x_chain_free(lanes->spare, lanes->context);
		lanes->spare = next;
	}
	t2x_chain_clear(&lanes->whole, lanes->context);
	t2x_free(lanes->arguments.args);
	memset(&lanes->arguments, 0, sizeof(lanes->arguments));
	lanes->nspare = 0;
}
