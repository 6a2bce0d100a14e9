/* SPDX-License-Identifier: MIT */
/*
 * t2x_missing.h - events of a thread that are missing: what the stream tells of them, and what it repeats behind them.
 */
#ifndef T2X_MISSING_H
#define T2X_MISSING_H

#include "t2x_stream.h"

struct t2x_pending;

/* GAP.  clock: of its block */
void t2x_missing_take(struct t2x_track *track, const struct tlg_gap *gap, struct t2x_clock *clock);

/* What is known of what is missing in front of the thread's event with this number. */
struct t2x_gap t2x_missing_find(const struct t2x_track *track, uint32_t sequence);

/* OPEN events behind a THREAD: they take effect together, when something else comes. */
struct t2x_repeated {
	struct t2x_track *track;          /* the thread for which they are being gathered, or NULL */
	int is_shown;                     /* no other file has their enters */
	unsigned count, assumed;          /* see struct t2x_opens */
	struct t2x_open open[TLG_BLOCK_LIMIT];
};

void t2x_missing_thread(struct t2x_repeated *repeated, struct t2x_stream *stream, const struct tlg_event *event);
void t2x_missing_open(struct t2x_repeated *repeated, struct t2x_pending *pending, const struct tlg_open *open);
void t2x_missing_flush(struct t2x_repeated *repeated, struct t2x_context *context);

/*
 * The time of a step, which has read no clock: that nothing came before, as for a reader that joined late; that may
 * come behind something that is missing.  Return  0, of the latter: that of what came before
 */
uint64_t t2x_missing_first_time(struct t2x_pending *pending, const struct tlg_event *event);
uint64_t t2x_missing_step_time(struct t2x_pending *pending, const struct t2x_track *track,
			       const struct tlg_event *event);

#endif
