/* SPDX-License-Identifier: MIT */
/*
 * t2x_spans.h - the regions that are open in each thread of a trace, as spans, for the writers that ask for them.
 *
 * A writer asks in its begin(): it sets printer->spans to a table that it owns.  From then on each event comes with the
 * spans of its thread (t2x_event.spans), and whatever ends a region calls end_span() in front of the event at which it
 * ended.  Each region that was entered ends exactly once; enum t2x_span_end says how.  So no writer follows regions.
 *
 * The model says how deep a thread is (t2x_event.open), and a leave which region it was; where events are missing a
 * thread may be less deep, or deeper, than the events before said.  A region whose enter the writer did not get has a
 * place in the table, but it is not seen: nothing is known of it until its leave comes.  Behind a filter the spans are
 * of the regions that it shows.
 *
 * Why spans are not the model's regions (t2x_regions.h):
 *
 *   filters    A filter passes on some of the regions, with --min-duration later, when the model is ahead.  So spans
 *              are made of events, behind a filter and without one, and a writer need not know which it is.
 *   rotation   Regions belong to a thread of one file, which repeats those that are open where it begins; it may do so
 *              before the last events of the former file are out.  Spans belong to a thread of a process (stream and
 *              thread id) and go on in its next file.  At the first event from there they are compared: a region that
 *              began behind the thread's last event is another one, and the span in its place is lost.
 *   losses     The model closes regions when a loss is reported.  Their spans end in front of the thread's next event,
 *              at the time of its last one.
 *   ids        If a thread ends without an event and another one gets its id, the other one has regions of its own.
 *              The spans of the former end as lost in front of its first event.
 *
 * An imported trace is one stream for each process.  There the two do not differ.
 *
 * Memory: at most T2X_SPANS_THREADS threads, and T2X_SPANS_BYTES of spans in all of them.  For one more thread the one
 * goes that had no event for the longest time.  Its spans end; if it comes again, it begins anew, and of the regions
 * that are open in it the writer gets the leaves alone.  Most such threads are dead, killed or rotated.
 */
#ifndef T2X_SPANS_H
#define T2X_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "t2x_writer.h"
#include "base/t2x_map.h"

enum {
	T2X_SPANS_CACHED = 256,
	T2X_SPANS_THREADS = 16384,
	T2X_SPANS_MAX = 65536,          /* in a thread: deeper regions have none */
	T2X_SPANS_BYTES = 8 * 1024 * 1024,     /* of memory for spans, beside one for each thread */
	T2X_SPANS_SKEW_NS = 1000,       /* by so much two files of a process may disagree about a time */
	T2X_SPANS_THREAD_BYTES = 384,   /* of memory for a thread, see t2x_writer.h; a writer's own comes on top */
};

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

/* Why a span is not what it seems to be, in words for its reader; NULL: it is. */
const char *t2x_span_ending(enum t2x_span_end end);

/* A region of a thread, or, the outermost of all, the thread's own level.  The one around it is its neighbour, [-1]. */
struct t2x_span {
	void *own;              /* the writer's: NULL at first */
	uint64_t start_ns, end_ns;
	uint64_t inner_ns;      /* of the outermost spans in it that were exact */
	uint64_t nested_ns;     /* another value of the writer's, 0 at first; parts are added up */
	const struct t2x_event *leave;   /* of one that was not seen, while it ends; else NULL */
	char *message;          /* of the enter, if the writer asks for it; NULL: none */
	uint32_t message_length;
	uint32_t node;          /* another value of the writer's: 0 at first */
	uint32_t after;         /* as many starts and ends in its thread had the time of its start before it */
	unsigned char is_thread;         /* no region, but the thread's own level */
	unsigned char is_seen;  /* its enter was; the thread's own level is seen */
	unsigned char is_moved; /* the leave says that it began at another time */
	unsigned char is_inner_unknown;  /* events are missing directly in it, or how long a region in it was */
};

/* What a span around knows of a region that was left, and took so long: it may have wrapped below zero. */
static inline void t2x_span_add_inner(struct t2x_span *around, uint64_t ns)
{
	int is_known = ns <= INT64_MAX;

	around->inner_ns += is_known ? ns : 0;
	around->is_inner_unknown |= !is_known;
}

/* A process of the trace. */
struct t2x_spans_process {
	uint32_t stream;
	int is_over;            /* atexit or signal was seen */
	uint64_t number;        /* t2x_process.number when it was last looked at */
	struct t2x_map threads;
	void *own;              /* the writer's */
};

/* The spans of a thread. */
struct t2x_spans {
	struct t2x_spans_process *process;
	struct t2x_spans *older, *newer;        /* by when they were last looked at ... */
	uint64_t looked_ns;     /* ... which was behind the event of this time */
	uint64_t number;        /* t2x_thread.number when it was last looked at */
	uint64_t last_ns;       /* of its last event */
	uint32_t tid;
	uint32_t at_once;       /* starts and ends of spans at that time so far; of a span's end not less than after */
	uint32_t open, max;     /* spans; the first is the thread itself */
	struct t2x_span *spans;
	struct t2x_span *at;    /* of the event that is printed: the one that it entered or left; of any other event the
				   one around it.  NULL: that is not known */
	void *own;              /* the writer's: NULL at first */
	char name[25];
};

/*
 * Called for a thread that is new, or has another number, or whose process has another session id.
 * is_renamed  it is new or has another name
 * Return  0: no memory
 */
typedef int t2x_meet_thread_fn(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
			       int is_renamed);

/* A span has ended; spans->open are around it. */
typedef void t2x_end_span_fn(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
			     enum t2x_span_end end);

/* Free what the writer has of a thread, of a process. */
typedef void t2x_forget_thread_fn(struct t2x_spans_table *table, struct t2x_spans *spans);
typedef void t2x_forget_process_fn(struct t2x_spans_table *table, struct t2x_spans_process *process);

/* t2x_spans_begin() has been called for it. */
struct t2x_spans_table {
	t2x_take_spans_fn *take;        /* t2x_spans_take(): the library has the model, and nothing of this */
	struct t2x_printer *printer;
	/* NULL: the writer does not ask for it. */
	t2x_meet_thread_fn *meet_thread;
	t2x_end_span_fn *end_span;
	t2x_end_span_fn *end_unseen;    /* of a part: for what was entered in front of it; inner_ns is of this part */
	t2x_forget_thread_fn *forget_thread;
	t2x_forget_process_fn *forget_process;
	int keeps_all;          /* the writer has each thread until the end, whatever that takes */
	int keeps_messages;     /* spans have the messages of their enters */
	int has_no_spans;       /* the writer asks for processes and threads alone */
	int is_filtered;        /* a filter passes on the events: their depths are not those of the model */
	int is_part;            /* of the trace: what was entered in front of it has a place until it is left */
	size_t *budget;         /* bytes that spans may still take; NULL: those of T2X_SPANS_BYTES */
	/* the table's own */
	struct t2x_spans *oldest, *newest;
	uint32_t nthreads;
	size_t own_budget;
	int is_full;            /* there was no room for a span */
	uint64_t forgotten;     /* threads, to make room */
	uint64_t unfinished;    /* those of them whose processes had not ended */
	struct t2x_map processes;       /* by stream */
	struct t2x_span unseen;         /* one that ends */
	struct { uint64_t thread; struct t2x_spans *spans; } cache[T2X_SPANS_CACHED];
};

/* The table is all zero but for the functions that are to be called.  For a caller of t2x_spans_take(). */
void t2x_spans_init(struct t2x_spans_table *table);

/* The same for a writer's begin(): printer->spans is the table, and events come with spans. */
void t2x_spans_begin(struct t2x_spans_table *table, struct t2x_printer *printer);

/*
 * The model, or a filter, is about to print an event: spans that are not open any more end, an enter begins one.
 * Return  those of its thread; NULL: no memory
 */
struct t2x_spans *t2x_spans_take(struct t2x_spans_table *table, const struct t2x_event *ev);

/* Those of the event's thread, as they are.  Return  NULL: no memory */
struct t2x_spans *t2x_spans_find(struct t2x_spans_table *table, const struct t2x_event *ev);

/* Those of a thread that had an event not long ago, as most have.  Return  NULL: they have to be looked for */
static inline struct t2x_spans *t2x_spans_at_hand(const struct t2x_spans_table *table, const struct t2x_thread *thread)
{
	unsigned at = thread->number % T2X_SPANS_CACHED;

	return thread->number && table->cache[at].thread == thread->number ? table->cache[at].spans : NULL;
}

/* The process ends with this event, if nothing goes wrong. */
static inline int t2x_spans_ends_process(const struct t2x_event *ev)
{
	return ev->style == TLG_STYLE_atexit || ev->style == TLG_STYLE_signal;
}

/* Their thread has come to this time. */
static inline void t2x_spans_reach(struct t2x_spans *spans, uint64_t ns)
{
	if (ns > spans->last_ns) {
		spans->last_ns = ns;
		spans->at_once = 0;
	}
}

/* So many spans have their places, those that were not seen, too, and there is room for more.  Return  0: not so */
int t2x_spans_prepare(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open);

/* The thread has come to its end: its spans end, its memory is freed. */
void t2x_spans_end_thread(struct t2x_spans_table *table, struct t2x_spans *spans);

/* Spans end at this time, all but so many of the outermost. */
void t2x_spans_end_down_to(struct t2x_spans_table *table, struct t2x_spans *spans, uint32_t open, uint64_t ns,
			   enum t2x_span_end end);

/* The trace ends: all spans do. */
void t2x_spans_end(struct t2x_spans_table *table);

/* Of a stream.  Return  NULL: it has no events, or has come to its end */
struct t2x_spans *t2x_spans_get(const struct t2x_spans_table *table, uint32_t stream, uint32_t tid);

/* Say how many threads were forgotten whose processes had not ended, if there are any. */
void t2x_spans_report(const struct t2x_spans_table *table);

/*
 * What is open at the end of a part behind becomes what is open in the thread.
 * find_own  what stands for the writer's value of one of theirs; NULL: no memory
 * Return  0: they do not fit, or no memory
 */
int t2x_spans_join(struct t2x_spans_table *table, struct t2x_spans *ours, const struct t2x_spans *theirs,
		   void *find_own(struct t2x_spans_table *table, const struct t2x_span *span));

/* A process, or a thread, that a part behind has and this one has not.  Return  NULL: no memory */
struct t2x_spans_process *t2x_spans_join_process(struct t2x_spans_table *table, uint32_t stream);
struct t2x_spans *t2x_spans_join_thread(struct t2x_spans_table *table, struct t2x_spans_process *process,
					const struct t2x_spans *theirs);

/* Free all that is in it.  What is the writer's in threads and processes it frees by its forget functions. */
void t2x_spans_free(struct t2x_spans_table *table);

#endif
