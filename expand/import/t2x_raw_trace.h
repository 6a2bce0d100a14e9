/* SPDX-License-Identifier: MIT */
/*
 * t2x_raw_trace.h - what the streams of a trace share: where they go, the block that is being made, and a frame.
 *
 * A git process prints some dozens of lines, and most of them are those that the git before it has printed.  In a frame
 * of its own it hardly shrinks.  So small streams that are complete go into one frame, as FORMAT.md, section 7, allows:
 * the frame's mark names the stream that began first.  Readers who look for a moment skip a frame whose stream ended
 * long before it.  So all that the other streams have is younger than the start of that stream, and not much younger
 * than its end.
 *
 * A reader prints an event when no stream that it knows can have an older one.  So the cycles of all streams come first
 * in the frame, then their events, then their ends.
 */
#ifndef T2X_RAW_TRACE_H
#define T2X_RAW_TRACE_H

#include "tlg.h"
#include "t2x_raw_frame.h"
#include "base/t2x_map.h"

enum {
	T2X_RAW_SMALL = TLG_FRAME_BYTES / 4,      /* plain bytes of a small stream at most */
	T2X_RAW_BEHIND_US = 8000000,              /* how much younger than the MARK of the named stream others may be */
};

/* When a stream's events are.  until_us: UINT64_MAX if it has no END, for then no reader skips it */
struct t2x_raw_extent {
	uint64_t start_us, first_us, last_us, until_us;
};

/* Blocks of small streams. */
struct t2x_raw_part {
	unsigned char *bytes;
	size_t used, max;
};

struct t2x_raw_trace {
	struct t2x_raw_sink *sink;
	struct t2x_map ids;               /* of streams */
	/* the frame of small streams */
	uint32_t stream;                  /* that began first */
	struct t2x_raw_extent extent;     /* of the frame's events; start_us, until_us: of that stream */
	struct t2x_raw_part cycles, events, ends;
	size_t first, first_bytes;        /* the cycle of that stream */
	/* The block of one stream.  Before another one uses it, it is sealed. */
	struct tlg_event block[TLG_BLOCK_LIMIT + 1], packed[TLG_BLOCK_LIMIT + 1];
};

/* Return  NULL: no memory */
struct t2x_raw_trace *t2x_raw_trace_new(struct t2x_raw_sink *sink);

/* Write what is left, and free the trace. */
void t2x_raw_trace_free(struct t2x_raw_trace *trace);

/* An id that no other stream of the trace has: the wanted one, if it is free. */
uint32_t t2x_raw_trace_id(struct t2x_raw_trace *trace, uint32_t wanted);

/* A stream is complete: its frame is written, or goes into that of small streams. */
void t2x_raw_trace_end(struct t2x_raw_trace *trace, struct t2x_raw_frame *frame, const struct t2x_raw_extent *extent);

/* Write the frame of small streams now. */
void t2x_raw_trace_flush(struct t2x_raw_trace *trace);

#endif
