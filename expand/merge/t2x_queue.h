/* SPDX-License-Identifier: MIT */
/*
 * t2x_queue.h - events that take effect one after the other: those of one thread, or, in a file without blocks, all of
 * them.
 *
 * Blocks that were read are appended and wait.  Running a queue takes its events in their order: chains are gathered,
 * checkpoints go to the model with their time, regions that are open are repeated.  A queue at rest stands in front of
 * a checkpoint whose time is known, or is empty.
 *
 *   t2x_queue.c      what each event does
 *   t2x_missing.c    gaps: what the stream reports of missing events, and what it repeats behind them
 *   t2x_arguments.c  the arguments of a checkpoint, made from VALUEs and INFO text
 */
#ifndef T2X_QUEUE_H
#define T2X_QUEUE_H

#include "t2x_heap.h"
#include "t2x_stream.h"
#include "tlg_desc.h"
#include "read/t2x_blocks.h"

struct t2x_live;

/* ---- arguments ---------------------------------------------------------------------------------- */

/* The arguments of one checkpoint.  The next checkpoint uses the same memory.  All zero: none. */
struct t2x_arguments {
	struct t2x_arg *args;
	size_t max;
	unsigned n;
	char *text;                       /* where text that lies in several events is put together */
	size_t max_text;
};

/*
 * Make the arguments of a HIT from what its chain has gathered.
 * scope      its scope, or NULL.  If the HIT brought its own along (index 0): NULL, and then that one
 * is_cached  see t2x_scope_inline(); 1 for all others
 * Texts point into the chain.
 */
void t2x_arguments_from_chain(struct t2x_arguments *arguments, struct t2x_chain *chain, struct t2x_scope **scope,
			      int *is_cached);

/* Not in line: see t2x_arguments_take_only(). */
unsigned t2x_arguments_take_text(struct t2x_arguments *arguments, struct t2x_context *context,
				 const struct tlg_event *hit, const struct tlg_event *end);

/*
 * The argument of a HIT that has one alone, right behind it, a number or a text, as most have that have any: nothing
 * has to be looked up for it.
 * end     of the events that are there
 * Return  how many events they are, the HIT included; 0: it is not so, nothing was done
 */
static inline unsigned
t2x_arguments_take_only(struct t2x_arguments *arguments, struct t2x_context *context, const struct tlg_event *hit,
			const struct tlg_event *end, const struct t2x_scope *scope)
{
	const unsigned all = TLG_TYPE_MASK | TLG_INFO_END, last_value = TLG_VALUE | TLG_INFO_END;
	const struct tlg_event *argument = hit + 1;
	char only = scope ? tlg_style_only[scope->style] : '\0';

	if (hit->flags & TLG_RENDERED || !arguments->max)
		return 0;
	if (only == 'S')
		return t2x_arguments_take_text(arguments, context, hit, end);
	if ((only != 'M' && only != 'i') || argument >= end || (argument->flags & all) != last_value ||
	    argument->sequence != hit->sequence || argument->u.value.argtype == TLG_ARG_TEXT)
		return 0;
	arguments->n = 1;
	arguments->args[0] = (struct t2x_arg){ .type = argument->u.value.argtype, .value = argument->u.value.value };
	return 2;
}

/*
 * The same for the HIT events[0], if all that belongs to it is right behind it, VALUEs before INFOs, as every writer
 * of ours has it: the arguments are made from the events where they lie.
 * end     of the events that are there
 * clock   of the HIT's block
 * Return  how many events they are, the HIT included; 0: it is not so, nothing was done
 */
unsigned t2x_arguments_from_events(struct t2x_arguments *arguments, struct t2x_stream *stream,
				   const struct tlg_event *events, const struct tlg_event *end,
				   struct t2x_clock *clock, struct t2x_scope **scope, int *is_cached);

void t2x_arguments_free(struct t2x_arguments *arguments, struct t2x_context *context);

/*
 * Whose a sample is (FORMAT.md section 8): the thread that records a sample of another one, which is blocked, names it
 * by the sample's first label.
 * Return  the cursor of the thread that a sample is of: the one that recorded it, or the one its first label names,
 *         which is no label of it any more
 */
struct t2x_cursor *t2x_owner_of(struct t2x_stream *stream, struct t2x_cursor *cursor, const struct t2x_scope *scope,
			       struct t2x_arguments *arguments);

/* ---- blocks that wait --------------------------------------------------------------------------- */

/*
 * A block that waits until its events may take effect.  Most blocks bring memory of their own along (t2x_blocks.h), in
 * which their events then stay: they are not copied.
 */
struct t2x_pending {
	struct t2x_pending *next;
	struct t2x_stream *stream;
	struct t2x_clock clock;           /* as it was when the block was read */
	int has_clock;
	unsigned count;
	const struct tlg_event *events;
	struct tlg_event *memory;         /* they are in, behind a place for BLOCK */
};

/* ---- missing events ----------------------------------------------------------------------------- */

/* GAP: remember what it reports.  clock  of its block */
void t2x_missing_take(struct t2x_cursor *cursor, const struct tlg_gap *gap, struct t2x_clock *clock);

/* Return  what is known of the events that are missing in front of the thread's event with this number */
struct t2x_gap t2x_missing_find(const struct t2x_cursor *cursor, uint32_t sequence);

/* Regions that are repeated: the OPEN events behind a THREAD, gathered until something else comes. */
struct t2x_repeated {
	struct t2x_cursor *cursor;        /* the thread for which they are being gathered, or NULL */
	struct t2x_stream *stream;        /* its */
	int is_shown;                     /* no other file has their enters */
	unsigned count, assumed;          /* see struct t2x_opens */
	struct t2x_open open[TLG_BLOCK_LIMIT];
};

/* THREAD: its regions follow. */
void t2x_missing_thread(struct t2x_repeated *repeated, struct t2x_stream *stream, const struct tlg_event *event);

/* OPEN.  clock: of its block */
void t2x_missing_open(struct t2x_repeated *repeated, const struct t2x_stream *stream, struct t2x_clock *clock,
		      const struct tlg_open *open);

/* Something else comes, and regions are being gathered: hand them over. */
void t2x_missing_flush(struct t2x_repeated *repeated, struct t2x_context *context);

/* Return  a time for a step, which has none of its own, if it is the first event that was read of its thread */
uint64_t t2x_missing_first_time(struct t2x_pending *pending, const struct tlg_event *event);

/* Return  a time for a step in front of which events are missing; 0: it has that of the event in front of it */
uint64_t t2x_missing_step_time(struct t2x_pending *pending, const struct tlg_event *event,
			       const struct t2x_cursor *cursor);

/* ---- queues ------------------------------------------------------------------------------------- */

enum { T2X_MAX_CHAINS = 8 };              /* unfinished ones of a queue */

/* What all queues of a run share.  One queue runs at a time, so one of each is enough. */
struct t2x_queues {
	struct t2x_context *context;
	int adds;                         /* the model adds up, and takes runs of checkpoints (t2x_model_stretch()) */
	size_t pending_bytes;             /* of the blocks of all queues */
	struct t2x_chains pool;           /* those that are not in use, with their memory */
	struct t2x_arguments arguments;   /* of the checkpoint that is being handed over */
	struct t2x_repeated repeated;     /* regions of the queue that is being run, or was last */
};

struct t2x_queue {
	struct t2x_heap_item rest;        /* first; at the next checkpoint, if there is one, which has a time */
	struct t2x_queues *queues;
	uint32_t tid;
	struct t2x_live *live;            /* the merge's; NULL: it holds the events of a file without blocks */
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
 * limit_ns  not less: checkpoints that the model only adds up need no order (model/t2x_stretch.h) and are processed up
 *           to here
 * Return  1: the queue is at rest in front of one; 0: it is empty
 */
int t2x_queue_run(struct t2x_queue *queue, uint64_t until_ns, uint64_t limit_ns);

/* Nothing more will come: hand over everything, unfinished chains too.  The queue is empty then. */
void t2x_queue_finish(struct t2x_queue *queue);

/* Free what the queues shared. */
void t2x_queues_free(struct t2x_queues *queues);

#endif
