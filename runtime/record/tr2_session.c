/* SPDX-License-Identifier: MIT */
/* tr2_session.c - see tr2_session.h.  The order is that of the table in api/tr2_life.c. */
#include "tr2_session.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tr2_late.h"
#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "ctl/tr2_page.h"
#include "drain/tr2_cycle.h"
#include "drain/tr2_dormant.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_exec.h"
#include "drain/tr2_missing.h"
#include "drain/tr2_overwrite.h"
#include "drain/tr2_wake.h"
#include "drain/tr2_young.h"
#include "output/tr2_sink.h"
#include "ring/tr2_detach.h"
#include "ring/tr2_leftover.h"
#include "ring/tr2_scope.h"
#include "ring/tr2_shm.h"
#include "ring/tr2_thread.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

enum {
	LONG_MS = 100,            /* a process that has run so long looks for leftovers when it ends */
	LEFTOVERS = 48, LAST_LEFTOVERS = 64, /* ring files that are looked into at the beginning, at the end */
};

static unsigned g_forks;

unsigned tr2_session_forks(void)
{
	return tr2_load_rlx(&g_forks); /* relaxed: set before anything of the session is recorded */
}

/* ---- beginning ---------------------------------------------------------------------------------- */

/* The parent's, with "/" and an id of its own behind it. */
static void name_child(void)
{
	int32_t utcoff;

	tr2_cycle_process(&utcoff);
	tr2_cycle_set_process(tr2_sid_fork(), utcoff);
}

/* What was set up is taken down. */
void tr2_session_drop(void)
{
	tr2_shm_unlink();
	tr2_shm_forget();
	tr2_drain_reset();
	tr2_sink_reset();
}

/* The rings and the stream, behind the destination.  As set_up() */
static int set_up_rings(const struct tr2_shm *parent, int is_late)
{
	uint32_t stream = tr2_sid_stream();
	int error = tr2_shm_create(stream);

	if (!error)
		error = tr2_scope_init(parent);
	if (!error)
		error = is_late ? tr2_thread_init_late() : tr2_thread_init(parent != NULL);
	if (!error && parent)
		name_child();
	if (!error)
		error = tr2_drain_init(stream);
	if (!error)
		return 0;
	if (tr2_g_settings.dst_debug)
		tr2_warning("no memory for rings: ", tr2_text_error(-error));
	tr2_session_drop();
	return error;
}

/* parent: in a forked child its parent's memory, else NULL.  Return  0 or -errno; then nothing is left behind */
static int set_up(const struct tr2_shm *parent)
{
	if (parent ? tr2_sink_inherit() : tr2_sink_open(tr2_sid_own()))
		return -ENOENT;
	return set_up_rings(parent, 0);
}

int tr2_session_begin_late(const char *path, uint64_t mask)
{
	int error = tr2_sink_open_late(tr2_sid_own(), path);

	if (!error)
		error = set_up_rings(NULL, 1);
	if (!error && !tr2_dormant_is())
		tr2_wake_wanted(mask);   /* a child of a bare clone(2), in which the consumer thread is missing */
	return error;
}

/* One process in so many looks when it begins; or when it ends, if it was short. */
static int is_turn(void)
{
	enum { ONE_IN = 16 };

	return (tr2_clock_raw() * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ONE_IN == 0;
}

void tr2_session_look(void)
{
	if (tr2_sid_is_after_exec())
		tr2_leftover_collect_own();
	else if (is_turn())
		tr2_leftover_collect(LEFTOVERS);
}

int tr2_session_begin(void)
{
	int error = set_up(NULL);

	if (!error)
		tr2_session_look();
	return error;
}

/*
 * A program that has locked itself in since it began (seccomp(2)) may be killed for opening a directory now.
 * Whether it has is a question that such programs may ask, as a rule.
 */
static int may_open_files(void)
{
	int saved = errno, is_free = !tr2_sys_prctl(PR_GET_SECCOMP, 0);

	errno = saved;
	return is_free;
}

void tr2_session_clean_up(void)
{
	const uint64_t while_ticks = tr2_clock_ticks(LONG_MS * UINT64_C(1000000));

	if ((tr2_clock_raw() - tr2_clock_start() >= while_ticks || is_turn()) && may_open_files())
		tr2_leftover_collect(LAST_LEFTOVERS);
}

/* In a forked child. */
static void look_in_child(void)
{
	tr2_leftover_reset();
	if (is_turn() && may_open_files())
		tr2_leftover_collect(LEFTOVERS);
}

/* ---- around fork() ------------------------------------------------------------------------------ */

/*
 * Set around fork(), which leaves the C library in order in the child, so that a thread can be created there; _Fork()
 * and the system call do not, and call no handlers either.
 */
static __thread int g_is_forking __attribute__((tls_model("initial-exec")));   /* the calling thread is in fork() */
static pid_t g_forked;                         /* this process, if it was forked so */

static int is_forked_in_order(void)
{
	return g_is_forking || g_forked == tr2_sys_getpid();
}

static void before_fork(void)
{
	g_is_forking = 1;
	if (!tr2_is_enabled() && !tr2_late_has_paused())
		return;
	tr2_mask_note_handlers();
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
	int is_steered = tr2_page_is_inherited();

	g_is_forking = 0;
	if (!tr2_is_enabled() && !is_steered)
		return;   /* the child is not traced either; and a sandbox may forbid system calls */
	g_forked = tr2_sys_getpid();
	tr2_late_begin_child();
	if (tr2_g_shm.head) {
		tr2_drain_after_fork_child();
		tr2_thread_wipe();
	}
	if (is_steered && (!tr2_is_enabled() || !tr2_g_shm.head)) {
		tr2_page_forget();
		tr2_wake_start_dormant();   /* nothing is recorded here, with which it could start */
		look_in_child();
	}
}

void tr2_session_watch_forks(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* ---- in a forked child -------------------------------------------------------------------------- */

/* By one thread of the child, before its first event. */
static void begin_in_child(void)
{
	const struct tr2_shm parent = tr2_g_shm;

	tr2_store_rlx(&g_forks, tr2_session_forks() + 1); /* relaxed: as in tr2_session_forks() */
	tr2_shm_forget();
	if (!tr2_dormant_is())
		tr2_page_forget();
	tr2_detach_reset();
	tr2_drain_reset();
	tr2_wake_reset(is_forked_in_order());
	tr2_missing_reset();
	tr2_young_reset();
	tr2_snapshot_reset();
	if (!parent.head || set_up(&parent))   /* no head: another fork has interrupted this here */
		tr2_set_enabled(0);
	else
		tr2_thread_ready();
	if (tr2_g_shm.head)
		tr2_dormant_session();
	look_in_child();
}

/* Another thread of the child begins its session.  Return  0: it cannot, or needs too long */
static int await_session(void)
{
	for (int i = 0; i < 10000 && tr2_is_forked_child() && tr2_is_enabled(); i++)
		tr2_sys_sleep(100000);
	return !tr2_is_forked_child();
}

/* The first thread that records begins the child's session.  The thread that forked goes on as the parent's thread. */
static void leave_parent(uint64_t mask)
{
	TR2_LARGE static uint64_t enters[TR2_REPEATED_REGIONS];   /* of the one thread that has forked */
	const struct tr2_thread *parent = tr2_self;
	unsigned open = parent ? tr2_drain_open_regions(parent, enters) : 0;

	tr2_self = NULL;   /* from here on nothing of the parent's can be written to, whatever fails */
	tr2_hot_v1 = NULL;
	if (tr2_is_forked_child() && tr2_thread_claim()) {
		begin_in_child();
		if (tr2_g_shm.head && tr2_wake_is_for_all())
			tr2_wake_wanted(mask);
	}
	if (await_session() && parent && tr2_thread_inherit(parent, enters, open)) {
		tr2_missing_mind(tr2_self);
		tr2_wake_now();
	}
}

int tr2_session_ensure_masked(uint64_t mask)
{
	if (tr2_mask_is_of_library(mask) || !tr2_late_ensure(mask))
		return 0;
	if (!tr2_thread_has_self() && (tr2_self || tr2_is_forked_child()))
		leave_parent(mask);
	if (tr2_is_forked_child() || !tr2_g_shm.head)   /* in this order: another thread may be setting it up */
		return 0;
	if (tr2_is_detached())
		tr2_exec_failed();
	return 1;
}

int tr2_session_ensure(void)
{
	uint64_t mask;
	int saved = errno, is_traced;

	if (tr2_thread_has_self() && !tr2_is_detached())
		return 1;
	if (tr2_mask_is_inside())
		return 0;
	tr2_mask_all(&mask);
	is_traced = tr2_session_ensure_masked(mask);
	tr2_mask_restore(&mask);
	errno = saved;
	return is_traced;
}
