/* SPDX-License-Identifier: MIT */
/*
 * t2x_context.h - what the events of a stream refer to: the process, its clock, files, scopes, threads.
 *
 * All of it takes effect when its block is read.  All streams share one memory budget; definitions that
 * exceed it are ignored, and counted.
 */
#ifndef T2X_CONTEXT_H
#define T2X_CONTEXT_H

#include <stddef.h>

#include "t2x_alone.h"
#include "t2x_clock.h"
#include "t2x_hit.h"
#include "t2x_map.h"
#include "t2x_report.h"

enum {
	/* definitions, unfinished checkpoints, threads and what is kept of them, of all streams */
	T2X_CONTEXT_BYTES = 24 * 1024 * 1024,
	T2X_MAX_SCOPES = 1 << 20,               /* of a stream */
	T2X_MAX_THREADS = 65536,                /* of a stream */
	T2X_MAX_PASSING = 4096,                 /* scopes that came with their checkpoints and are kept */
	T2X_MAX_SEEN = 1024,                    /* processes, about, whose streams are counted */
};

/* Shared by all streams of a run. */
struct t2x_context {
	struct t2x_model *model;
	struct t2x_report *report;
	size_t used_bytes;                      /* of the budget */
	uint64_t ignored;                       /* definitions for which there was no room */
	uint64_t changed;                       /* definitions that contradict an earlier one */
	uint64_t unknown;                       /* events of types that are not known */
	uint64_t missing;                       /* checkpoints that the last mark or end counts and that did not come */
	unsigned streams;                       /* so far */
	uint64_t numbers;                       /* given to scopes and threads so far */
	struct { uint64_t process; unsigned streams; } seen[T2X_MAX_SEEN];
};

/* What a thread takes beside its track: a map's entry, and what the model keeps of it. */
enum { T2X_TRACK_EXTRA = T2X_MAP_ENTRY_BYTES + 160 };

/* A definition and the texts behind it. */
struct t2x_scope_box {
	struct t2x_scope scope;                 /* first: a scope's address is its box's */
	struct t2x_scope_box *next;             /* of the replaced ones; of those with the same hash */
	size_t bytes;
	char text[];
};

struct t2x_file_box {
	struct t2x_file_box *next;              /* of the replaced ones */
	size_t bytes;
	char name[];
};

/*
 * A thread, and how far its events have been followed.  The two halves are read and written by two processors
 * when the model is a step behind: not in one cache line.
 */
struct t2x_track {
	struct t2x_thread thread;               /* first: a thread's address is its track's */
	char apart[T2X_CACHE_LINE];
	uint64_t now_ns;                        /* of its latest checkpoint: it does not go back */
	uint32_t next_sequence;
	int has_sequence;                       /* next_sequence is known */
	int has_regions;                        /* all has been seen and resolved since its open regions were known */
};

struct t2x_stream {
	struct t2x_process process;             /* first: a process's address is its stream's */
	char apart[T2X_CACHE_LINE];             /* as in a track */
	struct t2x_context *context;
	const char *input;                      /* name, for messages */
	unsigned order;                         /* among the streams of the run */
	unsigned version;                       /* PROLOGUE's; 0: not seen */
	int is_framed;
	int is_whole;                           /* its first block was seen, so all first events of its threads */
	int goes_on;                            /* another one precedes it: the process has rotated, or was forked */
	uint64_t identity;                      /* the same for all streams of a process */
	int has_start, has_process, has_clock;
	int is_ended;                           /* END was seen */
	int is_rotated;                         /* the process goes on in another file */
	uint64_t start_ticks;
	uint64_t mark_ns;                       /* nothing older comes any more */
	uint64_t stored, hits;                  /* checkpoints: as the latest MARK or END counts them; that came */
	struct t2x_clock clock;                 /* for the blocks read next */
	struct t2x_map files, scopes, threads;  /* of boxes, boxes, tracks */
	struct t2x_map passing;                 /* by hash: scopes that came with their checkpoints */
	unsigned npassing;
	struct t2x_scope_box *old_scopes;
	struct t2x_file_box *old_files;
	struct t2x_chain *defining;             /* definitions whose text is being read, newest first */
	unsigned ndefining;
};

/* Whether the file is StackTrack's own: its events mean places, not kinds of Trace2. */
static inline int t2x_stream_is_stacktrack(const struct t2x_stream *stream)
{
	return stream->version && stream->version < TLG_VERSION;
}

/* Return  NULL: no memory */
struct t2x_stream *t2x_stream_new(struct t2x_context *context, const char *input, uint32_t id, int is_framed);
void t2x_stream_free(struct t2x_stream *stream);

/* Whether another stream of the run is what this one goes on from, or goes on behind it. */
static inline int t2x_stream_is_continued(const struct t2x_stream *stream)
{
	const uint64_t identity = stream->identity;
	const struct t2x_context *context = stream->context;

	return stream->goes_on && context->seen[identity % T2X_MAX_SEEN].process == identity &&
	       context->seen[identity % T2X_MAX_SEEN].streams > 1;
}

/* Follow the context of the process in n events. */
void t2x_stream_read(struct t2x_stream *stream, const struct tlg_event *events, unsigned n);

/* The thread; a new one is called "?" until it is defined.  Return  NULL: too many, or no memory */
struct t2x_track *t2x_stream_track(struct t2x_stream *stream, uint32_t tid);

/* The thread will not be needed any more; if it comes again, it is a new one. */
void t2x_stream_forget_thread(struct t2x_stream *stream, uint32_t tid);

/* THREAD: n bytes of name, which may have padding, and when it was first seen. */
void t2x_stream_define_thread(struct t2x_stream *stream, const struct tlg_thread *thread, const char *name,
			      size_t n);

/* The stream is complete, and all of its checkpoints have been handed over: so is the process, if it does not go on. */
void t2x_stream_end(struct t2x_stream *stream);

static inline int t2x_context_has(const struct t2x_context *context, size_t bytes)
{
	return T2X_CONTEXT_BYTES - context->used_bytes >= bytes;
}

/* Take bytes of the budget, give them back.  Return  0: there is no room */
int t2x_context_take(struct t2x_context *context, size_t bytes);
void t2x_context_give(struct t2x_context *context, size_t bytes);

#endif
