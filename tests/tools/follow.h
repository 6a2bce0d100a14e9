/* SPDX-License-Identifier: MIT */
/*
 * follow.h - for harnesses: threads make calls in a fixed order; what a trace has of them is compared with that.
 *
 * Call n of a thread is, by n % 5: a region entered, a number, a message with the number, a text with it, the region
 * left; by the inline path, through call sites, and, the last one, by the function that looks its names up.  The
 * numbers tell one thread from another, and where it begins, should what was first be lost.  Numbers from FOLLOW_EXTRA
 * on belong to no order: a signal handler's.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdint.h>

#include "read/t2x_blocks.h"

enum { FOLLOW_ENTER, FOLLOW_NUMBER, FOLLOW_MESSAGE, FOLLOW_TEXT, FOLLOW_LEAVE, FOLLOW_CALLS };
enum { FOLLOW_EVENTS = 10 };              /* that these take in a ring */
enum { FOLLOW_THREADS = 64, FOLLOW_EXTRA = 1 << 30 };

/* Make call n.  slot: of the thread, below FOLLOW_THREADS */
void follow_call(uint64_t slot, uint64_t n);

struct follow {
	struct follow_thread {
		int slot;                 /* which thread it is; -1: not known yet */
		int has_begun;            /* a number has told which calls these are */
		unsigned early;           /* events in front of it */
		uint32_t sequence;        /* of the thread's first event; 0: none has come */
		unsigned open;            /* regions that are repeated in front of that */
		uint64_t next;            /* call that is due */
		uint32_t scopes[FOLLOW_CALLS];
	} thread[FOLLOW_THREADS];         /* by tid */
	struct tlg_loss losses[FOLLOW_THREADS];
	uint64_t missing;                 /* calls of which there is nothing, though later ones are there */
	uint64_t torn, twice;
	uint64_t out_of_place;            /* threads whose first event has another sequence or region */
	uint64_t extra;                   /* events that belong to no order */
	int is_whole;                     /* END was there */
};

void follow_begin(struct follow *follow);

/* A block of the trace: a collect_fn, data is the follow. */
void follow_block(void *data, const struct t2x_block *block);

/* How many calls of the slot's thread are there, and missing ones between them.  */
uint64_t follow_seen(const struct follow *follow, int slot);

/* What the library says that it dropped, in total. */
uint64_t follow_dropped(const struct follow *follow);

#endif
