/* SPDX-License-Identifier: MIT */
/*
 * trace2.h - Git's Trace2 API over a binary tracer.
 *
 * Each call is a checkpoint: it writes one or a few 24-byte events into a ring of the calling thread.  The
 * texts that git would print come later, from t2expand.  Tracing is off until trace2_initialize() finds a
 * destination in the environment (TRACE2_RAW, see README.md); a call then costs one test.
 *
 * What holds for every function here, unless its comment says otherwise:
 *   Errors   none are visible: a call that cannot record counts the loss, and the count is in the trace.
 *            errno is kept.  NULL is allowed for every pointer but a format's arguments.
 *   Texts    are copied; they end at their NUL.  A label is unlimited, a checkpoint's texts together end at 1 MiB.
 *   Thread   any thread, no lock, never blocks (but for TRACE2_RAW_POLICY=block, and then not in a handler).
 *   Signal   safe in a handler, at any depth of nesting (but for a signal with SA_NODEFER that interrupts itself more
 *            than 64 times at the very same instruction).
 *   Units    times in nanoseconds unless a name says otherwise.
 *   Cost     "a clock read" is one event, 24 bytes: the price of reading the clock, about 9 ns; each further
 *            24 bytes (an integer, 16 bytes of text) costs about 1 ns.  "looked up" is free for literals of the
 *            program itself, which are known by their address; other names are compared, 8 ns, or, if they
 *            change between calls, found by content, 60 ns.  Rare: the first pass of a checkpoint, about 1 us.
 *
 * Each function NAME_fl takes the caller's file and line first; the macro NAME passes __FILE__ and __LINE__, and need
 * not evaluate its arguments while tracing is off.  A _va form takes a va_list, a _printf form a printf-style format;
 * a format should be a literal, for it is kept for the life of the process.
 * The macros are expressions, as git's are, for GNU C from C99 and C++ from C++11.  C does not allow them in `inline`
 * functions that are not `static`, as it allows no static variables there.
 */
#ifndef TRACE2_H
#define TRACE2_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE2_VERSION "0.2.0"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define TRACE2_PRINTF_(fmt, args) __attribute__((format(printf, fmt, args)))

/* What the two languages say differently, for compilers of each warn of the other's way. */
#ifdef __cplusplus
#define TRACE2_NULL_ nullptr
#define TRACE2_TO_(type, value) static_cast<type>(value)
#define TRACE2_POINTER_(type, address) reinterpret_cast<type *>(address)
#define TRACE2_INLINE_ inline __attribute__((always_inline))
#define TRACE2_STRINGS_(...) __VA_ARGS__
#define TRACE2_TEXT_(text) trace2_text_v1_(text)

constexpr TRACE2_INLINE_ const char *trace2_text_v1_(const char *text)
{
	return text;
}
#else
#define TRACE2_NULL_ NULL
#define TRACE2_TO_(type, value) ((type)(value))
#define TRACE2_POINTER_(type, address) ((type *)(address))
#define TRACE2_INLINE_ static inline __attribute__((always_inline))
#define TRACE2_STRINGS_(...) trace2_strings_v1_(__VA_ARGS__)
#define TRACE2_TEXT_(text) text

/* C has no way from char ** to const char *const * but a cast. */
TRACE2_INLINE_ const char *const *trace2_strings_v1_(const void *strings)
{
	return (const char *const *)strings;
}
#endif

/* Does ThreadSanitizer look on? */
#if defined(__SANITIZE_THREAD__)
#define TRACE2_HAS_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRACE2_HAS_TSAN_ 1
#endif
#endif

/* ---- the program's own things that events refer to ---------------------------------------------- */

/* A repository, or whatever unit of work a program wants to tell apart.  Zero it before first use. */
struct trace2_repository {
	const char *worktree;             /* path that trace2_def_repo() reports */
	int trace2_repo_id;               /* set by trace2_def_repo(): from 1 in order of definition; 0: none yet */
};

/* A child process.  Zero it before first use, fill in what is known, keep it until trace2_child_exit(). */
struct trace2_child {
	const char *const *argv;          /* NULL-terminated, or NULL */
	const char *trace2_child_class;   /* "editor", "pager", ...; NULL: "?" */
	const char *trace2_hook_name;     /* of a hook: then the class is "hook" */
	const char *dir;                  /* where the child runs; NULL: here */
	int git_cmd;                      /* 1: argv are arguments to git itself */
	int use_shell;                    /* 1: run by a shell */
	int pid;                          /* set it before trace2_child_exit() */
	int trace2_child_id;              /* set by trace2_child_start() */
	uint64_t trace2_child_start;      /* set by trace2_child_start(): raw clock */
};

enum trace2_config_scope {
	TRACE2_SCOPE_UNKNOWN, TRACE2_SCOPE_SYSTEM, TRACE2_SCOPE_GLOBAL, TRACE2_SCOPE_LOCAL,
	TRACE2_SCOPE_WORKTREE, TRACE2_SCOPE_COMMAND, TRACE2_SCOPE_SUBMODULE
};

/* Where a setting comes from, for trace2_def_param(). */
struct trace2_key_value_info {
	enum trace2_config_scope scope;
};

enum trace2_process_info_reason { TRACE2_PROCESS_INFO_STARTUP, TRACE2_PROCESS_INFO_EXIT };

/* The two built-in timers and counters, test/test1 (totals only) and test/test2 (also per thread). */
enum { TRACE2_TIMER_ID_TEST1, TRACE2_TIMER_ID_TEST2 };
enum { TRACE2_COUNTER_ID_TEST1, TRACE2_COUNTER_ID_TEST2 };

/* ---- set-up ------------------------------------------------------------------------------------- */

/*
 * Prefix of the environment variables that trace2_initialize() reads: "TRACE2" if never called,
 * "GIT_TRACE2" for programs of the git family.  At most 31 bytes.
 * Thread  before trace2_initialize() only    Signal unsafe
 */
void trace2_set_env_prefix(const char *prefix);

/*
 * Use git's configuration as well: trace2.* of the system's and the user's files, with what they include, where
 * no environment variable says otherwise (trace2.rawTarget and the like, and git's own keys, see trace2-env(7));
 * TRACE2_CONFIG_PARAMS then selects among all of their settings.  A repository's configuration is never read.
 * Thread  before trace2_initialize() only, which reads the files
 */
void trace2_use_git_config(void);

/* The program's version, for the `version` event.  Before trace2_initialize(); NULL or never: this library's. */
void trace2_set_program_version(const char *version);

/* Take now as the start of the process, the zero of all absolute times.  Idempotent.  Signal safe. */
void trace2_initialize_clock(void);

/*
 * Read the settings, open the destinations, compute the session id, export it to children, register the
 * exit handler, record `version`.  Idempotent.  Without a destination it leaves tracing off.
 * Errors  a destination that cannot be opened stays off; with TRACE2_DST_DEBUG=1 one line on stderr says why
 * Thread  once, before other threads trace    Signal unsafe    Cost  about 300 us when on, 4 us when off
 */
void trace2_initialize_fl(const char *file, int line);
#define trace2_initialize() trace2_initialize_fl(__FILE__, __LINE__)

/* 1 while tracing is on. */
int trace2_is_enabled(void);

/*
 * When this signal ends the program, record a `signal` event and write out everything first, waiting for that as
 * trace2_flush() does.  SIGPIPE, and what TRACE2_SIGNALS lists, need no call.  A signal that has a handler of the
 * program's, is ignored, or ends no program is left alone.
 * Return  0; -1: left alone, or tracing is off
 */
int trace2_catch_signal(int signo);

/*
 * The session id: "<parent's>/<own>".  Exports it to children even when tracing is off.  A forked child has another.
 * Return  static storage    Thread any, but for the first call: as trace2_cmd_name()    Signal unsafe
 */
const char *trace2_session_id(void);

/* ---- the command -------------------------------------------------------------------------------- */
/* Cost of each: a clock read and its texts, looked up. */

/* The command line, NULL-terminated.  user:password in URLs is redacted (TRACE2_REDACT=0 turns that off). */
void trace2_cmd_start_fl(const char *file, int line, const char *const *argv);
#define trace2_cmd_start(...) trace2_cmd_start_fl(__FILE__, __LINE__, TRACE2_STRINGS_(__VA_ARGS__))

/* The exit code, just before exit(); may be called more than once, the last one counts. */
void trace2_cmd_exit_fl(const char *file, int line, int code);
#define trace2_cmd_exit(...) trace2_cmd_exit_fl(__FILE__, __LINE__, __VA_ARGS__)

/* An error message as the program prints it.  ap is not consumed. */
void trace2_cmd_error_va_fl(const char *file, int line, const char *fmt, va_list ap) TRACE2_PRINTF_(3, 0);
#define trace2_cmd_error_va(...) trace2_cmd_error_va_fl(__FILE__, __LINE__, __VA_ARGS__)

/* The path of the executable. */
void trace2_cmd_path_fl(const char *file, int line, const char *pathname);
#define trace2_cmd_path(...) trace2_cmd_path_fl(__FILE__, __LINE__, __VA_ARGS__)

/* The names of the parent processes, nearest first, NULL-terminated. */
void trace2_cmd_ancestry_fl(const char *file, int line, const char *const *names);
#define trace2_cmd_ancestry(...) trace2_cmd_ancestry_fl(__FILE__, __LINE__, TRACE2_STRINGS_(__VA_ARGS__))

/*
 * The command's name.  Extends the hierarchy of names that children inherit, and lists settings and environment
 * variables as trace2_cmd_list_config() and trace2_cmd_list_env_vars() do.
 * Thread  not while another thread reads or changes the environment    Signal unsafe
 */
void trace2_cmd_name_fl(const char *file, int line, const char *name);
#define trace2_cmd_name(...) trace2_cmd_name_fl(__FILE__, __LINE__, __VA_ARGS__)

/* The command's variant. */
void trace2_cmd_mode_fl(const char *file, int line, const char *mode);
#define trace2_cmd_mode(...) trace2_cmd_mode_fl(__FILE__, __LINE__, __VA_ARGS__)

/* An alias and what it stands for, NULL-terminated. */
void trace2_cmd_alias_fl(const char *file, int line, const char *alias, const char *const *argv);
#define trace2_cmd_alias(alias, ...) trace2_cmd_alias_fl(__FILE__, __LINE__, (alias), TRACE2_STRINGS_(__VA_ARGS__))

/*
 * def_param for the settings that TRACE2_CONFIG_PARAMS selects, after trace2_use_git_config(); for the variables
 * that TRACE2_ENV_VARS lists.  Once each.  Thread  as trace2_cmd_name()    Signal unsafe
 */
void trace2_cmd_list_config_fl(const char *file, int line);
#define trace2_cmd_list_config() trace2_cmd_list_config_fl(__FILE__, __LINE__)
void trace2_cmd_list_env_vars_fl(const char *file, int line);
#define trace2_cmd_list_env_vars() trace2_cmd_list_env_vars_fl(__FILE__, __LINE__)

/* A setting was changed: def_param if a pattern of TRACE2_CONFIG_PARAMS matches key. */
void trace2_cmd_set_config_fl(const char *file, int line, const char *key, const char *value);
#define trace2_cmd_set_config(...) trace2_cmd_set_config_fl(__FILE__, __LINE__, __VA_ARGS__)
/* The same for a setting that the program has read.  kvi says where; NULL: unknown. */
void trace2_cmd_config_param_fl(const char *file, int line, const char *key, const char *value,
				const struct trace2_key_value_info *kvi);
#define trace2_cmd_config_param(...) trace2_cmd_config_param_fl(__FILE__, __LINE__, __VA_ARGS__)
/* What else is configured: trace2_cmd_list_config() calls this once, behind git's files, and it calls the above. */
typedef void (*trace2_config_lister)(const char *file, int line);
void trace2_set_config_lister(trace2_config_lister list);

/* Record what only the system knows; at STARTUP the parents' names, from /proc.  Signal unsafe.  Cost 70 us. */
void trace2_collect_process_info(enum trace2_process_info_reason reason);

/* ---- children, exec, threads -------------------------------------------------------------------- */

/*
 * A child is about to start.  Sets the child's id (from 0, in the process) and start time.  Before it returns, live
 * texts have what was recorded so far, so that the child's lines come behind it, as with git.
 * Blocks  with live texts as trace2_flush()    Cost  with live texts 10 us and the write
 */
void trace2_child_start_fl(const char *file, int line, struct trace2_child *child);
#define trace2_child_start(...) trace2_child_start_fl(__FILE__, __LINE__, __VA_ARGS__)

/* The child ended: its exit code, 128 + signal number, or -1. */
void trace2_child_exit_fl(const char *file, int line, struct trace2_child *child, int code);
#define trace2_child_exit(...) trace2_child_exit_fl(__FILE__, __LINE__, __VA_ARGS__)

/* A child in the background is "ready", or not: "timeout", "error". */
void trace2_child_ready_fl(const char *file, int line, struct trace2_child *child, const char *ready);
#define trace2_child_ready(...) trace2_child_ready_fl(__FILE__, __LINE__, __VA_ARGS__)

/*
 * The process is about to become another program.  argv is NULL-terminated.  Writes out all, for a successful exec runs
 * no exit handler, and removes the ring file, if no other thread runs: after a failure the next event makes it again.
 * Return  an id for trace2_exec_result(), from 0; -1 when tracing is off    Signal unsafe    Blocks  for the write
 */
int trace2_exec_fl(const char *file, int line, const char *exe, const char *const *argv);
#define trace2_exec(exe, ...) trace2_exec_fl(__FILE__, __LINE__, (exe), TRACE2_STRINGS_(__VA_ARGS__))

/* exec failed with this error number. */
void trace2_exec_result_fl(const char *file, int line, int exec_id, int code);
#define trace2_exec_result(...) trace2_exec_result_fl(__FILE__, __LINE__, __VA_ARGS__)

/* A new thread begins, ends: called in it.  Its name is "thNN:" and base_name, cut to 24 bytes.  Signal unsafe. */
void trace2_thread_start_fl(const char *file, int line, const char *base_name);
#define trace2_thread_start(...) trace2_thread_start_fl(__FILE__, __LINE__, __VA_ARGS__)
void trace2_thread_exit_fl(const char *file, int line);
#define trace2_thread_exit() trace2_thread_exit_fl(__FILE__, __LINE__)

/* ---- parameters, repositories ------------------------------------------------------------------- */

/* A parameter's value.  kvi says where it comes from; NULL: unknown. */
void trace2_def_param_fl(const char *file, int line, const char *param, const char *value,
			 const struct trace2_key_value_info *kvi);
#define trace2_def_param(...) trace2_def_param_fl(__FILE__, __LINE__, __VA_ARGS__)

/* Define a repository: gives it an id and records its worktree.  Only the first call for each does anything. */
void trace2_def_repo_fl(const char *file, int line, struct trace2_repository *repo);
#define trace2_def_repo(...) trace2_def_repo_fl(__FILE__, __LINE__, __VA_ARGS__)

/* ---- regions, steps, data, messages ------------------------------------------------------------- */

/* Enter and leave a region.  Any of category, label and repo may be NULL.  The extra arguments are not used. */
void trace2_region_enter_fl(const char *file, int line, const char *category, const char *label,
			    const struct trace2_repository *repo, ...);
void trace2_region_leave_fl(const char *file, int line, const char *category, const char *label,
			    const struct trace2_repository *repo, ...);

/*
 * The same with a message.  Its arguments are recorded, t2expand formats them.  What cannot be deferred (%n, wide
 * characters, long double, %1$d, more than 15 arguments) is formatted by the call, and is as little for a handler as
 * vsnprintf() is.  Cost  a clock read and the arguments; looked up, unless names and format are literals.
 */
void trace2_region_enter_printf_fl(const char *file, int line, const char *category, const char *label,
				   const struct trace2_repository *repo, const char *fmt, ...) TRACE2_PRINTF_(6, 7);
void trace2_region_leave_printf_fl(const char *file, int line, const char *category, const char *label,
				   const struct trace2_repository *repo, const char *fmt, ...) TRACE2_PRINTF_(6, 7);
void trace2_region_enter_printf_va_fl(const char *file, int line, const char *category, const char *label,
				      const struct trace2_repository *repo, const char *fmt, va_list ap)
	TRACE2_PRINTF_(6, 0);
void trace2_region_leave_printf_va_fl(const char *file, int line, const char *category, const char *label,
				      const struct trace2_repository *repo, const char *fmt, va_list ap)
	TRACE2_PRINTF_(6, 0);
#define trace2_region_enter_printf_va(...) trace2_region_enter_printf_va_fl(__FILE__, __LINE__, __VA_ARGS__)
#define trace2_region_leave_printf_va(...) trace2_region_leave_printf_va_fl(__FILE__, __LINE__, __VA_ARGS__)

/*
 * TRACE2_SCOPE(category, label): a region from here to the end of the block, however it is left: see trace2_scope.h.
 *
 * For those who leave regions without passing their leaves, by longjmp() or an exception.  region_depth() returns a
 * mark, not a count, and records nothing; region_unwind() leaves what the thread has entered since that mark, innermost
 * first.  t2expand prints a region_leave for each.  A mark of 0, as region_depth() returns it while tracing is off, is
 * older than all regions.  Cost  two clock reads; a clock read and an integer, looked up
 */
uint64_t trace2_region_depth(void);
void trace2_region_unwind_fl(const char *file, int line, uint64_t depth);
#define trace2_region_unwind(...) trace2_region_unwind_fl(__FILE__, __LINE__, __VA_ARGS__)

/*
 * A step: passed, but not timed.  It stands between its neighbours' times, in order.  For code so hot, or
 * so memory-bound, that even reading the clock is too much.  Cost  with literals about 3 ns, 24 bytes.
 */
void trace2_step_fl(const char *file, int line, const char *category, const char *label);

/* A value, under a key. */
void trace2_data_string_fl(const char *file, int line, const char *category, const struct trace2_repository *repo,
			   const char *key, const char *value);
void trace2_data_intmax_fl(const char *file, int line, const char *category, const struct trace2_repository *repo,
			   const char *key, intmax_t value);
/* A JSON document as text.  It is not checked here; the event format shows text that is not JSON as a string. */
void trace2_data_json_fl(const char *file, int line, const char *category, const struct trace2_repository *repo,
			 const char *key, const char *json);

/* A free message. */
void trace2_printf_fl(const char *file, int line, const char *fmt, ...) TRACE2_PRINTF_(3, 4);
void trace2_printf_va_fl(const char *file, int line, const char *fmt, va_list ap) TRACE2_PRINTF_(3, 0);
#define trace2_printf_va(...) trace2_printf_va_fl(__FILE__, __LINE__, __VA_ARGS__)

/* ---- timers and counters ------------------------------------------------------------------------ */

/*
 * Define a timer, a counter.  Totals are recorded when the process ends; with per_thread also each thread's
 * part, when it ends.  category and name must live as long as the process.
 * Return  an id for the functions below; -1 when the table of 64 is full    Signal unsafe
 */
int trace2_timer_define(const char *category, const char *name, int per_thread);
int trace2_counter_define(const char *category, const char *name, int per_thread);

/* Start and stop a timer of the calling thread; nested starts count once.  No event.  Cost  a clock read each. */
void trace2_timer_start(int timer_id);
void trace2_timer_stop(int timer_id);

/* Add to a counter of the calling thread.  No event.  Cost  2 ns. */
void trace2_counter_add(int counter_id, uint64_t value);

/* ---- the recording itself ----------------------------------------------------------------------- */

/* Begin a new cycle: every checkpoint's context is posted again when it is next hit.  Holds for the next write. */
void trace2_next_cycle(void);

/*
 * Write out what all threads have recorded.  In a forked child behind trace2_cmd_exit(): as trace2_finish().
 * Blocks  for the write, and for one that is going on, as long as they get on; for one that does not, about 1 s.  Not
 *         in a signal handler while git's texts are written as well, for which its stack may be too small: there
 *         this, trace2_rotate() and trace2_next_cycle() are left to the library's thread, or else to the next flush.
 */
void trace2_flush(void);

/*
 * End the trace of this process, as exit() does by itself, for those who leave by _exit(): record timers, counters and
 * `atexit`, write everything, remove the ring file.  Later calls record nothing.  Signal unsafe
 */
void trace2_finish(void);

/*
 * Record a `snapshot` event that says why, and write out what all threads have recorded by now.  With
 * TRACE2_RAW_POLICY=overwrite, the flight recorder, this is what writes at all: the latest of each thread, as far as
 * no snapshot has written it before.
 * Blocks  as trace2_flush(); in a signal handler never: there it only wakes the library's thread
 */
void trace2_snapshot_fl(const char *file, int line, const char *reason);
#define trace2_snapshot(...) trace2_snapshot_fl(__FILE__, __LINE__, __VA_ARGS__)

/* Go on in a new file: "raw.tlg", "raw.1.tlg", "raw.2.tlg", ...  Each is complete.  Blocks as trace2_flush(). */
void trace2_rotate(void);

/* ---- the inline path ---------------------------------------------------------------------------- */
/*
 * Not for direct use: what the macros for literal names compile into.  Names with _v1 are frozen: libraries keep them.
 */

/* What the format has fixed, as tr2_ring.c asserts: kinds of checkpoints, sizes, no repository's id. */
enum {
	TRACE2_ENTER_V1_ = 22, TRACE2_LEAVE_V1_, TRACE2_STRING_V1_, TRACE2_INTMAX_V1_, TRACE2_JSON_V1_,
	TRACE2_PRINTF_V1_, TRACE2_STEP_V1_ = 32,
	TRACE2_EVENT_V1_ = 24, TRACE2_CHUNK_V1_ = 65536, TRACE2_STRIDE_V1_ = 131072, TRACE2_NO_ID_V1_ = 65535
};

/* One call site, registered by its first pass. */
struct trace2_site {
	const char *file, *category, *label;
	int line;
	int style;                 /* enum tlg_style */
	uint64_t key;              /* repository id << 32 | scope index; 0: not registered yet */
};

/* One call site of a message.  takes: the arguments of its format, as the library sees them, once key is set. */
struct trace2_message_site {
	struct trace2_site at;
	const char *format;
	unsigned char takes[16];
};

/* The position of a thread in its current chunk; in a page that a forked child sees as zeros. */
struct trace2_hot {
	uintptr_t cur;             /* address of the next free event, or out of bounds */
};

/* The first words of a chunk of 64 KiB, behind which its events lie. */
struct trace2_chunk {
	uint64_t head;             /* header word of every event in it: chunk number, pid, flags 0 */
	uint32_t tid;
};

extern int tr2_enabled_v1;
extern __thread struct trace2_hot *tr2_hot_v1 __attribute__((tls_model("initial-exec")));

/* Everything but the common case: first pass, no chunk yet, chunk full. */
void tr2_hit_slow_v1(struct trace2_site *site, const struct trace2_repository *repo);

/* A checkpoint with an integer, a text, a message, from a call site with literal names. */
void tr2_data_v1(struct trace2_site *site, const struct trace2_repository *repo, intmax_t value);
void tr2_text_v1(struct trace2_site *site, const struct trace2_repository *repo, const char *value);
void tr2_message_v1(struct trace2_message_site *site, const struct trace2_repository *repo, const char *fmt, ...)
	TRACE2_PRINTF_(3, 4);

#if (defined(__x86_64__) || (defined(__aarch64__) && defined(__AARCH64EL__))) && !defined(TRACE2_HAS_TSAN_)
#define TRACE2_HAS_INLINE_ 1

/* Reserve one event: one instruction on x86-64, so that a signal comes before or after it, never in between. */
TRACE2_INLINE_ uintptr_t trace2_reserve_v1_(struct trace2_hot *hot)
{
	uintptr_t bytes = TRACE2_EVENT_V1_;

#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(bytes), "+m"(hot->cur) : : "cc");
	return bytes;
#else
	return __atomic_fetch_add(&hot->cur, bytes, __ATOMIC_RELAXED);
#endif
}

TRACE2_INLINE_ uint64_t trace2_ticks_v1_(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

/*
 * Record one event without arguments.  The test on the position holds whatever a signal handler has done
 * since the add: chunks are 64 KiB behind 64 KiB that are never written (bit 16 of the address tells), and the
 * chunk number and thread id come from the chunk that the position is in.  Return  0: no chunk yet, or it is full
 */
TRACE2_INLINE_ int trace2_record_v1_(struct trace2_hot *hot, uint32_t scope, int timed)
{
	uintptr_t at = hot ? trace2_reserve_v1_(hot) : 0, in_chunk = TRACE2_CHUNK_V1_ - 1;

	if (__builtin_expect((at + TRACE2_CHUNK_V1_) % TRACE2_STRIDE_V1_ <= TRACE2_CHUNK_V1_ - TRACE2_EVENT_V1_, 1)) {
		const struct trace2_chunk *chunk = TRACE2_POINTER_(const struct trace2_chunk, at & ~in_chunk);
		uint64_t tid = chunk->tid, *event = TRACE2_POINTER_(uint64_t, at);

		event[1] = timed ? trace2_ticks_v1_() : 0;
		event[2] = tid << 32 | scope;
		/* release: the drain sees the payload with the header, [M1] in tr2_ring.h */
		__atomic_store_n(event, chunk->head, __ATOMIC_RELEASE);
		return 1;
	}
	return 0;
}

#endif

TRACE2_INLINE_ void trace2_hit_v1_(struct trace2_site *site, const struct trace2_repository *repo, int timed)
{
#ifdef TRACE2_HAS_INLINE_
	struct trace2_hot *hot = tr2_hot_v1;
	uint64_t key = __atomic_load_n(&site->key, __ATOMIC_RELAXED);   /* relaxed: as in trace2_region.c */
	uint32_t scope = TRACE2_TO_(uint32_t, key), no_id = TRACE2_NO_ID_V1_;
	uint32_t id = !repo ? 0 : repo->trace2_repo_id ? TRACE2_TO_(uint32_t, repo->trace2_repo_id) : no_id;

	if (hot && scope && key >> 32 == id && trace2_record_v1_(hot, scope, timed))
		return;
#endif
	(void)timed;
	tr2_hit_slow_v1(site, repo);
}

/*
 * A literal is a constant to the compiler; only then does a call site get a static descriptor.  It is in a scope of its
 * own, so that what is passed with it may have call sites, too.
 */
#define TRACE2_IS_LITERAL_(a, b) (__builtin_constant_p(a) && __builtin_constant_p(b))
#define TRACE2_LITERAL_(text) (__builtin_constant_p(text) ? TRACE2_TEXT_(text) : TRACE2_NULL_)
#define TRACE2_STATIC_(type, ...) __extension__({ static struct type trace2_site_ = __VA_ARGS__; &trace2_site_; })
#define TRACE2_NAMES_(style, category, label) \
	{ __FILE__, TRACE2_LITERAL_(category), TRACE2_LITERAL_(label), __LINE__, (style), 0 }
#define TRACE2_SITE_(style, category, label) TRACE2_STATIC_(trace2_site, TRACE2_NAMES_(style, category, label))
#define TRACE2_MESSAGE_(style, category, label, format) \
	TRACE2_STATIC_(trace2_message_site, { TRACE2_NAMES_(style, category, label), TRACE2_LITERAL_(format), { 0 } })
#define TRACE2_FIRST_(first, ...) first

/* With literal names pass through the site, else through the function that looks the names up. */
#define TRACE2_IS_ON_ __atomic_load_n(&tr2_enabled_v1, __ATOMIC_RELAXED)   /* relaxed: as in trace2_region.c */
#define TRACE2_IF_(is_literal, through_site, otherwise) \
	(!TRACE2_IS_ON_ ? TRACE2_TO_(void, 0) : (is_literal) ? through_site : otherwise)

/* The last argument is variadic: it may have commas, as in std::max<int, less>(1, 2), or (struct point){ 1, 2 }.x. */
#define TRACE2_REGION_(style, function, category, label, ...) \
	TRACE2_IF_(TRACE2_IS_LITERAL_(category, label), \
		   trace2_hit_v1_(TRACE2_SITE_(style, category, label), __VA_ARGS__, 1), \
		   function(__FILE__, __LINE__, category, label, __VA_ARGS__))
#define TRACE2_DATA_(style, through_site, function, category, repo, key, ...) \
	TRACE2_IF_(TRACE2_IS_LITERAL_(category, key), \
		   through_site(TRACE2_SITE_(style, category, key), repo, __VA_ARGS__), \
		   function(__FILE__, __LINE__, category, repo, key, __VA_ARGS__))
#define TRACE2_TELL_(style, function, category, label, repo, ...) \
	TRACE2_IF_(TRACE2_IS_LITERAL_(category, label) && __builtin_constant_p(TRACE2_FIRST_(__VA_ARGS__, 0)), \
		   tr2_message_v1(TRACE2_MESSAGE_(style, category, label, TRACE2_FIRST_(__VA_ARGS__, 0)), repo, \
				  __VA_ARGS__), \
		   function(__FILE__, __LINE__, category, label, repo, __VA_ARGS__))

#define trace2_region_enter(category, label, ...) \
	TRACE2_REGION_(TRACE2_ENTER_V1_, trace2_region_enter_fl, (category), (label), __VA_ARGS__)
#define trace2_region_leave(category, label, ...) \
	TRACE2_REGION_(TRACE2_LEAVE_V1_, trace2_region_leave_fl, (category), (label), __VA_ARGS__)
#define trace2_region_enter_printf(category, label, repo, ...) \
	TRACE2_TELL_(TRACE2_ENTER_V1_, trace2_region_enter_printf_fl, (category), (label), (repo), __VA_ARGS__)
#define trace2_region_leave_printf(category, label, repo, ...) \
	TRACE2_TELL_(TRACE2_LEAVE_V1_, trace2_region_leave_printf_fl, (category), (label), (repo), __VA_ARGS__)
#define trace2_data_string(category, repo, key, ...) \
	TRACE2_DATA_(TRACE2_STRING_V1_, tr2_text_v1, trace2_data_string_fl, (category), (repo), (key), __VA_ARGS__)
#define trace2_data_intmax(category, repo, key, ...) \
	TRACE2_DATA_(TRACE2_INTMAX_V1_, tr2_data_v1, trace2_data_intmax_fl, (category), (repo), (key), __VA_ARGS__)
#define trace2_data_json(category, repo, key, ...) \
	TRACE2_DATA_(TRACE2_JSON_V1_, tr2_text_v1, trace2_data_json_fl, (category), (repo), (key), __VA_ARGS__)
#define trace2_step(category, label) \
	TRACE2_IF_(TRACE2_IS_LITERAL_((category), (label)), \
		   trace2_hit_v1_(TRACE2_SITE_(TRACE2_STEP_V1_, (category), (label)), TRACE2_NULL_, 0), \
		   trace2_step_fl(__FILE__, __LINE__, (category), (label)))
#define trace2_printf(...) \
	TRACE2_IF_(__builtin_constant_p(TRACE2_FIRST_(__VA_ARGS__, 0)), \
		   tr2_message_v1(TRACE2_MESSAGE_(TRACE2_PRINTF_V1_, TRACE2_NULL_, TRACE2_NULL_, \
						  TRACE2_FIRST_(__VA_ARGS__, 0)), TRACE2_NULL_, __VA_ARGS__), \
		   trace2_printf_fl(__FILE__, __LINE__, __VA_ARGS__))

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#include "trace2_scope.h"

#endif
