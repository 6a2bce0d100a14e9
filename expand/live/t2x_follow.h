/* SPDX-License-Identifier: MIT */
/*
 * t2x_follow.h - a source of blocks for the merge: it ends when the processes that it follows have ended.
 *
 * Each round copies the rings of all processes, then reads what was appended to their files, then delivers from the
 * copies what the files do not have yet.  So the events of a thread arrive without a gap: the file has everything that
 * its ring had released when the copy was made.  Duplicates are removed (t2x_seen.h).
 *
 * All streams of a process, of which a rotation makes more, are delivered as its first one: sequence numbers and scopes
 * go on in them.  At the end of a round a MARK says for each process that nothing older is to come, but for a margin:
 * a thread that was interrupted between reading the clock and storing its event comes late, and is printed late.
 *
 * At most T2X_FOLLOW_LAG_MS pass from an event to its block, if we get the processor.
 */
#ifndef T2X_FOLLOW_H
#define T2X_FOLLOW_H

#include <signal.h>

#include "t2x_found.h"
#include "t2x_seen.h"
#include "base/t2x_out.h"
#include "read/t2x_pace.h"

enum {
	T2X_FOLLOW_PAUSE_MS = 50,         /* between two rounds */
	T2X_FOLLOW_MARGIN_MS = 20,        /* between reading the clock and storing the event */
	T2X_FOLLOW_LAG_MS = 200,
};

/* Called at the end of each round, before the source waits.  Return  1: that is enough, the source ends */
typedef int t2x_follow_round_fn(void *owner, uint64_t now_ns);

struct t2x_follow_settings {
	struct t2x_found_target target;
	struct t2x_report *report;
	uint64_t seconds_ns;              /* it ends after so long; 0: never by that */
	uint64_t until_ns;                /* nothing behind this is of interest; 0: everything is */
	int is_once;                      /* it ends with its first round */
	volatile sig_atomic_t *stop;      /* it ends when this is not 0 */
	t2x_follow_round_fn *round;
	void *owner;
};

struct t2x_follow;

/* Return  NULL, and *why in words */
struct t2x_follow *t2x_follow_new(const struct t2x_follow_settings *settings, const char **why);
void t2x_follow_free(struct t2x_follow *follow);

/* What the merge reads: the blocks, by t2x_follow_next(). */
struct t2x_blocks *t2x_follow_blocks(struct t2x_follow *follow);

/* 1: this process was alive in the latest round. */
int t2x_follow_is_alive(const void *follow, uint32_t pid, uint64_t start_ticks);

/* A t2x_next_fn: the next block; waits for one.  Return  0: what was followed has ended, or shall not be any longer */
int t2x_follow_next(struct t2x_blocks *blocks, struct t2x_block *block);

#endif
