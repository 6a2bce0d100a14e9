/* SPDX-License-Identifier: MIT */
/*
 * t2x_stream.h - the stream of one process: what its events refer to.
 *
 *   context      what all streams of a run share: the back end, a budget of memory, counts of what was wrong
 *   definitions  source files and scopes
 *   cursors      threads, and how far the events of each have been followed
 *   chains       events whose VALUEs and INFO text are being gathered
 *
 * What events say of the process, its clock, files, scopes and threads takes effect when their block is read.  A
 * definition comes before the first event in the file that needs it, not before the first in time: another thread's
 * events may be older and lie behind it.
 */
#ifndef T2X_STREAM_H
#define T2X_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/t2x_clock.h"
#include "base/t2x_map.h"
#include "base/t2x_memory.h"
#include "base/t2x_report.h"
#include "model/t2x_hit.h"

struct t2x_model;
struct t2x_stream;

/* ---- context ------------------------------------------------------------------------------------ */

enum {
	/* definitions, unfinished checkpoints, threads and what is known of them, of all streams */
	T2X_CONTEXT_BYTES = 24 * 1024 * 1024,
	T2X_MAX_SEEN = 1024,                    /* processes, about, whose streams are counted */
};

struct t2x_context {
	struct t2x_model *model;
	struct t2x_report *report;
	size_t used_bytes;                      /* of the budget, now ... */
	size_t peak_bytes;                      /* ... and at its highest */
	size_t thread_bytes;                    /* what the back end's format keeps for a thread, of the budget */
	size_t pending, peak_pending;           /* bytes of blocks that wait, now and at their highest */
	uint64_t ignored;                       /* definitions for which there was no room */
	uint64_t changed;                       /* definitions that contradict an earlier one */
	uint64_t unknown;                       /* events of types that are not known */
	uint64_t missing;                       /* checkpoints that the last MARK or END counts, and are not there */
	uint64_t irregular;                     /* events whose meaning depends on what was read before them */
	uint64_t undated;                       /* steps whose time depends on an event in front of the part */
	int is_part;                            /* another reader reads what lies in front of the inputs */
	/* Of a part, else NULL: forget() sees a stream at its end; find_last_ns() returns a thread's latest time */
	void (*forget)(struct t2x_context *context, const struct t2x_stream *stream);
	uint64_t (*find_last_ns)(const struct t2x_context *context, uint32_t stream, uint32_t tid);
	unsigned streams;                       /* so far */
	uint64_t numbers;                       /* given to scopes and threads so far */
	struct { uint64_t process; unsigned streams; } seen[T2X_MAX_SEEN];
};

static inline int t2x_context_has(const struct t2x_context *context, size_t bytes)
{
	return T2X_CONTEXT_BYTES - context->used_bytes >= bytes;
}

/* Take bytes of the budget; give them back.  Return  0: the budget has no room, and ignored counts that */
int t2x_context_take(struct t2x_context *context, size_t bytes);
void t2x_context_give(struct t2x_context *context, size_t bytes);

/*
 * Make room for more bytes behind used ones, within the budget.
 * max     bytes that *memory has    limit   the most that it may have
 * Return  0: limit, the budget or the memory is exhausted
 */
int t2x_context_grow(struct t2x_context *context, void **memory, size_t used, size_t more, size_t *max, size_t limit);

/* Have the back end free cache lines, which it may still read, once it has seen all that came before. */
void t2x_context_release(struct t2x_context *context, const void *memory, size_t bytes);

/* ---- definitions -------------------------------------------------------------------------------- */

enum {
	T2X_MAX_SCOPES = 1 << 20,               /* of a stream */
	T2X_MAX_INLINE_SCOPES = 4096,           /* that came with their checkpoints, and are cached */
};

/* A definition and the texts behind it. */
struct t2x_scope_box {
	struct t2x_scope scope;                 /* first: a scope's address is its box's */
	struct t2x_scope_box *next;             /* in the list of old ones, or of those with the same hash */
	size_t bytes;
	char text[];
};

struct t2x_file_box {
	struct t2x_file_box *next;              /* in the list of old ones */
	size_t bytes;
	char name[];
};

/*
 * Memory for boxes that live as long as the stream.  They lie one behind the other, each in cache lines of its own: if
 * the C library aligned each of them, they would take twice as much.
 */
struct t2x_scope_chunk {
	struct t2x_scope_chunk *next;
	void *memory;                           /* the back end frees it; this struct is the front end's */
	size_t bytes, used;
};

/* All of a stream. */
struct t2x_scopes {
	struct t2x_context *context;
	struct t2x_map files, scopes;           /* of boxes, by number, by index */
	struct t2x_map inline_scopes;           /* by hash: scopes that came with their checkpoints */
	unsigned ninline_scopes;
	struct t2x_scope_box *old_scopes;
	struct t2x_file_box *old_files;
	struct t2x_scope_chunk *chunks;         /* the newest first */
	size_t chunk_bytes;                     /* the sum of their bytes */
};

/* FLOC: n bytes of name, which may have padding. */
void t2x_scope_define_file(struct t2x_scopes *scopes, uint16_t filenum, const char *name, size_t n);

/*
 * SLOC: n bytes of names.  A reader that joined late may have missed the FLOC; then the scope stays undefined.  A
 * definition that comes again with the same content keeps its address, for writers remember things about it.  Different
 * content is damage: the new definition holds from there on, and the old one stays valid for whoever has its address.
 */
void t2x_scope_define(struct t2x_scopes *scopes, const struct tlg_sourceloc *place, const char *names,
		      size_t n);

/* The scope, or NULL. */
static inline struct t2x_scope *t2x_scope_get(const struct t2x_scopes *scopes, uint32_t index)
{
	return t2x_map_get(&scopes->scopes, index);
}

/* Texts of a scope.  Each may be absent, none is NUL-terminated. */
enum { T2X_SCOPE_FILE, T2X_SCOPE_CATEGORY, T2X_SCOPE_LABEL, T2X_SCOPE_FORMAT, T2X_SCOPE_TEXTS };
struct t2x_scope_texts {
	const char *text[T2X_SCOPE_TEXTS];      /* NULL: absent */
	size_t length[T2X_SCOPE_TEXTS];
};

/*
 * The scope that came with a checkpoint.  From place only line, repo and style are used.
 * Return  NULL: no memory.  *is_cached 1: it lives as long as the stream; 0: the caller frees it with t2x_scope_free()
 *         when its checkpoint has been handed over
 */
struct t2x_scope *t2x_scope_inline(struct t2x_scopes *scopes, const struct tlg_sourceloc *place,
				   const struct t2x_scope_texts *texts, int *is_cached);
void t2x_scope_free(struct t2x_context *context, struct t2x_scope *scope);

/* Free all definitions of a stream. */
void t2x_scopes_free(struct t2x_scopes *scopes);

/* ---- chains ------------------------------------------------------------------------------------- */

enum {
	T2X_CHAIN_BYTES = 1024 * 1024,    /* of text of one checkpoint; the rest is cut off */
	T2X_CHAIN_VALUES = 4 * T2X_CHAIN_BYTES,   /* of VALUEs: more words than a command line can have */
};

struct t2x_chain {
	struct t2x_chain *next;           /* older */
	struct tlg_event head;            /* HIT; MORE whose HIT is lost; a definition */
	uint32_t sequence;                /* the awaited events have this: the head's, or that of its latest MORE */
	int waits_for_more;               /* it waits for MORE, not for VALUE and INFO */
	struct t2x_stream *stream;
	struct t2x_cursor *cursor;        /* of a HIT */
	struct t2x_clock clock;           /* of the head's block */
	uint64_t ns;                      /* of a HIT */
	struct tlg_value *values;
	size_t nvalues, max_values;       /* max: bytes, as below */
	char *text;
	size_t bytes, max_bytes;
};

/* Add a VALUE, or the text of an INFO; without room it is left out. */
void t2x_chain_add(struct t2x_chain *chain, const struct tlg_event *event, int is_value);

/* Free the chain and what it has gathered. */
void t2x_chain_free(struct t2x_chain *chain, struct t2x_context *context);

/* Chains that are not complete.  All zero: none. */
struct t2x_chains {
	struct t2x_chain *newest;
	unsigned count;
};

void t2x_chains_push(struct t2x_chains *chains, struct t2x_chain *chain);
void t2x_chains_remove(struct t2x_chains *chains, struct t2x_chain *chain);

/* The chain that was pushed first; the list is not empty. */
struct t2x_chain *t2x_chains_oldest(const struct t2x_chains *chains);

/* ---- streams ------------------------------------------------------------------------------------ */

enum { T2X_MAX_THREADS = 65536 };

/*
 * What a thread takes beside its cursor: an entry of the map, and the back end's two pieces of aligned memory,
 * each of which costs the C library a cache line, or more.
 */
enum { T2X_CURSOR_EXTRA = T2X_MAP_ENTRY_BYTES + 224 + 2 * T2X_CACHE_LINE };

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
	unsigned order;                         /* among the streams of the run */
	unsigned version;                       /* PROLOGUE's; 0: not seen */
	int is_framed;
	int is_whole;                           /* its first block was seen, so all first events of its threads */
	int is_sought;                          /* reading began behind its first block, where it was meant to */
	int is_part;                            /* likewise, and another reader shows what is in front */
	int goes_on;                            /* another one precedes it: the process has rotated, or was forked */
	uint64_t identity;                      /* the same for all streams of a process */
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
static inline size_t t2x_stream_cursor_bytes(const struct t2x_context *context)
{
	return sizeof(struct t2x_cursor) + T2X_CURSOR_EXTRA + context->thread_bytes;
}

/* Return  NULL: no memory */
struct t2x_stream *t2x_stream_new(struct t2x_context *context, const char *input, uint32_t id, uint32_t pid,
				  int is_framed);
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
