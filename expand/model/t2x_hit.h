/* SPDX-License-Identifier: MIT */
/*
 * t2x_hit.h - the interface between the expander's front end and its back end.
 *
 *   in -> blocks -> stream -> merge    |   t2x_hit   |   model -> writer -> out
 *
 * The front end (read/, recover/, merge/) verifies bytes, follows context and clocks, orders checkpoints by time and
 * resolves each into a struct t2x_hit.  The back end (model/, text/) knows what a region, a child or a timer is and
 * how git prints it.  Times are since 1970-01-01 UTC.
 *
 * Two functions hand things over, in order: t2x_model_hit() a checkpoint, t2x_model_update() whatever else changes
 * between two checkpoints.  With --jobs the back end is another thread, some batches behind
 * (parallel/t2x_batch_queue.h), and nobody waits for it: it learns of each change at its place in the order.  That
 * decides who owns what:
 *
 *   arguments, open regions, ...  valid during the call only: a queue copies them
 *   thread, process               made by the front end, the back end's from the first call that has them: the front
 *                                 end keeps what it knows of them elsewhere, and sends changes
 *   scope, session id             read by both, never changed
 *
 * The memory of all but the first goes back by T2X_RELEASE, which comes behind its last use: nothing needs a reference
 * count.
 */
#ifndef T2X_HIT_H
#define T2X_HIT_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

/*
 * Processes, threads and scopes have a number from 1 up that no other one of the run ever had: who remembers something
 * about one remembers it by that.  0: nothing is to be remembered.
 */

/* A process: one stream of events. */
struct t2x_process {
	uint32_t pid;
	uint32_t stream;          /* random id: the same for all files of a process that rotates its trace ... */
	uint32_t file;            /* ... and one of this file alone */
	uint64_t start_ns;        /* zero of absolute times; 0: not known */
	uint64_t start_ticks;     /* the same as the raw clock has it: a forked child has its parent's; 0: not known */
	int32_t utcoff;           /* seconds east of UTC */
	unsigned depth;           /* number of '/' in sid */
	uint64_t number;          /* see above; another one when start_ns or utcoff change */
	const char *sid;          /* "" until PROCINFO was seen */
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
	const struct t2x_scope *scope; /* NULL: its SLOC was not seen, or lost */
	const struct t2x_arg *args;
	unsigned nargs;
	uint32_t scope_index;
	uint64_t ns;               /* a step has that of its predecessor in the thread */
	uint64_t when;             /* the same as the raw clock gave it; 0: a step */
	int64_t shift_ns;          /* what the time of day is later than ns: git reads two clocks for an event */
	uint16_t flags;            /* TLG_RENDERED matters */
};

/* A time of which nobody knows how long it was: no difference of two times is so large. */
#define T2X_NO_TIME (UINT64_C(1) << 63)

/* A region that is open. */
struct t2x_open {
	const struct t2x_scope *scope; /* of its enter; NULL: not known */
	uint64_t ns;               /* when it was entered ... */
	uint64_t when;             /* ... by the raw clock; TLG_OPEN_LOST; 0, in the first: see FORMAT.md */
};

/*
 * In a new cycle a thread's open regions are repeated, outermost first, to a reader that has missed something.
 * They replace what the model knew, so that it is right from here on.
 */
struct t2x_opens {
	const struct t2x_open *open;
	unsigned count;
	unsigned assumed;          /* one more than are only assumed to be open, the outermost; 0: none is */
	int is_shown;              /* an enter that was not shown is shown now */
};

/* Events of a thread that are missing between what was shown and what comes next. */
struct t2x_gap {
	uint32_t events;           /* arguments included; 0: nobody knows how many */
	uint32_t left, entered;    /* regions open before that were left in it; entered in it and still open */
	int is_known;              /* left and entered are known */
};

/* A process's total of events that it dropped in a thread for a reason. */
struct t2x_drop {
	uint64_t total;
	uint32_t tid;
	unsigned reason;           /* a TLG_LOSS_* value */
};

/* Memory of t2x_memory.h. */
struct t2x_release {
	void *memory;
	size_t bytes;              /* about: so much waits to be freed while a queue is behind */
};

/* What changes between two checkpoints, and for whom. */
struct t2x_update {
	enum t2x_update_kind {
		T2X_SET_PROCESS,       /* process says something else from now on, but for its model */
		T2X_SET_THREAD,        /* likewise thread */
		T2X_OPEN_REGIONS,      /* thread */
		T2X_GAP,               /* thread; ns: of what comes next */
		T2X_DROP,              /* process */
		T2X_END_PROCESS,       /* process has no more events; ns: of its last */
		T2X_FORGET_PROCESS,    /* process is complete: free what the model keeps in it */
		T2X_FORGET_THREAD,     /* likewise thread */
		T2X_RELEASE,           /* free cache lines: nothing that comes behind refers to them */
	} kind;
	struct t2x_thread *thread;
	struct t2x_process *process;
	uint64_t ns;
	union {
		struct t2x_process set_process;
		struct t2x_thread set_thread;
		struct t2x_opens opens;
		struct t2x_gap gap;
		struct t2x_drop drop;
		struct t2x_release release;
	};
};

/* What came in a run, and what did not. */
struct t2x_summary {
	uint64_t checkpoints;                  /* handed to the model */
	uint64_t unresolved;                   /* of these, shown as unresolved */
	uint64_t gaps;                         /* places where events of a thread are missing */
	uint64_t gap_events;                   /* events missing there, arguments included */
	uint64_t dropped[TLG_LOSS_REASONS];    /* checkpoints that the programs say they dropped, by TLG_LOSS_* */
};

/* What the back end offers.  All calls come from one thread; the order is that of time. */
struct t2x_model;

void t2x_model_hit(struct t2x_model *m, const struct t2x_hit *hit);

/* Whether it takes checkpoints by runs, too; take some of one, or none: see t2x_run.h. */
struct t2x_run;
int t2x_model_adds(const struct t2x_model *m);
void t2x_model_run(struct t2x_model *m, struct t2x_run *run);

void t2x_model_update(struct t2x_model *m, const struct t2x_update *update);

#endif
