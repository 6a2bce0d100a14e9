/* SPDX-License-Identifier: MIT */
/*
 * t2x_seen.h - remembers which checkpoints of a process's threads were delivered, and removes these from later blocks.
 *
 * Somebody who follows a process reads an event first in its ring and later in its .tlg file.  Both copies have the
 * same sequence number.  So one number for each thread says what was delivered, and a few ranges say what was skipped
 * below it: a reservation that its thread left and commits late (struct tlg_ring_abandoned) comes behind younger ones.
 *
 * Definitions of scopes and files stay in the block, because later blocks rely on them.  Repeated threads and open
 * regions go with the checkpoint in front of which they stand.
 */
#ifndef T2X_SEEN_H
#define T2X_SEEN_H

#include "base/t2x_map.h"
#include "read/t2x_blocks.h"

enum { T2X_SEEN_SKIPPED = 8 };

/* A thread. */
struct t2x_seen_thread {
	uint32_t next;                    /* sequence of the event that comes next */
	int has_next;                     /* 0: none has come */
	unsigned nskipped;
	struct { uint32_t from, to; } skipped[T2X_SEEN_SKIPPED];   /* below next, not delivered; to is not in it */
};

/* All zero: nothing was delivered. */
struct t2x_seen {
	struct t2x_map threads;           /* of struct t2x_seen_thread, by tid */
};

void t2x_seen_free(struct t2x_seen *seen);

/*
 * Copy the events of a thread's block that were not delivered, and remember them.
 * to  has room for block->count events
 * Return  how many were copied; -ENOMEM
 */
int t2x_seen_filter(struct t2x_seen *seen, const struct t2x_block *block, struct tlg_event *to);

/* The sequence of a thread's next event, 1 if nothing of it was delivered. */
uint32_t t2x_seen_next(const struct t2x_seen *seen, uint32_t tid);

#endif
