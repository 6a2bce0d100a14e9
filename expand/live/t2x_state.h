/* SPDX-License-Identifier: MIT */
/*
 * t2x_state.h - the writer of `t2 state': where each thread of each process is at an instant, or was at its end.
 *
 * It keeps, of each thread, the regions that are open, and copies of its last events and of its last wait; of each
 * process its command, its error messages, its end and what it has lost.  All is printed behind the last event.
 *
 * Of threads that have ended in a process that goes on nothing is kept.  Memory: 16,384 threads (model/t2x_spans.h)
 * with T2X_STATE_MAX_LAST events each.
 */
#ifndef T2X_STATE_H
#define T2X_STATE_H

#include "model/t2x_writer.h"

enum { T2X_STATE_LAST = 5, T2X_STATE_MAX_LAST = 100 };

struct t2x_state_settings {
	uint64_t at_ns;                   /* the instant; 0: the end, of a process that runs now */
	unsigned last;                    /* events of each thread */
	int (*is_alive)(const void *owner, uint32_t pid, uint64_t start_ticks);
	const void *owner;
};

/* What the writer shows; it is one at a time.  Valid until the writer has finished. */
void t2x_state_set(const struct t2x_state_settings *settings);

extern const struct t2x_writer t2x_writer_state;

#endif
