/* SPDX-License-Identifier: MIT */
/* t2x_boundary.c - see t2x_boundary.h. */
#include "t2x_boundary.h"

#include <stdlib.h>
#include <string.h>

#include "merge/t2x_merge.h"
#include "model/t2x_regions.h"

/*
 * A reader has limits, which a part reaches later than the whole file does.  If all parts together stay below these
 * values, the whole file would, too.
 */
enum { MAX_REGIONS = T2X_REGIONS_BUDGET / 2, MAX_BYTES = T2X_CONTEXT_BYTES / 2, MAX_STREAMS = T2X_MAX_SEEN };

/* A definition as bytes, which can be compared. */
struct definition {
	size_t n;
	char bytes[];
};

struct boundary_thread {
	struct t2x_cursor cursor;         /* without its pointers */
	struct t2x_stream_start start;    /* of a part */
	unsigned open;                    /* regions */
};

struct t2x_boundary_stream {
	unsigned input;
	uint32_t id;
	struct t2x_process facts;         /* its sid is a copy */
	uint64_t identity, stored, hits;
	uint32_t first_block, last_block;
	int is_part, is_whole, goes_on, has_clock, is_ended;
	struct t2x_map threads;           /* of struct boundary_thread */
	struct t2x_map scopes, files;     /* of struct definition, by index, by number */
};

/* ---- definitions -------------------------------------------------------------------------------- */

enum { TEXTS = 4 };

static struct definition *new_definition(const void *head, size_t nhead, const char *const *texts, unsigned n)
{
	struct definition *definition;
	size_t bytes = nhead;
	char *to;

	for (unsigned i = 0; i < n; i++)
		bytes += 1 + (texts[i] ? strlen(texts[i]) + 1 : 0);
	definition = malloc(sizeof(*definition) + bytes);
	if (!definition)
		return NULL;
	definition->n = bytes;
	memcpy(definition->bytes, head, nhead);
	to = definition->bytes + nhead;
	for (unsigned i = 0; i < n; i++) {
		*to++ = texts[i] != NULL;
		if (texts[i])
			to = stpcpy(to, texts[i]) + 1;
	}
	return definition;
}

static struct definition *of_scope(const struct t2x_scope *scope)
{
	const char *const texts[TEXTS] = { scope->file, scope->category, scope->label, scope->format };
	const uint32_t head[] = { (uint32_t)scope->line, scope->repo, scope->style };

	return new_definition(head, sizeof(head), texts, TEXTS);
}

/* Return  0: no memory */
static int put_definition(struct t2x_map *map, uint32_t key, struct definition *definition)
{
	if (definition && !t2x_map_put(map, key, definition))
		return 1;
	free(definition);
	return 0;
}

static int add_definitions(struct t2x_boundary_stream *to, const struct t2x_scopes *scopes)
{
	for (uint32_t i = 0; i < t2x_map_slots(&scopes->scopes); i++) {
		const struct t2x_scope_box *box = t2x_map_at(&scopes->scopes, i);
		if (box && !put_definition(&to->scopes, box->scope.index, of_scope(&box->scope)))
			return 0;
	}
	for (uint32_t i = 0; i < t2x_map_slots(&scopes->files); i++) {
		const struct t2x_file_box *box = t2x_map_at(&scopes->files, i);
		const char *const texts[1] = { box ? box->name : NULL };
		if (box && !put_definition(&to->files, scopes->files.slots[i].key, new_definition("", 0, texts, 1)))
			return 0;
	}
	return 1;
}

/* Move the definitions of from that to lacks.  Return  0: a definition differs, or no memory */
static int join_definitions(struct t2x_map *to, struct t2x_map *from)
{
	for (uint32_t i = 0; i < t2x_map_slots(from); i++) {
		struct t2x_slot *slot = &from->slots[i];
		const struct definition *theirs = slot->value, *ours;

		if (!theirs)
			continue;
		ours = t2x_map_get(to, slot->key);
		if (ours && (ours->n != theirs->n || memcmp(ours->bytes, theirs->bytes, ours->n) != 0))
			return 0;
		if (!ours && t2x_map_put(to, slot->key, slot->value))
			return 0;
		if (!ours)
			slot->value = NULL;
	}
	return 1;
}

/* ---- a stream at the end of a part -------------------------------------------------------------- */

/* Return  1: all events of the thread were there, so its open regions are known */
static int is_regular(const struct t2x_stream *stream, const struct t2x_cursor *cursor)
{
	const struct t2x_stream_start *start = t2x_map_get(&stream->starts, cursor->facts.tid);
	const struct t2x_regions *regions = cursor->thread->model;

	return cursor->has_regions && !cursor->gap_ns && !cursor->has_unknown_gap && regions && !regions->assumed &&
	       regions->open <= regions->capacity && (!stream->is_part || (start && start->repeats == 1));
}

/* Return  0: no memory, or the thread is irregular */
static int add_thread(struct t2x_boundary *boundary, struct t2x_boundary_stream *to, const struct t2x_stream *stream,
		      const struct t2x_cursor *cursor)
{
	const struct t2x_stream_start *start = t2x_map_get(&stream->starts, cursor->facts.tid);
	const struct t2x_regions *regions = cursor->thread->model;
	struct boundary_thread *thread;

	if (cursor->next_sequence == (start ? start->first_sequence : 1))
		return 1;   /* the part has no event of this thread */
	if (!is_regular(stream, cursor))
		return 0;
	thread = calloc(1, sizeof(*thread));
	if (!thread || t2x_map_put(&to->threads, cursor->facts.tid, thread)) {
		free(thread);
		return 0;
	}
	thread->cursor = *cursor;
	thread->cursor.thread = NULL;
	thread->cursor.facts.process = NULL;
	thread->open = regions->open;
	if (start)
		thread->start = *start;
	boundary->regions += regions->capacity > T2X_REGIONS_SMALL ? regions->capacity : 0;
	return 1;
}

static int add_stream(struct t2x_boundary *boundary, struct t2x_boundary_stream *to, const struct t2x_stream *stream,
		      unsigned input)
{
	*to = (struct t2x_boundary_stream){
		.input = input, .id = stream->id, .facts = stream->facts, .identity = stream->identity,
		.stored = stream->stored, .hits = stream->hits, .is_part = stream->is_part,
		.is_whole = stream->is_whole, .goes_on = t2x_stream_goes_on(stream), .has_clock = stream->has_clock,
		.is_ended = stream->is_ended,
	};
	to->facts.sid = strdup(stream->facts.sid);
	if (!to->facts.sid || !stream->has_clock || !stream->has_process || !add_definitions(to, &stream->scopes))
		return 0;
	for (uint32_t i = 0; i < t2x_map_slots(&stream->threads); i++) {
		const struct t2x_cursor *cursor = t2x_map_at(&stream->threads, i);
		if (cursor && !add_thread(boundary, to, stream, cursor))
			return 0;
	}
	boundary->goes_on += t2x_stream_goes_on(stream) && !stream->is_part;
	return 1;
}

void t2x_boundary_add(struct t2x_boundary *boundary, const struct t2x_stream *stream, unsigned input)
{
	struct t2x_boundary_stream *to;

	/* A stream whose id comes again after its end counts as another stream. */
	if (boundary->is_irregular || t2x_map_get(&boundary->streams, stream->id)) {
		boundary->is_irregular = 1;
		return;
	}
	to = malloc(sizeof(*to));
	if (!to || t2x_map_put(&boundary->streams, stream->id, to)) {
		boundary->is_irregular = 1;
		free(to);
	} else if (!add_stream(boundary, to, stream, input)) {
		boundary->is_irregular = 1;
	}
}

void t2x_boundary_end(struct t2x_boundary *boundary, const struct t2x_context *context, const struct t2x_range *range)
{
	boundary->bytes = context->peak_bytes;
	boundary->queued = context->pending;
	boundary->peak_queued = context->peak_pending;
	boundary->is_undated = context->undated > 0;
	boundary->is_irregular |= range->is_irregular || context->irregular || context->changed || context->ignored;
	for (uint32_t i = 0; i < t2x_map_slots(&boundary->streams); i++) {
		struct t2x_boundary_stream *stream = t2x_map_at(&boundary->streams, i);
		const struct t2x_range_stream *read;

		if (!stream)
			continue;
		read = t2x_map_get(&range->streams, stream->id);
		boundary->is_irregular |= !read;
		stream->first_block = read ? read->first : 0;
		stream->last_block = read ? read->last : 0;
	}
}

/* ---- time --------------------------------------------------------------------------------------- */

static const struct boundary_thread *find_thread(const struct t2x_boundary *boundary, uint32_t stream, uint32_t tid)
{
	const struct t2x_boundary_stream *of = t2x_map_get(&boundary->streams, stream);

	return of ? t2x_map_get(&of->threads, tid) : NULL;
}

uint64_t t2x_boundary_last_ns(const struct t2x_boundary *boundary, uint32_t stream, uint32_t tid)
{
	const struct boundary_thread *thread = find_thread(boundary, stream, tid);

	return thread ? thread->cursor.now_ns : 0;
}

int t2x_boundary_needs_past(const struct t2x_boundary *boundary, const struct t2x_boundary *part)
{
	if (part->is_undated)
		return 1;
	for (uint32_t i = 0; i < t2x_map_slots(&part->streams); i++) {
		const struct t2x_boundary_stream *stream = t2x_map_at(&part->streams, i);
		for (uint32_t j = 0; stream && j < t2x_map_slots(&stream->threads); j++) {
			const struct boundary_thread *thread = t2x_map_at(&stream->threads, j);
			if (thread && stream->is_part && thread->start.first_ns <
			    t2x_boundary_last_ns(boundary, stream->id, thread->cursor.facts.tid))
				return 1;
		}
	}
	return 0;
}

/* ---- joining ------------------------------------------------------------------------------------ */

/* Return  1: the thread's events continue without a gap, forward in time, and the cycle repeated its open regions */
static int fits_thread(const struct boundary_thread *to, const struct boundary_thread *from)
{
	return from->start.first_sequence == to->cursor.next_sequence && from->start.first_ns >= to->cursor.now_ns &&
	       from->start.open == to->open && !strcmp(from->cursor.facts.name, to->cursor.facts.name);
}

/* The parts in front have no event of the thread.  Return  1: its first event is here, and no region was open before */
static int fits_new_thread(const struct t2x_boundary_stream *stream, const struct boundary_thread *from)
{
	return from->start.open == 1 && (from->start.first_sequence == 1 || !stream->is_whole);
}

static int join_threads(struct t2x_boundary_stream *to, struct t2x_boundary_stream *from)
{
	for (uint32_t i = 0; i < t2x_map_slots(&from->threads); i++) {
		struct t2x_slot *slot = &from->threads.slots[i];
		struct boundary_thread *theirs = slot->value, *ours;

		if (!theirs)
			continue;
		ours = t2x_map_get(&to->threads, slot->key);
		if (ours ? !fits_thread(ours, theirs) : !fits_new_thread(to, theirs))
			return 0;
		if (t2x_map_put(&to->threads, slot->key, theirs))
			return 0;
		slot->value = ours;
	}
	return 1;
}

static int join_stream(struct t2x_boundary_stream *to, struct t2x_boundary_stream *from)
{
	if (!from->is_part || to->is_ended || to->input != from->input || from->first_block != to->last_block + 1 ||
	    to->facts.pid != from->facts.pid || to->facts.start_ticks != from->facts.start_ticks ||
	    strcmp(to->facts.sid, from->facts.sid) != 0)
		return 0;
	to->last_block = from->last_block;
	to->hits += from->hits;
	to->stored = from->stored > to->stored ? from->stored : to->stored;
	to->is_ended = from->is_ended;
	return join_definitions(&to->scopes, &from->scopes) && join_definitions(&to->files, &from->files) &&
	       join_threads(to, from);
}

int t2x_boundary_join(struct t2x_boundary *to, struct t2x_boundary *from)
{
	to->bytes += from->bytes;
	to->queued += from->queued;
	to->regions += from->regions;
	if (from->peak_queued > to->peak_queued)
		to->peak_queued = from->peak_queued;
	to->goes_on += from->goes_on;
	to->is_irregular |= from->is_irregular || from->is_undated;
	for (uint32_t i = 0; !to->is_irregular && i < t2x_map_slots(&from->streams); i++) {
		struct t2x_slot *slot = &from->streams.slots[i];
		struct t2x_boundary_stream *stream = slot->value, *ours;

		if (!stream)
			continue;
		ours = t2x_map_get(&to->streams, slot->key);
		if (ours)
			to->is_irregular = !join_stream(ours, stream);
		else if (stream->is_part || t2x_map_put(&to->streams, slot->key, stream))
			to->is_irregular = 1;
		else
			slot->value = NULL;
	}
	return !to->is_irregular;
}

/* ---- all of them -------------------------------------------------------------------------------- */

/*
 * Return  1: a reader of all streams regards one of them as the continuation of another: they are of one process.  Two
 * processes that share a place in the table here may be taken for one, which only costs time.
 */
static int may_be_continued(const struct t2x_boundary *boundary)
{
	unsigned char seen[T2X_MAX_SEEN] = { 0 };

	for (uint32_t i = 0; boundary->goes_on && i < t2x_map_slots(&boundary->streams); i++) {
		const struct t2x_boundary_stream *stream = t2x_map_at(&boundary->streams, i);
		if (stream && seen[stream->identity % T2X_MAX_SEEN]++)
			return 1;
	}
	return 0;
}

int t2x_boundary_is_whole(const struct t2x_boundary *boundary, int needs_order)
{
	int has_order = boundary->queued + boundary->peak_queued <= T2X_PENDING_BYTES;

	return !boundary->is_irregular && boundary->streams.count < MAX_STREAMS && boundary->bytes <= MAX_BYTES &&
	       boundary->regions <= MAX_REGIONS && (has_order || !needs_order) && !may_be_continued(boundary);
}

uint64_t t2x_boundary_missing(const struct t2x_boundary *boundary)
{
	uint64_t missing = 0;

	for (uint32_t i = 0; i < t2x_map_slots(&boundary->streams); i++) {
		const struct t2x_boundary_stream *stream = t2x_map_at(&boundary->streams, i);
		if (stream && stream->stored > stream->hits)
			missing += stream->stored - stream->hits;
	}
	return missing;
}

void t2x_boundary_open_streams(const struct t2x_boundary *boundary, unsigned *open, unsigned n)
{
	memset(open, 0, n * sizeof(*open));
	for (uint32_t i = 0; i < t2x_map_slots(&boundary->streams); i++) {
		const struct t2x_boundary_stream *stream = t2x_map_at(&boundary->streams, i);
		if (stream && stream->input < n)
			open[stream->input] += !stream->is_ended;
	}
}

static void free_values(struct t2x_map *map)
{
	for (uint32_t i = 0; i < t2x_map_slots(map); i++)
		free(t2x_map_at(map, i));
	t2x_map_free(map);
}

void t2x_boundary_free(struct t2x_boundary *boundary)
{
	for (uint32_t i = 0; i < t2x_map_slots(&boundary->streams); i++) {
		struct t2x_boundary_stream *stream = t2x_map_at(&boundary->streams, i);
		if (!stream)
			continue;
		free((char *)(uintptr_t)stream->facts.sid);
		free_values(&stream->threads);
		free_values(&stream->scopes);
		free_values(&stream->files);
		free(stream);
	}
	t2x_map_free(&boundary->streams);
}
