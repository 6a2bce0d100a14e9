/* SPDX-License-Identifier: MIT */
/*
 * tr2_wake.c - starting the drain's thread and putting it to sleep.
 *
 * The thread starts when the process is no longer young (tr2_young.h), when a ring needs another chunk, or, by the
 * settings, with tracing, so that nothing that the program does later keeps it from starting.  Creating a thread
 * allocates memory, and a handler may have interrupted the allocator: so none may be running.  Servers fork with all
 * signals blocked and record before they open them: then every call looks whether it can start now (tr2_missing.h).
 */
#include "tr2_wake.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "tr2_collect.h"
#include "tr2_dormant.h"
#include "tr2_drain.h"
#include "tr2_leave.h"
#include "tr2_lock.h"
#include "tr2_overwrite.h"
#include "tr2_recovery.h"
#include "tr2_trigger.h"
#include "base/tr2_atomic.h"
#include "base/tr2_clock.h"
#include "base/tr2_fd.h"
#include "base/tr2_futex.h"
#include "base/tr2_mask.h"
#include "base/tr2_progress.h"
#include "base/tr2_sandbox.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "ctl/tr2_page.h"
#include "output/tr2_sink.h"
#include "ring/tr2_shm.h"
#include "ring/tr2_thread.h"
#include "settings/tr2_env.h"

enum {
	SHORTEST_MS = 8,          /* sleeps: the first one, and while memory is short */
	LONGEST_MS = 256,
	LONGEST_TEXT_MS = 64,     /* while somebody may look on */
	PARK_MS = 2,              /* until a position that was parked is, or has been taken back */
	BATCH_CHUNKS = 16,        /* opened by all threads: worth a pass, and small enough to stay in the caches */
	BATCHES = 64,             /* that the memory of all threads has room for */
	BATCHES_OF_ONE = 4,       /* that of one thread, where that has a bound */
	STEERED_MS = 60000,       /* with a control page, which somebody may misuse to lose a call */
	STACK_BYTES = 256 * 1024,
	REFUSED_NS = 1000000000,  /* before the system is asked again */
	FINISHED = UINT32_C(1) << 30,
};

/* How the thread is: awake, or asleep until BATCH_CHUNKS or the time is over, or until anything is recorded. */
enum { AWAKE, DOZES, SLEEPS };

static struct wake {
	int wanted, running;
	pid_t tid;                /* of the thread; 0: none has begun */
	uint32_t starting;        /* [M29] a thread is creating it */
	uint32_t finish;          /* the reason for which it shall finish, then FINISHED; 0: it shall not */
	uint32_t calls;           /* for the thread, so far: the futex that it sleeps on, without a control page */
	uint32_t sleep;           /* [M16] how it is */
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
	g_has_affinity = !tr2_sys_getaffinity(&g_affinity);
}

int tr2_wake_is_for_all(void)
{
	return tr2_g_settings.thread == TR2_THREAD_AUTO || tr2_g_settings.thread == TR2_THREAD_INIT ||
	       tr2_sink_has_texts() || tr2_is_flight_recorder();
}

/* All of g_wake is the parent's until a forked child has begun its session, and is reset then: nobody looks at it. */
int tr2_wake_is_running(void)
{
	/* relaxed: a hint; passes are under the drain's lock */
	return !tr2_is_forked_child() && tr2_load_rlx(&g_wake.running);
}

int tr2_wake_is_coming(void)
{
	return tr2_load_rlx(&g_wake.starting) || tr2_wake_is_running(); /* relaxed: as above */
}

int tr2_wake_is_wanted(void)
{
	return (int)tr2_load_rlx(&g_wake.wanted); /* relaxed: a hint */
}

/* A thread that has started in this process, before its session, stays. */
void tr2_wake_reset(int may_start)
{
	tr2_leave_end();
	if (!tr2_dormant_is())
		g_wake = (struct wake){ .may_not = !may_start };
}

/*
 * Sleep until somebody calls since `seen`, at most so long.  ms: 0 without a bound; then a call that is missed here is
 * one that finds the thread asleep, and wakes it: of the two exchanges of g_wake.sleep one sees the other.
 */
static void sleep_for(uint32_t seen, unsigned ms)
{
	const struct timespec timeout = { ms / 1000, (long)(ms % 1000) * 1000000 };
	const uint32_t bell = tr2_page_listen();

	/* [M16] acquire: calls before it.  Pairs with tr2_wake_now() */
	tr2_exchange_acq_rel(&g_wake.sleep, ms && ms < STEERED_MS ? DOZES : SLEEPS);
	tr2_page_wait(bell, &g_wake.calls, seen, ms ? &timeout : NULL);
	tr2_store_rlx(&g_wake.sleep, AWAKE); /* relaxed: the next pass finds what an unseen call has recorded */
}

/* A signal ends the process.  Return  1: there is nothing more to do */
static int finish_if_asked(void)
{
	uint32_t reason = tr2_load_rlx(&g_wake.finish); /* relaxed: what there is to write is in the rings */

	if (reason) {
		tr2_drain_finish(reason);
		tr2_store_rlx(&g_wake.finish, FINISHED); /* relaxed: only says that it is over */
		tr2_futex_wake(&g_wake.finish, 1);
	}
	return reason != 0;
}

static void show_if_asked(void)
{
	uint32_t asked = tr2_load_rlx(&g_wake.asked); /* relaxed: what there is to write is in the rings */

	if (asked == g_wake.shown)
		return;
	tr2_drain_flush();
	tr2_store_rlx(&g_wake.shown, asked); /* relaxed: only says that it is over */
	tr2_futex_wake(&g_wake.shown, INT_MAX);
}

/* ---- sleeping ----------------------------------------------------------------------------------- */

/*
 * A call that records notifies nobody: it writes to its thread's ring alone.  So before the thread sleeps without a
 * bound, it parks the position of each ring that has been read to its end: puts it out of bounds.  The next call then
 * takes the slow path, which puts it back (tr2_ring_unpark()) and wakes the thread.  An add that is under way meanwhile
 * may undo that, for it is not locked: so look again whether all are parked, a millisecond later at the earliest.
 */
static void park_rings(void)
{
	if (tr2_is_flight_recorder() || !tr2_lock_try())
		return;   /* of a flight recorder nothing is read unasked */
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		tr2_ring_park(&thread->reader);
	tr2_lock_release();
}

/* A thread that begins wakes the drain's: rings without an owner do not matter. */
static int is_parked(const struct tr2_thread *thread)
{
	return !tr2_load_rlx(&thread->ring.head->has_owner) || tr2_ring_is_away(&thread->reader); /* relaxed: a hint */
}

/* 1: nothing can be recorded, in no thread, without waking this one; and all that was recorded is written. */
static int are_rings_parked(void)
{
	int are_all = 1;

	if (tr2_is_flight_recorder())
		return !tr2_snapshot_is_requested();
	if (!tr2_lock_try())
		return 0;
	for (struct tr2_thread *thread = tr2_thread_first(); thread && are_all; thread = tr2_thread_next(thread))
		are_all = is_parked(thread);
	are_all &= tr2_collect_has_written();
	tr2_lock_release();
	return are_all;
}

unsigned tr2_wake_longest_ms(void)
{
	unsigned longest = tr2_sink_has_texts() ? LONGEST_TEXT_MS : LONGEST_MS, flush = tr2_g_settings.flush_ms / 2;

	return flush > longest ? longest : flush ? flush : 1;
}

/* Unless the settings want what is recorded to be written sooner. */
static unsigned shortest_ms(void)
{
	return tr2_wake_longest_ms() < SHORTEST_MS ? tr2_wake_longest_ms() : SHORTEST_MS;
}

/*
 * How long to sleep behind a pass: twice as long each time.  Threads that fill their chunks wake the drain when there
 * is a batch, so it does not look for less: what a pass costs in itself is as much as some thousand events.  Behind the
 * longest sleep in which nothing was recorded the rings are parked, and then sleep has no bound.
 * Return  ms; 0: without a bound
 */
static unsigned next_sleep(enum tr2_drain done, int is_called, unsigned before)
{
	static int has_parked;
	const unsigned longest = tr2_wake_longest_ms();
	int had_parked = has_parked;

	has_parked = done == TR2_DRAIN_IDLE && !is_called && (had_parked || before == longest);
	if ((tr2_pool_is_short() && tr2_drain_may_come()) || (!has_parked && !before))
		return shortest_ms();
	if (!has_parked)
		return 2 * before < longest ? 2 * before : longest;
	if (had_parked && are_rings_parked())
		return 0;
	park_rings();
	return had_parked ? longest : PARK_MS;
}

/* ---- the thread --------------------------------------------------------------------------------- */

/* Set up the thread.  Its first sleep comes before that: most short processes end without a pass. */
static void set_up_thread(void)
{
	const struct sched_param ordinary = { .sched_priority = 0 };

	tr2_sys_prctl(PR_SET_NAME, (unsigned long)"trace2-drain");
	tr2_fd_open_no_more();
	if (!tr2_load_rlx(&g_wake.wanted) && !tr2_dormant_is()) /* relaxed: a hint */
		sleep_for(0, shortest_ms());
	if (g_has_affinity)
		tr2_sys_setaffinity(&g_affinity);
	if (tr2_sys_getscheduler() != SCHED_OTHER)
		tr2_sys_setscheduler(SCHED_OTHER, &ordinary);   /* the program's real-time threads go first */
}

/* again: ms until a command has to be looked at, 0: none has.  Return  ms, 0: without a bound */
static unsigned bound_sleep(unsigned ms, unsigned again)
{
	const unsigned bounds[] = { again, tr2_trigger_sleep_ms(), !ms && tr2_page_is_open() ? STEERED_MS : 0 };

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (bounds[i] && (!ms || bounds[i] < ms))
			ms = bounds[i];
	return ms;
}

static void *run(void *unused)
{
	uint32_t before, calls = 0;
	unsigned again, ms = SHORTEST_MS;

	tr2_store_rlx(&g_wake.tid, tr2_sys_gettid()); /* relaxed: a number by itself */
	tr2_store_rlx(&g_wake.running, 1); /* relaxed: as in start_thread(), which may be late */
	tr2_mask_begin_library_thread();
	set_up_thread();
	if (tr2_dormant_is() && !tr2_dormant_await())
		return unused;
	tr2_store_rlx(&tr2_g_shm.head->lacks_thread, 0); /* relaxed: a number by itself */
	tr2_recovery_pid_space();
	for (;;) {
		enum tr2_drain done;
		if (finish_if_asked())
			break;
		show_if_asked();
		if (tr2_leave_now())
			break;
		again = tr2_dormant_serve();
		before = calls;
		calls = tr2_load_rlx(&g_wake.calls); /* relaxed: what was called for before is found by the pass */
		done = tr2_drain_pass(ms > LONGEST_TEXT_MS / 2 ? 0 : tr2_wake_longest_ms());
		if (done == TR2_DRAIN_OVER)
			break;
		if (done == TR2_DRAIN_BEHIND || tr2_collect_is_awaited())
			continue;
		ms = next_sleep(done, calls != before, ms);
		sleep_for(calls, bound_sleep(ms, again));
	}
	return unused;
}

/* The new thread inherits the mask of tr2_mask_all().  Return  an error number */
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
	if (error)
		tr2_store_rlx(&g_wake.wanted, 1); /* relaxed: a hint */
	/* relaxed: other threads than the starting one read it, too */
	if (error && !tr2_load_rlx(&g_wake.is_refused) && tr2_g_settings.dst_debug)
		tr2_warning("cannot start a thread (", tr2_text_error(error), "): recording threads write themselves");
	tr2_store_rlx(&g_wake.refused_at, tr2_clock_raw()); /* relaxed: as above; a stale one is a try more, or less */
	tr2_store_rlx(&g_wake.is_refused, error != 0); /* relaxed: as above */
}

/* 1 if there is no point in trying. */
static int is_not_to_start(void)
{
	if (g_wake.may_not || tr2_g_settings.thread == TR2_THREAD_OFF || !(tr2_shm_is_own() || tr2_dormant_is()))
		return 1;
	return tr2_load_rlx(&g_wake.is_refused) && /* relaxed: as in start_thread(); the next, too */
	       tr2_clock_raw() - tr2_load_rlx(&g_wake.refused_at) < tr2_clock_ticks(REFUSED_NS); /* relaxed: as above */
}

/* In a sandbox that the program has begun the system may end it for a new thread: then there is none, for good. */
static int may_start(void)
{
	if (tr2_wake_is_running() || tr2_leave_is() || is_not_to_start())
		return 0;
	if (tr2_sandbox_has_begun())
		tr2_g_settings.thread = TR2_THREAD_OFF;
	return tr2_g_settings.thread != TR2_THREAD_OFF;
}

/* Others may start it, or ask it to leave, while the caller looks: so it looks again when it keeps others out. */
void tr2_wake_start(void)
{
	int saved = errno;
	uint64_t mask;

	/* [M29] acquire: what the last starter has done.  Pairs with the end */
	if (!may_start() || tr2_exchange_acq_rel(&g_wake.starting, 1))
		return;
	if (may_start()) {
		tr2_mask_all(&mask);
		tr2_page_open();
		start_thread();
		tr2_mask_restore(&mask);
	}
	tr2_store_rel(&g_wake.starting, 0); /* [M29] release: that the thread runs.  Pairs with the beginning */
	errno = saved;
}

void tr2_wake_start_dormant(void)
{
	g_wake = (struct wake){ .may_not = 0 };
	tr2_dormant_begin();
	tr2_wake_start();
}

/* ---- calling it --------------------------------------------------------------------------------- */

void tr2_wake_now(void)
{
	if (!tr2_wake_is_running())
		return;
	tr2_add_rlx(&g_wake.calls, 1); /* relaxed: ordered by the exchange */
	/* [M16] release: the call.  Pairs with sleep_for() */
	if (tr2_exchange_acq_rel(&g_wake.sleep, AWAKE) != AWAKE)
		tr2_page_wake(&g_wake.calls);
}

/* Chunks that are worth a pass: a part of what all threads may have, or one of them. */
static unsigned batch_chunks(void)
{
	const size_t one = tr2_g_settings.ring_bytes / (BATCHES_OF_ONE * TLG_CHUNK_BYTES);
	size_t part = tr2_g_settings.memory_bytes / (BATCHES * TLG_CHUNK_BYTES);

	if (tr2_g_settings.ring_bytes && one < part)
		part = one;
	return part > BATCH_CHUNKS ? BATCH_CHUNKS : part ? (unsigned)part : 1;
}

void tr2_wake_opened(uint64_t mask)
{
	uint32_t calls;

	if (!tr2_wake_is_running()) {
		tr2_wake_wanted(mask);
		return;
	}
	tr2_drain_open_files();
	calls = tr2_add_rlx(&g_wake.calls, 1) + 1; /* relaxed: ordered by what follows */
	/* [M16] release: the call.  Pairs with sleep_for() */
	if (tr2_read_acq_rel(&g_wake.sleep) == SLEEPS || calls % batch_chunks() == 0)
		tr2_wake_now();
}

void tr2_wake_finish(unsigned reason)
{
	struct tr2_timeout timeout = tr2_timeout_begin(TR2_TIMEOUT_TURNS);

	tr2_drain_open_files_now();
	tr2_store_rlx(&g_wake.finish, reason); /* relaxed: as in finish_if_asked() */
	tr2_wake_now();
	/* relaxed: as in finish_if_asked() */
	while (tr2_load_rlx(&g_wake.finish) != FINISHED && tr2_timeout_wait(&timeout, &g_wake.finish, reason))
		;
}

/* As the system knows it: it still calls that when it has done its work. */
static int is_thread_there(void)
{
	pid_t tid = tr2_load_rlx(&g_wake.tid); /* relaxed: as in run() */
	return tr2_wake_is_running() && (!tid || tr2_sys_is_thread(tid));
}

void tr2_wake_await_end(void)
{
	int saved = errno;

	for (int i = 0; i < 5000 && is_thread_there(); i++) {
		tr2_wake_now();
		tr2_dormant_wake();
		tr2_sys_sleep(200000);
	}
	errno = saved;
}

void tr2_wake_has_left(void)
{
	tr2_store_rlx(&g_wake.tid, 0); /* relaxed: as in run() */
	tr2_store_rlx(&g_wake.running, 0); /* relaxed: a hint */
}

/* The directory of threads has a link for each of them, and two of its own. */
int tr2_wake_is_alone(void)
{
	struct stat st;

	return !tr2_sys_stat("/proc/self/task", &st) && st.st_nlink == 3 + (nlink_t)is_thread_there();
}

static void ask_to_show(void)
{
	struct tr2_timeout timeout = tr2_timeout_begin(TR2_TIMEOUT_TURNS);
	uint32_t mine, shown;

	tr2_drain_open_files_now();
	mine = tr2_add_rlx(&g_wake.asked, 1) + 1; /* relaxed: as in show_if_asked() */
	tr2_wake_now();
	do
		shown = tr2_load_rlx(&g_wake.shown); /* relaxed: as above */
	while ((int32_t)(shown - mine) < 0 && tr2_timeout_wait(&timeout, &g_wake.shown, shown));
}

void tr2_wake_show(void)
{
	int saved = errno;

	if (!tr2_sink_has_texts() || tr2_is_flight_recorder() || tr2_is_forked_child())
		return;
	if (tr2_wake_is_running() ? !tr2_mask_may_be_handler(tr2_mask_now()) : !tr2_mask_is_on_own_stack())
		tr2_drain_flush();
	else if (tr2_wake_is_running() && tr2_drain_may_come())
		ask_to_show();
	errno = saved;
}

void tr2_wake_wanted(uint64_t mask)
{
	if (tr2_is_forked_child())
		return;   /* whose session another thread begins, and did not end in time */
	tr2_drain_open_files();
	if (tr2_wake_is_running()) {
		tr2_wake_now();
		return;
	}
	tr2_store_rlx(&g_wake.wanted, 1); /* relaxed: a hint */
	if (!is_not_to_start() && !tr2_mask_may_be_handler(mask))   /* the latter may ask about each signal */
		tr2_wake_start();
}

int tr2_wake_is_missing(void)
{
	/* relaxed: hints */
	return !tr2_is_forked_child() && tr2_load_rlx(&g_wake.wanted) && !tr2_load_rlx(&g_wake.running) &&
	       tr2_g_settings.thread != TR2_THREAD_OFF;
}

void tr2_wake_if_wanted(void)
{
	if (!tr2_is_forked_child() && tr2_load_rlx(&g_wake.wanted)) /* relaxed: a hint */
		tr2_wake_start();
}
