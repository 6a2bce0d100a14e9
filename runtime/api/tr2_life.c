/* SPDX-License-Identifier: MIT */
/*
 * tr2_life.c - switching on, writing out, ending.
 *
 * The order of all steps, and the reason for each place.  S: at the start; C: in a forked child, with its first event,
 * see record/tr2_session.c.  The code follows the rows.
 *
 *   S    tr2_config           git's configuration: it may switch tracing on
 *   S    tr2_sink_is_wanted   untraced programs pay for this step: so it comes before costly ones
 *   S    tr2_clock            its first reading is the start of the process
 *   S    tr2_site             reads only the program's headers; the first event needs it
 *   S    tr2_env              the settings: everything below reads them
 *   S    tr2_sid, UTC offset  change and read the environment, which the program may do too, from its threads, later
 *   S    tr2_wake_init        the processors that the program may use now, not those that a later caller is bound to
 *   S    tr2_sandbox          notes whether there is one already, so that a new one can be noticed
 *   S    tr2_mask             notes the present handlers, one of which may record next
 *     C  tr2_shm_forget       new memory from here on; the parent's stays mapped, for code that the fork interrupted
 *     C  tr2_detach_reset     the parent may be about to execute a program: its file, not the child's, has no name
 *     C  tr2_drain_reset      the parent's passes, lock and requests; before a thread of the child may want the lock
 *     C  tr2_wake_reset       no thread of the parent's runs here
 *     C  tr2_young_reset      no child is young: servers lock children in, and a new thread would end them
 *     C  tr2_snapshot_reset   nobody has asked the child for one
 *   S C  tr2_sink             without a destination nothing else is set up.  A child goes on in its parent's
 *   S C  tr2_shm              the memory in which the next two lie
 *   S C  tr2_scope            before the threads, which may record; a child's scopes keep their parent's numbers
 *   S C  tr2_thread           main's ring.  In a child the first caller acquires one, as its parent's thread
 *     C  tr2_sid_fork         the child's own id, before the stream that begins with it
 *   S C  tr2_drain            its buffers, and the stream: it names the session, and the file of the sink
 *   S    atexit               after what the program has registered by now, so that our last word comes before that
 *   S    pthread_atfork       a fork before this line has nothing to take along
 *   S    tr2_signal           handlers that record: into rings that are there
 *   S    tr2_flight           what requests a snapshot; tr2_signal catches its signals
 *   S    tr2_enabled_v1       from here on calls record
 *     C  tr2_thread_ready     the same for a child: from here on its other threads do not wait
 *   S C  tr2_young, tr2_wake  the thread last, in the first process when it is time: all that it reads is there
 *
 * At the end (exit, or trace2_finish()):
 *
 *   at_exit     timers, counters, `atexit`: with the time at which it began, before the program's own exit handlers
 *   at_unload   behind the destructors, which may record: snapshot, then off, then what is left and END are written
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "tr2_steer.h"
#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "base/tr2_sandbox.h"
#include "base/tr2_sys.h"
#include "ctl/tr2_page.h"
#include "drain/tr2_cycle.h"
#include "drain/tr2_dormant.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_missing.h"
#include "drain/tr2_wake.h"
#include "drain/tr2_young.h"
#include "output/tr2_sink.h"
#include "record/tr2_emit.h"
#include "record/tr2_flight.h"
#include "record/tr2_late.h"
#include "record/tr2_reserve.h"
#include "record/tr2_session.h"
#include "record/tr2_signal.h"
#include "record/tr2_site.h"
#include "record/tr2_timer.h"
#include "settings/tr2_config.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

TR2_NEAR int tr2_enabled_v1;

/*
 * The library's own flag, whatever the dynamic linker makes of its name.  Most programs have a copy of it in their own
 * memory (a copy relocation), which the name then means for everybody, but for a plug-in that was loaded with
 * RTLD_DEEPBIND.  That finds the library's own first.
 */
extern int tr2_enabled_own __attribute__((alias("tr2_enabled_v1"), visibility("hidden")));

void tr2_set_enabled(int on)
{
	tr2_store_rlx(&tr2_enabled_v1, on); /* relaxed: a flag, which orders nothing */
	tr2_store_rlx(&tr2_enabled_own, on); /* relaxed: the same, mostly at the same place */
}

static char g_version[256] = TRACE2_VERSION;
TR2_NEAR static int g_use_git_config;
TR2_NEAR static int g_is_new = 1;   /* not initialized */
static int g_exit_code;
static unsigned g_exited;           /* tr2_session_forks() + 1 where trace2_cmd_exit() was called; 0: nowhere yet */

/* ---- beginning ---------------------------------------------------------------------------------- */

/* Most servers run in UTC.  The name of the zone shows it; the C library would read the zone's file, for 10 us. */
static int is_utc(void)
{
	static const char utc[] = "/zoneinfo/Etc/UTC";
	char zone[256];
	ssize_t n = getenv("TZ") ? 0 : tr2_sys_readlink("/etc/localtime", zone, sizeof(zone));

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

/*
 * A young process writes all of it with END, soon: a write would cost it 10 us.  If it never comes to that, for what
 * runs until then hangs or crashes, readers find it in the ring file, as before.
 */
static int writes_once(void)
{
	return tr2_young_is() && !tr2_sink_has_texts();
}

/*
 * Registered with atexit(), so it runs before the handlers that were registered earlier, as git's does.  All its
 * events carry the time at which it began.
 */
static void at_exit(void)
{
	struct tr2_thread *self;
	uint64_t now;

	if (tr2_late_withdraw())
		return;   /* nothing was recorded yet: no session begins at the end */
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
	tr2_emit_one_int(TLG_STYLE_atexit, NULL, 0, tr2_load_rlx(&g_exit_code), now); /* relaxed: a number by itself */
	if (!writes_once())
		tr2_drain_flush();
}

/* The last word, after all destructors of the program, which may have recorded something: 101 is the last to run. */
TR2_STARTUP __attribute__((destructor(101))) static void at_unload(void)
{
	if (!tr2_is_enabled() && !tr2_late_has_paused()) {
		tr2_dormant_end();
		tr2_page_close();
		if (tr2_dormant_is())
			tr2_session_clean_up();
		return;
	}
	tr2_flight_exit(tr2_load_rlx(&g_exit_code)); /* relaxed: a number by itself */
	tr2_set_enabled(0);
	tr2_drain_finish(TLG_END_EXIT);
	tr2_session_clean_up();
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

/* What is not known later, or may change: the settings, the session id, the time at which the process began. */
static void begin(void)
{
	tr2_clock_init();
	tr2_site_init();
	tr2_env_read();
	tr2_page_read_setting();
	tr2_cycle_set_process(tr2_sid(), find_utcoff());
	tr2_wake_init();
	tr2_sandbox_note();
	tr2_mask_note_handlers();
	tr2_steer_init(g_version);
}

/* Without a destination, and with TRACE2_CTL: somebody may switch tracing on later (record/tr2_late.h). */
static void begin_dormant(void)
{
	if (atexit(at_exit))
		return;
	tr2_session_watch_forks();
	tr2_flight_init();
	tr2_wake_start_dormant();
	tr2_session_look();
}

TR2_STARTUP void trace2_initialize_fl(const char *file, int line)
{
	int saved, is_wanted;

	if (!g_is_new)
		return;
	g_is_new = 0;
	if (g_use_git_config)
		tr2_config_read();
	is_wanted = tr2_sink_is_wanted();
	if (!is_wanted && !tr2_page_is_asked_for()) {
		tr2_env_check();
		return;
	}
	saved = errno;
	begin();
	if (!is_wanted) {
		begin_dormant();
	} else if (!tr2_session_begin() && !atexit(at_exit)) {
		tr2_session_watch_forks();
		tr2_signal_init();
		tr2_flight_init();
		tr2_set_enabled(1);
		tr2_thread_is_ordinary();
		tr2_emit_one_text(TLG_STYLE_version, file, line, g_version);
		if (tr2_sink_is_sentinel())
			tr2_emit_one_text(TLG_STYLE_too_many_files, file, line, NULL);
		if (tr2_wake_is_for_all() && !tr2_young_begin())
			tr2_wake_start();
		tr2_missing_mind_self();
	}
	errno = saved;
}

int trace2_is_enabled(void)
{
	return tr2_is_enabled();
}

int trace2_catch_signal(int signo)
{
	int saved = errno, result = tr2_is_enabled() ? tr2_signal_catch(signo) : -1;

	errno = saved;
	return result;
}

const char *trace2_session_id(void)
{
	if (tr2_is_enabled())
		tr2_session_ensure();   /* a forked child has one of its own */
	return tr2_sid();
}

void trace2_cmd_exit_fl(const char *file, int line, int code)
{
	tr2_store_rlx(&g_exit_code, code); /* relaxed: a number by itself */
	if (!tr2_is_enabled())
		return;
	tr2_emit_one_int(TLG_STYLE_exit, file, line, code, 0);
	/* behind the event: it may be a forked child's first.  relaxed: as above */
	tr2_store_rlx(&g_exited, tr2_session_forks() + 1);
}

void trace2_finish(void)
{
	int saved = errno;

	at_exit();
	at_unload();
	errno = saved;
}

/* ---- the recording itself ----------------------------------------------------------------------- */

/* A library that intercepts libc may call from inside of this one: it would wait for its own thread. */
static int may_ask(void)
{
	if (!tr2_is_enabled() || tr2_mask_is_inside())
		return 0;
	tr2_missing_start();
	return 1;
}

/*
 * Live text outputs take more of the stack than a handler may have.  So in one, what is asked for is left to the
 * library's thread; where there is none, and the handler has a stack of its own, to the next flush elsewhere.
 * Return  1: it is
 */
static int is_left(enum tr2_drain_task task)
{
	uint64_t mask;
	int saved = errno, leaves;

	if (tr2_is_forked_child() || !tr2_sink_has_texts())
		return 0;   /* a child that has recorded nothing has nothing to be asked for */
	mask = tr2_mask_now();
	leaves = tr2_wake_is_coming() ? tr2_mask_may_be_handler(mask) : tr2_mask_is_on_own_stack();
	if (leaves) {
		tr2_drain_leave(task);
		if (task == TR2_DRAIN_ROTATE)
			tr2_drain_open_files_now();
		tr2_wake_wanted(mask);
	}
	errno = saved;
	return leaves;
}

void trace2_next_cycle(void)
{
	if (may_ask() && !is_left(TR2_DRAIN_NEXT_CYCLE))
		tr2_drain_next_cycle();
}

/* A forked child that has called trace2_cmd_exit() mostly ends by _exit(), which runs no handler of ours. */
void trace2_flush(void)
{
	if (!may_ask() || is_left(TR2_DRAIN_FLUSH))
		return;
	/* relaxed: as in trace2_cmd_exit_fl() */
	if (tr2_session_forks() && tr2_load_rlx(&g_exited) == tr2_session_forks() + 1)
		trace2_finish();
	else
		tr2_drain_flush();
}

void trace2_rotate(void)
{
	if (may_ask() && !is_left(TR2_DRAIN_ROTATE))
		tr2_drain_rotate();
}
