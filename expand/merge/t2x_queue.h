/* SPDX-License-Identifier: MIT */
/*
 * t2x_queue.h - events that take effect one after the other: those of one thread, or, in a file without blocks, all of
 * them.
 *
 * Blocks that were read are appended and wait.  Running a queue takes its events in their order: chains are gathered,
 * checkpoints go to the model with their time, regions that are open are repeated.  A queue at rest stands in front of
 * a checkpoint whose time is known, or is empty.
 */
#ifndef T2X_QUEUE_H
#define T2X_QUEUE_H

#include "t2x_arguments.h"
#include "t2x_chain.h"
#include "t2x_heap.h"
#include "t2x_missing.h"
#include "t2x_pending.h"

enum { T2X_MAX_CHAINS = 8 };              /* unfinished ones of a queue */

/* What all queues of a run share: one at a time is run, so one of each is enough. */
struct t2x_queues {
	struct t2x_context *context;
	size_t pending_bytes;             /* of the blocks of all queues */
	struct t2x_chain_pool pool;
	struct t2x_arguments arguments;   /* of the checkpoint that is being handed over */
	struct t2x_repeated repeated;     /* regions of the queue that is being run, or was last */
};

struct t2x_queue {
	struct t2x_heap_item rest;        /* first; at the next checkpoint, if there is one, which has a time */
	struct t2x_queues *queues;
	uint32_t tid;
	int is_framed;                    /* its events are those of thread tid */
	struct t2x_track *track;          /* of the thread; NULL in a file without blocks */
	int counts_events;                /* sequence numbers tell what is missing */
	struct t2x_pending *first, *last;
	unsigned at;                      /* next event of first */
	struct t2x_chains chains;
};

/*
 * Put the block's events at the end.  They are gone from the block then, if they were in memory of their own.
 * Return  0 or -ENOMEM
 */
int t2x_queue_append(struct t2x_queue *queue, struct t2x_stream *stream, const struct t2x_block *block);

/*
 * Process all events up to the first checkpoint that is younger than until_ns.
 * limit_ns  not less: what is added up, and so needs no order (model/t2x_stretch.h), is processed up to here
 * Return  1: the queue is at rest in front of one; 0: it is empty
 */
int t2x_queue_run(struct t2x_queue *queue, uint64_t until_ns, uint64_t limit_ns);

/* Nothing more will come: hand over what is unfinished.  The queue is empty. */
void t2x_queue_finish(struct t2x_queue *queue);

/* Free what the queues shared. */
void t2x_queues_free(struct t2x_queues *queues);

#endif
