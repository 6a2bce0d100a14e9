/* SPDX-License-Identifier: MIT */
/*
 * t2x_writer.h - an output format: one function for each Trace2 event kind.
 *
 * The model (t2x_model) hands a writer events whose meaning is known: elapsed times, open regions, checked
 * arguments, a finished message.  A writer knows how they look and nothing else.  Each format is one file
 * that exports one const struct t2x_writer; a kind that it does not print is NULL there, a kind that it
 * forgets does not compile.  text/README.md says how to add one.
 */
#ifndef T2X_WRITER_H
#define T2X_WRITER_H

#include "t2x_hit.h"
#include "t2x_template.h"
#include "base/t2x_out.h"

struct t2x_filter;
struct t2x_namer;
struct t2x_spans;
struct t2x_spans_table;

/* The functions of a sample's stack, the innermost first. */
struct t2x_stack_names {
	unsigned n;
	const char *at[];
};

/* Return  valid until the next call; NULL: no memory */
typedef const struct t2x_stack_names *t2x_name_stack_fn(struct t2x_namer *namer, const struct t2x_scope *scope);

struct t2x_options {
	int brief;            /* leave out what git's _BRIEF variables leave out */
	unsigned nesting;     /* event: open regions up to which regions and data are shown; 0: no limit */
	int ns;               /* perf, event: times with nine decimals, not git's six */
	const char *const *values;   /* t2expand only: of all options of formats, see text/t2x_formats.h */
	struct t2x_filter *filter;   /* t2expand only: what is shown, see query/t2x_filter.h */
	const char *source;   /* t2expand only: what the user calls the input, if it is one file or directory */
	int samples;          /* t2expand only: normal, perf, event: show samples */
	t2x_name_stack_fn *name_stack;   /* t2expand only: names their stacks, with namer, see symbols/t2x_namer.h */
	struct t2x_namer *namer;
};
enum { T2X_DEFAULT_NESTING = 2 };

/*
 * One event.  Everything is valid during the call only.
 *
 * args are those of the kind's signature in tlg_styles.def, checked; the enums below name their positions.  The value
 * of data is a text (data), an integer (data_intmax), or a text that is meant to be JSON (data_json), which nobody
 * has checked: style tells.  Durations among them are nanoseconds.  Names are in the scope, the process is the
 * thread's.
 */
struct t2x_event {
	const struct t2x_thread *thread;
	const struct t2x_scope *scope;  /* NULL: unresolved; then no arguments, no message */
	const struct t2x_arg *args;     /* see above; a message's are not among them */
	unsigned nargs;
	unsigned open;                  /* regions around the event, the thread's outermost level included */
	uint64_t ns;                    /* since 1970-01-01 UTC */
	int64_t shift_ns;               /* what the time of day is later: 0, but for imported events */
	uint64_t rel_ns;                /* in the region, child or thread; may have wrapped; T2X_NO_TIME */
	const char *message;            /* NULL: none; not NUL-terminated */
	size_t message_length;
	enum tlg_style style;
	uint32_t scope_index;           /* of what is unresolved */
	int is_repeated;                /* a region_enter that is past: it was not seen, and has no message for that */
	const struct t2x_lost *lost;    /* NULL: an event of the program; else it tells what is missing, at any depth */
	struct t2x_spans *spans;        /* of a writer that asks for them: the regions that are open in the thread, see
					   t2x_spans.h.  NULL: it does not, or no memory */
};

/*
 * What is missing, at an event of kind data_intmax whose value is how many.  What a process has lost in all comes at
 * its end, as counters of category "trace2".
 */
enum t2x_lost_what { T2X_LOST_EVENTS, T2X_LOST_LEAVES, T2X_LOST_ENTERS };
struct t2x_lost {
	enum t2x_lost_what what;
	uint64_t since_ns;              /* of the thread's last event before; 0: there was none */
};

/* Microseconds between two points in time as git has them: each is cut to microseconds, then they are subtracted. */
static inline uint64_t t2x_us_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns / 1000 - from_ns / 1000;
}

/* Since the start of the process; may have wrapped below zero.  Few lines need it: so it is not in each event. */
static inline uint64_t t2x_event_abs_ns(const struct t2x_event *ev)
{
	uint64_t start_ns = ev->thread->process->start_ns;

	return start_ns ? ev->ns - start_ns : 0;
}

/* A time of the event, t2x_event_abs_ns() or rel_ns, in microseconds as git has it. */
static inline uint64_t t2x_event_us(const struct t2x_event *ev, uint64_t elapsed_ns)
{
	return t2x_us_between(ev->ns - elapsed_ns, ev->ns);
}

/* Positions in args.  The argument lists go on to nargs. */
enum { T2X_NAME_HIERARCHY, T2X_NAME_OWN };                      /* cmd_name */
enum { T2X_ALIAS_NAME, T2X_ALIAS_ARGV };
enum { T2X_CHILD_ID, T2X_CHILD_FLAGS, T2X_CHILD_CLASS, T2X_CHILD_HOOK, T2X_CHILD_DIR, T2X_CHILD_ARGV };
enum { T2X_CHILD_PID = 1, T2X_CHILD_CODE, T2X_CHILD_START };   /* child_exit; the id is first */
enum { T2X_READY_START = 2, T2X_READY_STATE };                 /* child_ready; id and pid are first */
enum { T2X_EXEC_ID, T2X_EXEC_EXE, T2X_EXEC_ARGV };
enum { T2X_EXEC_CODE = 1, T2X_EXEC_ERROR };                    /* exec_result; the id is first */
enum { T2X_PARAM_SCOPE, T2X_PARAM_NAME, T2X_PARAM_VALUE };
enum { T2X_SAMPLE_COUNT, T2X_SAMPLE_VALUE, T2X_SAMPLE_PERIOD, T2X_SAMPLE_LABELS };   /* key, value, ... to the end */
enum { T2X_TIMER_INTERVALS, T2X_TIMER_TOTAL, T2X_TIMER_MIN, T2X_TIMER_MAX };

/* The second whose text is cached, so that most events format their microseconds only. */
struct t2x_second {
	int64_t second;
	char text[24];
	unsigned length;                /* of text; 0: nothing cached yet */
};

enum { T2X_CACHED_TIME_BYTES = T2X_MAX_SECONDS };

/* A time as text, for as long as the events are of one microsecond, as those of a busy program are. */
struct t2x_cached_time {
	uint64_t ns;                    /* where the microsecond begins */
	uint64_t span_ns;               /* so long it is that text; 0: nothing is cached */
	uint64_t process;               /* number of the one whose time it is */
	unsigned length;                /* of text */
	char text[T2X_CACHED_TIME_BYTES];
};

/* What a writer works with. */
struct t2x_printer {
	struct t2x_out *out;
	struct t2x_options options;
	struct t2x_second second;
	struct t2x_cached_time time;    /* of the day */
	struct t2x_cached_time elapsed; /* since the start of the process, for as long as time is cached */
	struct t2x_templates *templates;
	struct t2x_spans_table *spans;  /* the writer's, see t2x_spans.h; NULL: it has no use for spans */
	void *own;                      /* the writer's: NULL at first, and after its finish */
};

/* The time of day of the event, in nanoseconds since 1970. */
static inline uint64_t t2x_event_day_ns(const struct t2x_event *ev)
{
	return ev->ns + (uint64_t)ev->shift_ns;
}

/* The number that git prints for a scope's repository, which is not 0. */
static inline unsigned t2x_repo_id(const struct t2x_scope *scope)
{
	return scope->repo == TLG_REPO_NO_ID ? 0 : scope->repo;
}

typedef void t2x_print_fn(struct t2x_printer *printer, const struct t2x_event *event);
typedef struct t2x_spans *t2x_take_spans_fn(struct t2x_spans_table *table, const struct t2x_event *event);
typedef int t2x_begin_fn(struct t2x_printer *printer);
typedef void t2x_finish_fn(struct t2x_printer *printer);

struct t2x_run;
typedef void t2x_add_fn(struct t2x_printer *printer, struct t2x_run *run);

struct t2x_block;
typedef int t2x_print_block_fn(struct t2x_printer *printer, const struct t2x_block *block);

struct t2x_writer {
	t2x_begin_fn *begin;            /* in front of everything: make printer->own, print what comes first;
					   returns 0 or -ENOMEM; NULL: nothing is to be done */
	t2x_finish_fn *finish;          /* behind everything: print the rest, free printer->own; NULL: likewise */
	t2x_print_block_fn *block;      /* a format of raw events: each block of the inputs instead of events, one
					   input after the other; returns 0 or -ENOMEM; NULL: it prints events */
	t2x_print_fn *unresolved;       /* a checkpoint of which only the scope index is known */
	t2x_print_fn *never_left;       /* a region that is open when its thread ends, as its enter, repeated; NULL */
	unsigned thread_bytes;          /* memory that it keeps for each thread, if that is more than some 200 bytes: so
					   many fewer threads are followed, see merge/t2x_stream.h */
	int ignores_messages;           /* so none is made of a format and arguments for it */
	t2x_add_fn *add;                /* of one that ignores messages: takes what is usual in a run of checkpoints
					   (t2x_run.h) instead of each as an event; NULL: it wants them as events */
	struct {
#define TLG_STYLE(id, name, args, desc) t2x_print_fn *name;
#include "tlg_styles.def"
#undef TLG_STYLE
	} print;
};

/* Git's, which the library prints live, too; all formats are in text/t2x_formats.def. */
extern const struct t2x_writer t2x_writer_normal, t2x_writer_perf, t2x_writer_event;

#endif
