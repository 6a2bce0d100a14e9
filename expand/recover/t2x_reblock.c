/* SPDX-License-Identifier: MIT */
/* t2x_reblock.c - blocks and the context in front of chains; compare tr2_stream.c, which trusts its memory. */
#include "t2x_reblock.h"

#include <stdlib.h>
#include <string.h>

#include "tlg_block.h"
#include "tlg_math.h"

enum {
	NAMES = 3 * TLG_NAME_MAX,
};
#define NS_PER_S UINT64_C(1000000000)

struct t2x_reblock {
	const struct t2x_ring *ring;
	struct t2x_layout layout;
	struct tlg_event *events;         /* BLOCK, and what is behind it */
	unsigned n;                       /* behind it */
	uint32_t tid;                     /* of the block */
	uint32_t number;                  /* of the last block */
	uint32_t cycle;
	int is_in_file;                   /* blocks of the stream have been seen */
	struct t2x_map threads;           /* by tid: what a reader knows; the values mean nothing */
	unsigned char scopes[TLG_MAX_SCOPES / 8], sources[TLG_MAX_SOURCES / 8];   /* bits: posted */
	uint64_t clock_raw, clock_ns;     /* the latest pair */
	uint64_t marked, latest;          /* raw clock: last MARK, latest checkpoint */
	char text[NAMES];
};

static void set(unsigned char *bits, uint32_t i)
{
	bits[i / 8] = (unsigned char)(bits[i / 8] | 1u << i % 8);
}

static int is_set(const unsigned char *bits, uint32_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

struct t2x_reblock *t2x_reblock_new(const struct t2x_ring *ring)
{
	struct t2x_reblock *reblock = calloc(1, sizeof(*reblock));

	if (!reblock)
		return NULL;
	reblock->ring = ring;
	reblock->number = ring->state.blocks;
	reblock->cycle = ring->state.cycle ? ring->state.cycle : 1;
	reblock->events = malloc((TLG_BLOCK_LIMIT + 1) * sizeof(*reblock->events));
	if (!reblock->events || t2x_layout_init(&reblock->layout, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) {
		t2x_reblock_free(reblock);
		return NULL;
	}
	t2x_reblock_know_clock(reblock, ring->state.raw, ring->state.ns);
	return reblock;
}

void t2x_reblock_free(struct t2x_reblock *reblock)
{
	if (!reblock)
		return;
	t2x_layout_free(&reblock->layout);
	t2x_map_free(&reblock->threads);
	free(reblock->events);
	free(reblock);
}

void t2x_reblock_follow(struct t2x_reblock *reblock, const struct t2x_block *block)
{
	reblock->is_in_file = 1;
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		if (tlg_event_type(event) == TLG_THREAD)
			t2x_map_put(&reblock->threads, event->u.thread.tid, reblock);
		else if (tlg_event_type(event) == TLG_MARK && event->u.mark.when > reblock->marked)
			reblock->marked = event->u.mark.when;
	}
}

void t2x_reblock_know_clock(struct t2x_reblock *reblock, uint64_t raw, uint64_t ns)
{
	if (raw <= reblock->clock_raw || ns <= reblock->clock_ns)
		return;
	reblock->clock_raw = raw;
	reblock->clock_ns = ns;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* The next event of the block, its payload zero.  It is not full. */
static struct tlg_event *append(struct t2x_reblock *reblock, unsigned flags, uint32_t sequence)
{
	struct tlg_event *event = &reblock->events[++reblock->n];

	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)(flags | (reblock->cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK));
	event->pid = (uint16_t)reblock->ring->head.pid;
	event->sequence = sequence;
	return event;
}

static unsigned text_events(size_t bytes)
{
	return (unsigned)((bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
}

static void append_text(struct t2x_reblock *reblock, const char *text, size_t bytes, uint32_t sequence)
{
	while (bytes) {
		size_t n = bytes < TLG_TEXT_SIZE ? bytes : TLG_TEXT_SIZE;
		struct tlg_event *event = append(reblock, TLG_INFO | (n == bytes ? TLG_INFO_END : 0), sequence);
		memcpy(event->u.info.text.c, text, n);
		text += n;
		bytes -= n;
	}
}

int t2x_reblock_take(struct t2x_reblock *reblock, struct t2x_block *block)
{
	const struct t2x_ring *ring = reblock->ring;

	if (!reblock->n)
		return 0;
	tlg_block_seal(reblock->events, ring->state.stream, ring->head.pid, ++reblock->number, reblock->tid,
		       reblock->n);
	*block = (struct t2x_block){
		.layout = &reblock->layout, .raw = (const unsigned char *)reblock->events, .entries = reblock->n + 1,
		.is_framed = 1, .counts_events = 1, .stream = ring->state.stream, .number = reblock->number,
		.tid = reblock->tid, .pid = (uint16_t)ring->head.pid, .events = reblock->events + 1,
		.count = reblock->n,
	};
	reblock->n = 0;
	return 1;
}

/* ---- process blocks ----------------------------------------------------------------------------- */

/* From two pairs the rate, and the raw value at a full second, as the library computes them. */
static void append_clock(struct t2x_reblock *reblock)
{
	const struct tlg_ring_file *head = &reblock->ring->head;
	uint64_t ticks = reblock->clock_raw - head->start, ns = reblock->clock_ns - head->start_ns, rate = NS_PER_S;
	uint64_t rest;

	if (head->clock_type != TLG_CLOCK_MONOTONIC && reblock->clock_raw > head->start &&
	    reblock->clock_ns > head->start_ns)
		rate = tlg_mul_div(ticks, NS_PER_S, ns, &rest);
	append(reblock, TLG_TIMETYPE, 0)->u.timetype = (struct tlg_timetype){
		.tdiv = rate ? rate : 1, .timetype = (uint16_t)head->clock_type, .utcoff = head->utcoff
	};
	ns = reblock->clock_ns % NS_PER_S;
	append(reblock, TLG_TIMEINFO, 0)->u.timeinfo = (struct tlg_timeinfo){
		reblock->clock_raw - tlg_mul_div(ns, rate, NS_PER_S, &rest),
		(int64_t)(reblock->clock_ns / NS_PER_S)
	};
}

static void append_recovered(struct t2x_reblock *reblock, uint64_t hits, uint64_t in_flight, unsigned part)
{
	append(reblock, TLG_RECOVERED, 0)->u.recovered = (struct tlg_recovered){
		hits, in_flight < UINT32_MAX ? (uint32_t)in_flight : UINT32_MAX, (uint16_t)part,
		reblock->ring->is_live ? TLG_RECOVERED_LIVE : TLG_RECOVERED_DEAD
	};
}

void t2x_reblock_open(struct t2x_reblock *reblock)
{
	const struct tlg_ring_file *head = &reblock->ring->head;

	reblock->tid = TLG_NO_THREAD;
	if (!reblock->is_in_file) {
		append(reblock, TLG_PROLOGUE, 0)->u.prologue = (struct tlg_prologue){
			TLG_MAGIC, TLG_VERSION, TLG_TEXT_SIZE, TLG_EVENT_SIZE, offsetof(struct tlg_event, u), 0,
			TLG_LAYOUT
		};
		append(reblock, TLG_PROCINFO | TLG_HAS_INFO, 0)->u.procinfo = (struct tlg_procinfo){
			head->pid, reblock->cycle, head->start
		};
		append_text(reblock, head->sid, strlen(head->sid) + 1, 0);
	}
	append_clock(reblock);
	if (!reblock->is_in_file)
		append(reblock, TLG_CYCLE, 0)->u.cycle = (struct tlg_cycle){
			reblock->ring->state.stream, reblock->cycle, head->start
		};
	append_recovered(reblock, 0, 0, TLG_RECOVERED_BEGIN);
}

int t2x_reblock_mark(struct t2x_reblock *reblock, uint64_t when)
{
	if (when <= reblock->marked)
		return 0;
	reblock->tid = TLG_NO_THREAD;
	reblock->marked = when;
	append(reblock, TLG_MARK, 0)->u.mark = (struct tlg_mark){ when, reblock->ring->state.stored };
	return 1;
}

void t2x_reblock_loss(struct t2x_reblock *reblock, uint32_t tid, unsigned reason, uint64_t total)
{
	reblock->tid = TLG_NO_THREAD;
	append(reblock, TLG_LOSS, 0)->u.loss = (struct tlg_loss){ total, tid, (uint16_t)reason, 0 };
}

void t2x_reblock_losses(struct t2x_reblock *reblock)
{
	struct tlg_loss loss;
	int is_there;

	reblock->tid = TLG_NO_THREAD;
	for (uint32_t i = 0; (is_there = t2x_ring_loss(reblock->ring, i, &loss)) >= 0; i++)
		if (is_there)
			append(reblock, TLG_LOSS, 0)->u.loss = loss;
}

void t2x_reblock_close(struct t2x_reblock *reblock, uint64_t hits, uint64_t in_flight)
{
	reblock->tid = TLG_NO_THREAD;
	append(reblock, TLG_MARK, 0)->u.mark = (struct tlg_mark){
		reblock->latest > reblock->marked ? reblock->latest : reblock->marked,
		reblock->ring->state.stored + hits
	};
	append_recovered(reblock, hits, in_flight, TLG_RECOVERED_END);
}

/* ---- threads ------------------------------------------------------------------------------------ */

/* What has to go in front of a chain. */
struct context {
	int thread;
	uint32_t scope, source;           /* 0: nothing to be posted */
	struct tlg_ring_scope entry;
	size_t source_bytes;
	unsigned events;
	char source_name[TLG_NAME_MAX];
};

static void find_context(struct t2x_reblock *reblock, const struct t2x_rethread *thread, uint32_t scope,
			 struct context *context)
{
	const struct tlg_ring_scope *entry = &context->entry;

	*context = (struct context){
		.thread = thread->is_repeated || thread->is_renamed || !t2x_map_get(&reblock->threads, thread->tid)
	};
	if (context->thread)
		context->events = 1 + text_events(strlen(thread->name)) + thread->nopen;
	if (!scope || scope >= TLG_MAX_SCOPES || is_set(reblock->scopes, scope) ||
	    !t2x_ring_scope(reblock->ring, scope, &context->entry, reblock->text, sizeof(reblock->text)))
		return;
	context->scope = scope;
	context->events += 1 + text_events(entry->text_bytes);
	if (!entry->filenum || is_set(reblock->sources, entry->filenum))
		return;
	context->source_bytes = t2x_ring_source(reblock->ring, entry->filenum, context->source_name,
						sizeof(context->source_name));
	if (!context->source_bytes)
		return;
	context->source = entry->filenum;
	context->events += 1 + text_events(context->source_bytes);
}

static void append_thread(struct t2x_reblock *reblock, struct t2x_rethread *thread, uint32_t sequence)
{
	size_t length = strlen(thread->name);

	if (!thread->is_repeated && t2x_map_get(&reblock->threads, thread->tid))
		thread->nopen = 0;   /* it is only renamed: what was open when it began may not be by now */
	append(reblock, TLG_THREAD | (length ? TLG_HAS_INFO : 0), sequence)->u.thread = (struct tlg_thread){
		thread->tid, thread->ostid, thread->start
	};
	append_text(reblock, thread->name, length, sequence);
	for (unsigned i = 0; i < thread->nopen; i++)
		append(reblock, TLG_OPEN, sequence)->u.open = (struct tlg_open){
			thread->open[i].when, thread->open[i].scope, thread->tid
		};
	thread->is_repeated = thread->is_renamed = 0;
	t2x_map_put(&reblock->threads, thread->tid, reblock);
}

/* What the names of a scope are, unless it is known. */
static void append_scope(struct t2x_reblock *reblock, const struct context *context, uint32_t sequence)
{
	const struct tlg_ring_scope *entry = &context->entry;
	unsigned flags;

	if (context->source) {
		append(reblock, TLG_FLOC | TLG_HAS_INFO, sequence)->u.fileloc = (struct tlg_fileloc){
			(uint16_t)context->source, (uint16_t)reblock->cycle, 0
		};
		append_text(reblock, context->source_name, context->source_bytes, sequence);
		set(reblock->sources, context->source);
	}
	if (!context->scope)
		return;
	flags = TLG_SLOC | (entry->text_bytes ? TLG_HAS_INFO : 0);
	append(reblock, flags, sequence)->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = context->scope, .linenum = entry->line, .filenum = entry->filenum,
		.writeCount = (uint16_t)reblock->cycle, .repo = entry->repo, .style = entry->style,
		.names = entry->names,
	};
	append_text(reblock, reblock->text, entry->text_bytes, sequence);
	set(reblock->scopes, context->scope);
}

/* Reserve what belongs together in a block of the thread.  Return  0: the block is full */
static int fits(const struct t2x_reblock *reblock, const struct t2x_rethread *thread, unsigned events)
{
	return !reblock->n || (reblock->tid == thread->tid && reblock->n + events <= TLG_BLOCK_EVENTS);
}

/* The names of regions that are about to be written, each for itself.  Return  0: the block is full */
static int append_open_scopes(struct t2x_reblock *reblock, struct t2x_rethread *thread)
{
	struct context context;

	for (unsigned i = 0; thread->is_repeated && i < thread->nopen; i++) {
		find_context(reblock, thread, thread->open[i].scope, &context);
		if (!context.scope)
			continue;
		if (!fits(reblock, thread, context.events))
			return 0;
		reblock->tid = thread->tid;
		append_scope(reblock, &context, thread->position + 1);
	}
	return 1;
}

int t2x_reblock_chain(struct t2x_reblock *reblock, struct t2x_rethread *thread, const struct tlg_event *events,
		      unsigned n)
{
	uint32_t sequence = thread->position + 1;
	struct context context;

	if (!append_open_scopes(reblock, thread))
		return 0;
	find_context(reblock, thread, events->u.hit.scopeIndex, &context);
	if (!fits(reblock, thread, context.events + n))
		return 0;
	reblock->tid = thread->tid;
	if (context.thread)
		append_thread(reblock, thread, sequence);
	append_scope(reblock, &context, sequence);
	for (unsigned i = 0; i < n; i++)
		append(reblock, events[i].flags & 0x0fffu, sequence)->u = events[i].u;
	thread->position += n;
	if (events->u.hit.when > reblock->latest)
		reblock->latest = events->u.hit.when;
	return 1;
}

int t2x_reblock_gap(struct t2x_reblock *reblock, const struct t2x_rethread *thread, const struct tlg_event *event)
{
	if (!fits(reblock, thread, 1))
		return 0;
	reblock->tid = thread->tid;
	append(reblock, TLG_GAP, thread->position + 1)->u = event->u;
	return 1;
}
