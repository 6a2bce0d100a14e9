/* SPDX-License-Identifier: MIT */
/* tr2_life.c - switching on, forking, ending. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "base/tr2_text.h"
#include "drain/tr2_cycle.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_overwrite.h"
#include "drain/tr2_wake.h"
#include "output/tr2_sink.h"
#include "record/tr2_emit.h"
#include "record/tr2_flight.h"
#include "record/tr2_reserve.h"
#include "record/tr2_signal.h"
#include "record/tr2_site.h"
#include "record/tr2_timer.h"
#include "ring/tr2_handler.h"
#include "ring/tr2_scope.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_config.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

TR2_NEAR int tr2_enabled_v1;

static char g_version[256] = TRACE2_VERSION;
TR2_NEAR static int g_use_git_config;
TR2_NEAR static int g_is_new = 1;   /* not initialized */
static int g_exit_code;
static int g_has_exited;            /* in this process trace2_cmd_exit() was called */
static int g_is_child;              /* this process was forked, and records */

/* ---- forking ------------------------------------------------------------------------------------ */

/*
 * Set around fork(), which leaves the C library in order in the child, so that a thread can be created there; _Fork()
 * and the system call do not, and call no handlers either.
 */
static __thread int g_is_forking __attribute__((tls_model("initial-exec")));   /* the calling thread is in fork() */
static pid_t g_forked;                         /* this process, if it was forked so */

static int is_forked_in_order(void)
{
	return g_is_forking || g_forked == getpid();
}

static void before_fork(void)
{
	g_is_forking = 1;
	if (tr2_is_enabled())
		tr2_handler_note();
	tr2_wake_show();
	tr2_drain_before_fork();
}

static void after_fork_parent(void)
{
	g_is_forking = 0;
	tr2_drain_after_fork_parent();
}

static void after_fork_child(void)
{
	g_is_forking = 0;
	g_forked = getpid();
	tr2_drain_after_fork_child();
	tr2_thread_wipe();
}

/* ---- beginning ---------------------------------------------------------------------------------- */

/* The usual case of a server, told by the name of its zone: the C library would read the zone's file, 10 us. */
static int is_utc(void)
{
	static const char utc[] = "/zoneinfo/Etc/UTC";
	char zone[256];
	ssize_t n = getenv("TZ") ? 0 : readlink("/etc/localtime", zone, sizeof(zone));

	return n > (ssize_t)sizeof(utc) && !memcmp(zone + n - (sizeof(utc) - 1), utc, sizeof(utc) - 1);
}

static int32_t find_utcoff(void)
{
	struct tm local;
	time_t now;

	if (is_utc())
		return 0;
	now = time(NULL);
	return localtime_r(&now, &local) ? (int32_t)local.tm_gmtoff : 0;
}

/* A forked child is a session of its own. */
static void fork_session(void)
{
	int32_t utcoff;

	tr2_cycle_process(&utcoff);
	tr2_cycle_set_process(tr2_sid_fork(), utcoff);
}

/*
 * Rings, destination and stream of this process.
 * parent  NULL, or in a forked child the memory of its parent
 * Return  0 or -errno; then nothing is left behind
 */
static int set_up(const struct tr2_shm *parent)
{
	uint32_t stream = tr2_sid_stream();
	int error;

	if (parent ? tr2_sink_inherit() : tr2_sink_open(tr2_sid_own()))
		return -ENOENT;
	error = tr2_shm_create(stream);
	if (!error)
		error = tr2_scope_init(parent);
	if (!error)
		error = tr2_thread_init(parent != NULL);
	if (!error && parent)
		fork_session();
	if (!error)
		error = tr2_drain_init(stream);
	if (!error)
		return 0;
	if (tr2_g_settings.dst_debug)
		tr2_warning("no memory for rings: ", tr2_text_error(-error));
	tr2_shm_unlink();
	tr2_shm_forget();
	tr2_drain_reset();
	tr2_sink_reset();
	return error;
}

/* In a forked child, before its first event: rings and a stream of its own, in its parent's destinations. */
static void start_over(void)
{
	const struct tr2_shm parent = tr2_g_shm;

	g_is_child = 1;
	g_has_exited = 0;
	tr2_shm_forget();
	tr2_drain_reset();
	tr2_wake_reset(is_forked_in_order());
	tr2_snapshot_reset();
	if (!parent.head || set_up(&parent))   /* no head: another fork has interrupted this here */
		tr2_store_rlx(&tr2_enabled_v1, 0); /* relaxed: a flag, which orders nothing */
	else
		tr2_thread_ready();
}

/*
 * Registered with atexit(), so it runs before the handlers that were registered earlier, as git's does.  All its
 * events carry the time at which it began.
 */
static void at_exit(void)
{
	struct tr2_thread *self;
	uint64_t now;

	if (!tr2_is_enabled())
		return;
	self = tr2_self_or_new();
	if (!tr2_is_enabled())
		return;   /* a forked child that could not be set up */
	if (self && self->drop_mark != UINT64_MAX)
		tr2_drain_flush();   /* the ring has been full: make room for what comes last */
	now = tr2_clock_raw();
	if (self)
		tr2_timer_end_thread(self, now);
	tr2_timer_end_process(now);
	tr2_emit_one_int(TLG_STYLE_atexit, NULL, 0, g_exit_code, now);
	tr2_drain_flush();
}

/* The last word, after all destructors of the program, which may have recorded something: 101 is the last to run. */
TR2_STARTUP __attribute__((destructor(101))) static void at_unload(void)
{
	if (!tr2_is_enabled())
		return;
	tr2_flight_exit();
	tr2_store_rlx(&tr2_enabled_v1, 0); /* relaxed: a flag, which orders nothing */
	tr2_drain_finish(TLG_END_EXIT);
}

void trace2_set_env_prefix(const char *prefix)
{
	tr2_env_set_prefix(prefix);
}

void trace2_use_git_config(void)
{
	g_use_git_config = 1;
}

void trace2_set_program_version(const char *version)
{
	if (version)
		strncpy(g_version, version, sizeof(g_version) - 1);
}

void trace2_initialize_clock(void)
{
	int saved = errno;

	tr2_clock_init();
	errno = saved;
}

TR2_STARTUP void trace2_initialize_fl(const char *file, int line)
{
	int saved;

	if (!g_is_new)
		return;
	g_is_new = 0;
	if (g_use_git_config)
		tr2_config_read();
	if (!tr2_sink_is_wanted()) {
		tr2_env_check();
		return;
	}
	saved = errno;
	tr2_clock_init();
	tr2_site_init();
	tr2_env_read();
	tr2_cycle_set_process(tr2_sid(), find_utcoff());
	tr2_g_after_fork = start_over;
	tr2_wake_init();
	tr2_handler_note();
	if (!set_up(NULL) && !atexit(at_exit)) {
		pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		tr2_signal_init();
		tr2_flight_init();
		tr2_store_rlx(&tr2_enabled_v1, 1); /* relaxed: as above */
		tr2_handler_is_ordinary();
		tr2_emit_one_text(TLG_STYLE_version, file, line, g_version);
		if (tr2_sink_is_sentinel())
			tr2_emit_one_text(TLG_STYLE_too_many_files, file, line, NULL);
		if (tr2_wake_is_for_all())
			tr2_wake_start();
	}
	errno = saved;
}

int trace2_is_enabled(void)
{
	return tr2_is_enabled();
}

int trace2_catch_signal(int signo)
{
	int saved = errno, result = tr2_is_enabled() ? tr2_signal_take(signo) : -1;

	errno = saved;
	return result;
}

const char *trace2_session_id(void)
{
	if (tr2_is_enabled())
		tr2_settle();   /* a forked child has one of its own */
	return tr2_sid();
}

void trace2_cmd_exit_fl(const char *file, int line, int code)
{
	g_exit_code = code;
	g_has_exited = 1;
	if (tr2_is_enabled())
		tr2_emit_one_int(TLG_STYLE_exit, file, line, code, 0);
}

void trace2_finish(void)
{
	int saved = errno;

	at_exit();
	at_unload();
	errno = saved;
}

/* ---- the recording itself ----------------------------------------------------------------------- */

/*
 * Texts take more of the stack than a handler may have: in one, the drain's thread is left to do what is asked.
 * Return  1: it is
 */
static int is_left_to_thread(enum tr2_drain_task task)
{
	uint64_t mask;
	int saved = errno, is_left = 0;

	if (!tr2_sink_has_texts() || !tr2_wake_is_coming())
		return 0;
	tr2_mask_all(&mask);
	tr2_mask_restore(&mask);
	if (tr2_handler_may_run(mask)) {
		tr2_drain_leave(task);
		if (task == TR2_DRAIN_ROTATE)
			tr2_drain_open_files_now();
		tr2_wake_wanted(mask);
		is_left = 1;
	}
	errno = saved;
	return is_left;
}

void trace2_next_cycle(void)
{
	if (tr2_is_enabled() && !is_left_to_thread(TR2_DRAIN_NEXT_CYCLE))
		tr2_drain_next_cycle();
}

/* A forked child that has said goodbye goes by _exit(), as a rule, which runs no handler of ours. */
void trace2_flush(void)
{
	if (!tr2_is_enabled() || is_left_to_thread(TR2_DRAIN_FLUSH))
		return;
	if (g_is_child && g_has_exited)
		trace2_finish();
	else
		tr2_drain_flush();
}

void trace2_rotate(void)
{
	if (tr2_is_enabled() && !is_left_to_thread(TR2_DRAIN_ROTATE))
		tr2_drain_rotate();
}
