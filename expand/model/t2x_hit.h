/* SPDX-License-Identifier: MIT */
/*
 * t2x_hit.h - the seam of the expander: what the reading half hands to the meaning half.
 *
 *   in -> blocks -> stream -> merge    |   t2x_hit   |   model -> writer -> out
 *
 * The reading half (t2x_in, t2x_lz4, t2x_blocks, t2x_layout, t2x_stream, t2x_merge) verifies bytes, follows
 * context and clocks, orders checkpoints by time and resolves each into a struct t2x_hit.  The meaning half
 * (t2x_model and the writers) knows what a region, a child or a timer is and how git prints it.
 * Everything pointed to is valid during the call only, but for scope, thread and process, which live as
 * long as their stream.  Times are since 1970-01-01 UTC.
 */
#ifndef T2X_HIT_H
#define T2X_HIT_H

#include <stdint.h>

#include "tlg.h"

/*
 * Processes, threads and scopes have a number from 1 up that no other one of the run ever had: who remembers something
 * about one remembers it by that.  0: nothing is to be remembered.
 */

/* A process: one stream of events. */
struct t2x_process {
	uint32_t pid;
	uint32_t stream;          /* random id */
	uint64_t start_ns;        /* zero of absolute times; 0: not known */
	uint64_t start_ticks;     /* the same as the raw clock has it: a forked child has its parent's; 0: not known */
	int32_t utcoff;           /* seconds east of UTC */
	unsigned depth;           /* number of '/' in sid */
	uint64_t number;          /* see above; another one when start_ns or utcoff change */
	char *sid;                /* "" until PROCINFO was seen */
	void *model;              /* the model's own data about the process */
};

/* A thread of a process. */
struct t2x_thread {
	struct t2x_process *process;
	uint32_t tid;
	char name[25];            /* "main", "th01:worker"; "?" while no THREAD was seen */
	uint64_t start_ns;
	uint64_t number;          /* see above; another one when name, depth or sid change */
	void *model;              /* the model's own data about the thread: its open regions */
	int is_over;              /* set by the model: its thread_exit has passed */
};

/* A checkpoint's place and names. */
struct t2x_scope {
	uint32_t index;
	int32_t line;
	uint16_t repo;            /* 0: none; TLG_REPO_NO_ID */
	uint8_t style;            /* enum tlg_style, not checked */
	const char *file;         /* NULL: no file */
	const char *category;     /* NULL: was a null pointer; likewise label and format */
	const char *label;
	const char *format;
	uint32_t names;           /* a hash of category, label and repo, not 0; 0: it was not computed */
	uint64_t number;          /* see above */
};

/* One argument.  text is not NUL-terminated and may hold any byte but NUL. */
struct t2x_arg {
	uint32_t type;            /* TLG_ARG_*; TLG_ARG_TEXT also for the last text without a VALUE */
	uint32_t length;          /* of text, bytes */
	int64_t value;            /* integers, pointers, the bits of a double; ticks are already ns (0 stays 0) */
	const char *text;
};

/* One checkpoint, resolved and in order. */
struct t2x_hit {
	struct t2x_thread *thread;
	struct t2x_scope *scope;   /* NULL: its SLOC was not seen, or lost */
	const struct t2x_arg *args;
	unsigned nargs;
	uint32_t scope_index;
	uint64_t ns;               /* a step has that of its predecessor in the thread */
	uint64_t when;             /* the same as the raw clock gave it; 0: a step */
	uint16_t flags;            /* TLG_RENDERED matters */
};

/* What the meaning half offers.  All calls come from one thread; the order is that of time. */
struct t2x_model;

/* One checkpoint. */
void t2x_model_hit(struct t2x_model *m, const struct t2x_hit *hit);

/*
 * The caller is about to change or to free a thread, a process or a scope that was in a hit: the model may
 * be behind (t2x_batch_queue.h), and catches up.
 */
void t2x_model_sync(struct t2x_model *m);

/* A time of which nobody knows how long it was: no difference of two times is so large. */
#define T2X_NO_TIME (UINT64_C(1) << 63)

/* A region that is open. */
struct t2x_open {
	struct t2x_scope *scope;   /* of its enter; NULL: not known */
	uint64_t ns;               /* when it was entered ... */
	uint64_t when;             /* ... by the raw clock; TLG_OPEN_LOST; 0, in the first: see FORMAT.md */
};

/* How open regions are repeated. */
struct t2x_opens {
	const struct t2x_open *open;
	unsigned count;
	unsigned assumed;          /* one more than are only assumed to be open, the outermost; 0: none is */
	int is_shown;              /* an enter that was not shown is shown now */
};

/*
 * In a new cycle a thread's open regions are repeated, outermost first, to a reader that has missed something.
 * Replaces what the model knew, so that it is right from here on.
 */
void t2x_model_open_regions(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_opens *opens);

/* Events of a thread that are missing between what was shown and what comes next. */
struct t2x_gap {
	uint32_t events;           /* arguments included; 0: nobody knows how many */
	uint32_t left, entered;    /* regions open before that were left in it; entered in it and still open */
	int is_known;              /* left and entered are known */
};

/* ns  of what comes next */
void t2x_model_gap(struct t2x_model *m, struct t2x_thread *thread, uint64_t ns, const struct t2x_gap *gap);

/* A process's total for a reason (a TLG_LOSS_* value) is now total. */
void t2x_model_loss(struct t2x_model *m, struct t2x_process *process, uint32_t tid, unsigned reason, uint64_t total);

/*
 * The process has no more events.  What it lost is shown as git shows sums at the end of a process: a counter of
 * category "trace2" for each reason, "lost-ring-full".
 * ns  of its last event
 */
void t2x_model_end_process(struct t2x_model *m, struct t2x_process *process, uint64_t ns);

/* The process or thread is complete or forgotten: free what the model keeps in it. */
void t2x_model_forget_thread(struct t2x_model *m, struct t2x_thread *thread);
void t2x_model_forget_process(struct t2x_model *m, struct t2x_process *process);

#endif
