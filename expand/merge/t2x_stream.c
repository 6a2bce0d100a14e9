/* SPDX-License-Identifier: MIT */
/* t2x_stream.c - streams: their process and threads, and the definitions in their events. */
#include "t2x_stream.h"

#include <string.h>

#include "tlg_crc.h"
#include "tlg_desc.h"

enum {
	MAX_UNFINISHED = 8,                     /* definitions of a stream whose text is not complete */
	/*
	 * What a thread takes beside its cursor: an entry of the map, and the back end's two pieces of aligned memory,
	 * each of which costs the C library a cache line, or more.
	 */
	CURSOR_EXTRA = T2X_MAP_ENTRY_BYTES + 224 + 2 * T2X_CACHE_LINE,
};

/* ---- what the back end has ---------------------------------------------------------------------- */

static void send_process(struct t2x_stream *stream)
{
	const struct t2x_update update = {
		.kind = T2X_SET_PROCESS, .process = stream->process, .set_process = stream->facts,
	};

	t2x_model_update(stream->context->model, &update);
}

static void send_thread(struct t2x_stream *stream, const struct t2x_cursor *cursor)
{
	const struct t2x_update update = {
		.kind = T2X_SET_THREAD, .thread = cursor->thread, .set_thread = cursor->facts,
	};

	t2x_model_update(stream->context->model, &update);
}

/* ---- streams ------------------------------------------------------------------------------------ */

struct t2x_stream *
t2x_stream_new(struct t2x_context *context, const char *input, uint32_t id, uint32_t pid, int is_framed)
{
	struct t2x_stream *stream = t2x_calloc(1, sizeof(*stream));
	struct t2x_process *process = t2x_cache_line_new(sizeof(*process));
	char *sid = t2x_cache_line_new(1);

	if (!stream || !process || !sid) {
		t2x_free(stream);
		t2x_cache_line_free(process);
		t2x_cache_line_free(sid);
		return NULL;
	}
	stream->context = context;
	stream->scopes.context = context;
	stream->input = input;
	stream->id = id;
	stream->is_framed = is_framed;
	stream->facts = (struct t2x_process){
		.stream = id, .file = id, .pid = pid, .sid = sid, .number = ++context->numbers,
	};
	stream->process = process;
	*stream->process = stream->facts;
	stream->order = context->streams++;
	t2x_clock_fallback(&stream->clock);
	return stream;
}

static void free_cursor(struct t2x_context *context, struct t2x_cursor *cursor)
{
	t2x_model_update(context->model, &(struct t2x_update){ .kind = T2X_FORGET_THREAD, .thread = cursor->thread });
	t2x_context_release(context, cursor->thread, sizeof(*cursor->thread));
	t2x_context_give(context, t2x_stream_cursor_bytes(context));
	t2x_free(cursor);
}

void t2x_stream_forget_thread(struct t2x_stream *stream, uint32_t tid)
{
	struct t2x_cursor *cursor = t2x_map_get(&stream->threads, tid);

	if (!cursor)
		return;
	t2x_map_remove(&stream->threads, tid);
	free_cursor(stream->context, cursor);
}

static void drop_unfinished(struct t2x_stream *stream, struct t2x_chain *chain)
{
	t2x_chains_remove(&stream->unfinished, chain);
	t2x_chain_free(chain, stream->context);
}

void t2x_stream_free(struct t2x_stream *stream)
{
	struct t2x_context *context = stream->context;
	const struct t2x_update forget = { .kind = T2X_FORGET_PROCESS, .process = stream->process };

	if (context->forget)
		context->forget(context, stream);
	for (uint32_t i = 0; i < t2x_map_slots(&stream->threads); i++) {
		struct t2x_cursor *cursor = t2x_map_at(&stream->threads, i);
		if (cursor)
			free_cursor(context, cursor);
	}
	t2x_map_free(&stream->threads);
	for (uint32_t i = 0; i < t2x_map_slots(&stream->starts); i++)
		t2x_free(t2x_map_at(&stream->starts, i));
	t2x_map_free(&stream->starts);
	if (stream->stored > stream->hits)
		context->missing += stream->stored - stream->hits;
	while (stream->unfinished.newest)
		drop_unfinished(stream, stream->unfinished.newest);
	t2x_scopes_free(&stream->scopes);
	t2x_model_update(context->model, &forget);
	t2x_context_release(context, stream->process, sizeof(*stream->process));
	t2x_context_release(context, stream->facts.sid, strlen(stream->facts.sid) + 1);
	t2x_free(stream);
}

/* ---- the process -------------------------------------------------------------------------------- */

/* The clock is known: with it the start of the process becomes a time in nanoseconds. */
static void find_start(struct t2x_stream *stream)
{
	struct t2x_process *facts = &stream->facts;
	uint64_t start_ns;

	if (!stream->has_clock || facts->start_ns)
		return;
	start_ns = t2x_clock_ns(&stream->clock, stream->has_start ? facts->start_ticks : stream->clock.raw);
	facts->start_ns = start_ns;
	facts->number = ++stream->context->numbers;
	send_process(stream);
	/* a first bound, so that the files of processes that began later can wait */
	if (stream->has_start && !stream->mark_ns)
		stream->mark_ns = start_ns;
}

static void read_sid(struct t2x_stream *stream, const char *text, size_t n)
{
	struct t2x_process *facts = &stream->facts;
	char *sid = t2x_cache_line_new(n + 1);

	if (!sid)
		return;
	memcpy(sid, text, n);
	facts->sid = sid;
	facts->depth = 0;
	for (const char *p = sid; *p; p++)
		facts->depth += *p == '/';
	for (uint32_t i = 0; i < t2x_map_slots(&stream->threads); i++) {
		struct t2x_cursor *cursor = t2x_map_at(&stream->threads, i);
		if (!cursor)
			continue;
		cursor->facts.number = ++stream->context->numbers;
		send_thread(stream, cursor);
	}
}

/* The back end gets all files of a process as one stream. */
static void identify(struct t2x_stream *stream)
{
	struct t2x_process *facts = &stream->facts;
	uint32_t id;

	stream->identity = facts->start_ticks ^ (uint64_t)facts->pid << 32 ^
			   tlg_crc32c(0, facts->sid, strlen(facts->sid));
	id = t2x_rotated_add(&stream->context->rotated, stream->identity, stream->id, stream->first_cycle);
	if (stream->has_start)
		facts->stream = id;
}

/* Only the first PROCINFO is read: later ones say the same. */
static void read_procinfo(struct t2x_stream *stream, const struct tlg_event *events, unsigned n)
{
	const struct tlg_event *event = events;
	const char *old_sid = stream->facts.sid;
	size_t bytes = 0;
	char *text;

	if (stream->has_process)
		return;
	stream->has_process = 1;
	stream->facts.pid = event->u.procinfo.pid;
	stream->facts.start_ticks = event->u.procinfo.start;
	stream->has_start = event->u.procinfo.start != 0;
	stream->first_cycle = event->u.procinfo.writeCount;
	stream->is_whole &= !t2x_stream_goes_on(stream);
	text = event->flags & TLG_HAS_INFO ? t2x_malloc((size_t)n * TLG_TEXT_SIZE) : NULL;
	for (unsigned i = 1; text && i < n && tlg_event_type(&events[i]) == TLG_INFO; i++) {
		memcpy(text + bytes, events[i].u.info.text.c, TLG_TEXT_SIZE);
		bytes += TLG_TEXT_SIZE;
		if (events[i].flags & TLG_INFO_END)
			break;
	}
	if (text)
		read_sid(stream, text, bytes);
	t2x_free(text);
	identify(stream);
	send_process(stream);
	if (stream->facts.sid != old_sid)
		t2x_context_release(stream->context, old_sid, strlen(old_sid) + 1);
}

/*
 * The count only grows, unless the file is damaged.  Where reading began in the middle, the checkpoints that the first
 * MARK counts are not missing.
 */
static void note_stored(struct t2x_stream *stream, uint64_t stored)
{
	if (stream->is_sought && !stream->stored)
		stream->hits = stored;
	if (stored > stream->stored)
		stream->stored = stored;
}

static void set_zone(struct t2x_stream *stream, int32_t utcoff)
{
	if (stream->facts.utcoff == utcoff)
		return;
	stream->facts.utcoff = utcoff;
	stream->facts.number = ++stream->context->numbers;
	send_process(stream);
}

static void send_drop(struct t2x_stream *stream, const struct tlg_loss *loss)
{
	const struct t2x_update update = {
		.kind = T2X_DROP, .process = stream->process,
		.drop = { .tid = loss->tid, .reason = loss->reason, .total = loss->count },
	};

	t2x_model_update(stream->context->model, &update);
}

static void read_event(struct t2x_stream *stream, const struct tlg_event *event, unsigned left)
{
	const unsigned type = tlg_event_type(event);

	switch (type) {
	case TLG_PROLOGUE:
		stream->version = event->u.prologue.version;
		break;
	case TLG_PROCINFO:
		read_procinfo(stream, event, left);
		break;
	case TLG_TIMETYPE:
		set_zone(stream, event->u.timetype.utcoff);
		t2x_clock_set_rate(&stream->clock, event->u.timetype.tdiv);
		break;
	case TLG_TIMEINFO:
		t2x_clock_set_pair(&stream->clock, event->u.timeinfo.start_hires, event->u.timeinfo.start);
		stream->has_clock = 1;
		find_start(stream);
		break;
	case TLG_CYCLE:
		if (stream->is_sought && stream->has_clock && !stream->sought_ns)
			stream->sought_ns = t2x_clock_ns(&stream->clock, event->u.cycle.when);
		break;
	case TLG_MARK:
		if (stream->has_clock)
			stream->mark_ns = t2x_clock_ns(&stream->clock, event->u.mark.when);
		note_stored(stream, event->u.mark.stored);
		break;
	case TLG_END:
		note_stored(stream, event->u.end.stored);
		stream->is_ended = 1;
		stream->is_rotated = event->u.end.reason == TLG_END_ROTATE;
		break;
	case TLG_RECOVERED:
		/* nobody goes on where a recovering reader has been */
		stream->is_ended |= event->u.recovered.part == TLG_RECOVERED_END;
		break;
	case TLG_LOSS:
		send_drop(stream, &event->u.loss);
		break;
	default:
		stream->context->unknown += !tlg_type_by_id(type);
		break;
	}
}

void t2x_stream_read(struct t2x_stream *stream, const struct tlg_event *events, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		read_event(stream, &events[i], n - i);
}

void t2x_stream_end(struct t2x_stream *stream)
{
	struct t2x_update end = { .kind = T2X_END_PROCESS, .process = stream->process, .ns = stream->mark_ns };

	for (uint32_t i = 0; i < t2x_map_slots(&stream->threads); i++) {
		const struct t2x_cursor *cursor = t2x_map_at(&stream->threads, i);
		if (cursor && cursor->now_ns > end.ns)
			end.ns = cursor->now_ns;
	}
	if (!stream->is_rotated)
		t2x_model_update(stream->context->model, &end);
}

/* ---- threads ------------------------------------------------------------------------------------ */

size_t t2x_stream_cursor_bytes(const struct t2x_context *context)
{
	return sizeof(struct t2x_cursor) + CURSOR_EXTRA + context->thread_bytes;
}

static struct t2x_cursor *new_cursor(void)
{
	struct t2x_cursor *cursor = t2x_calloc(1, sizeof(*cursor));

	if (!cursor)
		return NULL;
	cursor->thread = t2x_cache_line_new(sizeof(*cursor->thread));
	if (!cursor->thread) {
		t2x_free(cursor);
		return NULL;
	}
	return cursor;
}

struct t2x_cursor *t2x_stream_cursor(struct t2x_stream *stream, uint32_t tid)
{
	const size_t bytes = t2x_stream_cursor_bytes(stream->context);
	struct t2x_cursor *cursor = t2x_map_get(&stream->threads, tid);

	if (cursor || stream->threads.count >= T2X_MAX_THREADS || !t2x_context_take(stream->context, bytes))
		return cursor;
	cursor = new_cursor();
	if (!cursor || t2x_map_put(&stream->threads, tid, cursor)) {
		t2x_context_give(stream->context, bytes);
		if (cursor)
			t2x_cache_line_free(cursor->thread);
		t2x_free(cursor);
		return NULL;
	}
	cursor->facts = (struct t2x_thread){
		.process = stream->process, .tid = tid, .name = "?", .number = ++stream->context->numbers,
	};
	*cursor->thread = cursor->facts;
	cursor->next_sequence = 1;
	if (stream->context->find_last_ns)
		cursor->now_ns = stream->context->find_last_ns(stream->context, stream->id, tid);
	cursor->has_sequence = stream->is_whole != 0;
	return cursor;
}

struct t2x_stream_start *t2x_stream_start(struct t2x_stream *stream, uint32_t tid)
{
	struct t2x_stream_start *start = stream->is_part ? t2x_map_get(&stream->starts, tid) : NULL;

	if (start || !stream->is_part)
		return start;
	start = t2x_calloc(1, sizeof(*start));
	if (!start || t2x_map_put(&stream->starts, tid, start)) {
		t2x_free(start);
		stream->context->irregular++;
		return NULL;
	}
	start->first_sequence = 1;
	return start;
}

static void set_name(struct t2x_stream *stream, struct t2x_cursor *cursor, const char *name, size_t n)
{
	struct t2x_thread *facts = &cursor->facts;

	memcpy(facts->name, name, n);
	facts->name[n] = '\0';
	facts->number = ++stream->context->numbers;
	send_thread(stream, cursor);
}

void t2x_stream_name_thread(struct t2x_stream *stream, struct t2x_cursor *cursor, const char *name, size_t n)
{
	const char *known = cursor->facts.name;

	n = n < sizeof(cursor->facts.name) ? n : sizeof(cursor->facts.name) - 1;
	if (!n || (!cursor->is_named_by_sample && strcmp(known, "?") != 0) || (!memcmp(known, name, n) && !known[n]))
		return;
	cursor->is_named_by_sample = 1;
	set_name(stream, cursor, name, n);
}

void t2x_stream_define_thread(struct t2x_stream *stream, const struct tlg_thread *thread, const char *name,
			      size_t n)
{
	struct t2x_cursor *cursor = t2x_stream_cursor(stream, thread->tid);
	struct t2x_thread *facts;
	int knows_name, knows_start;

	if (!cursor)
		return;
	facts = &cursor->facts;
	n = strnlen(name, n);
	if (n >= sizeof(facts->name))
		n = sizeof(facts->name) - 1;
	knows_name = !memcmp(facts->name, name, n) && !facts->name[n];
	knows_start = facts->start_ns || !stream->has_clock;
	if (knows_name && knows_start)
		return;
	stream->context->irregular += !knows_name && !cursor->is_named_by_sample && strcmp(facts->name, "?") != 0;
	cursor->is_named_by_sample = 0;
	if (!knows_start)
		facts->start_ns = t2x_clock_ns(&stream->clock, thread->start);
	set_name(stream, cursor, name, n);
}

/* ---- definitions in events ---------------------------------------------------------------------- */

/*
 * The definition is complete.  In a file of StackTrack's own events mean places, not kinds of Trace2: its scopes have
 * other styles and one name, and are shown as steps.
 */
static void define(const struct t2x_chain *chain)
{
	const struct tlg_event *head = &chain->head;
	struct t2x_stream *stream = chain->stream;
	struct tlg_sourceloc place = head->u.sourceloc;
	const char *text = chain->bytes ? chain->text : "";

	switch (tlg_event_type(head)) {
	case TLG_FLOC:
		t2x_scope_define_file(&stream->scopes, head->u.fileloc.filenum, text, chain->bytes);
		break;
	case TLG_SLOC:
		if (stream->version && stream->version < TLG_VERSION) {
			place.style = TLG_STYLE_step;
			place.names = TLG_NAME_LABEL;
		}
		t2x_scope_define(&stream->scopes, &place, text, chain->bytes);
		break;
	case TLG_THREAD:
		t2x_stream_define_thread(stream, &head->u.thread, text, chain->bytes);
		break;
	default:
		break;
	}
}

static void begin_definition(struct t2x_stream *stream, const struct tlg_event *event)
{
	struct t2x_chain whole = { .head = *event, .sequence = event->sequence, .stream = stream }, *chain;

	if (!(event->flags & TLG_HAS_INFO)) {
		define(&whole);
		return;
	}
	if (stream->unfinished.count >= MAX_UNFINISHED)
		drop_unfinished(stream, t2x_chains_oldest(&stream->unfinished));
	chain = t2x_malloc(sizeof(*chain));
	if (!chain)
		return;
	*chain = whole;
	t2x_chains_push(&stream->unfinished, chain);
}

static void add_definition_text(struct t2x_stream *stream, const struct tlg_event *event)
{
	struct t2x_chain *chain = stream->unfinished.newest;

	while (chain && chain->sequence != event->sequence)
		chain = chain->next;
	if (!chain)
		return;
	t2x_chain_add(chain, stream->context, event, 0);
	if (event->flags & TLG_INFO_END) {
		define(chain);
		drop_unfinished(stream, chain);
	}
}

static const unsigned char is_definition[TLG_TYPE_MASK + 1] = {
	[TLG_FLOC] = 1, [TLG_SLOC] = 1, [TLG_THREAD] = 1, [TLG_FPROPERTY] = 1,
};

void t2x_stream_define(struct t2x_stream *stream, const struct tlg_event *events, unsigned n)
{
	int found = stream->unfinished.newest != NULL;

	/* most blocks define nothing: that is found out at three instructions an event */
	for (unsigned i = 0; i < n; i++)
		found |= is_definition[tlg_event_type(&events[i])];
	for (unsigned i = 0; found && i < n; i++) {
		const unsigned type = tlg_event_type(&events[i]);
		if (is_definition[type])
			begin_definition(stream, &events[i]);
		else if (type == TLG_INFO && stream->unfinished.newest)
			add_definition_text(stream, &events[i]);
	}
}
