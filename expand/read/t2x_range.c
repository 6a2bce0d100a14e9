/* SPDX-License-Identifier: MIT */
/* t2x_range.c - see t2x_range.h. */
#include "t2x_range.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_lz4_unit.h"

enum { MAX_FRAMES = 1 << 22 };            /* of a file that is divided */

/* ---- the plan ----------------------------------------------------------------------------------- */

/* The frames of a file. */
struct frames {
	struct t2x_range_start *frames;
	unsigned n, capacity;
};

static int add_frame(struct frames *frames, uint64_t offset, uint64_t plain)
{
	if (frames->n == frames->capacity) {
		unsigned capacity = frames->capacity ? 2 * frames->capacity : 256;
		struct t2x_range_start *larger = NULL;

		if (capacity <= MAX_FRAMES)
			larger = realloc(frames->frames, capacity * sizeof(*larger));
		if (!larger)
			return 0;
		frames->frames = larger;
		frames->capacity = capacity;
	}
	frames->frames[frames->n++] = (struct t2x_range_start){ offset, plain };
	return 1;
}

static int note_stream(struct t2x_ranges_plan *plan, uint32_t stream, uint64_t until)
{
	uint64_t *at = t2x_map_get(&plan->streams, stream);

	if (!at) {
		at = malloc(sizeof(*at));
		if (!at || t2x_map_put(&plan->streams, stream, at)) {
			free(at);
			return 0;
		}
	}
	*at = until;
	return 1;
}

/* List all frames.  Return  0: the file has something else than whole frames, or too many of them */
static int list_frames(struct t2x_ranges_plan *plan, struct frames *frames, int fd)
{
	struct t2x_lz4_steps steps = { .fd = fd };
	struct t2x_lz4_unit unit;
	uint64_t offset = 0;
	struct stat st;
	int result;

	while ((result = t2x_lz4_unit_at(&steps, offset, &unit)) > 0) {
		if (!add_frame(frames, offset, plan->plain_bytes))
			return 0;
		offset += unit.bytes;
		plan->plain_bytes += unit.plain_bytes;
		if (!note_stream(plan, unit.stream, plan->plain_bytes))
			return 0;
	}
	return !result && !fstat(fd, &st) && (uint64_t)st.st_size == offset;
}

static void choose_starts(struct t2x_ranges_plan *plan, const struct frames *frames, unsigned max, uint64_t least)
{
	uint64_t share = plan->plain_bytes / (max ? max : 1) + 1, next = 0;

	share = share > least ? share : least;
	for (unsigned i = 0; i < frames->n && plan->n < max && plan->n < T2X_RANGES_MAX; i++) {
		if (frames->frames[i].plain < next)
			continue;
		if (plan->n && plan->plain_bytes - frames->frames[i].plain < least)
			break;
		plan->starts[plan->n++] = frames->frames[i];
		next = plan->n * share;
	}
}

void t2x_ranges_plan(struct t2x_ranges_plan *plan, const char *path, unsigned max, uint64_t least)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct frames frames = { .n = 0 };

	if (fd < 0)
		return;
	if (list_frames(plan, &frames, fd))
		choose_starts(plan, &frames, max, least);
	free(frames.frames);
	close(fd);
}

static void free_values(struct t2x_map *map)
{
	for (uint32_t i = 0; i < t2x_map_slots(map); i++)
		free(t2x_map_at(map, i));
	t2x_map_free(map);
}

void t2x_ranges_plan_free(struct t2x_ranges_plan *plan)
{
	free_values(&plan->streams);
}

/* ---- reading ------------------------------------------------------------------------------------ */

int t2x_range_open(struct t2x_range *range, const char *path, const struct t2x_ranges_plan *plan, unsigned nth,
		   struct t2x_report *report)
{
	int error;

	memset(range, 0, sizeof(*range));
	range->plan = plan;
	range->is_first = !nth;
	range->begin = plan->starts[nth].plain;
	range->end = nth + 1 < plan->n ? plan->starts[nth + 1].plain : UINT64_MAX;
	error = t2x_in_open_file(&range->in, path, plan->starts[nth].offset, t2x_blocks_seen(NULL), report);
	if (error)
		return error;
	error = t2x_blocks_init(&range->blocks, &range->in, NULL);
	if (error)
		t2x_in_close(&range->in);
	return error;
}

void t2x_range_close(struct t2x_range *range)
{
	free_values(&range->streams);
	t2x_blocks_free(&range->blocks);
	t2x_in_close(&range->in);
}

/* Return  1: the block begins a cycle.  If the cycle lacks what a reader needs first, the range becomes irregular */
static int begins_cycle(struct t2x_range *range, const struct t2x_block *block)
{
	unsigned seen = 0;
	const unsigned all = 1u << TLG_PROLOGUE | 1u << TLG_PROCINFO | 1u << TLG_TIMETYPE | 1u << TLG_TIMEINFO;

	for (unsigned i = 0; block->tid == TLG_NO_THREAD && i < block->count; i++) {
		unsigned type = tlg_event_type(&block->events[i]);
		if (type == TLG_CYCLE) {
			range->is_irregular |= (seen & all) != all;
			return 1;
		}
		seen |= type < 32 ? 1u << type : 0;
	}
	return 0;
}

/*
 * This range begins to read the stream with the block at this plain byte.  A stream that no mark names lies in the
 * frame in which it begins.  Return  NULL: no memory
 */
static struct t2x_range_stream *begin_stream(struct t2x_range *range, const struct t2x_block *block, uint64_t at)
{
	const uint64_t *until = t2x_map_get(&range->plan->streams, block->stream);
	struct t2x_range_stream *stream = calloc(1, sizeof(*stream));

	if (!stream || t2x_map_put(&range->streams, block->stream, stream)) {
		range->is_irregular = 1;
		free(stream);
		return NULL;
	}
	stream->first = block->number;
	stream->until = until ? *until : at + TLG_FRAME_BYTES;
	if (stream->until > range->until)
		range->until = stream->until;
	return stream;
}

static void end_stream(struct t2x_range *range, struct t2x_range_stream *stream)
{
	stream->is_over = 1;
	range->until = 0;
	for (uint32_t i = 0; i < t2x_map_slots(&range->streams); i++) {
		const struct t2x_range_stream *other = t2x_map_at(&range->streams, i);
		if (other && !other->is_over && other->until > range->until)
			range->until = other->until;
	}
}

/* Return  1: the block, which begins at this plain byte of the file, belongs to this range */
static int is_ours(struct t2x_range *range, const struct t2x_block *block, uint64_t at)
{
	struct t2x_range_stream *stream = t2x_map_get(&range->streams, block->stream);
	int is_cycle = begins_cycle(range, block);

	if (!stream && at < range->end && (range->is_first || is_cycle))
		stream = begin_stream(range, block, at);
	else if (stream && !stream->is_over && at >= range->end && is_cycle)
		end_stream(range, stream);
	if (!stream || stream->is_over)
		return 0;
	stream->last = block->number;
	return 1;
}

int t2x_range_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_range *range = (struct t2x_range *)blocks;

	while (!range->is_irregular) {
		uint64_t at = range->begin + range->in.bytes->offset;

		if ((at >= range->end && at >= range->until) || at >= range->plan->plain_bytes)
			return 0;
		if (!t2x_blocks_next(blocks, block)) {
			range->is_irregular |= t2x_in_error(&range->in) != 0;
			return 0;
		}
		range->is_irregular |= !block->is_framed;
		if (is_ours(range, block, at))
			return !range->is_irregular;
	}
	return 0;
}
