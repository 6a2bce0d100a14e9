/* SPDX-License-Identifier: MIT */
/*
 * t2x_live.h - live streams: those that are not at their end, each with the queues of its threads.
 *
 * A queue waits until its stream's clock is known.  Then it is started: brought to rest in front of its next
 * checkpoint, and put into the schedule.
 */
#ifndef T2X_LIVE_H
#define T2X_LIVE_H

#include "t2x_definitions.h"
#include "t2x_heap.h"
#include "t2x_queue.h"

/* The queues of all streams of a run, in the order of time. */
struct t2x_schedule {
	struct t2x_context *context;
	struct t2x_heap heap;             /* of queues in front of their next checkpoints */
	struct t2x_queues queues;         /* what they share */
	int error;                        /* 0 or -ENOMEM */
};

struct t2x_live_queue {
	struct t2x_queue queue;           /* first: a queue's address is this */
	struct t2x_live *live;            /* NULL: the queue of a file without blocks */
};

struct t2x_live {
	struct t2x_stream *stream;
	struct t2x_definitions definitions;
	struct t2x_map queues;            /* by thread */
	unsigned busy;                    /* queues that hold something */
	uint64_t blocks_since_scan;       /* since idle queues were looked for */
	int has_started;                  /* its clock is known: its queues may be run */
	/* the merge's */
	struct t2x_source *source;
	struct t2x_live *older, *newer;   /* of the source */
	struct t2x_heap_item mark;        /* the last one, until the stream has ended */
};

/* The stream that begins with the block.  Return  NULL: no memory */
struct t2x_live *t2x_live_new(struct t2x_schedule *schedule, const char *input, const struct t2x_block *block);

/* Its queues are empty. */
void t2x_live_free(struct t2x_schedule *schedule, struct t2x_live *live);

/* The clock is known, or will not be: the queues need not wait for it any longer. */
void t2x_live_start(struct t2x_schedule *schedule, struct t2x_live *live);

/* Nothing more will come: empty all queues. */
void t2x_live_empty(struct t2x_schedule *schedule, struct t2x_live *live);

/* The queue of the block's thread, where need be a new one.  Return  NULL: no memory, or too many threads */
struct t2x_live_queue *
t2x_live_find_queue(struct t2x_schedule *schedule, struct t2x_live *live, const struct t2x_block *block);

/*
 * A new queue.  That of a file without blocks is ordered as one of live, the file's first stream; no two have the same
 * order.  Return  NULL: no memory
 */
struct t2x_live_queue *
t2x_live_queue_new(struct t2x_schedule *schedule, struct t2x_live *live, const struct t2x_block *block);

/* The queue holds something: bring it to rest and into the schedule. */
void t2x_live_queue_start(struct t2x_schedule *schedule, struct t2x_live_queue *queue);

/* Nothing more will come. */
void t2x_live_queue_empty(struct t2x_schedule *schedule, struct t2x_live_queue *queue);

#endif
