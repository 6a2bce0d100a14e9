/* SPDX-License-Identifier: MIT */
/* t2x_queue.c - what each event does. */
#include "t2x_queue.h"

#include <errno.h>
#include <string.h>

#include "model/t2x_run.h"

enum {
	POOL_CHAINS = 64,
	POOL_BYTES = 16384,       /* a chain that has gathered more is not worth keeping */
};

/* ---- blocks that wait --------------------------------------------------------------------------- */

/* How many bytes a block of so many events takes while it waits. */
static size_t pending_bytes(unsigned count)
{
	return sizeof(struct t2x_pending) + (count + 1) * sizeof(struct tlg_event);
}

int t2x_queue_append(struct t2x_queue *queue, struct t2x_stream *stream, const struct t2x_block *block)
{
	const size_t bytes = pending_bytes(block->count);
	struct t2x_pending *pending = t2x_malloc(sizeof(*pending));
	struct tlg_event *memory = block->own ? *block->own : NULL;

	if (pending && block->own)
		*block->own = NULL;
	else if (pending && (memory = t2x_malloc((block->count + 1) * sizeof(*memory))))
		memcpy(memory + 1, block->events, block->count * sizeof(*memory));
	if (!pending || !memory) {
		t2x_free(pending);
		return -ENOMEM;
	}
	*pending = (struct t2x_pending){
		.stream = stream, .clock = stream->clock, .has_clock = stream->has_clock,
		.count = block->count, .events = memory + 1, .memory = memory,
	};
	*(queue->last ? &queue->last->next : &queue->first) = pending;
	queue->last = pending;
	queue->queues->pending_bytes += bytes;
	return 0;
}

static void drop_first(struct t2x_queue *queue)
{
	struct t2x_pending *pending = queue->first;

	queue->first = pending->next;
	if (!queue->first)
		queue->last = NULL;
	queue->at = 0;
	queue->queues->pending_bytes -= pending_bytes(pending->count);
	t2x_free(pending->memory);
	t2x_free(pending);
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
give_hit(struct t2x_stream *stream, struct t2x_cursor *cursor, const struct tlg_event *event, uint64_t ns,
	 struct t2x_scope *scope, const struct t2x_arguments *arguments, int64_t shift_ns)
{
	const struct t2x_hit hit = {
		.thread = cursor->thread, .scope = scope, .scope_index = event->u.hit.scopeIndex,
		.flags = event->flags, .ns = ns, .when = event->u.hit.when, .shift_ns = shift_ns,
		.nargs = arguments ? arguments->n : 0, .args = arguments ? arguments->args : NULL,
	};

	if (!scope)
		cursor->has_regions = 0;   /* it may have been an enter or a leave */
	else if (scope->style == TLG_STYLE_thread_exit)
		cursor->is_over = 1;
	t2x_model_hit(stream->context->model, &hit);
}

/* ---- chains ------------------------------------------------------------------------------------- */

static void finish_hit(struct t2x_queues *queues, struct t2x_chain *chain)
{
	struct t2x_scope *scope = t2x_scope_get(&chain->stream->scopes, chain->head.u.hit.scopeIndex);
	int is_cached;

	queues->context->irregular += chain->ns < chain->cursor->now_ns;
	t2x_arguments_from_chain(&queues->arguments, chain, &scope, &is_cached);
	give_hit(chain->stream, t2x_owner_of(chain->stream, chain->cursor, scope, &queues->arguments), &chain->head,
		 chain->ns, scope, &queues->arguments, queues->arguments.shift_ns);
	if (!is_cached)
		t2x_scope_free(queues->context, scope);
}

/* The chain is complete, or the rest of it will not come. */
static void finish_chain(struct t2x_queue *queue, struct t2x_chain *chain)
{
	struct t2x_chains *pool = &queue->queues->pool;

	if (tlg_event_type(&chain->head) == TLG_HIT)
		finish_hit(queue->queues, chain);
	t2x_chains_remove(&queue->chains, chain);
	if (pool->count < POOL_CHAINS && chain->max_bytes + chain->max_values <= POOL_BYTES)
		t2x_chains_push(pool, chain);
	else
		t2x_chain_free(chain, queue->queues->context);
}

/* Return  a chain without VALUEs and text, whose other members the caller sets; NULL: no memory */
static struct t2x_chain *take_chain_of_pool(struct t2x_chains *pool)
{
	struct t2x_chain *chain = pool->newest;

	if (!chain)
		return t2x_calloc(1, sizeof(*chain));
	t2x_chains_remove(pool, chain);
	chain->nvalues = chain->bytes = 0;
	return chain;
}

static void end_piece(struct t2x_queue *queue, struct t2x_chain *chain)
{
	if (chain->head.flags & TLG_HAS_MORE)
		chain->waits_for_more = 1;
	else
		finish_chain(queue, chain);
}

/* The event is the head of a chain; nothing may follow it. */
static void begin_chain(struct t2x_queue *queue, const struct tlg_event *event, struct t2x_cursor *cursor,
			uint64_t ns)
{
	struct t2x_chain *chain;

	if (queue->chains.count >= T2X_MAX_CHAINS)
		finish_chain(queue, t2x_chains_oldest(&queue->chains));
	chain = take_chain_of_pool(&queue->queues->pool);
	if (!chain)
		return;
	chain->head = *event;
	chain->sequence = event->sequence;
	chain->waits_for_more = 0;
	chain->stream = queue->first->stream;
	chain->clock = queue->first->clock;
	chain->cursor = cursor;
	chain->ns = ns;
	t2x_chains_push(&queue->chains, chain);
	if (!(event->flags & TLG_HAS_INFO))
		end_piece(queue, chain);
}

/* VALUE or INFO: it belongs to the newest chain with this number. */
static void add_to_chain(struct t2x_queue *queue, const struct tlg_event *event, int is_value)
{
	struct t2x_chain *chain = queue->chains.newest;
	const struct t2x_stream *stream = queue->first->stream;

	while (chain &&
	       (chain->sequence != event->sequence || chain->stream != stream || chain->waits_for_more))
		chain = chain->next;
	if (!chain)
		return;
	t2x_chain_add(chain, queue->queues->context, event, is_value);
	chain->cursor->next_sequence++;
	if (event->flags & TLG_INFO_END)
		end_piece(queue, chain);
}

/* ---- events ------------------------------------------------------------------------------------- */

/* MOREs were lost: the thread's chains that wait for them are handed over now, in front of the thread's next event. */
static void finish_waiting(struct t2x_queue *queue, const struct t2x_cursor *cursor)
{
	for (struct t2x_chain *chain = queue->chains.newest, *next; chain; chain = next) {
		next = chain->next;
		if (chain->waits_for_more && chain->cursor == cursor)
			finish_chain(queue, chain);
	}
}

/* In a file without blocks each event has its thread's id. */
static __attribute__((noinline)) struct t2x_cursor *find_cursor(struct t2x_queue *queue, const struct tlg_event *event)
{
	return t2x_stream_cursor(queue->first->stream, event->u.hit.tid);
}

static inline struct t2x_cursor *cursor_of(struct t2x_queue *queue, const struct tlg_event *event)
{
	return queue->cursor ? queue->cursor : find_cursor(queue, event);
}

static void
report_gap(struct t2x_queue *queue, const struct t2x_cursor *cursor, uint64_t ns, const struct t2x_gap *gap)
{
	const struct t2x_update update = { .kind = T2X_GAP, .thread = cursor->thread, .ns = ns, .gap = *gap };

	queue->queues->context->irregular++;
	t2x_model_update(queue->queues->context->model, &update);
}

/* Events are missing in front of the thread's next one, and nothing says how many. */
static void report_unknown_gap(struct t2x_queue *queue, struct t2x_cursor *cursor, uint64_t ns)
{
	cursor->has_unknown_gap = 1;
	report_gap(queue, cursor, ns, &(struct t2x_gap){ .is_known = 0 });
}

/* The event is not the next one.  A file without blocks does not count events, so nothing can be said about gaps. */
static __attribute__((noinline)) void
note_missing(struct t2x_queue *queue, struct t2x_cursor *cursor, uint32_t sequence, uint64_t ns)
{
	const struct t2x_gap gap = t2x_missing_find(cursor, sequence);
	struct t2x_stream_start *start;

	finish_waiting(queue, cursor);
	start = cursor->has_sequence ? NULL : t2x_stream_start(queue->first->stream, cursor->facts.tid);
	if (start) {
		start->first_sequence = sequence;
		start->first_ns = ns;
	}
	cursor->has_regions = gap.is_known && (cursor->has_regions || cursor->repeated == sequence);
	cursor->gap_ns = 0;
	if (!queue->counts_events)
		return;
	cursor->has_unknown_gap |= !gap.is_known;
	if (gap.events || !gap.is_known)
		report_gap(queue, cursor, ns, &gap);
}

/* The sequence numbers in blocks count a thread's events: numbers that do not come are lost events. */
static inline void follow_sequence(struct t2x_queue *queue, struct t2x_cursor *cursor, uint32_t sequence, uint64_t ns)
{
	if (sequence != cursor->next_sequence)
		note_missing(queue, cursor, sequence, ns);
	cursor->next_sequence = sequence;
	cursor->has_sequence = 1;
}

/*
 * Hand over the checkpoint with its arguments, if all of them are right behind it.  They mostly are, for writers keep
 * chains together.
 * Return  events used; 0: some are elsewhere, or there is no memory
 */
static unsigned
take_whole(struct t2x_queue *queue, const struct tlg_event *event, struct t2x_cursor *cursor, uint64_t ns)
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
	cursor->next_sequence += used - 1;
	give_hit(pending->stream, t2x_owner_of(pending->stream, cursor, scope, &queues->arguments), event, ns, scope,
		 &queues->arguments, queues->arguments.shift_ns);
	if (!is_cached)
		t2x_scope_free(queues->context, scope);
	return used;
}

/* A checkpoint with arguments: hand it over, or begin to gather its chain.  Return  events used */
static __attribute__((noinline)) unsigned
take_chain(struct t2x_queue *queue, const struct tlg_event *event, struct t2x_cursor *cursor, uint64_t ns)
{
	int may_be_whole = event->flags & TLG_HAS_INFO && !(event->flags & TLG_HAS_MORE) && !queue->chains.newest;
	unsigned used;

	cursor->next_sequence++;
	used = may_be_whole ? take_whole(queue, event, cursor, ns) : 0;
	if (used)
		return used;
	begin_chain(queue, event, cursor, ns);
	return 1;
}

/* Move the cursor to the checkpoint, and hand that over.  Return  events used */
static inline __attribute__((always_inline)) unsigned
take_next(struct t2x_queue *queue, struct t2x_stream *stream, const struct tlg_event *event, struct t2x_cursor *cursor,
	  uint64_t ns)
{
	struct t2x_scope *scope = t2x_scope_get(&stream->scopes, event->u.hit.scopeIndex);
	struct t2x_arguments *arguments = NULL;
	unsigned used = 1;

	cursor->now_ns = ns;
	follow_sequence(queue, cursor, event->sequence, ns);
	if (event->flags & (TLG_HAS_INFO | TLG_HAS_MORE)) {
		const struct tlg_event *end = queue->first->events + queue->first->count;
		int may_be_whole = !(event->flags & TLG_HAS_MORE || queue->chains.newest);

		arguments = &queue->queues->arguments;
		used = may_be_whole ? t2x_arguments_take_only(arguments, stream->context, event, end, scope) : 0;
		if (!used)
			return take_chain(queue, event, cursor, ns);
	}
	cursor->next_sequence += used;
	give_hit(stream, cursor, event, ns, scope, arguments, 0);
	return used;
}

/*
 * A checkpoint that is older than the one in front of it.  A handler's checkpoints interrupted it, or its thread was
 * so slow that the drain stepped over it and wrote it late.  In the second case the regions around it here are not
 * those in which the program passed it, so gaps are reported on both of its sides.
 */
static __attribute__((noinline)) unsigned
take_late(struct t2x_queue *queue, struct t2x_stream *stream, const struct tlg_event *event, struct t2x_cursor *cursor)
{
	uint64_t ns = cursor->now_ns;
	int is_known = !cursor->has_unknown_gap;
	unsigned used;

	if (!is_known)
		report_unknown_gap(queue, cursor, ns);
	used = take_next(queue, stream, event, cursor, ns);
	if (!is_known)
		report_unknown_gap(queue, cursor, ns);
	return used;
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
	struct t2x_cursor *cursor = cursor_of(queue, event);

	stream->hits++;
	if (!cursor)
		return 1;
	if (!ns)
		ns = cursor->now_ns ? cursor->now_ns : t2x_missing_first_time(pending, event);
	if (ns < cursor->now_ns)
		return take_late(queue, stream, event, cursor);
	return take_next(queue, stream, event, cursor, ns);
}

/* MORE: the arguments of an earlier HIT go on. */
static void take_more(struct t2x_queue *queue, const struct tlg_event *event)
{
	struct t2x_cursor *cursor = cursor_of(queue, event);
	const struct tlg_more *more = &event->u.more;
	struct t2x_chain *chain = queue->chains.newest;

	if (!cursor)
		return;
	while (chain &&
	       !(chain->waits_for_more && chain->cursor == cursor && chain->head.u.hit.when == more->when &&
		 chain->head.u.hit.scopeIndex == more->scopeIndex))
		chain = chain->next;
	if (chain)
		chain->waits_for_more = 0;
	follow_sequence(queue, cursor, event->sequence, cursor->now_ns);
	cursor->next_sequence++;
	if (!chain) {
		/* its HIT was lost: its events are counted, nobody wants them */
		begin_chain(queue, event, cursor, 0);
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
	struct t2x_cursor *cursor;
	unsigned type = tlg_event_type(event);

	if (queues->repeated.cursor && type != TLG_OPEN && type != TLG_INFO)
		t2x_missing_flush(&queues->repeated, queues->context);
	switch (type) {
	case TLG_MORE:
		take_more(queue, event);
		break;
	case TLG_VALUE:
	case TLG_INFO:
		add_to_chain(queue, event, type == TLG_VALUE);
		break;
	case TLG_THREAD:
		t2x_missing_thread(&queues->repeated, queue->first->stream, event);
		break;
	case TLG_OPEN:
		t2x_missing_open(&queues->repeated, queue->first->stream, &queue->first->clock, &event->u.open);
		break;
	case TLG_GAP:
		if (queue->counts_events && (cursor = cursor_of(queue, event)))
			t2x_missing_take(cursor, &event->u.gap, &queue->first->clock);
		break;
	default:
		queues->context->unknown += !tlg_type_by_id(type);
		break;
	}
}

/* ---- queues -------------------------------------------------------------------------------------- */

/* The model adds up the usual checkpoints from here on.  Return  the first event that it leaves */
static const struct tlg_event *
take_run(struct t2x_queue *queue, struct t2x_pending *pending, const struct tlg_event *event, uint64_t limit_ns)
{
	struct t2x_cursor *cursor = queue->cursor;
	struct t2x_run run;

	if (!cursor || !cursor->has_sequence || !cursor->now_ns || queue->chains.newest ||
	    queue->queues->repeated.cursor)
		return event;
	run = (struct t2x_run){
		.thread = cursor->thread, .scopes = &pending->stream->scopes.scopes, .clock = &pending->clock,
		.limit_ns = limit_ns, .end = pending->events + pending->count, .event = event,
		.sequence = cursor->next_sequence, .now_ns = cursor->now_ns,
	};
	t2x_model_run(queue->queues->context->model, &run);
	pending->stream->hits += run.hits;
	cursor->next_sequence = run.sequence;
	cursor->now_ns = run.now_ns;
	return run.event;
}

/* Process the events of the first block.  Return  1: a checkpoint that is younger than until_ns is next */
static int run_block(struct t2x_queue *queue, uint64_t until_ns, uint64_t limit_ns)
{
	struct t2x_pending *pending = queue->first;
	const struct tlg_event *event = pending->events + queue->at, *end = pending->events + pending->count;
	const struct tlg_event *stop;     /* from there on a run is tried first */

	stop = queue->queues->adds ? event : end;
	while (event < stop || (event = take_run(queue, pending, event, limit_ns)) < end) {
		uint64_t ns = 0;

		if (tlg_event_type(event) != TLG_HIT) {
			take_other(queue, event++);
			continue;
		}
		if (event->u.hit.when)
			ns = t2x_clock_ns(&pending->clock, event->u.hit.when);
		else if (queue->cursor && event->sequence != queue->cursor->next_sequence)
			ns = t2x_missing_step_time(pending, event, queue->cursor);
		if (ns > until_ns) {
			queue->rest.key_ns = ns;
			queue->at = (unsigned)(event - pending->events);
			return 1;
		}
		if (queue->queues->repeated.cursor)
			t2x_missing_flush(&queue->queues->repeated, queue->queues->context);
		event += take_hit(queue, pending, event, ns);
	}
	return 0;
}

int t2x_queue_run(struct t2x_queue *queue, uint64_t until_ns, uint64_t limit_ns)
{
	struct t2x_queues *queues = queue->queues;

	while (queue->first) {
		struct t2x_pending *pending = queue->first;

		/* a block that was read before its stream's clock was known goes by the first that was */
		if (!pending->has_clock)
			pending->clock = pending->stream->clock;
		pending->has_clock = 1;
		if (run_block(queue, until_ns, limit_ns))
			return 1;
		if (queues->repeated.cursor)
			t2x_missing_flush(&queues->repeated, queues->context);
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
	while (queues->pool.newest) {
		struct t2x_chain *chain = queues->pool.newest;

		t2x_chains_remove(&queues->pool, chain);
		t2x_chain_free(chain, queues->context);
	}
	t2x_arguments_free(&queues->arguments, queues->context);
}
