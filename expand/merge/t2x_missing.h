/* SPDX-License-Identifier: MIT */
/*
 * t2x_missing.h - missing events of a thread: what the stream reports of them, what it repeats behind them, and when a
 * step was in front of which they are.
 */
#ifndef T2X_MISSING_H
#define T2X_MISSING_H

#include "t2x_stream.h"

/*
 * A block that waits until its events may take effect.  Most blocks bring memory of their own along (t2x_blocks.h), in
 * which their events then stay: they are not copied.
 */
struct t2x_pending {
	struct t2x_pending *next;
	struct t2x_stream *stream;
	struct t2x_clock clock;           /* as it was when the block was read */
	int has_clock;
	unsigned count;
	const struct tlg_event *events;
	struct tlg_event *memory;         /* they are in, behind a place for BLOCK */
};

/* GAP: remember what it reports.  clock  of its block */
void t2x_missing_take(struct t2x_cursor *cursor, const struct tlg_gap *gap, struct t2x_clock *clock);

/* Return  what is known of the events that are missing in front of the thread's event with this number */
struct t2x_gap t2x_missing_find(const struct t2x_cursor *cursor, uint32_t sequence);

/* Regions that are repeated: the OPEN events behind a THREAD, gathered until something else comes. */
struct t2x_repeated {
	struct t2x_cursor *cursor;        /* the thread for which they are being gathered, or NULL */
	struct t2x_stream *stream;        /* its */
	int is_shown;                     /* no other file has their enters */
	unsigned count, assumed;          /* see struct t2x_opens */
	struct t2x_open open[TLG_BLOCK_LIMIT];
};

/* THREAD: its regions follow. */
void t2x_missing_thread(struct t2x_repeated *repeated, struct t2x_stream *stream, const struct tlg_event *event);

/* OPEN.  clock: of its block */
void t2x_missing_open(struct t2x_repeated *repeated, const struct t2x_stream *stream, struct t2x_clock *clock,
		      const struct tlg_open *open);

/* Something else comes, and regions are being gathered: hand them over. */
void t2x_missing_flush(struct t2x_repeated *repeated, struct t2x_context *context);

/* Return  a time for a step, which has none of its own, if it is the first event that was read of its thread */
uint64_t t2x_missing_first_time(struct t2x_pending *pending, const struct tlg_event *event);

/* Return  a time for a step in front of which events are missing; 0: it has that of the event in front of it */
uint64_t t2x_missing_step_time(struct t2x_pending *pending, const struct tlg_event *event,
			       const struct t2x_cursor *cursor);

#endif
