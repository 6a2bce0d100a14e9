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
#include "t2x_heap.h"
#include "t2x_missing.h"
#include "read/t2x_blocks.h"

struct t2x_live_stream;

enum { T2X_MAX_CHAINS = 8 };              /* unfinished ones of a queue */

/* What all queues of a run share.  One queue runs at a time, so one of each is enough. */
struct t2x_queues {
	struct t2x_context *context;
	int adds;                         /* the model adds up, and takes runs of checkpoints (t2x_model_run()) */
	size_t pending_bytes;             /* of the blocks of all queues */
	struct t2x_chains pool;           /* those that are not in use, with their memory */
	struct t2x_arguments arguments;   /* of the checkpoint that is being handed over */
	struct t2x_repeated repeated;     /* regions of the queue that is being run, or was last */
};

struct t2x_queue {
	struct t2x_heap_item rest;        /* first; at the next checkpoint, if there is one, which has a time */
	struct t2x_queues *queues;
	uint32_t tid;
	struct t2x_live_stream *live;            /* the merge's; NULL: it holds the events of a file without blocks */
	struct t2x_cursor *cursor;        /* of the thread; NULL in a file without blocks */
	int counts_events;                /* sequence numbers show how many events are missing */
	struct t2x_pending *first, *last;
	unsigned at;                      /* next event of first */
	struct t2x_chains chains;
};

/*
 * Put the block's events at the end.  If they are in memory of their own, the queue takes that from the block.
 * Return  0 or -ENOMEM
 */
int t2x_queue_append(struct t2x_queue *queue, struct t2x_stream *stream, const struct t2x_block *block);

/*
 * Process all events up to the first checkpoint that is younger than until_ns.
 * limit_ns  not less: checkpoints that the model only adds up need no order (model/t2x_run.h) and are processed up
 *           to here
 * Return  1: the queue is at rest in front of one; 0: it is empty
 */
int t2x_queue_run(struct t2x_queue *queue, uint64_t until_ns, uint64_t limit_ns);

/* Nothing more will come: hand over everything, unfinished chains too.  The queue is empty then. */
void t2x_queue_finish(struct t2x_queue *queue);

/* Free what the queues shared. */
void t2x_queues_free(struct t2x_queues *queues);

#endif
