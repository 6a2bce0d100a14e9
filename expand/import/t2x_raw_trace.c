/* SPDX-License-Identifier: MIT */
/* t2x_raw_trace.c - see t2x_raw_trace.h. */
#include "t2x_raw_trace.h"

#include <errno.h>
#include <string.h>

#include "base/t2x_memory.h"

struct t2x_raw_trace *t2x_raw_trace_new(struct t2x_raw_sink *sink)
{
	struct t2x_raw_trace *trace = t2x_calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->sink = sink;
	return trace;
}

void t2x_raw_trace_free(struct t2x_raw_trace *trace)
{
	if (!trace)
		return;
	t2x_raw_trace_flush(trace);
	t2x_free(trace->cycles.bytes);
	t2x_free(trace->events.bytes);
	t2x_free(trace->ends.bytes);
	t2x_map_free(&trace->ids);
	t2x_free(trace);
}

/* Without memory for the id, another stream may get it: a chance of one in four billion. */
uint32_t t2x_raw_trace_id(struct t2x_raw_trace *trace, uint32_t wanted)
{
	while (!wanted || t2x_map_get(&trace->ids, wanted))
		wanted++;
	t2x_map_put(&trace->ids, wanted, trace);
	return wanted;
}

/* ---- the frame of small streams ------------------------------------------------------------------ */

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Both in one frame.  The caller asks fits() whether they may be. */
static struct t2x_raw_extent join(const struct t2x_raw_extent *a, const struct t2x_raw_extent *b)
{
	const struct t2x_raw_extent *named = b->start_us < a->start_us ? b : a;

	return (struct t2x_raw_extent){
		.start_us = named->start_us, .until_us = named->until_us,
		.first_us = lesser(a->first_us, b->first_us), .last_us = greater(a->last_us, b->last_us),
	};
}

static int fits(const struct t2x_raw_extent *extent)
{
	return extent->first_us >= extent->start_us && extent->last_us <= extent->until_us;
}

/* Return  0: no memory */
static int append(struct t2x_raw_part *part, const unsigned char *bytes, size_t n)
{
	size_t max = part->max ? part->max : TLG_FRAME_BYTES / 4;
	unsigned char *larger;

	while (max < part->used + n)
		max *= 2;
	if (max > part->max) {
		larger = t2x_realloc(part->bytes, max);
		if (!larger)
			return 0;
		part->bytes = larger;
		part->max = max;
	}
	memcpy(part->bytes + part->used, bytes, n);
	part->used += n;
	return 1;
}

/* Return  bytes of the block, which is whole, for it is ours */
static size_t block_bytes(const unsigned char *at, uint32_t *tid)
{
	struct tlg_event head;

	memcpy(&head, at, sizeof(head));
	*tid = head.u.block.tid;
	return (1 + (size_t)head.u.block.size) * sizeof(head);
}

/* Divide the stream into its cycle, its events and its end.  Return  0: no memory */
static int gather(struct t2x_raw_trace *trace, const struct t2x_raw_frame *frame, int is_first)
{
	uint32_t tid;
	size_t cycle = block_bytes(frame->plain, &tid), at = cycle, end = cycle;

	while (at < frame->used) {
		at += block_bytes(frame->plain + at, &tid);
		if (tid != TLG_NO_THREAD)
			end = at;
	}
	if (is_first) {
		trace->stream = frame->stream;
		trace->first = trace->cycles.used;
		trace->first_bytes = cycle;
	}
	return append(&trace->cycles, frame->plain, cycle) &&
	       append(&trace->events, frame->plain + cycle, end - cycle) &&
	       append(&trace->ends, frame->plain + end, frame->used - end);
}

static size_t gathered(const struct t2x_raw_trace *trace)
{
	return trace->cycles.used + trace->events.used + trace->ends.used;
}

void t2x_raw_trace_flush(struct t2x_raw_trace *trace)
{
	const struct t2x_raw_part *cycles = &trace->cycles;
	const size_t behind = trace->first + trace->first_bytes;
	struct t2x_raw_frame frame;

	if (!gathered(trace))
		return;
	t2x_raw_frame_init(&frame, trace->sink, trace->stream);
	t2x_raw_frame_add(&frame, cycles->bytes + trace->first, trace->first_bytes);
	t2x_raw_frame_add(&frame, cycles->bytes, trace->first);
	t2x_raw_frame_add(&frame, cycles->bytes + behind, cycles->used - behind);
	t2x_raw_frame_add(&frame, trace->events.bytes, trace->events.used);
	t2x_raw_frame_add(&frame, trace->ends.bytes, trace->ends.used);
	t2x_raw_frame_flush(&frame);
	t2x_raw_frame_free(&frame);
	trace->cycles.used = trace->events.used = trace->ends.used = 0;
}

void t2x_raw_trace_end(struct t2x_raw_trace *trace, struct t2x_raw_frame *frame, const struct t2x_raw_extent *extent)
{
	struct t2x_raw_extent both = join(&trace->extent, extent);
	int is_first;

	if (frame->number || frame->used > T2X_RAW_SMALL || !frame->used) {
		t2x_raw_frame_flush(frame);
		return;
	}
	if (gathered(trace) && (gathered(trace) + frame->used > TLG_FRAME_BYTES || !fits(&both)))
		t2x_raw_trace_flush(trace);
	is_first = !gathered(trace) || extent->start_us < trace->extent.start_us;
	trace->extent = gathered(trace) ? both : *extent;
	if (!gather(trace, frame, is_first) && !trace->sink->error)
		trace->sink->error = -ENOMEM;
}
