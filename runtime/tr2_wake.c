/* SPDX-License-Identifier: MIT */
/*
 * tr2_wake.c - starting the drain's thread and putting it to sleep.
 *
 * The thread starts with tracing, so that what a program may do later (forbid itself new threads, use up its
 * processes) cannot keep it from starting.  It starts later in a forked child, with the child's first event, and, where
 * the settings say so, when a ring needs its second chunk.  Creating a thread allocates memory, and the call that wants
 * it may then sit in a signal handler which has interrupted the allocator.  So there it is created only when no handler
 * can be running; else at the next call that is known to be ordinary code, and until then full rings are drained by
 * their threads.
 */
#include "tr2_wake.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

#include "tr2_atomic.h"
#include "tr2_clock.h"
#include "tr2_collect.h"
#include "tr2_drain.h"
#include "tr2_env.h"
#include "tr2_fd.h"
#include "tr2_futex.h"
#include "tr2_handler.h"
#include "tr2_keep.h"
#include "tr2_mask.h"
#include "tr2_progress.h"
#include "tr2_sink.h"
#include "tr2_text.h"
#include "tr2_thread.h"

enum {
	SHORTEST_SLEEP_NS = 500000,
	LONGEST_SLEEP_NS = 64000000,
	STACK_BYTES = 256 * 1024,
	REFUSED_MS = 1000,        /* before the system is asked again */
	FINISHED = UINT32_C(1) << 30,
};

static struct wake {
	int wanted, running;
	uint32_t starting;        /* a thread is creating it */
	uint32_t finish;          /* the reason for which it shall finish, then FINISHED; 0: it shall not */
	uint32_t chunks;          /* calls for the thread so far: the futex that it sleeps on */
	uint32_t sleeps_long;
	int is_refused;           /* the system creates no thread for us */
	uint64_t refused_at;      /* raw clock */
	int may_not;              /* in this process none must be created */
	uint32_t asked, shown;    /* times that it was to show what texts have; up to which of these it has: a futex */
} g_wake;

/*
 * The processors on which the program was to run when it switched tracing on.  The thread that happens to start the
 * drain may be bound to one of them, and busy there; what it is bound to is not meant for us.
 */
static cpu_set_t g_affinity;
static int g_has_affinity;

void tr2_wake_init(void)
{
	g_has_affinity = !sched_getaffinity(0, sizeof(g_affinity), &g_affinity);
}

int tr2_wake_is_for_all(void)
{
	return tr2_g_settings.thread == TR2_THREAD_INIT || tr2_sink_has_texts() ||
	       tr2_g_settings.policy == TR2_POLICY_OVERWRITE;
}

int tr2_wake_is_running(void)
{
	return tr2_load_rlx(&g_wake.running); /* relaxed: a hint; passes are under the drain's lock */
}

int tr2_wake_is_coming(void)
{
	return tr2_load_rlx(&g_wake.starting) || tr2_wake_is_running(); /* relaxed: as above */
}

void tr2_wake_reset(int may_start)
{
	g_wake = (struct wake){ .may_not = !may_start };
}

/* Short sleeps are slept out; a long one ends when a chunk is opened. */
static void sleep_for(uint32_t seen, long ns)
{
	const struct timespec timeout = { 0, ns };

	if (ns == SHORTEST_SLEEP_NS)
		nanosleep(&timeout, NULL);
	else
		tr2_futex_wait(&g_wake.chunks, seen, &timeout);
}

/* A signal ends the process.  Return  1: there is nothing more to do */
static int finish_if_asked(void)
{
	uint32_t reason = tr2_load_rlx(&g_wake.finish); /* relaxed: the rings tell what there is to write */

	if (reason) {
		tr2_drain_finish(reason);
		tr2_store_rlx(&g_wake.finish, FINISHED); /* relaxed: only says that it is over */
		tr2_futex_wake(&g_wake.finish, 1);
	}
	return reason != 0;
}

static void show_if_asked(void)
{
	uint32_t asked = tr2_load_rlx(&g_wake.asked); /* relaxed: the rings tell what there is to write */

	if (asked == g_wake.shown)
		return;
	tr2_drain_flush();
	tr2_store_rlx(&g_wake.shown, asked); /* relaxed: only says that it is over */
	tr2_futex_wake(&g_wake.shown, INT_MAX);
}

static void *run(void *unused)
{
	long ns = SHORTEST_SLEEP_NS;

	prctl(PR_SET_NAME, "trace2-drain");
	tr2_fd_open_no_more();
	tr2_keep_pid_space();
	if (g_has_affinity)
		sched_setaffinity(0, sizeof(g_affinity), &g_affinity);
	for (;;) {
		uint32_t seen = tr2_load_rlx(&g_wake.chunks); /* relaxed: a missed one is found by the timeout */
		enum tr2_drain done;
		if (finish_if_asked())
			break;
		show_if_asked();
		done = tr2_drain_pass();
		if (done == TR2_DRAIN_OVER)
			break;
		if (done == TR2_DRAIN_BEHIND)
			continue;
		ns = done ? SHORTEST_SLEEP_NS : ns < LONGEST_SLEEP_NS ? 2 * ns : ns;
		tr2_store_rlx(&g_wake.sleeps_long, ns > SHORTEST_SLEEP_NS); /* relaxed: as above */
		if (!tr2_collect_is_awaited())
			sleep_for(seen, ns);
	}
	return unused;
}

/* All signals are blocked here, and the new thread inherits that.  Return  an error number */
static int create_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

static void start_thread(void)
{
	int error = create_thread();

	tr2_store_rlx(&g_wake.running, !error); /* relaxed: a hint */
	if (error && !g_wake.is_refused && tr2_g_settings.dst_debug)
		tr2_warning("cannot start a thread (", tr2_text_error(error), "): recording threads write themselves");
	g_wake.is_refused = error != 0;
	g_wake.refused_at = tr2_clock_raw();
}

/* 1 if there is no point in trying. */
static int is_not_to_start(void)
{
	return g_wake.may_not || tr2_g_settings.thread == TR2_THREAD_OFF ||
	       (g_wake.is_refused &&
		tr2_clock_raw() - g_wake.refused_at < tr2_clock_ticks(REFUSED_MS * UINT64_C(1000000)));
}

void tr2_wake_start(void)
{
	int saved = errno;
	uint64_t mask;

	if (tr2_wake_is_running() || is_not_to_start() ||
	    !tr2_cas_rlx(&g_wake.starting, 0, 1)) /* relaxed: keeps a second starter out */
		return;
	tr2_mask_all(&mask);
	start_thread();
	tr2_mask_restore(&mask);
	tr2_store_rlx(&g_wake.starting, 0); /* relaxed: only keeps a second starter out */
	errno = saved;
}

void tr2_wake_now(void)
{
	tr2_add_rlx(&g_wake.chunks, 1); /* relaxed: the futex is a hint, the timeout is the guarantee */
	if (tr2_exchange_rlx(&g_wake.sleeps_long, 0)) /* relaxed: a hint, the timeout is the guarantee */
		tr2_futex_wake(&g_wake.chunks, 1);
}

void tr2_wake_finish(unsigned reason)
{
	struct tr2_patience patience = tr2_patience_begin(TR2_PATIENCE_TURNS);

	tr2_store_rlx(&g_wake.finish, reason); /* relaxed: as in finish_if_asked() */
	tr2_wake_now();
	/* relaxed: as in finish_if_asked() */
	while (tr2_load_rlx(&g_wake.finish) != FINISHED && tr2_patience_wait(&patience, &g_wake.finish, reason))
		;
}

static void ask_to_show(void)
{
	struct tr2_patience patience = tr2_patience_begin(TR2_PATIENCE_TURNS);
	uint32_t mine = tr2_add_rlx(&g_wake.asked, 1) + 1, shown; /* relaxed: as in show_if_asked() */

	tr2_wake_now();
	do
		shown = tr2_load_rlx(&g_wake.shown); /* relaxed: as above */
	while ((int32_t)(shown - mine) < 0 && tr2_patience_wait(&patience, &g_wake.shown, shown));
}

void tr2_wake_show(void)
{
	uint64_t mask;
	int saved = errno;

	if (!tr2_sink_has_texts() || tr2_g_settings.policy == TR2_POLICY_OVERWRITE || tr2_is_forked_child())
		return;
	tr2_mask_all(&mask);
	tr2_mask_restore(&mask);
	if (!tr2_handler_may_run(mask))
		tr2_drain_flush();
	else if (tr2_wake_is_running() && tr2_drain_may_come())
		ask_to_show();
	errno = saved;
}

void tr2_wake_wanted(uint64_t mask)
{
	tr2_drain_open_files();
	if (tr2_wake_is_running()) {
		tr2_wake_now();
		return;
	}
	tr2_store_rlx(&g_wake.wanted, 1); /* relaxed: a hint */
	if (!tr2_handler_may_run(mask))
		tr2_wake_start();
}

void tr2_wake_if_wanted(void)
{
	if (tr2_load_rlx(&g_wake.wanted)) /* relaxed: a hint */
		tr2_wake_start();
}
