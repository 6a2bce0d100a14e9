/* SPDX-License-Identifier: MIT */
/*
 * t2x_stream.h - the stream of one process: what its events refer to.
 *
 *   streams      the process, its clock, its definitions
 *   cursors      threads, and how far the events of each have been followed
 *
 * What events say of the process, its clock, files, scopes and threads takes effect when their block is read.  A
 * definition comes before the first event in the file that needs it, not before the first in time: another thread's
 * events may be older and lie behind it.
 */
#ifndef T2X_STREAM_H
#define T2X_STREAM_H

#include "t2x_definitions.h"

enum { T2X_MAX_THREADS = 65536 };

/* A thread, and how far its events have been followed. */
struct t2x_cursor {
	struct t2x_thread *thread;              /* the back end's: only its address is used here */
	struct t2x_thread facts;                /* what is known of it, sent by T2X_SET_THREAD */
	uint64_t now_ns;                        /* of its latest checkpoint: it does not go back */
	uint64_t gap_ns;                        /* a GAP has reported what is missing up to then; 0: none has */
	uint32_t gap_events;                    /* how many that are ... */
	uint16_t gap_left, gap_entered;         /* ... and what they did, as GAP has it */
	uint32_t next_sequence;
	uint32_t repeated;                      /* open regions were repeated before this event; 0: never */
	unsigned char has_sequence;             /* next_sequence is known */
	unsigned char has_regions;              /* all has been seen and resolved since its open regions were known */
	unsigned char has_unknown_gap;          /* something was missing, and nobody knew what */
	unsigned char is_over;                  /* its thread_exit has passed */
	unsigned char is_named_by_sample;       /* facts.name is what samples of it said, that another thread took */
};

/* How a thread begins in a part of a stream. */
struct t2x_stream_start {
	uint32_t first_sequence;                /* of its first event here ... */
	uint64_t first_ns;                      /* ... and when that was; 0: it is the thread's very first */
	unsigned repeats, open;                 /* how often open regions were repeated; how many these were, and one */
};

struct t2x_stream {
	struct t2x_process *process;            /* the back end's: only its address is used here */
	struct t2x_process facts;               /* what is known of it, sent by T2X_SET_PROCESS */
	struct t2x_context *context;
	const char *input;                      /* name, for messages */
	uint32_t id;                            /* of its blocks; facts.stream is that of its process */
	unsigned order;                         /* among the streams of the run */
	unsigned version;                       /* PROLOGUE's; 0: not seen */
	int is_framed;
	int is_whole;                           /* its first block was seen, so all first events of its threads */
	int is_sought;                          /* reading began behind its first block, where it was meant to */
	int is_part;                            /* likewise, and another reader shows what is in front */
	uint32_t first_cycle;                   /* its number; above 1 the process has rotated, or was forked */
	uint64_t identity;                      /* the same for all streams of a process, see t2x_rotated.h */
	int has_start, has_process, has_clock;
	int is_ended;                           /* END was seen */
	int is_rotated;                         /* the process goes on in another file */
	uint64_t mark_ns;                       /* nothing older comes any more */
	uint64_t sought_ns;                     /* is_sought: what was not read in front is older; 0: not known yet */
	uint64_t stored, hits;                  /* checkpoints: as the latest MARK or END counts them; that came */
	struct t2x_clock clock;                 /* for the blocks read next */
	struct t2x_scopes scopes;
	struct t2x_chains unfinished;           /* definitions whose text has not all come */
	struct t2x_map threads;                 /* of cursors */
	struct t2x_map starts;                  /* of struct t2x_stream_start, of a part */
};

/* What a thread takes of the budget. */
size_t t2x_stream_cursor_bytes(const struct t2x_context *context);

/* Return  NULL: no memory */
struct t2x_stream *t2x_stream_new(struct t2x_context *context, const char *input, uint32_t id, uint32_t pid,
				  int is_framed);
void t2x_stream_free(struct t2x_stream *stream);

/* Whether another stream precedes it: a file that its process wrote before, or one of the parent's. */
static inline int t2x_stream_goes_on(const struct t2x_stream *stream)
{
	return stream->first_cycle > 1;
}

/* Whether the run has such a file of its process. */
static inline int t2x_stream_is_continued(const struct t2x_stream *stream)
{
	return t2x_rotated_has_earlier(&stream->context->rotated, stream->identity, stream->first_cycle);
}

/* Follow the context of the process in n events. */
void t2x_stream_read(struct t2x_stream *stream, const struct tlg_event *events, unsigned n);

/* The thread; a new one is called "?" until it is defined.  Return  NULL: too many, or no memory */
struct t2x_cursor *t2x_stream_cursor(struct t2x_stream *stream, uint32_t tid);

/* How the thread begins in this part.  Return  NULL: the stream is no part, or no memory */
struct t2x_stream_start *t2x_stream_start(struct t2x_stream *stream, uint32_t tid);

/* Forget a thread.  If it comes again, it is a new one. */
void t2x_stream_forget_thread(struct t2x_stream *stream, uint32_t tid);

/*
 * Name a thread that no THREAD has named: another thread has taken a sample of it, with its name, n bytes.
 * The latest name counts.
 */
void t2x_stream_name_thread(struct t2x_stream *stream, struct t2x_cursor *cursor, const char *name, size_t n);

/* THREAD: when the thread was first seen, and n bytes of its name, which may have padding. */
void t2x_stream_define_thread(struct t2x_stream *stream, const struct tlg_thread *thread, const char *name,
			      size_t n);

/* All checkpoints of the stream have been handed over: the process has ended, unless it goes on in another file. */
void t2x_stream_end(struct t2x_stream *stream);

/* Follow the definitions, FLOC, SLOC and THREAD with the texts behind them, in n events. */
void t2x_stream_define(struct t2x_stream *stream, const struct tlg_event *events, unsigned n);

#endif
