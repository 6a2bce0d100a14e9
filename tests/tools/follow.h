/* SPDX-License-Identifier: MIT */
/*
 * follow.h - for harnesses: threads make calls in a fixed order, and a trace of these calls is compared with it.
 *
 * Call n of a thread is, by n % 5: a region entered, a number, a message with the number, a text with the number, the
 * region left.  The first four use the inline path through call sites, the last one the function that looks its names
 * up.  The numbers show which thread made a call, and which call is the first in the trace if earlier ones were lost.
 * Numbers from FOLLOW_EXTRA on are in no order; signal handlers use them.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdint.h>

#include "read/t2x_blocks.h"

enum { FOLLOW_ENTER, FOLLOW_NUMBER, FOLLOW_MESSAGE, FOLLOW_TEXT, FOLLOW_LEAVE, FOLLOW_CALLS };
enum { FOLLOW_EVENTS = 10 };              /* events of these calls in a ring */
enum { FOLLOW_THREADS = 64, FOLLOW_EXTRA = 1 << 30 };

/* Make call n.  slot: of the thread, below FOLLOW_THREADS */
void follow_call(uint64_t slot, uint64_t n);

struct follow {
	struct follow_thread {
		int slot;                 /* of the thread; -1: not known yet */
		int has_begun;            /* a number has shown which calls these are */
		unsigned early;           /* events in front of that number */
		uint32_t sequence;        /* of the thread's first event; 0: none has come */
		unsigned open;            /* regions that OPEN events in front of it repeat */
		uint64_t next;            /* the call that is expected next */
		uint32_t scopes[FOLLOW_CALLS];
	} thread[FOLLOW_THREADS];         /* by tid */
	struct tlg_loss losses[FOLLOW_THREADS];
	uint64_t missing;                 /* calls that are not there, although later ones are */
	uint64_t torn, twice;
	uint64_t out_of_place;            /* threads whose first event has a wrong sequence or region */
	uint64_t extra;                   /* events that belong to no order */
	int is_whole;                     /* END was there */
};

void follow_begin(struct follow *follow);

/* Follow a block of the trace: a collect_fn, whose data is the struct follow. */
void follow_block(void *data, const struct t2x_block *block);

/* Return  the number of calls of the slot's thread up to the last one, missing ones included */
uint64_t follow_seen(const struct follow *follow, int slot);

/* Return  the total of dropped checkpoints that the trace reports */
uint64_t follow_dropped(const struct follow *follow);

#endif
