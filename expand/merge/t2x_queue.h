/* SPDX-License-Identifier: MIT */
/*
 * t2x_queue.h - events that are processed one after the other: those of one thread, or, in a file without
 * blocks, all of them.
 *
 * A queue holds blocks that were read and not processed.  Its events take effect in their order: chains are
 * gathered, checkpoints go to the model with their time, regions that are open are repeated.  A queue at
 * rest stands in front of a checkpoint whose time is known, or is empty.
 */
#ifndef T2X_QUEUE_H
#define T2X_QUEUE_H

#include "t2x_chain.h"
#include "t2x_heap.h"
#include "t2x_missing.h"
#include "t2x_pending.h"

enum { T2X_MAX_CHAINS = 8 };              /* unfinished ones of a queue */

/* What all queues of a run share. */
struct t2x_queues {
	struct t2x_context *context;
	size_t pending_bytes;
	struct t2x_chain *spare;
	unsigned nspare;
	struct t2x_chain whole;           /* for checkpoints whose events are all in one place */
	struct t2x_arguments arguments;
	struct t2x_repeated repeated;
};

struct t2x_queue {
	struct t2x_heap_item rest;        /* first; at the next checkpoint, if there is one, which has a time */
	struct t2x_queues *queues;
	uint32_t tid;
	int is_framed;                    /* its events are those of thread tid */
	struct t2x_track *track;          /* that of the thread, once it was needed */
	int counts_events;                /* sequence numbers tell what is missing */
	struct t2x_pending *first, *last;
	unsigned at;                      /* next event of first */
	struct t2x_chain *chains;
	unsigned nchains;
};

/* Put the block's events at the end, see t2x_pending_new().  Return  0 or -ENOMEM */
int t2x_queue_append(struct t2x_queue *queue, struct t2x_stream *stream, const struct t2x_block *block);

/*
 * Process all events up to the first checkpoint that is younger than until_ns.
 * Return  1: the queue is at rest in front of one; 0: it is empty
 */
int t2x_queue_run(struct t2x_queue *queue, uint64_t until_ns);

/* Nothing more will come: hand over what is unfinished.  The queue is empty. */
void t2x_queue_finish(struct t2x_queue *queue);

/* Free what the queues shared. */
void t2x_queues_free(struct t2x_queues *queues);

#endif
