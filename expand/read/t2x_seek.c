/* SPDX-License-Identifier: MIT */
/* t2x_seek.c - an index of the frames, bisection in it. */
#include "t2x_seek.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "t2x_blocks.h"
#include "t2x_lz4_unit.h"
#include "base/t2x_clock.h"
#include "base/t2x_map.h"

enum {
	MAX_FRAMES = 1 << 22,             /* of the index: 64 MiB */
	MAX_STREAMS = 1 << 14,
	PROBED_BLOCKS = 1 << 14,          /* that a search for a cycle reads: far more than lie between two cycles */
};
#define ENDED_NS (10 * T2X_NS_PER_S)  /* a stream does not count if it ended so long before the moment */

/* The frames of a stream, in the order of the file. */
struct frames {
	uint32_t stream;
	unsigned count, room;
	uint64_t *offsets;
};

struct seek {
	const char *path;
	const struct t2x_layout *layout;
	uint64_t ns;
	unsigned count;                   /* of frames in all */
	struct t2x_map streams;           /* struct frames by stream id */
};

/* ---- the index ---------------------------------------------------------------------------------- */

static struct frames *frames_of(struct seek *seek, uint32_t stream)
{
	struct frames *frames = t2x_map_get(&seek->streams, stream);

	if (frames || seek->streams.count == MAX_STREAMS)
		return frames;
	frames = calloc(1, sizeof(*frames));
	if (frames && t2x_map_put(&seek->streams, stream, frames)) {
		free(frames);
		return NULL;
	}
	if (frames)
		frames->stream = stream;
	return frames;
}

/* Return  0: no memory, or the index is full */
static int add_frame(struct seek *seek, uint32_t stream, uint64_t offset)
{
	struct frames *frames = frames_of(seek, stream);

	if (!frames || seek->count == MAX_FRAMES)
		return 0;
	if (frames->count == frames->room) {
		unsigned room = frames->room ? 2 * frames->room : 16;
		uint64_t *offsets = realloc(frames->offsets, room * sizeof(*offsets));
		if (!offsets)
			return 0;
		frames->offsets = offsets;
		frames->room = room;
	}
	frames->offsets[frames->count++] = offset;
	seek->count++;
	return 1;
}

/* Add all frames to the index.  Return  0: the file has something else between them, or too many of them */
static int index_frames(struct seek *seek, int fd)
{
	struct t2x_lz4_steps steps = { .fd = fd };
	uint64_t offset = 0;
	struct t2x_lz4_unit unit;
	int result;

	while ((result = t2x_lz4_unit_at(&steps, offset, &unit)) > 0) {
		if (!add_frame(seek, unit.stream, offset))
			return 0;
		offset += unit.bytes;
	}
	return !result && seek->count;
}

static void free_index(struct seek *seek)
{
	for (uint32_t i = 0; i < t2x_map_slots(&seek->streams); i++) {
		struct frames *frames = t2x_map_at(&seek->streams, i);
		if (frames)
			free(frames->offsets);
		free(frames);
	}
	t2x_map_free(&seek->streams);
}

/* ---- what is in a frame ------------------------------------------------------------------------- */

/* What a probe found in the blocks of a stream from some frame on. */
struct found {
	uint64_t cycle_ns;                /* CYCLE.when */
	uint64_t mark_ns;                 /* MARK.when, the latest */
	int has_cycle, has_end;
};

/* Find clock, cycle, mark and end in a block of the process. */
static void look_at_block(const struct t2x_block *block, struct t2x_clock *clock, struct found *found)
{
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		switch (tlg_event_type(event)) {
		case TLG_TIMETYPE:
			t2x_clock_set_rate(clock, event->u.timetype.tdiv);
			break;
		case TLG_TIMEINFO:
			t2x_clock_set_pair(clock, event->u.timeinfo.start_hires, event->u.timeinfo.start);
			break;
		case TLG_CYCLE:
			found->has_cycle = 1;
			found->cycle_ns = t2x_clock_ns(clock, event->u.cycle.when);
			break;
		case TLG_MARK:
			found->mark_ns = t2x_clock_ns(clock, event->u.mark.when);
			break;
		case TLG_END:
			found->has_end = 1;
			break;
		default:
			break;
		}
	}
}

/* Read a stream's blocks from a frame on, up to its first cycle, or, if is_tail, to the end. */
static struct found look_from(const struct seek *seek, uint32_t stream, uint64_t offset, struct t2x_clock *clock,
			      int is_tail)
{
	struct t2x_report silent = { .to = NULL };
	struct found found = { .cycle_ns = 0 };
	struct t2x_blocks blocks;
	struct t2x_block block;
	struct t2x_in in;

	if (t2x_in_open_file(&in, seek->path, offset, t2x_blocks_seen(seek->layout), &silent))
		return found;
	if (!t2x_blocks_init(&blocks, &in, seek->layout)) {
		for (unsigned n = 0; n < PROBED_BLOCKS && t2x_blocks_next(&blocks, &block); n++) {
			if (block.stream == stream && block.tid == TLG_NO_THREAD)
				look_at_block(&block, clock, &found);
			if (found.has_cycle && !is_tail)
				break;
		}
		t2x_blocks_free(&blocks);
	}
	t2x_in_close(&in);
	return found;
}

/* ---- bisection ---------------------------------------------------------------------------------- */

/*
 * Find the last frame of the stream from which reading delivers all events from the moment on.  The first cycle behind
 * a frame may lie in a later frame.  If this cycle is old enough, everything in front of it is, too.
 */
static unsigned find_frame(const struct seek *seek, const struct frames *frames)
{
	unsigned low = 0, high = frames->count;

	while (low + 1 < high) {
		unsigned middle = low + (high - low) / 2;
		struct t2x_clock clock;
		struct found found;
		t2x_clock_fallback(&clock);
		found = look_from(seek, frames->stream, frames->offsets[middle], &clock, 0);
		if (found.has_cycle && found.cycle_ns <= seek->ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Return  1: the stream ended long before the moment.  offset: of a cycle, which has the clock */
static int has_ended(const struct seek *seek, const struct frames *frames, uint64_t offset)
{
	struct t2x_clock clock;
	struct found found;

	if (seek->ns == T2X_SEEK_END)
		return 0;
	t2x_clock_fallback(&clock);
	look_from(seek, frames->stream, offset, &clock, 0);
	found = look_from(seek, frames->stream, frames->offsets[frames->count - 1], &clock, 1);
	return found.has_end && found.mark_ns && found.mark_ns + ENDED_NS < seek->ns;
}

/* Return  the lowest offset at which reading of a stream that counts must begin */
static uint64_t find_offset(const struct seek *seek)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < t2x_map_slots(&seek->streams); i++) {
		const struct frames *frames = t2x_map_at(&seek->streams, i);
		uint64_t offset = frames ? frames->offsets[find_frame(seek, frames)] : first;
		if (offset < first && !has_ended(seek, frames, offset))
			first = offset;
	}
	return first == UINT64_MAX ? 0 : first;
}

uint64_t t2x_seek(const char *path, const struct t2x_layout *layout, uint64_t ns)
{
	unsigned streams;

	return t2x_seek_counting(path, layout, ns, &streams);
}

uint64_t t2x_seek_counting(const char *path, const struct t2x_layout *layout, uint64_t ns, unsigned *streams)
{
	struct seek seek = { .path = path, .layout = layout, .ns = ns };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	uint64_t offset = 0;

	*streams = 0;
	if (fd < 0)
		return 0;
	if (index_frames(&seek, fd))
		offset = find_offset(&seek);
	*streams = seek.streams.count;
	close(fd);
	free_index(&seek);
	return offset;
}
