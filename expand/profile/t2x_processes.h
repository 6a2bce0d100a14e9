/* SPDX-License-Identifier: MIT */
/*
 * t2x_processes.h - what the processes of a trace are called, and what its regions are called: what writers of spans
 * share beside the spans themselves, see model/t2x_spans.h.
 *
 * A writer sets the functions that are to be called, calls t2x_processes_begin() in its begin(), and
 * t2x_processes_enter() for each region_enter.  Then each span that was seen has a frame as its own value.
 */
#ifndef T2X_PROCESSES_H
#define T2X_PROCESSES_H

#include "t2x_frames.h"
#include "model/t2x_spans.h"

extern const struct t2x_frame t2x_thread_frame;      /* number 0: no region, but the thread's own level */

enum { T2X_PROCESSES_FREE_PID = 1 << 22 };     /* from here on: Linux has no process id that is as large */

/* A process of the trace. */
struct t2x_traced {
	uint32_t order;         /* from 1 up, by first event */
	uint32_t pid;           /* one that no other process of the trace has: if two have the same, the second has
				   one that is too large for Linux */
	uint64_t start_ticks;   /* as t2x_process has it */
	uint64_t sid, parent;   /* hashes of its session id, and of that without the last part; 0: none */
	uint64_t start_ns;      /* when it began, or its first event */
	char *name;             /* of its program, see t2x_processes_name(); NULL: not known */
	int is_fork;            /* goes on from another process, whose name it has until it has one of its own */
	int is_told;            /* the writer's */
	void *own;              /* likewise; it frees it */
};

struct t2x_processes;

/* Free what a writer has of a process. */
typedef void t2x_forget_traced_fn(struct t2x_processes *processes, struct t2x_traced *process);

struct t2x_processes {
	struct t2x_spans_table spans;   /* first.  Of what it can report, meet_thread and forget_process are ours */
	t2x_meet_thread_fn *meet_thread;        /* NULL: the writer has no use for it */
	t2x_forget_traced_fn *forget_process;   /* likewise */
	int forgets_frames;     /* the writer needs frames of open spans only: t2x_frames.h */
	size_t frames_next;     /* bytes of frames at which the others are forgotten again */
	struct t2x_frames frames;
	struct t2x_map pids, sids;      /* of struct t2x_traced; sids: by a part of sid, who had it first */
	uint32_t count;         /* of processes */
};

/* The process of a thread. */
static inline struct t2x_traced *t2x_traced_of(const struct t2x_spans *spans)
{
	return spans->process->own;
}

/* The frame of a span; NULL: its enter was not seen. */
static inline const struct t2x_frame *t2x_span_frame(const struct t2x_span *span)
{
	return span->own;
}

/* Nodes that are no numbers of stacks: no room for this stack and those in it; no stack is around. */
#define T2X_SPAN_UNPLACED (UINT32_MAX - 1)
#define T2X_SPAN_NO_STACK UINT32_MAX

/*
 * A writer may keep the number of a span's stack in its node.  A span that has no stack of its own has that of the
 * region around it, T2X_SPAN_NO_STACK or T2X_SPAN_UNPLACED: so nobody looks for it again.  Return  the stack; 0: it
 * has none
 */
static inline uint32_t t2x_span_stack(const struct t2x_span *span)
{
	return span->node >= T2X_SPAN_UNPLACED ? 0 : span->node;
}

/* So many of the outermost spans are such that no stack is missing in the last of them. */
static inline uint32_t t2x_spans_stacks(const struct t2x_spans *spans, uint32_t n)
{
	while (n && !spans->spans[n - 1].node)
		n--;
	return n;
}

void t2x_processes_begin(struct t2x_processes *processes, struct t2x_printer *printer);

/* The frame of a scope, where others may be forgotten for it.  Return  NULL: no memory */
const struct t2x_frame *t2x_processes_frame(struct t2x_processes *processes, const struct t2x_scope *scope);

/* A region_enter: its span gets its frame. */
static inline void t2x_processes_enter(struct t2x_processes *processes, const struct t2x_event *ev)
{
	const struct t2x_frame *frame = t2x_processes_frame(processes, ev->scope);

	if (ev->spans && ev->spans->at)
		ev->spans->at->own = (void *)(uintptr_t)frame;
}

/* The frame of a span that ends, also of one that was not seen.  Return  NULL: no memory */
static inline const struct t2x_frame *t2x_processes_ended(struct t2x_processes *processes, const struct t2x_span *span)
{
	return span->leave ? t2x_processes_frame(processes, span->leave->scope) : t2x_span_frame(span);
}

/*
 * What an event says of the name of its process: the last part of a path.  Of processes that are forked later the name
 * is the same until they say otherwise.  Return  whether it says one
 */
int t2x_processes_name(struct t2x_traced *process, const struct t2x_event *ev);

/* Print its name as a string of JSON, and as --format=tree what is forked: "nginx", "nginx [fork]"; "": not known. */
void t2x_processes_print_name(struct t2x_out *out, const struct t2x_traced *process);

/* Say for what there was no room, if that was so. */
void t2x_processes_report(const struct t2x_processes *processes);

/*
 * What is open at the end of a part behind becomes what is open: t2x_spans_join() of all threads.
 * from  for t2x_processes_free() only, behind it    Return  0: they do not fit, or no memory
 */
int t2x_processes_join(struct t2x_processes *to, struct t2x_processes *from);

void t2x_processes_free(struct t2x_processes *processes);

#endif
