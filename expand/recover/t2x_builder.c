/* SPDX-License-Identifier: MIT */
/*
 * t2x_builder.c - writes blocks, and context in front of chains.  tr2_stream.c does the same in the traced program, but
 * trusts its memory.
 */
#include "t2x_builder.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tlg_block.h"
#include "tlg_math.h"

enum {
	NAMES = 3 * TLG_NAME_MAX,
};
#define NS_PER_S UINT64_C(1000000000)

struct t2x_builder {
	const struct t2x_ring *ring;
	struct t2x_layout layout;
	struct tlg_event *events;         /* BLOCK, then the events of the block */
	unsigned n;                       /* events of the block, without BLOCK */
	uint32_t tid;                     /* of the block */
	uint32_t number;                  /* of the last finished block */
	uint32_t cycle;
	int is_in_file;                   /* the .tlg file has a block of the stream */
	struct t2x_map threads;           /* by tid: threads that readers know; the values mean nothing */
	unsigned char scopes[TLG_MAX_SCOPES / 8], sources[TLG_MAX_SOURCES / 8];   /* bits: definition written */
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

struct t2x_builder *t2x_builder_new(const struct t2x_ring *ring)
{
	struct t2x_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	builder->ring = ring;
	builder->number = ring->state.blocks;
	builder->cycle = ring->state.cycle ? ring->state.cycle : 1;
	builder->marked = ring->head.start;   /* a process that recorded nothing ends there, not when the clock was 0 */
	builder->events = malloc((TLG_BLOCK_LIMIT + 1) * sizeof(*builder->events));
	if (!builder->events || t2x_layout_init(&builder->layout, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) {
		t2x_builder_free(builder);
		return NULL;
	}
	t2x_builder_set_clock(builder, ring->state.raw, ring->state.ns);
	return builder;
}

void t2x_builder_free(struct t2x_builder *builder)
{
	if (!builder)
		return;
	t2x_layout_free(&builder->layout);
	t2x_map_free(&builder->threads);
	free(builder->events);
	free(builder);
}

void t2x_builder_follow(struct t2x_builder *builder, const struct t2x_block *block)
{
	builder->is_in_file = 1;
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		if (tlg_event_type(event) == TLG_THREAD)
			t2x_map_put(&builder->threads, event->u.thread.tid, builder);
		else if (tlg_event_type(event) == TLG_MARK && event->u.mark.when > builder->marked)
			builder->marked = event->u.mark.when;
	}
}

void t2x_builder_set_clock(struct t2x_builder *builder, uint64_t raw, uint64_t ns)
{
	if (raw <= builder->clock_raw || ns <= builder->clock_ns)
		return;
	builder->clock_raw = raw;
	builder->clock_ns = ns;
}

/* The counter that the process reads, if its ring file says that it reads one.  Return  0: it reads another clock */
static uint64_t read_counter(unsigned type)
{
	uint64_t raw = 0;

#if defined(__x86_64__) || defined(__i386__)
	if (type == TLG_CLOCK_TSC)
		raw = __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (type == TLG_CLOCK_CNTVCT)
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(raw));
#else
	(void)type;
#endif
	return raw;
}

void t2x_builder_set_now(struct t2x_builder *builder)
{
	uint64_t raw = read_counter(builder->ring->head.clock_type);
	struct timespec now;

	if (!raw || builder->clock_ns > builder->ring->head.start_ns + NS_PER_S || clock_gettime(CLOCK_REALTIME, &now))
		return;
	t2x_builder_set_clock(builder, raw, (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* Append an event with a zero payload to the block, which has space for it. */
static struct tlg_event *append(struct t2x_builder *builder, unsigned flags, uint32_t sequence)
{
	struct tlg_event *event = &builder->events[++builder->n];

	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)(flags | (builder->cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK));
	event->pid = (uint16_t)builder->ring->head.pid;
	event->sequence = sequence;
	return event;
}

static unsigned text_events(size_t bytes)
{
	return (unsigned)((bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
}

static void append_text(struct t2x_builder *builder, const char *text, size_t bytes, uint32_t sequence)
{
	while (bytes) {
		size_t n = bytes < TLG_TEXT_SIZE ? bytes : TLG_TEXT_SIZE;
		struct tlg_event *event = append(builder, TLG_INFO | (n == bytes ? TLG_INFO_END : 0), sequence);
		memcpy(event->u.info.text.c, text, n);
		text += n;
		bytes -= n;
	}
}

int t2x_builder_finish(struct t2x_builder *builder, struct t2x_block *block)
{
	const struct t2x_ring *ring = builder->ring;

	if (!builder->n)
		return 0;
	tlg_block_seal(builder->events, ring->state.stream, ring->head.pid, ++builder->number, builder->tid,
		       builder->n);
	*block = (struct t2x_block){
		.layout = &builder->layout, .raw = (const unsigned char *)builder->events, .entries = builder->n + 1,
		.is_framed = 1, .counts_events = 1, .stream = ring->state.stream, .number = builder->number,
		.tid = builder->tid, .pid = (uint16_t)ring->head.pid, .events = builder->events + 1,
		.count = builder->n,
	};
	builder->n = 0;
	return 1;
}

/* ---- process blocks ----------------------------------------------------------------------------- */

/* TIMETYPE and TIMEINFO: the rate, from two pairs, and the raw value at a full second, as the library computes them. */
static void append_clock(struct t2x_builder *builder)
{
	const struct tlg_ring_file *head = &builder->ring->head;
	uint64_t ticks = builder->clock_raw - head->start, ns = builder->clock_ns - head->start_ns, rate = NS_PER_S;
	uint64_t rest;

	if (head->clock_type != TLG_CLOCK_MONOTONIC && builder->clock_raw > head->start &&
	    builder->clock_ns > head->start_ns)
		rate = tlg_mul_div(ticks, NS_PER_S, ns, &rest);
	append(builder, TLG_TIMETYPE, 0)->u.timetype = (struct tlg_timetype){
		.tdiv = rate ? rate : 1, .timetype = (uint16_t)head->clock_type, .utcoff = head->utcoff
	};
	ns = builder->clock_ns % NS_PER_S;
	append(builder, TLG_TIMEINFO, 0)->u.timeinfo = (struct tlg_timeinfo){
		builder->clock_raw - tlg_mul_div(ns, rate, NS_PER_S, &rest),
		(int64_t)(builder->clock_ns / NS_PER_S)
	};
}

static void append_recovered(struct t2x_builder *builder, uint64_t hits, uint64_t in_flight, unsigned part)
{
	append(builder, TLG_RECOVERED, 0)->u.recovered = (struct tlg_recovered){
		hits, in_flight < UINT32_MAX ? (uint32_t)in_flight : UINT32_MAX, (uint16_t)part,
		builder->ring->is_live ? TLG_RECOVERED_LIVE : TLG_RECOVERED_DEAD
	};
}

void t2x_builder_open(struct t2x_builder *builder)
{
	const struct tlg_ring_file *head = &builder->ring->head;

	builder->tid = TLG_NO_THREAD;
	if (!builder->is_in_file) {
		append(builder, TLG_PROLOGUE, 0)->u.prologue = (struct tlg_prologue){
			TLG_MAGIC, TLG_VERSION, TLG_TEXT_SIZE, TLG_EVENT_SIZE, offsetof(struct tlg_event, u), 0,
			TLG_LAYOUT
		};
		append(builder, TLG_PROCINFO | TLG_HAS_INFO, 0)->u.procinfo = (struct tlg_procinfo){
			head->pid, builder->cycle, head->start
		};
		append_text(builder, head->sid, strlen(head->sid) + 1, 0);
	}
	append_clock(builder);
	if (!builder->is_in_file)
		append(builder, TLG_CYCLE, 0)->u.cycle = (struct tlg_cycle){
			builder->ring->state.stream, builder->cycle, head->start
		};
	append_recovered(builder, 0, 0, TLG_RECOVERED_BEGIN);
}

int t2x_builder_mark(struct t2x_builder *builder, uint64_t when)
{
	if (when <= builder->marked)
		return 0;
	builder->tid = TLG_NO_THREAD;
	builder->marked = when;
	append(builder, TLG_MARK, 0)->u.mark = (struct tlg_mark){ when, builder->ring->state.stored };
	return 1;
}

void t2x_builder_loss(struct t2x_builder *builder, uint32_t tid, unsigned reason, uint64_t total)
{
	builder->tid = TLG_NO_THREAD;
	append(builder, TLG_LOSS, 0)->u.loss = (struct tlg_loss){ total, tid, (uint16_t)reason, 0 };
}

void t2x_builder_losses(struct t2x_builder *builder)
{
	struct tlg_loss loss;
	int is_there;

	builder->tid = TLG_NO_THREAD;
	for (uint32_t i = 0; (is_there = t2x_ring_loss(builder->ring, i, &loss)) >= 0; i++)
		if (is_there)
			append(builder, TLG_LOSS, 0)->u.loss = loss;
}

void t2x_builder_close(struct t2x_builder *builder, uint64_t hits, uint64_t in_flight)
{
	builder->tid = TLG_NO_THREAD;
	append(builder, TLG_MARK, 0)->u.mark = (struct tlg_mark){
		builder->latest > builder->marked ? builder->latest : builder->marked,
		builder->ring->state.stored + hits
	};
	append_recovered(builder, hits, in_flight, TLG_RECOVERED_END);
}

/* ---- threads ------------------------------------------------------------------------------------ */

/* Definitions that have to be written in front of a chain. */
struct context {
	int thread;
	uint32_t scope, source;           /* 0: nothing to write */
	struct tlg_ring_scope entry;
	size_t source_bytes;
	unsigned events;
	char source_name[TLG_NAME_MAX];
};

static void find_context(struct t2x_builder *builder, const struct t2x_ring_thread *thread, uint32_t scope,
			 struct context *context)
{
	const struct tlg_ring_scope *entry = &context->entry;

	*context = (struct context){
		.thread = thread->is_repeated || thread->is_renamed || !t2x_map_get(&builder->threads, thread->tid)
	};
	if (context->thread)
		context->events = 1 + text_events(strlen(thread->name)) + thread->nopen;
	if (!scope || scope >= TLG_MAX_SCOPES || is_set(builder->scopes, scope) ||
	    !t2x_ring_scope(builder->ring, scope, &context->entry, builder->text, sizeof(builder->text)))
		return;
	context->scope = scope;
	context->events += 1 + text_events(entry->text_bytes);
	if (!entry->filenum || is_set(builder->sources, entry->filenum))
		return;
	context->source_bytes = t2x_ring_source(builder->ring, entry->filenum, context->source_name,
						sizeof(context->source_name));
	if (!context->source_bytes)
		return;
	context->source = entry->filenum;
	context->events += 1 + text_events(context->source_bytes);
}

static void append_thread(struct t2x_builder *builder, struct t2x_ring_thread *thread, uint32_t sequence)
{
	size_t length = strlen(thread->name);

	if (!thread->is_repeated && t2x_map_get(&builder->threads, thread->tid))
		thread->nopen = 0;   /* only renamed: the regions that were open at its beginning may have ended */
	append(builder, TLG_THREAD | (length ? TLG_HAS_INFO : 0), sequence)->u.thread = (struct tlg_thread){
		thread->tid, thread->ostid, thread->start
	};
	append_text(builder, thread->name, length, sequence);
	for (unsigned i = 0; i < thread->nopen; i++)
		append(builder, TLG_OPEN, sequence)->u.open = (struct tlg_open){
			thread->open[i].when, thread->open[i].scope, thread->tid
		};
	thread->is_repeated = thread->is_renamed = 0;
	t2x_map_put(&builder->threads, thread->tid, builder);
}

/* Write the definitions of a scope and of its source file that readers do not know. */
static void append_scope(struct t2x_builder *builder, const struct context *context, uint32_t sequence)
{
	const struct tlg_ring_scope *entry = &context->entry;
	unsigned flags;

	if (context->source) {
		append(builder, TLG_FLOC | TLG_HAS_INFO, sequence)->u.fileloc = (struct tlg_fileloc){
			(uint16_t)context->source, (uint16_t)builder->cycle, 0
		};
		append_text(builder, context->source_name, context->source_bytes, sequence);
		set(builder->sources, context->source);
	}
	if (!context->scope)
		return;
	flags = TLG_SLOC | (entry->text_bytes ? TLG_HAS_INFO : 0);
	append(builder, flags, sequence)->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = context->scope, .linenum = entry->line, .filenum = entry->filenum,
		.writeCount = (uint16_t)builder->cycle, .repo = entry->repo, .style = entry->style,
		.names = entry->names,
	};
	append_text(builder, builder->text, entry->text_bytes, sequence);
	set(builder->scopes, context->scope);
}

/* Return  1: the block is the thread's and has space for so many events more */
static int fits(const struct t2x_builder *builder, const struct t2x_ring_thread *thread, unsigned events)
{
	return !builder->n || (builder->tid == thread->tid && builder->n + events <= TLG_BLOCK_EVENTS);
}

/*
 * Write the scopes of the open regions that append_thread() is about to repeat.  They need not stand in the block of
 * the THREAD.  Return  0: the block is full
 */
static int append_open_scopes(struct t2x_builder *builder, struct t2x_ring_thread *thread)
{
	struct context context;

	for (unsigned i = 0; thread->is_repeated && i < thread->nopen; i++) {
		find_context(builder, thread, thread->open[i].scope, &context);
		if (!context.scope)
			continue;
		if (!fits(builder, thread, context.events))
			return 0;
		builder->tid = thread->tid;
		append_scope(builder, &context, thread->position + 1);
	}
	return 1;
}

int t2x_builder_chain(struct t2x_builder *builder, struct t2x_ring_thread *thread, const struct tlg_event *events,
		      unsigned n)
{
	uint32_t sequence = thread->position + 1;
	struct context context;

	if (!append_open_scopes(builder, thread))
		return 0;
	find_context(builder, thread, events->u.hit.scopeIndex, &context);
	if (!fits(builder, thread, context.events + n))
		return 0;
	builder->tid = thread->tid;
	if (context.thread)
		append_thread(builder, thread, sequence);
	append_scope(builder, &context, sequence);
	for (unsigned i = 0; i < n; i++)
		append(builder, events[i].flags & 0x0fffu, sequence)->u = events[i].u;
	thread->position += n;
	if (events->u.hit.when > builder->latest)
		builder->latest = events->u.hit.when;
	return 1;
}

int t2x_builder_gap(struct t2x_builder *builder, const struct t2x_ring_thread *thread, const struct tlg_event *event)
{
	if (!fits(builder, thread, 1))
		return 0;
	builder->tid = thread->tid;
	append(builder, TLG_GAP, thread->position + 1)->u = event->u;
	return 1;
}
