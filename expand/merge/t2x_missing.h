/* SPDX-License-Identifier: MIT */
/*
 * t2x_missing.h - missing events of a thread: what the stream reports of them, and what it repeats behind them.
 */
#ifndef T2X_MISSING_H
#define T2X_MISSING_H

#include "t2x_stream.h"

/* GAP: remember what it reports.  clock: of its block */
void t2x_missing_take(struct t2x_track *track, const struct tlg_gap *gap, struct t2x_clock *clock);

/* What is known of the events that are missing in front of the thread's event with this number. */
struct t2x_gap t2x_missing_find(const struct t2x_track *track, uint32_t sequence);

/* Regions that are repeated: the OPEN events behind a THREAD, gathered until something else comes. */
struct t2x_repeated {
	struct t2x_track *track;          /* the thread for which they are being gathered, or NULL */
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

/* Something else comes: hand over what was gathered, if anything. */
void t2x_missing_flush(struct t2x_repeated *repeated, struct t2x_context *context);

/* The tail of a block: from a step on. */
struct t2x_tail {
	const struct tlg_event *event, *end;
	struct t2x_clock *clock;
};

/* The time of a step, which has read no clock, where a reader that joined late has seen nothing before it. */
uint64_t t2x_missing_first_time(const struct t2x_stream *stream, const struct t2x_tail *tail);

/* The time of a step in front of which something is missing.  Return  0: the time of what came before */
uint64_t t2x_missing_step_time(const struct t2x_track *track, const struct t2x_tail *tail);

#endif
