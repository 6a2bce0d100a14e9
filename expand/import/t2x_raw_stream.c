/* SPDX-License-Identifier: MIT */
/* t2x_raw_stream.c - see t2x_raw_stream.h.  tr2_stream.c does the same in a traced program. */
#include "t2x_raw_stream.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "t2x_raw_names.h"
#include "tlg_block.h"
#include "tlg_crc.h"
#include "base/t2x_map.h"
#include "base/t2x_memory.h"

enum {
	TICKS_PER_S = 1000000,
	MAX_OPEN = 256,                   /* regions that a cycle repeats */
	THREAD_NAME = 32,                 /* bytes; readers keep 24 */
	PIECE_EVENTS = 1024,              /* of one chain */
	USUAL_EVENTS = 64,                /* of a chain and its context */
	CONTEXT_EVENTS = 1 + MAX_OPEN + 2 + THREAD_NAME / TLG_TEXT_SIZE +
			 (4 * T2X_RAW_NAME_BYTES) / TLG_TEXT_SIZE + 8,
};
static_assert(TLG_PACK_EVENTS + PIECE_EVENTS + CONTEXT_EVENTS <= TLG_BLOCK_LIMIT,
	      "a piece and its context fit into a block");
static_assert(8 + T2X_GIT_SID_BYTES / TLG_TEXT_SIZE <= TLG_BLOCK_LIMIT, "a session id fits into a block");

struct thread {
	uint32_t tid, next;               /* next: sequence of its next event, minus 1 */
	uint32_t cycle;                   /* the last one that has its THREAD */
	uint64_t start_us;
	unsigned nopen, max_open;         /* regions that are open; how many of them `open' has space for */
	struct open_region { uint64_t us; uint32_t callsite; } *open;
	size_t name_bytes;
	char name[THREAD_NAME];
};

struct t2x_raw_stream {
	struct t2x_raw_trace *trace;
	struct t2x_raw_frame frame;
	struct t2x_raw_names names;
	struct t2x_map threads;
	uint32_t id, pid, cycle, number;  /* number: of the last block */
	uint64_t start_us, hits, latest_us;
	size_t cycle_bytes;               /* of events in the cycle */
	uint32_t tid;                     /* of the open block */
	unsigned count;                   /* events in it */
	struct t2x_raw_extent extent;
	size_t sid_bytes;
	char sid[];
};

/* ---- blocks ------------------------------------------------------------------------------------- */

static void seal(struct t2x_raw_stream *stream)
{
	struct tlg_event *block = stream->trace->block, *packed = stream->trace->packed;
	unsigned entries = 0;

	if (!stream->count)
		return;
	tlg_block_describe(block, stream->pid, ++stream->number, stream->tid, stream->count);
	if (stream->tid != TLG_NO_THREAD)
		entries = tlg_block_pack(block, stream->id, packed);
	if (entries) {
		t2x_raw_frame_add(&stream->frame, packed, entries * sizeof(*packed));
	} else {
		tlg_block_sign(block, stream->id);
		t2x_raw_frame_add(&stream->frame, block, (stream->count + 1) * sizeof(*block));
	}
	stream->cycle_bytes += stream->count * sizeof(*block);
	stream->count = 0;
}

/* A block of the thread with space for so many events. */
static void open_block(struct t2x_raw_stream *stream, uint32_t tid, unsigned events)
{
	if (stream->count && (stream->tid != tid || stream->count + events > TLG_PACK_EVENTS))
		seal(stream);
	stream->tid = tid;
}

static struct tlg_event *add(struct t2x_raw_stream *stream, unsigned flags, uint32_t sequence)
{
	struct tlg_event *event = &stream->trace->block[1 + stream->count++];

	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)(flags | (stream->cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK));
	event->pid = (uint16_t)stream->pid;
	event->sequence = sequence;
	return event;
}

/* INFO events; the last one is marked. */
static void add_text(struct t2x_raw_stream *stream, uint32_t sequence, const char *text, size_t n)
{
	while (n) {
		size_t part = n < TLG_TEXT_SIZE ? n : TLG_TEXT_SIZE;
		struct tlg_event *event = add(stream, TLG_INFO | (part == n ? TLG_INFO_END : 0), sequence);
		memcpy(event->u.info.text.c, text, part);
		text += part;
		n -= part;
	}
}

static unsigned text_events(size_t n)
{
	return (unsigned)((n + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
}

/* ---- cycles ------------------------------------------------------------------------------------- */

static int32_t zone_at(int64_t second)
{
	time_t at = (time_t)second;
	struct tm tm;

	return localtime_r(&at, &tm) ? (int32_t)tm.tm_gmtoff : 0;
}

static void begin_cycle(struct t2x_raw_stream *stream)
{
	const int64_t second = (int64_t)(stream->start_us / TICKS_PER_S);

	seal(stream);
	stream->cycle++;
	stream->cycle_bytes = 0;
	open_block(stream, TLG_NO_THREAD, 5 + text_events(stream->sid_bytes));
	add(stream, TLG_PROLOGUE, 0)->u.prologue = (struct tlg_prologue){
		._12345678 = TLG_MAGIC, .version = TLG_VERSION, .info_len = TLG_TEXT_SIZE,
		.entry_size = TLG_EVENT_SIZE, .payload_offset = offsetof(struct tlg_event, u), .layout = TLG_LAYOUT,
	};
	add(stream, TLG_PROCINFO | TLG_HAS_INFO, 0)->u.procinfo =
		(struct tlg_procinfo){ stream->pid, stream->cycle, stream->start_us };
	add_text(stream, 0, stream->sid, stream->sid_bytes);
	add(stream, TLG_TIMETYPE, 0)->u.timetype = (struct tlg_timetype){
		.tdiv = TICKS_PER_S, .timetype = TLG_CLOCK_MONOTONIC, .utcoff = zone_at(second),
	};
	add(stream, TLG_TIMEINFO, 0)->u.timeinfo = (struct tlg_timeinfo){ (uint64_t)second * TICKS_PER_S, second };
	add(stream, TLG_CYCLE, 0)->u.cycle = (struct tlg_cycle){ stream->id, stream->cycle, stream->latest_us };
	seal(stream);
}

void t2x_raw_stream_mark(struct t2x_raw_stream *stream, uint64_t us)
{
	open_block(stream, TLG_NO_THREAD, 1);
	add(stream, TLG_MARK, 0)->u.mark = (struct tlg_mark){ us, stream->hits };
	seal(stream);
	stream->extent.until_us = us + T2X_RAW_BEHIND_US;
}

/* ---- streams ------------------------------------------------------------------------------------ */

struct t2x_raw_stream *t2x_raw_stream_new(struct t2x_raw_trace *trace, const char *sid, size_t sid_bytes, uint32_t pid,
					  uint64_t number, uint64_t start_us)
{
	struct t2x_raw_stream *stream = t2x_calloc(1, sizeof(*stream) + sid_bytes + 1);
	uint32_t id = tlg_crc32c(tlg_crc32c(0, &start_us, sizeof(start_us)), &number, sizeof(number));

	if (!stream)
		return NULL;
	memcpy(stream->sid, sid, sid_bytes);
	stream->sid_bytes = sid_bytes + 1;
	stream->trace = trace;
	/* not random: importing a file again makes the same bytes */
	stream->id = t2x_raw_trace_id(trace, tlg_crc32c(id, sid, sid_bytes));
	stream->pid = pid;
	stream->start_us = stream->latest_us = start_us;
	stream->extent = (struct t2x_raw_extent){ .start_us = start_us, .first_us = UINT64_MAX };
	t2x_raw_frame_init(&stream->frame, trace->sink, stream->id);
	return stream;
}

void t2x_raw_stream_flush(struct t2x_raw_stream *stream)
{
	seal(stream);
	t2x_raw_frame_flush(&stream->frame);
	t2x_raw_frame_free(&stream->frame);
}

static void free_threads(struct t2x_raw_stream *stream)
{
	for (uint32_t i = 0; i < t2x_map_slots(&stream->threads); i++) {
		struct thread *thread = t2x_map_at(&stream->threads, i);
		if (thread)
			t2x_free(thread->open);
		t2x_free(thread);
	}
	t2x_map_free(&stream->threads);
}

void t2x_raw_stream_end(struct t2x_raw_stream *stream, int has_ended)
{
	seal(stream);
	if (stream->cycle && has_ended) {
		open_block(stream, TLG_NO_THREAD, 1);
		add(stream, TLG_END, 0)->u.end = (struct tlg_end){
			.stored = stream->hits, .writeCount = stream->cycle, .reason = TLG_END_EXIT,
		};
		seal(stream);
	}
	if (!has_ended)
		stream->extent.until_us = UINT64_MAX;
	t2x_raw_trace_end(stream->trace, &stream->frame, &stream->extent);
	t2x_raw_frame_free(&stream->frame);
	t2x_raw_names_free(&stream->names);
	free_threads(stream);
	t2x_free(stream);
}

uint32_t t2x_raw_stream_thread(struct t2x_raw_stream *stream, const char *name, size_t n, uint64_t start_us)
{
	struct thread *thread = t2x_calloc(1, sizeof(*thread));
	const uint32_t tid = stream->threads.count;

	if (!thread || t2x_map_put(&stream->threads, tid, thread)) {
		t2x_free(thread);
		return TLG_NO_THREAD;
	}
	thread->tid = tid;
	thread->start_us = start_us;
	thread->name_bytes = n < sizeof(thread->name) ? n : sizeof(thread->name);
	memcpy(thread->name, name, thread->name_bytes);
	return tid;
}

/* ---- context ------------------------------------------------------------------------------------ */

static void add_names(struct t2x_raw_stream *stream, uint32_t index, uint32_t sequence)
{
	const struct t2x_raw_callsite *callsite = t2x_raw_names_get(&stream->names, index);
	const struct t2x_raw_file *file = callsite->file;
	struct tlg_sourceloc place = callsite->place;

	if (callsite->cycle == stream->cycle)
		return;
	if (file && file->cycle != stream->cycle) {
		add(stream, TLG_FLOC | TLG_HAS_INFO, sequence)->u.fileloc =
			(struct tlg_fileloc){ file->number, (uint16_t)stream->cycle, 0 };
		add_text(stream, sequence, file->name, file->bytes);
	}
	place.writeCount = (uint16_t)stream->cycle;
	add(stream, TLG_SLOC | (callsite->bytes ? TLG_HAS_INFO : 0), sequence)->u.sourceloc = place;
	add_text(stream, sequence, callsite->names, callsite->bytes);
	t2x_raw_names_written(&stream->names, index, stream->cycle);
}

/* How many of the thread's open regions a cycle repeats. */
static unsigned repeated(const struct thread *thread)
{
	return thread->nopen < thread->max_open ? thread->nopen : thread->max_open;
}

/* The callsites of many open regions do not fit into the block of the THREAD; they come in blocks in front of it. */
static void add_open_names(struct t2x_raw_stream *stream, const struct thread *thread)
{
	for (unsigned i = 0; i < repeated(thread); i++) {
		open_block(stream, thread->tid, USUAL_EVENTS);
		add_names(stream, thread->open[i].callsite, thread->next + 1);
	}
}

static void add_thread(struct t2x_raw_stream *stream, struct thread *thread)
{
	const uint32_t sequence = thread->next + 1;

	if (thread->cycle == stream->cycle)
		return;
	thread->cycle = stream->cycle;
	add(stream, TLG_THREAD | TLG_HAS_INFO, sequence)->u.thread =
		(struct tlg_thread){ thread->tid, 0, thread->start_us };
	add_text(stream, sequence, thread->name, thread->name_bytes);
	for (unsigned i = 0; i < repeated(thread); i++)
		add(stream, TLG_OPEN, sequence)->u.open =
			(struct tlg_open){ thread->open[i].us, thread->open[i].callsite, thread->tid };
}

/* Return  0 or -ENOMEM */
static int push_region(struct thread *thread, uint64_t us, uint32_t callsite)
{
	if (thread->nopen == thread->max_open && thread->max_open < MAX_OPEN) {
		unsigned max = thread->max_open ? 2 * thread->max_open : 8;
		struct open_region *larger = t2x_realloc(thread->open, max * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		thread->open = larger;
		thread->max_open = max;
	}
	if (thread->nopen < thread->max_open)
		thread->open[thread->nopen] = (struct open_region){ us, callsite };
	thread->nopen++;
	return 0;
}

/* Keep the thread's open regions for the next cycle.  Return  0 or -ENOMEM */
static int follow_regions(struct thread *thread, const struct t2x_git_line *line, uint64_t us, uint32_t callsite)
{
	if (line->style == TLG_STYLE_region_enter)
		return push_region(thread, us, callsite);
	if (line->style == TLG_STYLE_region_leave && thread->nopen) {
		thread->nopen--;
	} else if (tlg_style_unwinds(line->style)) {
		thread->nopen = 0;
	}
	return 0;
}

/* ---- chains ------------------------------------------------------------------------------------- */

/* A chain, in pieces if it is long. */
struct chain {
	struct t2x_raw_stream *stream;
	struct thread *thread;
	struct tlg_event *head, *last;    /* of this piece */
	unsigned events;                  /* in it */
	uint32_t sequence;
	struct tlg_hit hit;
	char text[TLG_TEXT_SIZE];         /* what does not fill an INFO yet */
	size_t bytes;
};

static void begin_piece(struct chain *chain, unsigned type)
{
	chain->sequence = ++chain->thread->next;
	chain->head = chain->last = add(chain->stream, type, chain->sequence);
	chain->head->u.hit = chain->hit;
	chain->events = 1;
}

/* The next argument of the chain, in this piece or another one. */
static struct tlg_event *add_argument(struct chain *chain, unsigned type)
{
	if (chain->events == PIECE_EVENTS) {
		chain->last->flags |= TLG_INFO_END;
		chain->head->flags |= TLG_HAS_MORE;
		seal(chain->stream);
		chain->stream->tid = chain->thread->tid;
		begin_piece(chain, TLG_MORE);
	}
	chain->head->flags |= TLG_HAS_INFO;
	chain->last = add(chain->stream, type, chain->sequence);
	chain->thread->next++;
	chain->events++;
	return chain->last;
}

static void add_value(struct chain *chain, unsigned type, int64_t value)
{
	add_argument(chain, TLG_VALUE)->u.value = (struct tlg_value){ value, type, 0 };
}

static void flush_text(struct chain *chain)
{
	if (chain->bytes)
		memcpy(add_argument(chain, TLG_INFO)->u.info.text.c, chain->text, chain->bytes);
	chain->bytes = 0;
}

static void append_text(struct chain *chain, const char *text, size_t n)
{
	while (n) {
		size_t part = sizeof(chain->text) - chain->bytes;
		part = n < part ? n : part;
		memcpy(chain->text + chain->bytes, text, part);
		chain->bytes += part;
		text += part;
		n -= part;
		if (chain->bytes == sizeof(chain->text))
			flush_text(chain);
	}
}

static void add_arguments(struct chain *chain, const struct t2x_git_line *line, int64_t shift_us, uint64_t start_us)
{
	if (shift_us)
		add_value(chain, TLG_ARG_SHIFT, shift_us);
	for (unsigned i = 0; i < line->nargs; i++) {
		const struct t2x_git_arg *arg = &line->args[i];
		add_value(chain, arg->type, (int)i == line->start_arg ? (int64_t)start_us : arg->value);
	}
	for (unsigned i = 0; i < line->nargs; i++)
		if (line->args[i].type == TLG_ARG_TEXT)
			append_text(chain, line->args[i].text.at, line->args[i].text.length);
	if (line->last.at)
		append_text(chain, line->last.at, line->last.length);
	flush_text(chain);
	if (chain->events > 1)
		chain->last->flags |= TLG_INFO_END;
}

int t2x_raw_stream_append(struct t2x_raw_stream *stream, uint32_t tid, const struct t2x_git_line *line, uint64_t us,
			  int64_t shift_us, uint64_t start_us)
{
	struct thread *thread = t2x_map_get(&stream->threads, tid);
	struct chain chain = { .stream = stream, .thread = thread };
	const uint32_t callsite = t2x_raw_names_of(&stream->names, line);

	if (!callsite)
		return -ENOMEM;
	if (!stream->cycle || stream->cycle_bytes > T2X_RAW_CYCLE_BYTES)
		begin_cycle(stream);
	if (thread->cycle != stream->cycle)
		add_open_names(stream, thread);
	open_block(stream, tid, USUAL_EVENTS);
	add_thread(stream, thread);
	add_names(stream, callsite, thread->next + 1);
	chain.hit = (struct tlg_hit){ .when = us, .scopeIndex = callsite, .tid = tid };
	begin_piece(&chain, TLG_HIT | (line->last.at && line->format.at ? TLG_RENDERED : 0));
	add_arguments(&chain, line, shift_us, start_us);
	stream->hits++;
	if (us > stream->latest_us)
		stream->latest_us = us;
	if (us < stream->extent.first_us)
		stream->extent.first_us = us;
	if (us > stream->extent.last_us)
		stream->extent.last_us = us;
	return follow_regions(thread, line, us, callsite);
}
