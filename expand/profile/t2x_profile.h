/* SPDX-License-Identifier: MIT */
/*
 * t2x_profile.h - how often, and how long, each distinct stack of regions was: what folded and pprof are made of.
 *
 * A stack is a node: a frame within another stack.  Nodes count the regions that were left, and the time in them but
 * outside of regions in them, of those whose duration is certain.  Memory: distinct stacks, however long the trace is.
 */
#ifndef T2X_PROFILE_H
#define T2X_PROFILE_H

#include "t2x_processes.h"
#include "t2x_stacks.h"

/* A thread of a process: those of one name and process id are one. */
struct t2x_profile_thread {
	uint32_t pid;
	char name[25];
};

/* Stacks that are no frames: struct t2x_stack.is_thread. */
enum { T2X_PROFILE_THREAD = 1, T2X_PROFILE_BASE };

/* What the profile of a part cannot count: see t2x_profile_join.h. */
struct t2x_profile_note {
	uint32_t stream, tid;
	uint32_t depth;           /* so many spans are around the one that ends; of the thread's end: 0 */
	enum t2x_span_end end;
	int is_alone;             /* this span ends, and spent inner_ns in others; else all that are left in depth */
	uint64_t ns, inner_ns;
};

/* A region that was open in front of a part: the stack around others is known to who knows that. */
struct t2x_profile_base {
	uint32_t stream, tid, depth;
};

struct t2x_profile {
	struct t2x_processes processes;   /* first */
	int by_thread;            /* the outermost stacks are threads */
	uint64_t first_ns, last_ns;   /* the earliest event that is not repeated, the latest; 0: none */
	uint64_t lost;            /* events */
	uint64_t unplaced;        /* regions for whose stacks there was no room */
	char samples[64];         /* a profile that the trace has samples of; "": it has none */
	struct t2x_stacks stacks;
	uint32_t threads, max_threads;
	struct t2x_profile_thread *thread;   /* by number - 1 */
	struct t2x_index thread_index;
	int is_part;              /* something lies in front of it */
	int is_cut;               /* of a part: there was no room for a note */
	struct t2x_profile_note *notes;
	uint32_t nnotes, max_notes;
	struct t2x_profile_base *bases;
	uint32_t nbases, max_bases;
	uint32_t *order;          /* of stacks: their numbers; NULL before t2x_profile_sort() */
};

/* is_part: t2x_profile_join.h.  Return  NULL: no memory */
struct t2x_profile *t2x_profile_new(int by_thread, int is_part);

/* For begin(): the printer's own, and the spans that it asks for, are those of the profile. */
void t2x_profile_use(struct t2x_printer *printer, struct t2x_profile *profile);

/* Of printer->own.  Return  0 or -ENOMEM */
int t2x_profile_begin(struct t2x_printer *printer, int by_thread);

/* Takes any event, unresolved ones too. */
void t2x_profile_event(struct t2x_printer *printer, const struct t2x_event *ev);

/* Say which profile there is, where there are no regions to make one of. */
void t2x_profile_hint(const struct t2x_profile *profile);

/*
 * Behind the last event: frames and threads get other numbers, by their names; and stacks an order, each in front of
 * those in it.  So what is printed does not depend on when each came first.  Return  0: no memory
 */
int t2x_profile_sort(struct t2x_profile *profile);

void t2x_profile_free(struct t2x_profile *profile);

/* The stack of a span that is open, so many around it, or of a thread.  Return  0: there is none, or no memory */
uint32_t t2x_profile_stack(struct t2x_profile *profile, const struct t2x_spans *spans, struct t2x_span *span,
			   unsigned depth);
uint32_t t2x_profile_thread_stack(struct t2x_profile *profile, uint32_t pid, const char *name);

#endif
