/* SPDX-License-Identifier: MIT */
/* tr2_post_chain.c - chains into blocks of their threads, and the context in front of them. */
#include <string.h>

#include "tr2_post.h"
#include "tr2_stream.h"
#include "ring/tr2_scope.h"
#include "ring/tr2_shm.h"

enum { EXTRA_OPENS = 2 };   /* that are no regions: the outermost level is left; those before are assumed */

/* ---- context ------------------------------------------------------------------------------------ */

/* Events that the definitions take which this chain needs and the cycle does not have yet. */
struct context {
	const struct tlg_ring_scope *scope;    /* to be posted, or NULL */
	uint32_t scope_index;
	const char *file;                 /* to be posted, or NULL */
	int thread;                       /* to be posted */
	unsigned events;
};

static unsigned kept_regions(const struct tr2_post_thread *thread)
{
	return thread->depth < TR2_OPEN_REGIONS ? thread->depth : TR2_OPEN_REGIONS;
}

/* Events that the thread's definition takes, at most. */
static unsigned thread_events(const struct tr2_post_thread *thread)
{
	return 1 + tr2_stream_text_events(strlen(thread->name)) + EXTRA_OPENS + kept_regions(thread);
}

int tr2_post_open_region(const struct tr2_post_thread *thread, unsigned at, unsigned most, struct tlg_open *open)
{
	const uint32_t doubt = thread->missing ? thread->depth + 1 : thread->doubt;
	unsigned kept = kept_regions(thread), extra = thread->is_below_root + (doubt != 0), mark;

	*open = (struct tlg_open){ .tid = thread->tid };
	kept = kept < most - extra ? kept : most - extra;
	mark = doubt && doubt <= kept ? doubt - 1 : kept;
	if (at >= kept + extra)
		return 0;
	if (thread->is_below_root && !at--)
		return 1;
	if (doubt && at == mark) {
		open->when = TLG_OPEN_ASSUMED;
		return 1;
	}
	at -= doubt && at > mark;
	open->when = thread->open[at].when;
	open->scopeIndex = thread->open[at].scope;
	return 1;
}

static void find_scope_context(struct context *context, const struct tlg_ring_scope *scope, uint32_t index)
{
	if (!scope || tr2_g_stream.posted[index].cycle == tr2_g_stream.cycle)
		return;
	context->scope = scope;
	context->scope_index = index;
	context->events += 1 + tr2_stream_text_events(scope->text_bytes);
	if (!scope->filenum || tr2_g_stream.posted[scope->filenum].file_cycle == tr2_g_stream.cycle)
		return;
	context->file = tr2_scope_file(scope->filenum);
	context->events += context->file ? 1 + tr2_stream_text_events(strlen(context->file)) : 0;
}

static void append_file(const struct tlg_ring_scope *scope, const char *file, uint32_t sequence)
{
	tr2_stream_append(TLG_FLOC | TLG_HAS_INFO, sequence)->u.fileloc = (struct tlg_fileloc){
		scope->filenum, (uint16_t)tr2_g_stream.cycle, 0
	};
	tr2_stream_append_text(file, strlen(file), sequence);
	tr2_g_stream.posted[scope->filenum].file_cycle = tr2_g_stream.cycle;
}

static void append_scope(const struct context *context, uint32_t sequence)
{
	const struct tlg_ring_scope *scope = context->scope;
	struct tlg_event *sloc;

	if (context->file)
		append_file(scope, context->file, sequence);
	sloc = tr2_stream_append(TLG_SLOC | (scope->text_bytes ? TLG_HAS_INFO : 0), sequence);
	sloc->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = context->scope_index, .linenum = scope->line, .filenum = scope->filenum,
		.writeCount = (uint16_t)tr2_g_stream.cycle, .repo = scope->repo, .style = scope->style,
		.names = scope->names,
	};
	tr2_stream_append_text(tr2_shm_text(scope->text), scope->text_bytes, sequence);
	tr2_g_stream.posted[context->scope_index].cycle = tr2_g_stream.cycle;
	tr2_g_stream.posted[context->scope_index].style = scope->style;
}

static void append_thread(struct tr2_post_thread *thread, uint32_t sequence)
{
	size_t length = strlen(thread->name);
	struct tlg_open open;

	tr2_stream_append(TLG_THREAD | (length ? TLG_HAS_INFO : 0), sequence)->u.thread = (struct tlg_thread){
		thread->tid, thread->ostid, thread->start
	};
	tr2_stream_append_text(thread->name, length, sequence);
	for (unsigned i = 0; tr2_post_open_region(thread, i, TR2_OPEN_REGIONS + EXTRA_OPENS, &open); i++)
		tr2_stream_append(TLG_OPEN, sequence)->u.open = open;
	thread->cycle = tr2_g_stream.cycle;
}

/* ---- chains ------------------------------------------------------------------------------------- */

/* Bytes of category and label among the names of a scope. */
static size_t name_bytes(const struct tlg_ring_scope *scope)
{
	const char *text = tr2_shm_text(scope->text);
	unsigned names = (scope->names & TLG_NAME_CATEGORY ? 1 : 0) + (scope->names & TLG_NAME_LABEL ? 1 : 0);
	size_t n = 0;

	for (; names; names--)
		n += strlen(text + n) + 1;
	return n;
}

/* Is what is entered, or left, at the one scope what was entered at the other? */
static int is_same_region(uint32_t one, uint32_t other)
{
	const unsigned both = TLG_NAME_CATEGORY | TLG_NAME_LABEL;
	const struct tlg_ring_scope *a = tr2_scope_get(one), *b = tr2_scope_get(other);
	size_t n = a && b ? name_bytes(a) : 0;

	return n && a->repo == b->repo && (a->names & both) == (b->names & both) && n == name_bytes(b) &&
	       !memcmp(tr2_shm_text(a->text), tr2_shm_text(b->text), n);
}

/*
 * A region is left, or entered, where regions are only assumed to be open: as t2x_regions.h has it, so that what
 * is repeated is what a reader knows who has read all.
 */
static __attribute__((noinline)) void repair_regions(struct tr2_post_thread *thread, const struct tlg_hit *hit,
						     unsigned style)
{
	unsigned at = kept_regions(thread);

	while (at && !is_same_region(thread->open[at - 1].scope, hit->scopeIndex))
		at--;
	if (at)
		thread->depth = at - 1;
	else if (style == TLG_STYLE_region_leave)
		thread->depth = 0;
	thread->doubt = thread->depth + 1;
	if (style == TLG_STYLE_region_enter)
		tr2_post_enter_region(thread, hit->when, hit->scopeIndex);
}

static inline int is_assumed(const struct tr2_post_thread *thread)
{
	return thread->depth < thread->doubt;
}

/* What is missing in front of the next event is what nobody knows. */
static void settle_missing(struct tr2_post_thread *thread)
{
	unsigned kept = 0, known = kept_regions(thread);

	if (!thread->missing)
		return;
	while (kept < known && thread->open[kept].when != TLG_OPEN_LOST)
		kept++;
	thread->depth = kept < known ? kept : thread->depth;
	thread->doubt = thread->depth + 1;
	thread->missing = 0;
}

static void follow_gap(struct tr2_post_thread *thread, const struct tlg_gap *gap)
{
	unsigned left = gap->left < thread->depth ? gap->left : thread->depth;

	if (gap->left == TLG_GAP_UNKNOWN)
		return;
	thread->missing -= gap->events < thread->missing ? gap->events : thread->missing;
	thread->is_below_root |= gap->left > left && !thread->doubt;
	thread->depth -= left;
	if (is_assumed(thread))
		thread->doubt = thread->depth + 1;
	for (unsigned i = 0; i < gap->entered; i++)
		tr2_post_enter_region(thread, TLG_OPEN_LOST, 0);
}

static void unwind(struct tr2_post_thread *thread)
{
	thread->depth = thread->is_below_root && thread->depth;
	thread->doubt = 0;
}

static inline void follow_regions(struct tr2_post_thread *thread, const struct tlg_hit *hit, unsigned style)
{
	if (style == TLG_STYLE_region_enter || style == TLG_STYLE_region_leave) {
		if (__builtin_expect(is_assumed(thread), 0)) {
			repair_regions(thread, hit, style);
			return;
		}
	}
	if (style == TLG_STYLE_region_enter)
		tr2_post_enter_region(thread, hit->when, hit->scopeIndex);
	else if (style == TLG_STYLE_region_leave && thread->depth)
		thread->depth--;
	else if (style == TLG_STYLE_region_leave)
		thread->is_below_root = 1;
	else if (tlg_style_unwinds(style))
		unwind(thread);
}

static void append_chain(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned count)
{
	struct tlg_event *to = &tr2_g_stream.buffer[tr2_g_stream.used];
	uint16_t cycle = (uint16_t)(tr2_g_stream.cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK);

	for (unsigned i = 0; i < count; i++) {
		to[i] = events[i];
		to[i].flags = (uint16_t)(to[i].flags | cycle);
		to[i].sequence = thread->position + 1;
	}
	tr2_g_stream.used += count;
	tr2_g_stream.in_block += count;
	tr2_g_stream.cycle_bytes += count * sizeof(*to);
	thread->position += count;
}

static unsigned style_of(const struct tlg_ring_scope *scope, const struct tlg_event *events, unsigned count)
{
	if (scope)
		return scope->style;
	return count > 1 && !events->u.hit.scopeIndex ? (unsigned)events[1].u.value.value : 0;
}

/* The names of the open regions, so that a reader that begins here can show them.  Return  0: not enough room */
static int post_open_scopes(const struct tr2_post_thread *thread)
{
	tr2_g_stream.room = 0;
	for (unsigned i = 0; i < kept_regions(thread); i++) {
		struct context context = { .thread = 0 };
		find_scope_context(&context, tr2_scope_get(thread->open[i].scope), thread->open[i].scope);
		if (!context.scope)
			continue;
		if (!tr2_stream_open(thread->tid, context.events))
			return 0;
		append_scope(&context, thread->position + 1);
	}
	return 1;
}

int tr2_post_chain(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned count)
{
	const struct tlg_hit *hit = &events->u.hit;
	const struct tlg_ring_scope *scope = tr2_scope_get(hit->scopeIndex);
	struct context context = { .thread = 0 };
	uint32_t sequence = thread->position + 1;
	unsigned before;

	if (!scope && hit->scopeIndex)
		return -1;
	if (!tr2_post_begin())
		return 0;
	settle_missing(thread);
	context.thread = thread->cycle != tr2_g_stream.cycle;
	if (context.thread && !post_open_scopes(thread))
		return 0;
	context.events = context.thread ? thread_events(thread) : 0;
	find_scope_context(&context, scope, hit->scopeIndex);
	if (!tr2_stream_open(thread->tid, context.events + count))
		return 0;
	before = tr2_g_stream.used;
	if (context.thread)
		append_thread(thread, sequence);
	if (context.scope)
		append_scope(&context, sequence);
	tr2_g_stream.cycle_bytes += (tr2_g_stream.used - before) * sizeof(*events);
	append_chain(thread, events, count);
	if (hit->when)
		thread->last_when = hit->when;
	if (tlg_event_type(events) == TLG_HIT) {
		tr2_g_stream.stored++;
		follow_regions(thread, hit, style_of(scope, events, count));
	}
	tr2_stream_find_room();
	return 1;
}

/* Nearly every chain needs no context and goes into the block that is open: what that takes, at hand. */
struct run {
	struct tlg_event *to;
	unsigned room, cycle;
	uint32_t sequence;
	uint64_t hits;
};

/* Copy a chain whose scope has been posted. */
static inline void run_chain(struct run *run, struct tr2_post_thread *thread, const struct tlg_event *events,
			     unsigned count)
{
	for (unsigned i = 0; i < count; i++, run->to++) {
		run->to->flags = (uint16_t)(events[i].flags | run->cycle);
		run->to->pid = events[i].pid;
		run->to->sequence = run->sequence;
		run->to->u = events[i].u;
	}
	run->sequence += count;
	run->room -= count;
	run->hits += tlg_event_type(events) == TLG_HIT;
	if (events->u.hit.when)
		thread->last_when = events->u.hit.when;
}

unsigned tr2_post_run(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned n)
{
	const uint32_t cycle = tr2_g_stream.cycle, tid = thread->tid;
	const struct tr2_posted *posted = tr2_g_stream.posted;
	struct run run = {
		&tr2_g_stream.buffer[tr2_g_stream.used], tr2_g_stream.room, cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK,
		thread->position + 1, 0
	};
	unsigned at = 0, count;

	if (!thread->start || thread->missing || tid != tr2_g_stream.block_tid || thread->cycle != cycle)
		return 0;
	for (; at < n; at += count) {
		const struct tlg_hit *hit = &events[at].u.hit;
		count = tlg_chain_length(&events[at], n - at);
		if (count > run.room || hit->tid != tid || hit->scopeIndex >= TLG_MAX_SCOPES ||
		    posted[hit->scopeIndex].cycle != cycle)
			break;
		run_chain(&run, thread, &events[at], count);
		if (tlg_event_type(&events[at]) == TLG_HIT)
			follow_regions(thread, hit, posted[hit->scopeIndex].style);
	}
	tr2_g_stream.used += at;
	tr2_g_stream.in_block += at;
	tr2_g_stream.cycle_bytes += at * sizeof(*events);
	tr2_g_stream.room = run.room;
	tr2_g_stream.stored += run.hits;
	thread->position += at;
	thread->waits_since = at ? 0 : thread->waits_since;
	return at;
}

/* ---- chains that are not posted, context that is posted without them ----------------------------- */

unsigned tr2_post_skip(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned n)
{
	const struct tlg_ring_scope *scope;
	unsigned at = 0, count;

	settle_missing(thread);
	for (; at < n; at += count) {
		const struct tlg_hit *hit = &events[at].u.hit;
		if (hit->tid != thread->tid)
			break;
		count = tlg_chain_length(&events[at], n - at);
		if (hit->when)
			thread->last_when = hit->when;
		if (tlg_event_type(&events[at]) != TLG_HIT)
			continue;
		thread->overwritten++;
		scope = tr2_scope_get(hit->scopeIndex);
		follow_regions(thread, hit, style_of(scope, &events[at], count));
	}
	thread->position += at;
	return at;
}

int tr2_post_context(struct tr2_post_thread *thread)
{
	if (!tr2_post_begin() || !post_open_scopes(thread))
		return 0;
	if (thread->cycle == tr2_g_stream.cycle)
		return 1;
	if (!tr2_stream_open(thread->tid, thread_events(thread)))
		return 0;
	append_thread(thread, thread->position + 1);
	return 1;
}

/* ---- what was dropped ----------------------------------------------------------------------------- */

int tr2_post_lost(struct tr2_post_thread *thread, const struct tlg_event *event)
{
	if (!tr2_post_begin() || !tr2_stream_open(thread->tid, 1))
		return 0;
	tr2_stream_append(TLG_GAP, thread->position + 1)->u.gap = event->u.gap;
	tr2_g_stream.cycle_bytes += sizeof(*event);
	tr2_stream_find_room();
	follow_gap(thread, &event->u.gap);
	return 1;
}

void tr2_post_skip_lost(struct tr2_post_thread *thread, const struct tlg_event *event)
{
	follow_gap(thread, &event->u.gap);
}
