/* SPDX-License-Identifier: MIT */
/* tr2p_wall.c - the wall clock's thread, and how it is started and stopped; see tr2p_wall.h. */
#include "tr2p_wall.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2p_create.h"
#include "tr2p_look.h"
#include "tr2p_sandbox.h"
#include "tr2p_seen.h"
#include "tr2p_settings.h"
#include "tr2p_timers.h"
#include "tr2p_unload.h"
#include "base/tr2_atomic.h"

/* As in base/tr2_sys.c: the call that takes a struct timespec as it is compiled here. */
#ifdef SYS_futex_time64
#define FUTEX_NUMBER SYS_futex_time64
#else
#define FUTEX_NUMBER SYS_futex
#endif

enum { AT_ONCE = 32, STACK_BYTES = 256 << 10 };
static const uint64_t SECOND = 1000000000;

static struct wall {
	uint64_t period_ns;                   /* 0: the clock does not run */
	uint64_t grid_ns;                     /* the same as the thread began; it stays when the clock is stopped */
	pthread_t thread;
	int has_thread, is_joined;            /* it is to be joined; somebody does */
	uint32_t generation;                  /* another one than it began with: it is to end.  It sleeps on that */
	int is_idle;                          /* it has ended with the last thread of the program: it comes back */
	pid_t tid;                            /* of the thread, once it runs */
} g_wall;

static uint64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t period_now(void)
{
	return tr2_load_rlx(&g_wall.period_ns); /* relaxed: a number by itself */
}

int64_t tr2p_wall_claim(const void *cookie, uint64_t *period_ns)
{
	*period_ns = period_now();
	return tr2p_seen_claim(cookie, *period_ns != 0);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static int is_over(uint32_t generation)
{
	/* relaxed: it changes under the lock, or only ends a sleep */
	return tr2_load_rlx(&g_wall.generation) != generation;
}

/*
 * Threads that begin, end or fork need the lock: it is held for some at a time, and not while they are looked at.
 * Return  0: there is none left
 */
static int look_at_all(uint64_t now_ns, uint32_t generation)
{
	static struct tr2p_look looks[AT_ONCE];       /* the thread's */
	static unsigned whose[AT_ONCE];
	unsigned alive = 0, next = 0, n;

	while (next != UINT32_MAX) {
		tr2p_timers_lock();
		n = is_over(generation) ? 0 : tr2p_seen_collect(&next, now_ns, looks, whose, AT_ONCE, &alive);
		next = is_over(generation) ? UINT32_MAX : next;
		tr2p_timers_unlock();
		tr2p_look_at(looks, n);
		tr2p_timers_lock();
		for (unsigned i = 0; i < n && !is_over(generation); i++)
			tr2p_seen_take(whose[i], &looks[i]);
		tr2p_timers_unlock();
	}
	return alive > 0 || is_over(generation);
}

static void sleep_until(uint64_t ns, uint32_t generation)
{
	const struct timespec until = { (time_t)(ns / SECOND), (long)(ns % SECOND) };

	syscall(FUTEX_NUMBER, &g_wall.generation, FUTEX_WAIT_BITSET_PRIVATE, generation, &until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

/*
 * Points of the grid that have passed get one look, which stands for all.  If all threads that it knows have ended,
 * though nobody has seen them do so, it ends: the process would stay for it.
 */
static void *run(void *data)
{
	const uint32_t generation = (uint32_t)(uintptr_t)data;
	const uint64_t period = g_wall.grid_ns;
	uint64_t next = read_clock() + tr2p_random() % period, now;

	tr2p_enter();                         /* for good: nothing of this is in a profile */
	tr2_store_rlx(&g_wall.tid, (pid_t)syscall(SYS_gettid)); /* relaxed: read once it is joined */
	prctl(PR_SET_NAME, TR2P_WALL_COMM);
	if (!tr2p_sandbox_has_filter())
		syscall(SYS_unshare, CLONE_FS);       /* setns(2) refuses those who share that */
	while (!is_over(generation)) {
		sleep_until(next, generation);
		now = read_clock();
		if (now < next)
			continue;
		next += (now - next) / period * period;
		if (!look_at_all(next, generation))
			break;
		next += period;
	}
	tr2p_look_end();
	return NULL;
}

/* Signals are blocked but for SIGSYS, see tr2p_signal_fill(), and the C library's own, which it lets nobody block. */
static int create_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error = g_wall.has_thread ? EAGAIN : pthread_attr_init(&attributes);

	if (error)
		return error;
	g_wall.grid_ns = period_now();
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* relaxed: it changes under the lock */
	error = tr2p_create_own(&g_wall.thread, &attributes, run, (void *)(uintptr_t)tr2_load_rlx(&g_wall.generation));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	g_wall.has_thread = !error;
	g_wall.is_idle = 0;
	return error;
}

static void end_thread(void)
{
	tr2_add_rlx(&g_wall.generation, 1); /* relaxed: as in is_over() */
	syscall(SYS_futex, &g_wall.generation, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- starting and stopping ------------------------------------------------------------------------- */

void tr2p_wall_set(uint64_t period_ns)
{
	tr2_store_rlx(&g_wall.period_ns, period_ns); /* relaxed: a number by itself */
	tr2p_seen_set_period(period_ns);
}

int tr2p_wall_start(void)
{
	return create_thread();
}

void tr2p_wall_stop(void)
{
	tr2p_seen_flush();
	tr2p_wall_set(0);
	g_wall.is_idle = 0;
	end_thread();
}

void *tr2p_wall_add(pid_t tid)
{
	void *cookie = tr2p_seen_add(tid, read_clock());

	return cookie && g_wall.is_idle && !g_wall.has_thread && create_thread() ? NULL : cookie;
}

/* Joined is not gone: the kernel forgets it a moment later. */
static void wait_until_gone(pid_t tid)
{
	enum { TRIES = 1000, PAUSE_NS = 20000 };
	const struct timespec pause = { 0, PAUSE_NS };

	for (unsigned i = 0; tid && i < TRIES && !syscall(SYS_tgkill, getpid(), tid, 0); i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Threads may have been added since it was idle. */
void tr2p_wall_join(void)
{
	int is_mine;

	tr2p_timers_lock();
	is_mine = g_wall.has_thread && !g_wall.is_joined;
	g_wall.is_joined |= is_mine;
	tr2p_timers_unlock();
	if (!is_mine)
		return;
	tr2p_enter();
	pthread_join(g_wall.thread, NULL);
	tr2p_leave();
	wait_until_gone(tr2_load_rlx(&g_wall.tid)); /* relaxed: it was joined */
	tr2p_timers_lock();
	g_wall.has_thread = g_wall.is_joined = 0;
	if (g_wall.is_idle && tr2p_seen_any())
		create_thread();
	tr2p_timers_unlock();
}

int tr2p_wall_is_idle(void)
{
	if (!g_wall.has_thread || tr2p_seen_any())
		return 0;
	end_thread();
	g_wall.is_idle = 1;
	return 1;
}

int tr2p_wall_begin_child(void)
{
	int error;

	tr2p_seen_begin_child();
	tr2p_look_begin_child();
	tr2p_unload_begin_child();
	g_wall.has_thread = g_wall.is_joined = 0;
	g_wall.is_idle = 0;
	error = period_now() ? create_thread() : 0;
	if (error)
		tr2p_wall_set(0);
	return error;
}

/* The thread has the lock for as long as it takes to count for some threads; this one may have it itself. */
void tr2p_wall_flush(void)
{
	enum { TRIES = 50, PAUSE_NS = 100000 };
	const struct timespec pause = { 0, PAUSE_NS };
	int has_lock;

	if (!period_now())
		return;
	end_thread();
	for (unsigned i = 0; !(has_lock = tr2p_timers_try_lock()) && i < TRIES; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	if (!has_lock)
		return;
	tr2p_seen_flush();
	tr2p_timers_unlock();
}

/* ---- one thread only ------------------------------------------------------------------------------- */

int tr2p_wall_is_on(void)
{
	return period_now() != 0;
}

void tr2p_wall_pause(void)
{
	end_thread();
	tr2p_wall_join();
}

void tr2p_wall_resume(void)
{
	int error;

	tr2p_timers_lock();
	error = period_now() ? create_thread() : 0;
	tr2p_timers_unlock();
	if (error)
		tr2p_warning("the wall clock stops, its thread cannot be created again: ", strerrordesc_np(error));
}
