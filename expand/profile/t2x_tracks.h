/* SPDX-License-Identifier: MIT */
/*
 * t2x_tracks.h - the processes and threads of a trace, and the regions that are open in each: what exports of spans
 * share.
 *
 * The model says how deep a thread is (t2x_event.open), a leave says which region it was; where events are missing a
 * thread may be less deep, or deeper, than the events before said.  Here that becomes spans: each region that was
 * entered ends exactly once, and the writer is called with how it ended.  What was entered unseen has no span until
 * its leave comes.
 *
 * Memory: threads that live, regions that are open, processes; of the first and the last T2X_TRACKS_MAX.  For one more,
 * the thread goes that has had no event for longest, with what is open in it, and a process of which no thread is left.
 * Most such threads are dead, killed or rotated.  One that comes again begins anew: of regions that are open in it then
 * only the leaves are seen.  How many had not ended is reported.
 */
#ifndef T2X_TRACKS_H
#define T2X_TRACKS_H

#include "t2x_frames.h"
#include "base/t2x_map.h"
#include "model/t2x_writer.h"

enum {
	T2X_TRACKS_CACHED = 256,
	T2X_TRACKS_MAX = 16384,
	T2X_TRACKS_THREAD_BYTES = 384,  /* of memory for a thread, see t2x_writer.h; a writer's own comes on top */
};

extern const struct t2x_frame t2x_thread_frame;      /* number 0 */

/* How a span ended. */
enum t2x_span_end {
	T2X_SPAN_LEFT,          /* its region was left: the times are right */
	T2X_SPAN_UNSURE,        /* the same, but it may be another region of these names: events are missing in it */
	T2X_SPAN_LOST,          /* where it was left is missing: it was over at its end */
	T2X_SPAN_CUT,           /* the thread or the process came to its end in it */
	T2X_SPAN_OPEN,          /* the trace ended: it was open at its end, the time of the thread's last event */
	T2X_SPAN_UNSEEN,        /* left at its end; where it was entered is missing: so is its start, 0 */
};

/* The times of such spans are durations of regions, as git's formats show them. */
static inline int t2x_span_is_exact(enum t2x_span_end end)
{
	return end == T2X_SPAN_LEFT;
}

/* Nodes that are no numbers of stacks: none is around; there was no room for it, nor is there for what is in it. */
#define T2X_SPAN_UNPLACED (UINT32_MAX - 1)
#define T2X_SPAN_NO_STACK UINT32_MAX

struct t2x_span {
	const struct t2x_frame *frame;  /* t2x_thread_frame: no region, but the thread's own level */
	uint64_t start_ns, end_ns;
	uint64_t inner_ns;      /* of the outermost in it that were exact */
	uint32_t node;          /* the writer's; 0 at first; of who has stacks: see t2x_span_stack() */
	uint32_t after;         /* as many starts and ends in its thread had the time of its start before it */
	uint32_t message_length;
	char *message;          /* of the enter; NULL: none */
};

struct t2x_track_process {
	uint32_t stream;
	uint32_t order;         /* from 1 up, by first event */
	uint32_t pid;           /* one that no other process of the trace has: if two have the same, the second has
				   one that is too large for Linux */
	uint64_t number;        /* t2x_process.number, for which sid is known */
	uint64_t start_ticks;   /* as t2x_process has it */
	uint64_t sid, parent;   /* hashes of its session id, and of that without the last part; 0: none */
	uint64_t start_ns;      /* when it began, or its first event */
	char *name;             /* of its program, see t2x_tracks_name(); NULL: not known */
	int is_fork;            /* goes on from another process, whose name it has until it has one of its own */
	void *own;              /* the writer's; it frees it */
	int is_told;            /* likewise */
	int is_over;            /* atexit or signal was seen */
	struct t2x_map threads;
};

struct t2x_track {
	struct t2x_track_process *process;
	struct t2x_track *older, *newer;        /* by when they were last looked at ... */
	uint64_t looked_ns;     /* ... which was behind the event of this time */
	uint32_t tid;
	uint64_t number;        /* t2x_thread.number when it was last looked at */
	uint64_t last_ns;       /* of its last event */
	uint32_t at_once;       /* starts and ends of spans at that time so far; of a span's end not less than after */
	int is_told;            /* the writer's */
	uint32_t open, max;     /* spans; the first is the thread itself */
	struct t2x_span *spans;
	char name[25];
	void *own;              /* the writer's; it frees it */
	unsigned char length;   /* likewise the writer's */
	char text[62];
};

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
static inline uint32_t t2x_track_stacks(const struct t2x_track *track, uint32_t n)
{
	while (n && !track->spans[n - 1].node)
		n--;
	return n;
}

/* A span has ended; depth of the regions around it. */
typedef void t2x_span_fn(struct t2x_printer *printer, const struct t2x_track *track, struct t2x_span *span,
			 unsigned depth, enum t2x_span_end end);

/* Free what a writer has of a thread that is forgotten, but not at the end; of a process, then, too. */
typedef void t2x_forget_track_fn(struct t2x_printer *printer, struct t2x_track *track);
typedef void t2x_forget_process_fn(struct t2x_printer *printer, struct t2x_track_process *process);

struct t2x_tracks {
	struct t2x_printer *printer;
	t2x_forget_track_fn *forget_track;      /* NULL: it has nothing */
	t2x_forget_process_fn *forget_process;  /* likewise */
	int keeps_all;          /* the writer has each thread until the end, whatever that takes */
	struct t2x_track *oldest, *newest;
	uint32_t nthreads;
	uint64_t forgotten;     /* threads, to make room */
	uint64_t unfinished;    /* those of them whose processes had not ended */
	t2x_span_fn *end_span;
	t2x_span_fn *end_unseen;  /* of a part: for what was entered in front of it, at a time that is not known;
				     inner_ns is of this part.  NULL: it is left out */
	int keeps_messages;
	int forgets_frames;     /* the writer needs frames of open spans only: t2x_frames.h */
	size_t frames_next;     /* bytes of frames at which the others are forgotten again */
	struct t2x_frames frames;
	struct t2x_map processes, pids, sids;   /* sids: by a part of t2x_track_process.sid, who had it first */
	uint32_t count;         /* of processes */
	struct { uint64_t thread; struct t2x_track *track; } cache[T2X_TRACKS_CACHED];
};

/* The thread of an event.  Return  NULL: no memory */
struct t2x_track *t2x_tracks_find(struct t2x_tracks *tracks, const struct t2x_event *ev);

/*
 * Take an event in: the spans that are not open any more end, an enter opens one.
 * Return  its thread; NULL: no memory
 */
struct t2x_track *t2x_tracks_take(struct t2x_tracks *tracks, const struct t2x_event *ev);

/* The same, but no span is opened: for who needs processes and threads only. */
struct t2x_track *t2x_tracks_follow(struct t2x_tracks *tracks, const struct t2x_event *ev);

/*
 * What an event says of the name of its process: the last part of a path.  Of processes that are forked later the name
 * is the same until they say otherwise.  Return  whether it says one
 */
int t2x_tracks_name(struct t2x_track_process *process, const struct t2x_event *ev);

/* Of a known session id: a fork has the name of its parent, a later file of a process that of the process. */
void t2x_tracks_inherit_name(struct t2x_tracks *tracks, struct t2x_track_process *known,
			     const struct t2x_process *process);

/* Print its name as a string of JSON, and as --format=tree what is forked: "nginx", "nginx [fork]"; "": not known. */
void t2x_tracks_print_name(struct t2x_out *out, const struct t2x_track_process *process);

/* The thread has come to its end: what is open in it ends, its memory is freed. */
void t2x_tracks_end_thread(struct t2x_tracks *tracks, struct t2x_track *track);

/* The thread of a stream.  Return  NULL: it has no events, or has come to its end */
struct t2x_track *t2x_tracks_get(const struct t2x_tracks *tracks, uint32_t stream, uint32_t tid);

/* Say how many threads were forgotten whose processes had not ended, if there are any. */
void t2x_tracks_report(const struct t2x_tracks *tracks);

/* The spans in so many end at this time. */
void t2x_tracks_end_down_to(struct t2x_tracks *tracks, struct t2x_track *track, uint32_t open, uint64_t ns,
			    enum t2x_span_end end);

/*
 * What is open at the end of a part behind becomes what is open.  find_frame: the frame here of one there.
 * from is for t2x_tracks_free() only.  Return  0: they do not fit, or no memory
 */
int t2x_tracks_join(struct t2x_tracks *to, struct t2x_tracks *from,
		    const struct t2x_frame *find_frame(struct t2x_frames *frames, const struct t2x_frame *other));

/* All spans that are open end. */
void t2x_tracks_end(struct t2x_tracks *tracks);

/* Free all that is in it. */
void t2x_tracks_free(struct t2x_tracks *tracks);

#endif
