/* SPDX-License-Identifier: MIT */
/* tr2_post.c - blocks and the context in front of chains. */
#include "tr2_post.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tlg_block.h"
#include "tr2_clock.h"
#include "tr2_env.h"
#include "tr2_losses.h"
#include "tr2_scope.h"
#include "tr2_shm.h"

enum { BUFFER_EVENTS = TLG_FRAME_BYTES / TLG_EVENT_SIZE };

/* What the stream knows about a scope. */
struct posted {
	uint32_t cycle;                   /* in which it was last posted; 0: never */
	uint32_t style;
};

static struct stream {
	uint32_t id, blocks, cycle;
	int cycle_due;
	size_t cycle_bytes;               /* posted in this cycle */
	uint64_t stored;                  /* HITs */
	uint64_t timebase_at;             /* raw clock when TIMEINFO was last posted */
	char sid[1024];
	int32_t utcoff;

	struct tlg_event *buffer;
	unsigned used;                    /* events in it */
	unsigned block;                   /* index of the open block's BLOCK event */
	unsigned in_block;                /* events behind it; 0: no block is open */
	uint32_t block_tid;
	unsigned room;                    /* events that the open block takes at least, nothing else being due */

	struct posted *scopes;
	uint32_t *file_cycle;             /* cycle in which each file was last posted */
} g_stream;

int tr2_post_init(void)
{
	const size_t buffer = BUFFER_EVENTS * sizeof(struct tlg_event);
	const size_t scopes = TLG_MAX_SCOPES * sizeof(struct posted), files = TLG_MAX_SOURCES * sizeof(uint32_t);
	unsigned char *memory = (unsigned char *)g_stream.buffer;

	if (!memory) {
		memory = mmap(NULL, buffer + scopes + files, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory == MAP_FAILED)
			return -errno;
	}
	g_stream.buffer = (struct tlg_event *)(void *)memory;
	g_stream.scopes = (struct posted *)(void *)(memory + buffer);
	g_stream.file_cycle = (uint32_t *)(void *)(memory + buffer + scopes);
	tr2_losses_reset();
	return 0;
}

void tr2_post_new_stream(uint32_t stream)
{
	g_stream.id = stream;
	g_stream.blocks = 0;
	g_stream.stored = 0;
	g_stream.used = g_stream.in_block = g_stream.room = 0;
	g_stream.cycle_due = 1;
}

void tr2_post_set_process(const char *sid, int32_t utcoff)
{
	strncpy(g_stream.sid, sid, sizeof(g_stream.sid) - 1);
	g_stream.utcoff = utcoff;
}

const char *tr2_post_process(int32_t *utcoff)
{
	*utcoff = g_stream.utcoff;
	return g_stream.sid;
}

void tr2_post_next_cycle(void)
{
	g_stream.cycle_due = 1;
	g_stream.room = 0;
}

void tr2_post_gap(struct tr2_post_thread *thread, uint64_t events)
{
	thread->position += (uint32_t)events;
}

void tr2_post_loss(uint32_t tid, unsigned reason, uint64_t count)
{
	tr2_losses_add(tid, reason, count);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static void seal_block(void)
{
	if (!g_stream.in_block)
		return;
	tlg_block_describe(&g_stream.buffer[g_stream.block], tr2_g_shm.head->pid, ++g_stream.blocks,
			   g_stream.block_tid, g_stream.in_block);
	g_stream.in_block = g_stream.room = 0;
}

static unsigned most_in_block(void)
{
	return tr2_g_settings.raw_packed ? TLG_PACK_EVENTS : TLG_BLOCK_EVENTS;
}

/* See to it that events of tid can be appended to one block.  0: the buffer is too full. */
static int open_block(uint32_t tid, unsigned events)
{
	if (g_stream.in_block && (g_stream.block_tid != tid || g_stream.in_block + events > most_in_block()))
		seal_block();
	if (g_stream.used + events + 1 > BUFFER_EVENTS)
		return 0;
	if (!g_stream.in_block) {
		g_stream.block = g_stream.used++;
		g_stream.block_tid = tid;
	}
	return 1;
}

/* The next event of the open block, its payload zero. */
static struct tlg_event *append(unsigned flags, uint32_t sequence)
{
	struct tlg_event *event = &g_stream.buffer[g_stream.used++];

	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)(flags | (g_stream.cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK));
	event->pid = (uint16_t)tr2_g_shm.head->pid;
	event->sequence = sequence;
	g_stream.in_block++;
	return event;
}

static unsigned text_events(size_t bytes)
{
	return (unsigned)((bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
}

static void append_text(const char *text, size_t bytes, uint32_t sequence)
{
	while (bytes) {
		size_t n = bytes < TLG_TEXT_SIZE ? bytes : TLG_TEXT_SIZE;
		struct tlg_event *event = append(TLG_INFO | (n == bytes ? TLG_INFO_END : 0), sequence);
		memcpy(event->u.info.text.c, text, n);
		text += n;
		bytes -= n;
	}
}

/* ---- process blocks ----------------------------------------------------------------------------- */

static void append_timebase(void)
{
	struct tr2_timebase base;

	tr2_clock_timebase(&base);
	append(TLG_TIMETYPE, 0)->u.timetype = (struct tlg_timetype){
		.tdiv = base.ticks_per_s, .timetype = (uint16_t)tr2_clock_type(), .utcoff = g_stream.utcoff
	};
	append(TLG_TIMEINFO, 0)->u.timeinfo = (struct tlg_timeinfo){ base.raw, base.sec };
	g_stream.timebase_at = tr2_clock_raw();
}

static void append_procinfo(void)
{
	append(TLG_PROCINFO | TLG_HAS_INFO, 0)->u.procinfo = (struct tlg_procinfo){
		tr2_g_shm.head->pid, g_stream.cycle, tr2_clock_start()
	};
	append_text(g_stream.sid, strlen(g_stream.sid) + 1, 0);
}

static void append_losses(unsigned n)
{
	struct tlg_loss loss;

	tr2_losses_begin(n);
	for (unsigned i = 0; i < n; i++)
		if (tr2_losses_get(i, &loss))
			append(TLG_LOSS, 0)->u.loss = loss;
}

/* The prologue group, by which a reader can begin here. */
static int open_cycle(void)
{
	unsigned losses = tr2_losses_bound();

	if (!open_block(TLG_NO_THREAD, 5 + text_events(strlen(g_stream.sid) + 1) + losses))
		return 0;
	g_stream.cycle++;
	g_stream.cycle_due = 0;
	g_stream.cycle_bytes = 0;
	append(TLG_PROLOGUE, 0)->u.prologue = (struct tlg_prologue){
		TLG_MAGIC, TLG_VERSION, TLG_TEXT_SIZE, TLG_EVENT_SIZE, offsetof(struct tlg_event, u), 0,
		TLG_LAYOUT
	};
	append_procinfo();
	append_timebase();
	append(TLG_CYCLE, 0)->u.cycle = (struct tlg_cycle){ g_stream.id, g_stream.cycle, tr2_clock_raw() };
	append_losses(losses);
	seal_block();
	return 1;
}

/* The rate of the clock is the better known the longer the process lives: say so each time that has doubled. */
static int refresh_timebase(void)
{
	uint64_t now = tr2_clock_raw(), start = tr2_clock_start();

	if (now - g_stream.timebase_at < g_stream.timebase_at - start)
		return 1;
	if (!open_block(TLG_NO_THREAD, 2))
		return 0;
	append_timebase();
	seal_block();
	return 1;
}

/* Whatever comes next, its cycle is open. */
static int begin(void)
{
	if (g_stream.cycle_due || g_stream.cycle_bytes >= tr2_g_settings.cycle_bytes)
		return open_cycle();
	return 1;
}

int tr2_post_losses(void)
{
	unsigned n = tr2_losses_bound();

	if (!tr2_losses_changed())
		return 1;
	if (!begin() || !open_block(TLG_NO_THREAD, n))
		return 0;
	append_losses(n);
	seal_block();
	return 1;
}

int tr2_post_mark(uint64_t when)
{
	if (!begin() || !refresh_timebase() || !open_block(TLG_NO_THREAD, 1))
		return 0;
	append(TLG_MARK, 0)->u.mark = (struct tlg_mark){ when, g_stream.stored };
	seal_block();
	return 1;
}

int tr2_post_end(unsigned reason)
{
	if (!begin() || !open_block(TLG_NO_THREAD, 3))
		return 0;
	append_timebase();
	append(TLG_END, 0)->u.end = (struct tlg_end){ g_stream.stored, g_stream.cycle, (uint16_t)reason, 0 };
	seal_block();
	return 1;
}

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

static void find_scope_context(struct context *context, const struct tlg_ring_scope *scope, uint32_t index)
{
	if (!scope || g_stream.scopes[index].cycle == g_stream.cycle)
		return;
	context->scope = scope;
	context->scope_index = index;
	context->events += 1 + text_events(scope->text_bytes);
	if (!scope->filenum || g_stream.file_cycle[scope->filenum] == g_stream.cycle)
		return;
	context->file = tr2_scope_file(scope->filenum);
	context->events += context->file ? 1 + text_events(strlen(context->file)) : 0;
}

static void append_file(const struct tlg_ring_scope *scope, const char *file, uint32_t sequence)
{
	append(TLG_FLOC | TLG_HAS_INFO, sequence)->u.fileloc = (struct tlg_fileloc){
		scope->filenum, (uint16_t)g_stream.cycle, 0
	};
	append_text(file, strlen(file), sequence);
	g_stream.file_cycle[scope->filenum] = g_stream.cycle;
}

static void append_scope(const struct context *context, uint32_t sequence)
{
	const struct tlg_ring_scope *scope = context->scope;

	if (context->file)
		append_file(scope, context->file, sequence);
	append(TLG_SLOC | (scope->text_bytes ? TLG_HAS_INFO : 0), sequence)->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = context->scope_index, .linenum = scope->line, .filenum = scope->filenum,
		.writeCount = (uint16_t)g_stream.cycle, .repo = scope->repo, .style = scope->style,
		.names = scope->names,
	};
	append_text(tr2_g_shm.texts + scope->text, scope->text_bytes, sequence);
	g_stream.scopes[context->scope_index] = (struct posted){ g_stream.cycle, scope->style };
}

static void append_thread(struct tr2_post_thread *thread, uint32_t sequence)
{
	size_t length = strlen(thread->name);
	unsigned kept = kept_regions(thread);

	append(TLG_THREAD | (length ? TLG_HAS_INFO : 0), sequence)->u.thread = (struct tlg_thread){
		thread->tid, thread->ostid, thread->start
	};
	append_text(thread->name, length, sequence);
	for (unsigned i = 0; i < kept; i++)
		append(TLG_OPEN, sequence)->u.open = (struct tlg_open){
			thread->open[i].when, thread->open[i].scope, thread->tid
		};
	thread->cycle = g_stream.cycle;
}

/* ---- chains ------------------------------------------------------------------------------------- */

static inline void append_chain(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned count)
{
	struct tlg_event *to = &g_stream.buffer[g_stream.used];
	uint16_t cycle = (uint16_t)(g_stream.cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK);

	for (unsigned i = 0; i < count; i++) {
		to[i] = events[i];
		to[i].flags = (uint16_t)(to[i].flags | cycle);
		to[i].sequence = thread->position + 1;
	}
	g_stream.used += count;
	g_stream.in_block += count;
	g_stream.cycle_bytes += count * sizeof(*to);
	thread->position += count;
}

/* The chain is in the stream. */
static inline void follow_chain(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned style)
{
	if (events->u.hit.when)
		thread->last_when = events->u.hit.when;
	if (tlg_event_type(events) == TLG_HIT) {
		g_stream.stored++;
		tr2_post_follow_regions(thread, &events->u.hit, style);
	}
}

static unsigned style_of(const struct tlg_ring_scope *scope, const struct tlg_event *events, unsigned count)
{
	if (scope)
		return scope->style;
	return count > 1 && !events->u.hit.scopeIndex ? (unsigned)events[1].u.value.value : 0;
}

/* How many events can be appended to the open block before anything else has to be looked at. */
static void find_room(void)
{
	unsigned most = most_in_block(), room = g_stream.in_block < most ? most - g_stream.in_block : 0;
	size_t limit = tr2_g_settings.cycle_bytes;
	size_t left = g_stream.cycle_bytes < limit ? (limit - g_stream.cycle_bytes) / sizeof(struct tlg_event) : 0;

	if (room > BUFFER_EVENTS - g_stream.used)
		room = BUFFER_EVENTS - g_stream.used;
	g_stream.room = room < left ? room : (unsigned)left;
}

static int post_with_context(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned count)
{
	const struct tlg_hit *hit = &events->u.hit;
	const struct tlg_ring_scope *scope = tr2_scope_get(hit->scopeIndex);
	struct context context = { .thread = 0 };
	uint32_t sequence = thread->position + 1;
	unsigned before;

	if (!scope && hit->scopeIndex)
		return -1;
	if (!begin())
		return 0;
	context.thread = thread->cycle != g_stream.cycle;
	if (context.thread)
		context.events = 1 + text_events(strlen(thread->name)) + kept_regions(thread);
	find_scope_context(&context, scope, hit->scopeIndex);
	if (!open_block(thread->tid, context.events + count))
		return 0;
	before = g_stream.used;
	if (context.thread)
		append_thread(thread, sequence);
	if (context.scope)
		append_scope(&context, sequence);
	g_stream.cycle_bytes += (g_stream.used - before) * sizeof(*events);
	append_chain(thread, events, count);
	follow_chain(thread, events, style_of(scope, events, count));
	find_room();
	return 1;
}

/*
 * Nearly every chain needs no context and goes into the block that is open.  This is the drain's innermost loop: the
 * general way takes three times as long.
 */
int tr2_post_chain(struct tr2_post_thread *thread, const struct tlg_event *events, unsigned count)
{
	uint32_t scope = events->u.hit.scopeIndex;

	if (count > g_stream.room || thread->tid != g_stream.block_tid || thread->cycle != g_stream.cycle ||
	    scope >= TLG_MAX_SCOPES || g_stream.scopes[scope].cycle != g_stream.cycle)
		return post_with_context(thread, events, count);
	g_stream.room -= count;
	append_chain(thread, events, count);
	follow_chain(thread, events, g_stream.scopes[scope].style);
	return 1;
}

uint64_t tr2_post_stored(void)
{
	return g_stream.stored;
}

uint32_t tr2_post_stream(void)
{
	return g_stream.id;
}

uint32_t tr2_post_blocks(uint32_t *cycle)
{
	*cycle = g_stream.cycle;
	return g_stream.blocks;
}

/* ---- the buffer --------------------------------------------------------------------------------- */

struct tlg_event *tr2_post_buffer(size_t *bytes)
{
	seal_block();
	*bytes = g_stream.used * sizeof(*g_stream.buffer);
	return g_stream.buffer;
}

void tr2_post_taken(void)
{
	g_stream.used = 0;
}

void tr2_post_failed(void)
{
	uint32_t tid = TLG_NO_THREAD;

	for (unsigned i = 0; i < g_stream.used; i++) {
		const struct tlg_event *event = &g_stream.buffer[i];
		if (tlg_event_type(event) == TLG_BLOCK)
			tid = event->u.block.tid;
		if (tlg_event_type(event) != TLG_HIT)
			continue;
		tr2_losses_add(tid, TLG_LOSS_WRITE, 1);
		g_stream.stored--;
	}
	g_stream.used = g_stream.room = 0;
	g_stream.cycle_due = 1;
}
