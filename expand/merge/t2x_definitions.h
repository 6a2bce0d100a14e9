/* SPDX-License-Identifier: MIT */
/*
 * t2x_definitions.h - what all streams of a run share, and what takes most of its memory budget.
 *
 *   context      the back end, a budget of memory, counts of what was wrong
 *   definitions  source files and scopes of a stream
 *   chains       events whose VALUEs and INFO text are being gathered
 */
#ifndef T2X_DEFINITIONS_H
#define T2X_DEFINITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "t2x_rotated.h"
#include "base/t2x_clock.h"
#include "base/t2x_map.h"
#include "base/t2x_memory.h"
#include "base/t2x_report.h"
#include "model/t2x_hit.h"

struct t2x_cursor;
struct t2x_model;
struct t2x_stream;

/* ---- context ------------------------------------------------------------------------------------ */

enum {
	/* definitions, unfinished checkpoints, threads and what is known of them, of all streams */
	T2X_CONTEXT_BYTES = 24 * 1024 * 1024,
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
	struct t2x_rotated_table rotated;
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
void t2x_chain_add(struct t2x_chain *chain, struct t2x_context *context, const struct tlg_event *event, int is_value);

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

#endif
