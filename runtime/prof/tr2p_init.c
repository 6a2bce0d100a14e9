/* SPDX-License-Identifier: MIT */
/*
 * tr2p_init.c - the order of things at the start, in a forked child, at the end.
 *
 *   load   tr2p_create_init()           the key whose destructor sees threads end.  Before libtrace2's: of a thread
 *                                       that ends the timers go first, then its ring
 *          trace2_initialize()          if there is a destination; `start', if the program will not
 *          tr2p_settings                the profiles that TRACE2_PROF names
 *   first  tr2p_bucket, tr2p_unwind     memory; what libgcc has to load
 *          pthread_atfork               the parts that have locks, below
 *   end    tr2p_exit                    of a process that does not call exit()
 *          tr2p_cpu_end()               behind the program's destructors, before libtrace2's, which writes the file
 *
 * load: with TRACE2_PROF or TRACE2_CTL only.  first: with the first profile, whoever starts it.
 */
#include "tr2p_init.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace2.h"
#include "trace2_prof.h"
#include "record/tr2_sample.h"
#include "tr2p_bucket.h"
#include "tr2p_cpu.h"
#include "tr2p_create.h"
#include "tr2p_during.h"
#include "tr2p_exit.h"
#include "tr2p_uses.h"
#include "tr2p_labels.h"
#include "tr2p_module.h"
#include "tr2p_profile.h"
#include "tr2p_sandbox.h"
#include "tr2p_settings.h"
#include "tr2p_signal.h"
#include "tr2p_stacks.h"
#include "tr2p_thread.h"
#include "tr2p_timers.h"
#include "tr2p_unwind.h"

/* A program may bring along an older libtrace2, without this: it shall start nevertheless. */
#pragma weak tr2_sample_start_late_v1
#pragma weak tr2_sample_steer_v1

static struct state {
	pthread_once_t once;
	int error;
	int is_ready, sees_forks;
} g_state = { .once = PTHREAD_ONCE_INIT };

/* ---- forking --------------------------------------------------------------------------------------- */

/* What has a lock, a line each, in the order in which they are locked: it is held over the fork, so that the child
 * finds whole what it guards. */
static const struct part {
	void (*lock)(void);
	void (*unlock)(void);         /* in the parent */
	void (*begin_child)(void);    /* the same in the child, which goes on with what its parent had started */
} parts[] = {
	{ tr2p_during_lock, tr2p_during_unlock, tr2p_during_begin_child },
	{ tr2p_stacks_lock, tr2p_stacks_unlock, tr2p_stacks_unlock },
	{ tr2p_cpu_lock, tr2p_cpu_unlock, tr2p_cpu_unlock },
	{ tr2p_timers_lock, tr2p_timers_unlock, tr2p_timers_begin_child },
	{ tr2p_profile_lock, tr2p_profile_unlock, tr2p_profile_unlock },
	{ tr2p_labels_lock, tr2p_labels_unlock, tr2p_labels_unlock },
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static __thread int g_has_locked __attribute__((tls_model("initial-exec")));   /* the calling thread, for its fork */

/* Locks call the system, to block signals: in a sandbox that ends processes nobody needs them any more. */
static void before_fork(void)
{
	g_has_locked = !tr2p_sandbox_is_closed();
	if (!g_has_locked)
		return;
	tr2p_signal_before_fork();
	for (unsigned i = 0; i < PARTS; i++)
		parts[i].lock();
}

static void after_fork(void)
{
	if (!g_has_locked)
		return;
	for (unsigned i = PARTS; i--;)
		parts[i].unlock();
	tr2p_signal_after_fork();
	tr2p_exit_after_fork();
}

static void begin_child(void)
{
	tr2p_exit_begin_child();
	if (!g_has_locked)
		return;
	tr2p_signal_after_fork();
	for (unsigned i = PARTS; i--;)
		parts[i].begin_child();
}

/* ---- the start ------------------------------------------------------------------------------------- */

static void init(void)
{
	g_state.error = tr2p_bucket_init();
	if (g_state.error)
		return;
	tr2p_unwind_init(tr2p_g_how.way, tr2p_g_how.frames);
	tr2p_module_init();
	tr2p_create_init();
	tr2p_exit_init();
	tr2p_sandbox_init();
	/* Once: a child that was forked while another thread was here begins anew */
	if (!g_state.sees_forks)
		g_state.error = pthread_atfork(before_fork, after_fork, begin_child);
	g_state.sees_forks = !g_state.error;
	if (!g_state.error)
		tr2_store_rel(&g_state.is_ready, 1); /* [P5] release: what is ready.  Pairs with tr2p_is_ready() */
}

int tr2p_init(void)
{
	int saved = errno;

	tr2p_enter();
	pthread_once(&g_state.once, init);
	tr2p_leave();
	if (!g_state.error)
		tr2p_create_begin();
	errno = saved;
	return g_state.error;
}

int tr2p_is_ready(void)
{
	return tr2_load_acq(&g_state.is_ready); /* [P5] acquire: what is ready.  Pairs with init() */
}

/* 1: TRACE2_CTL asks for a control page, 0: it says that there is none; -1: it says nothing */
static int asks_for_page(void)
{
	const char *ctl = tr2p_setting("TRACE2_CTL");

	return !ctl ? -1 : strcmp(ctl, "0") != 0 && strcasecmp(ctl, "false") != 0;
}

/*
 * Some programs may have no other thread at first, for unshare(2) say, or look whether they have: the consumer's comes
 * when memory begins to fill, unless somebody has said when, or wants a control page, which it serves.  A program that
 * does not know of Trace2 has no `start' event of its own, and without that event readers could not know which program
 * it was.
 */
static void initialize(char **argv)
{
	if (tr2_sample_start_late_v1 && asks_for_page() != 1)
		tr2_sample_start_late_v1();
	trace2_initialize();
	if (argv && !tr2p_uses_trace2())
		trace2_cmd_start_fl(NULL, 0, (const char *const *)argv);
}

/* Somebody may start profiles later (`t2 ctl`).  What has to load files is done now, in a thread of the program. */
static void prepare_steering(void)
{
	if (!tr2_sample_steer_v1 || !asks_for_page())
		return;
	if (tr2p_setting("TRACE2_PROF") || !tr2p_init())
		tr2_sample_steer_v1(tr2p_settings_steer);
}

/* Not to disturb a program that will call it itself, under another prefix perhaps: only if it has something to do. */
static void start_tracing(char **argv)
{
	static const char *const destinations[] = {
		"TRACE2_RAW", "TRACE2", "TRACE2_PERF", "TRACE2_EVENT", "TRACE2_CTL"
	};

	for (unsigned i = 0; i < sizeof(destinations) / sizeof(destinations[0]); i++)
		if (tr2p_setting(destinations[i])) {
			initialize(argv);
			return;
		}
}

/* glibc calls it as main(). */
__attribute__((constructor)) static void at_load(int argc, char **argv)
{
	const char *list = tr2p_setting("TRACE2_PROF"), *why;
	int saved = errno;

	if (!list && !tr2p_setting("TRACE2_CTL"))
		return;
	tr2p_settings_find_parent();
	why = tr2p_why_not();
	if (why) {
		tr2p_warning("not profiled: ", why);
		return;
	}
	tr2p_enter();
	tr2p_create_init();
	prepare_steering();
	start_tracing(argc > 0 ? argv : NULL);
	if (list)
		tr2p_settings_apply(list);
	tr2p_leave();
	errno = saved;
}

/* libtrace2's destructor, with 101, comes later. */
__attribute__((destructor(102))) static void at_unload(void)
{
	tr2p_cpu_end();
}
