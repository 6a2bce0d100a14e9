/* SPDX-License-Identifier: MIT */
/* t2x_queue.c - what each event does. */
#include "t2x_queue.h"

#include <errno.h>

#include "tlg_desc.h"
#include "model/t2x_stretch.h"
#include "t2x_owner.h"

/* ---- blocks that wait --------------------------------------------------------------------------- */

int t2x_queue_append(struct t2x_queue *queue, struct t2x_stream *stream, const struct t2x_block *block)
{
	struct t2x_pending *pending = t2x_pending_new(stream, block);

	if (!pending)
		return -ENOMEM;
	if (queue->last)
		queue->last->next = pending;
	else
		queue->first = pending;
	queue->last = pending;
	queue->queues->pending_bytes += t2x_pending_bytes(pending);
	return 0;
}

static void drop_first(struct t2x_queue *queue)
{
	struct t2x_pending *pending = queue->first;

	queue->first = pending->next;
	if (!queue->first)
		queue->last = NULL;
	queue->at = 0;
	queue->queues->pending_bytes -= t2x_pending_bytes(pending);
	t2x_pending_free(pending);
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
give_hit(struct t2x_stream *stream, struct t2x_track *track, const struct tlg_event *event, uint64_t ns,
	 struct t2x_scope *scope, const struct t2x_arguments *arguments)
{
	const struct t2x_hit hit = {
		.thread = track->thread, .scope = scope, .scope_index = event->u.hit.scopeIndex,
		.flags = event->flags, .ns = ns, .when = event->u.hit.when,
		.nargs = arguments ? arguments->n : 0, .args = arguments ? arguments->args : NULL,
	};

	if (!scope)
		track->has_regions = 0;   /* it may have been an enter or a leave */
	else if (scope->style == TLG_STYLE_thread_exit)
		track->is_over = 1;
	t2x_model_hit(stream->context->model, &hit);
}

/* ---- chains ------------------------------------------------------------------------------------- */

static void finish_hit(struct t2x_queues *queues, struct t2x_chain *chain)
{
	struct t2x_scope *scope = t2x_scope_get(&chain->stream->scopes, chain->head.u.hit.scopeIndex);
	int is_cached;

	queues->context->irregular += chain->ns < chain->track->now_ns;
	t2x_arguments_from_chain(&queues->arguments, chain, &scope, &is_cached);
	give_hit(chain->stream, t2x_owner_of(chain->stream, chain->track, scope, &queues->arguments), &chain->head,
		 chain->ns, scope, &queues->arguments);
	if (!is_cached)
		t2x_scope_free(queues->context, scope);
}

/* All that belongs to the chain is there, or will not come any more. */
static void finish_chain(struct t2x_queue *queue, struct t2x_chain *chain)
{
	if (tlg_event_type(&chain->head) == TLG_HIT)
		finish_hit(queue->queues, chain);
	t2x_chains_remove(&queue->chains, chain);
	t2x_chain_pool_give(&queue->queues->pool, chain, queue->queues->context);
}

static void end_piece(struct t2x_queue *queue, struct t2x_chain *chain)
{
	if (chain->head.flags & TLG_HAS_MORE)
		chain->waits_for_more = 1;
	else
		finish_chain(queue, chain);
}

/* The event is the head of a chain; nothing may follow it. */
static void begin_chain(struct t2x_queue *queue, const struct tlg_event *event, struct t2x_track *track,
			uint64_t ns)
{
	struct t2x_chain *chain;

	if (queue->chains.count >= T2X_MAX_CHAINS)
		finish_chain(queue, t2x_chains_oldest(&queue->chains));
	chain = t2x_chain_pool_take(&queue->queues->pool);
	if (!chain)
		return;
	chain->head = *event;
	chain->sequence = event->sequence;
	chain->waits_for_more = 0;
	chain->stream = queue->first->stream;
	chain->clock = queue->first->clock;
	chain->track = track;
	chain->ns = ns;
	t2x_chains_push(&queue->chains, chain);
	if (!(event->flags & TLG_HAS_INFO))
		end_piece(queue, chain);
}

/* VALUE or INFO: of the newest chain with this number. */
static void add_to_chain(struct t2x_queue *queue, const struct tlg_event *event)
{
	struct t2x_chain *chain = queue->chains.newest;
	const struct t2x_stream *stream = queue->first->stream;

	while (chain &&
	       (chain->sequence != event->sequence || chain->stream != stream || chain->waits_for_more))
		chain = chain->next;
	if (!chain)
		return;
	t2x_chain_add(chain, event);
	chain->track->next_sequence++;
	if (event->flags & TLG_INFO_END)
		end_piece(queue, chain);
}

/* ---- events ------------------------------------------------------------------------------------- */

/* What a chain of the thread waits for was lost: it takes its place now, in front of what the thread did next. */
static void finish_waiting(struct t2x_queue *queue, const struct t2x_track *track)
{
	for (struct t2x_chain *chain = queue->chains.newest, *next; chain; chain = next) {
		next = chain->next;
		if (chain->waits_for_more && chain->track == track)
			finish_chain(queue, chain);
	}
}

/* In a file without blocks each event says whose it is. */
static __attribute__((noinline)) struct t2x_track *find_track(struct t2x_queue *queue, const struct tlg_event *event)
{
	return t2x_stream_track(queue->first->stream, event->u.hit.tid);
}

static inline struct t2x_track *track_of(struct t2x_queue *queue, const struct tlg_event *event)
{
	return queue->track ? queue->track : find_track(queue, event);
}

static void
report_gap(struct t2x_queue *queue, const struct t2x_track *track, uint64_t ns, const struct t2x_gap *gap)
{
	const struct t2x_update update = { .kind = T2X_GAP, .thread = track->thread, .ns = ns, .gap = *gap };

	queue->queues->context->irregular++;
	t2x_model_update(queue->queues->context->model, &update);
}

/* Nobody knows what is missing in front of the thread's next event. */
static void report_unknown_gap(struct t2x_queue *queue, struct t2x_track *track, uint64_t ns)
{
	track->has_unknown_gap = 1;
	report_gap(queue, track, ns, &(struct t2x_gap){ .is_known = 0 });
}

static void note_start(struct t2x_stream *stream, const struct t2x_track *track, uint32_t sequence, uint64_t ns)
{
	struct t2x_track_start *start = t2x_stream_start(stream, track->facts.tid);

	if (!start)
		return;
	start->first_sequence = sequence;
	start->first_ns = ns;
}

/* A file without blocks does not count events: nobody knows whether anything is missing. */
static __attribute__((noinline)) void
note_missing(struct t2x_queue *queue, struct t2x_track *track, uint32_t sequence, uint64_t ns)
{
	const struct t2x_gap gap = t2x_missing_find(track, sequence);

	finish_waiting(queue, track);
	if (!track->has_sequence)
		note_start(queue->first->stream, track, sequence, ns);
	track->has_regions = gap.is_known && (track->has_regions || track->repeated == sequence);
	track->gap_ns = 0;
	if (!queue->counts_events)
		return;
	track->has_unknown_gap |= !gap.is_known;
	if (gap.is_known && !gap.events)
		return;
	report_gap(queue, track, ns, &gap);
}

/* Sequence numbers of blocks count a thread's events: what is missing between them was lost. */
static inline void follow_sequence(struct t2x_queue *queue, struct t2x_track *track, uint32_t sequence, uint64_t ns)
{
	if (sequence != track->next_sequence)
		note_missing(queue, track, sequence, ns);
	track->next_sequence = sequence;
	track->has_sequence = 1;
}

/*
 * The checkpoint with all its arguments, if they are right behind it: the usual way, for chains stay together.
 * Return  events used; 0: some are elsewhere, or there is no memory
 */
static unsigned
take_whole(struct t2x_queue *queue, const struct tlg_event *event, struct t2x_track *track, uint64_t ns)
{
	struct t2x_pending *pending = queue->first;
	struct t2x_queues *queues = queue->queues;
	struct t2x_scope *scope = t2x_scope_get(&pending->stream->scopes, event->u.hit.scopeIndex);
	unsigned used;
	int is_cached;

	used = t2x_arguments_from_events(&queues->arguments, pending->stream, event, pending->events + pending->count,
					 &pending->clock, &scope, &is_cached);
	if (!used)
		return 0;
	track->next_sequence += used - 1;
	give_hit(pending->stream, t2x_owner_of(pending->stream, track, scope, &queues->arguments), event, ns, scope,
		 &queues->arguments);
	if (!is_cached)
		t2x_scope_free(queues->context, scope);
	return used;
}

/* A checkpoint with arguments, or the beginning of one.  Return  events used */
static __attribute__((noinline)) unsigned
take_chain(struct t2x_queue *queue, const struct tlg_event *event, struct t2x_track *track, uint64_t ns)
{
	int may_be_whole = event->flags & TLG_HAS_INFO && !(event->flags & TLG_HAS_MORE) && !queue->chains.newest;
	unsigned used;

	track->next_sequence++;
	used = may_be_whole ? take_whole(queue, event, track, ns) : 0;
	if (used)
		return used;
	begin_chain(queue, event, track, ns);
	return 1;
}

/* The track has come to the checkpoint.  Return  events used */
static inline __attribute__((always_inline)) unsigned
take_next(struct t2x_queue *queue, struct t2x_stream *stream, const struct tlg_event *event, struct t2x_track *track,
	  uint64_t ns)
{
	struct t2x_scope *scope = t2x_scope_get(&stream->scopes, event->u.hit.scopeIndex);
	struct t2x_arguments *arguments = NULL;
	unsigned used = 1;

	track->now_ns = ns;
	follow_sequence(queue, track, event->sequence, ns);
	if (event->flags & (TLG_HAS_INFO | TLG_HAS_MORE)) {
		const struct tlg_event *end = queue->first->events + queue->first->count;
		int may_be_whole = !(event->flags & TLG_HAS_MORE || queue->chains.newest);

		arguments = &queue->queues->arguments;
		used = may_be_whole ? t2x_arguments_take_only(arguments, stream->context, event, end, scope) : 0;
		if (!used)
			return take_chain(queue, event, track, ns);
	}
	track->next_sequence += used;
	give_hit(stream, track, event, ns, scope, arguments);
	return used;
}

/*
 * One that is older than what came before it: it was interrupted by that, or it was too slow for the writer, who went
 * around it and posted it late.  Then what lies around it is not what was around it when it was passed.
 */
static __attribute__((noinline)) unsigned
take_late(struct t2x_queue *queue, struct t2x_stream *stream, const struct tlg_event *event, struct t2x_track *track)
{
	uint64_t ns = track->now_ns;
	int is_known = !track->has_unknown_gap;
	unsigned used;

	if (!is_known)
		report_unknown_gap(queue, track, ns);
	used = take_next(queue, stream, event, track, ns);
	if (!is_known)
		report_unknown_gap(queue, track, ns);
	return used;
}

static struct t2x_tail tail_of(struct t2x_pending *pending, const struct tlg_event *event)
{
	return (struct t2x_tail){ event, pending->events + pending->count, &pending->clock };
}

static __attribute__((noinline)) uint64_t first_time(struct t2x_pending *pending, const struct tlg_event *event)
{
	const struct t2x_tail tail = tail_of(pending, event);

	return t2x_missing_first_time(pending->stream, &tail);
}

static __attribute__((noinline)) uint64_t
step_time(struct t2x_pending *pending, const struct t2x_track *track, const struct tlg_event *event)
{
	const struct t2x_tail tail = tail_of(pending, event);

	return t2x_missing_step_time(track, &tail);
}

/*
 * pending  the queue's first block
 * ns       0: a step, which has the time of the thread's latest checkpoint
 * Return   events used
 */
static inline unsigned
take_hit(struct t2x_queue *queue, struct t2x_pending *pending, const struct tlg_event *event, uint64_t ns)
{
	struct t2x_stream *stream = pending->stream;
	struct t2x_track *track = track_of(queue, event);

	stream->hits++;
	if (!track)
		return 1;
	if (!ns)
		ns = track->now_ns ? track->now_ns : first_time(pending, event);
	if (ns < track->now_ns)
		return take_late(queue, stream, event, track);
	return take_next(queue, stream, event, track, ns);
}

/* The arguments of an earlier HIT go on. */
static void take_more(struct t2x_queue *queue, const struct tlg_event *event)
{
	struct t2x_track *track = track_of(queue, event);
	const struct tlg_more *more = &event->u.more;
	struct t2x_chain *chain = queue->chains.newest;

	if (!track)
		return;
	while (chain &&
	       !(chain->waits_for_more && chain->track == track && chain->head.u.hit.when == more->when &&
		 chain->head.u.hit.scopeIndex == more->scopeIndex))
		chain = chain->next;
	if (chain)
		chain->waits_for_more = 0;
	follow_sequence(queue, track, event->sequence, track->now_ns);
	track->next_sequence++;
	if (!chain) {
		/* its HIT was lost: its events are counted, nobody wants them */
		begin_chain(queue, event, track, 0);
		return;
	}
	chain->sequence = event->sequence;
	if (!(event->flags & TLG_HAS_MORE))
		chain->head.flags &= (uint16_t)~TLG_HAS_MORE;
	if (!(event->flags & TLG_HAS_INFO))
		end_piece(queue, chain);
}

/* Anything but a HIT. */
static __attribute__((noinline)) void take_other(struct t2x_queue *queue, const struct tlg_event *event)
{
	struct t2x_queues *queues = queue->queues;
	struct t2x_track *track;
	unsigned type = tlg_event_type(event);

	if (type != TLG_OPEN && type != TLG_INFO)
		t2x_missing_flush(&queues->repeated, queues->context);
	switch (type) {
	case TLG_MORE:
		take_more(queue, event);
		break;
	case TLG_VALUE:
	case TLG_INFO:
		add_to_chain(queue, event);
		break;
	case TLG_THREAD:
		t2x_missing_thread(&queues->repeated, queue->first->stream, event);
		break;
	case TLG_OPEN:
		t2x_missing_open(&queues->repeated, queue->first->stream, &queue->first->clock, &event->u.open);
		break;
	case TLG_GAP:
		if (queue->counts_events && (track = track_of(queue, event)))
			t2x_missing_take(track, &event->u.gap, &queue->first->clock);
		break;
	default:
		queues->context->unknown += !tlg_type_by_id(type);
		break;
	}
}

/* ---- queues -------------------------------------------------------------------------------------- */

/* The back end takes usual checkpoints from here on.  Return  the event behind them */
static const struct tlg_event *
take_stretch(struct t2x_queue *queue, struct t2x_pending *pending, const struct tlg_event *event, uint64_t limit_ns)
{
	struct t2x_track *track = queue->track;
	struct t2x_stretch stretch;

	if (!track || !track->has_sequence || !track->now_ns || queue->chains.newest || queue->queues->repeated.track)
		return event;
	stretch = (struct t2x_stretch){
		.thread = track->thread, .scopes = &pending->stream->scopes.scopes, .clock = &pending->clock,
		.limit_ns = limit_ns, .end = pending->events + pending->count, .event = event,
		.sequence = track->next_sequence, .now_ns = track->now_ns,
	};
	t2x_model_stretch(queue->queues->context->model, &stretch);
	pending->stream->hits += stretch.hits;
	track->next_sequence = stretch.sequence;
	track->now_ns = stretch.now_ns;
	return stretch.event;
}

/* Process the events of the first block.  Return  1: a checkpoint that is younger than until_ns is next */
static int run_block(struct t2x_queue *queue, uint64_t until_ns, uint64_t limit_ns)
{
	struct t2x_pending *pending = queue->first;
	const struct tlg_event *event = pending->events + queue->at, *end = pending->events + pending->count;
	const struct tlg_event *stop;     /* from there on a stretch is tried first */

	stop = t2x_model_adds(queue->queues->context->model) ? event : end;
	while (event < stop || (event = take_stretch(queue, pending, event, limit_ns)) < end) {
		uint64_t ns = 0;

		if (tlg_event_type(event) != TLG_HIT) {
			take_other(queue, event++);
			continue;
		}
		if (event->u.hit.when)
			ns = t2x_clock_ns(&pending->clock, event->u.hit.when);
		else if (queue->track && event->sequence != queue->track->next_sequence)
			ns = step_time(pending, queue->track, event);
		if (ns > until_ns) {
			queue->rest.key_ns = ns;
			queue->at = (unsigned)(event - pending->events);
			return 1;
		}
		if (queue->queues->repeated.track)
			t2x_missing_flush(&queue->queues->repeated, queue->queues->context);
		event += take_hit(queue, pending, event, ns);
	}
	return 0;
}

int t2x_queue_run(struct t2x_queue *queue, uint64_t until_ns, uint64_t limit_ns)
{
	while (queue->first) {
		t2x_pending_set_clock(queue->first);
		if (run_block(queue, until_ns, limit_ns))
			return 1;
		t2x_missing_flush(&queue->queues->repeated, queue->queues->context);
		drop_first(queue);
	}
	return 0;
}

void t2x_queue_finish(struct t2x_queue *queue)
{
	t2x_queue_run(queue, UINT64_MAX, UINT64_MAX);
	queue->queues->context->irregular += queue->chains.newest != NULL;
	while (queue->chains.newest)
		finish_chain(queue, t2x_chains_oldest(&queue->chains));
}

void t2x_queues_free(struct t2x_queues *queues)
{
	t2x_chain_pool_free(&queues->pool, queues->context);
	t2x_arguments_free(&queues->arguments, queues->context);
}
