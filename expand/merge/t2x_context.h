/* SPDX-License-Identifier: MIT */
/*
 * t2x_context.h - what all streams of a run share: the back end, a budget of memory, the numbers that tell threads and
 * scopes apart, counts of what was wrong.
 *
 * Definitions that exceed the budget are ignored, and counted.
 */
#ifndef T2X_CONTEXT_H
#define T2X_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/t2x_report.h"

struct t2x_model;
struct t2x_stream;

enum {
	/* definitions, unfinished checkpoints, threads and what is known of them, of all streams */
	T2X_CONTEXT_BYTES = 24 * 1024 * 1024,
	T2X_MAX_SEEN = 1024,                    /* processes, about, whose streams are counted */
};

struct t2x_context {
	struct t2x_model *model;
	struct t2x_report *report;
	size_t used_bytes;                      /* of the budget ... */
	size_t peak_bytes;                      /* ... at most, so far */
	size_t thread_bytes;                    /* that the back end's format keeps for each thread: of it, too */
	size_t pending, peak_pending;           /* bytes of blocks that wait, at most waited */
	uint64_t ignored;                       /* definitions for which there was no room */
	uint64_t changed;                       /* definitions that contradict an earlier one */
	uint64_t unknown;                       /* events of types that are not known */
	uint64_t missing;                       /* checkpoints that the last mark or end counts and that did not come */
	uint64_t irregular;                     /* what may mean something else to who has not read all before it */
	uint64_t undated;                       /* steps whose time is that of something in front of a part */
	int is_part;                            /* what lies in front of the inputs is read elsewhere, see t2x_stream */
	/* Of a part, or NULL: hears of a stream before it is forgotten; knows when a thread did something last */
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

/* Take bytes of the budget, give them back.  Return  0: there is no room, which is counted */
int t2x_context_take(struct t2x_context *context, size_t bytes);
void t2x_context_give(struct t2x_context *context, size_t bytes);

/*
 * Make room for more bytes behind used ones, within the budget.
 * max     bytes that *memory has    limit   the most that it may have
 * Return  0: limit, the budget or the memory is exhausted
 */
int t2x_context_grow(struct t2x_context *context, void **memory, size_t used, size_t more, size_t *max, size_t limit);

/* Free cache lines that the back end may read, when it has seen all that came before. */
void t2x_context_release(struct t2x_context *context, const void *memory, size_t bytes);

#endif
