/* SPDX-License-Identifier: MIT */
/* tr2p_timers.c - the table of threads that have timers, by their ids. */
#include "tr2p_timers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_kernel.h"
#include "tr2p_mutex.h"
#include "tr2p_sandbox.h"
#include "tr2p_settings.h"
#include "tr2p_tasks.h"
#include "tr2p_thread.h"
#include "tr2p_wall.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { SLOTS = 1024 };

struct owner {
	struct owner *next;               /* in its slot */
	pid_t tid;
	int has[TR2P_CLOCKS];
	timer_t timers[TR2P_CLOCKS];
	void *seen;                       /* by the wall clock: see tr2p_wall_add() */
};

/* A forked child's first thread uses this one: it cannot allocate, for the allocator may be in any state there. */
static struct owner g_forked;

static struct timers {
	struct tr2p_mutex lock;           /* for all members; its holder acquires no other lock */
	struct owner *slots[SLOTS];
	uint64_t period_ns[TR2P_CLOCKS];  /* 0: the clock does not run; looked at without the lock, too */
	void *cookie;                     /* that ticks of CPU time carry */
	int is_expiry_deferred;           /* what is_expiry_deferred() has found */
} g_timers = { .lock = TR2P_MUTEX_INIT };

/* ---- one thread ------------------------------------------------------------------------------------ */

/*
 * 1: timers of CPU time only expire when a thread returns to user mode, and so interrupt no system call.  x86 does that
 * since Linux 5.9.  A process with a filter does not ask for the version: the filter may forbid uname(2).
 */
static int is_expiry_deferred(void)
{
#if defined(__x86_64__) || defined(__i386__)
	struct utsname system;
	int major = 0, minor = 0;

	return !tr2p_sandbox_has_filter() && !uname(&system) &&
	       sscanf(system.release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 9));
#else
	return 0;
#endif
}

/* Of a thread's CPU time, as the kernel numbers these clocks: pthread_getcpuclockid() for any thread. */
static clockid_t find_clock(enum tr2p_clock clock, pid_t tid)
{
	enum { PER_THREAD = 4, IN_USER_MODE = 1, ALL = 2 };
	const unsigned what = clock == TR2P_CLOCK_WALL && !g_timers.is_expiry_deferred ? IN_USER_MODE : ALL;

	return (clockid_t)(~(unsigned)tid << 3 | PER_THREAD | what);
}

static uint64_t period_of(unsigned clock)
{
	return tr2_load_rlx(&g_timers.period_ns[clock]); /* relaxed: a number by itself; it changes under the lock */
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
}

static struct owner **find_owner(pid_t tid)
{
	struct owner **at = &g_timers.slots[(unsigned)tid % SLOTS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

/* Return  0 or an error number; 0 too, without a timer, if the thread has ended */
static int make_timer(struct owner *owner, enum tr2p_clock clock, void *cookie)
{
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGPROF;
	event.sigev_value.sival_ptr = cookie;
	event.sigev_notify_thread_id = owner->tid;
	if (timer_create(find_clock(clock, owner->tid), &event, &owner->timers[clock]))
		return errno == EINVAL ? 0 : errno;
	owner->has[clock] = 1;
	return 0;
}

/*
 * The first tick comes at a random moment of the first period: so that a thread that lives shorter is sampled as often
 * as it should be, and not all threads at once.
 */
static int start_cpu(struct owner *owner)
{
	const uint64_t period = period_of(TR2P_CLOCK_CPU);
	const struct itimerspec times = {
		.it_interval = to_timespec(period), .it_value = to_timespec(1 + tr2p_random() % period)
	};
	int error = make_timer(owner, TR2P_CLOCK_CPU, g_timers.cookie);

	if (error || !owner->has[TR2P_CLOCK_CPU])
		return error;
	tr2p_kernel_add(owner->tid, period);
	return timer_settime(owner->timers[TR2P_CLOCK_CPU], 0, &times, NULL) && errno != ESRCH ? errno : 0;
}

/* Its timer is set when a tick is due. */
static int start_wall(struct owner *owner)
{
	int error;

	owner->seen = tr2p_wall_add(owner->tid);
	if (!owner->seen)
		return ENOMEM;
	error = make_timer(owner, TR2P_CLOCK_WALL, owner->seen);
	if (owner->has[TR2P_CLOCK_WALL])
		tr2p_wall_set_timer(owner->seen, owner->timers[TR2P_CLOCK_WALL]);
	return error;
}

static void stop_one(struct owner *owner, enum tr2p_clock clock)
{
	if (clock == TR2P_CLOCK_WALL && owner->seen) {
		tr2p_wall_remove(owner->seen);
		owner->seen = NULL;
	}
	if (owner->has[clock])
		timer_delete(owner->timers[clock]);
	if (clock == TR2P_CLOCK_CPU)
		tr2p_kernel_remove(owner->tid);
	owner->has[clock] = 0;
}

int tr2p_timers_are_on(void)
{
	return period_of(TR2P_CLOCK_CPU) || period_of(TR2P_CLOCK_WALL);
}

/* Start the clocks that run and that the thread does not have yet. */
static int start_all(struct owner *owner)
{
	int error = 0;

	if (period_of(TR2P_CLOCK_CPU) && !owner->has[TR2P_CLOCK_CPU])
		error = start_cpu(owner);
	if (!error && period_of(TR2P_CLOCK_WALL) && !owner->seen)
		error = start_wall(owner);
	return error;
}

static int begin(pid_t tid)
{
	struct owner **at = find_owner(tid);

	if (!tr2p_timers_are_on())
		return 0;
	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (!*at)
		return ENOMEM;
	(*at)->tid = tid;
	return start_all(*at);
}

static void end(pid_t tid)
{
	struct owner **at = find_owner(tid), *owner = *at;

	if (!owner)
		return;
	for (unsigned clock = 0; clock < TR2P_CLOCKS; clock++)
		stop_one(owner, clock);
	tr2p_kernel_remove(tid);          /* what a tick read when the clock stopped */
	*at = owner->next;
	if (owner != &g_forked)
		free(owner);
}

/* ---- all threads ----------------------------------------------------------------------------------- */

/* Threads of ours, which block signals, get none. */
static int is_ours(int tasks, const char *tid)
{
	char path[64], name[32] = "";
	size_t n = strnlen(tid, sizeof(path) - sizeof("/comm"));
	int fd;

	memcpy(path, tid, n);
	memcpy(path + n, "/comm", sizeof("/comm"));
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	close(fd);
	name[strcspn(name, "\n")] = '\0';
	return tr2p_tasks_is_ours(name);
}

static int begin_all(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int error = 0;

	if (!tasks)
		return begin(gettid());   /* no /proc here: this one, and those that begin from now on */
	while (!error && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0 && !is_ours(dirfd(tasks), entry->d_name))
			error = begin(tid);
	}
	closedir(tasks);
	return error;
}

static void set_period(enum tr2p_clock clock, uint64_t period_ns)
{
	tr2_store_rlx(&g_timers.period_ns[clock], period_ns); /* relaxed: as in period_of() */
	if (clock == TR2P_CLOCK_WALL)
		tr2p_wall_set(period_ns);
}

static void stop_all(enum tr2p_clock clock)
{
	if (clock == TR2P_CLOCK_WALL)
		tr2p_wall_stop();
	set_period(clock, 0);
	for (unsigned i = 0; i < SLOTS; i++)
		for (struct owner *owner = g_timers.slots[i]; owner; owner = owner->next)
			stop_one(owner, clock);
}

/* ---- the interface --------------------------------------------------------------------------------- */

void tr2p_timers_lock(void)
{
	tr2p_mutex_lock(&g_timers.lock);
}

void tr2p_timers_unlock(void)
{
	tr2p_mutex_unlock(&g_timers.lock);
}

int tr2p_timers_try_lock(void)
{
	return tr2p_mutex_try_lock(&g_timers.lock);
}

int tr2p_timers_start(enum tr2p_clock clock, uint64_t period_ns, void *cookie)
{
	int error;

	tr2p_timers_lock();
	set_period(clock, period_ns);
	if (clock == TR2P_CLOCK_CPU)
		g_timers.cookie = cookie;
	else
		g_timers.is_expiry_deferred = is_expiry_deferred();
	error = begin_all();
	if (!error && clock == TR2P_CLOCK_WALL)
		error = tr2p_wall_start();
	if (error)
		stop_all(clock);
	tr2p_timers_unlock();
	if (error && clock == TR2P_CLOCK_WALL)
		tr2p_wall_join();
	return error;
}

void tr2p_timers_stop(enum tr2p_clock clock)
{
	tr2p_timers_lock();
	stop_all(clock);
	tr2p_timers_unlock();
	if (clock == TR2P_CLOCK_WALL)
		tr2p_wall_join();
}

void tr2p_timers_unblock_ticks(void)
{
	sigset_t ticks;

	if (!tr2p_timers_are_on())
		return;
	sigemptyset(&ticks);
	sigaddset(&ticks, SIGPROF);
	pthread_sigmask(SIG_UNBLOCK, &ticks, NULL);
}

/* The thread's id may have been that of one that nobody has seen end. */
void tr2p_timers_begin_thread(void)
{
	static int is_reported;
	int error;

	tr2p_timers_lock();
	end(gettid());
	tr2p_wall_begin_thread();
	error = begin(gettid());
	tr2p_timers_unlock();
	if (error && !tr2_exchange_rlx(&is_reported, 1)) /* relaxed: once */
		tr2p_warning("no timer for a thread, and perhaps others, of which no tick comes: ",
			     strerrordesc_np(error));
}

void tr2p_timers_end_thread(void)
{
	int is_last;

	tr2p_timers_lock();
	end(gettid());
	tr2p_wall_end_thread();
	is_last = tr2p_wall_is_idle();
	tr2p_timers_unlock();
	if (is_last)
		tr2p_wall_join();
}

void tr2p_timers_begin_child(void)
{
	int error;

	memset(g_timers.slots, 0, sizeof(g_timers.slots));   /* not freed: see g_forked */
	tr2p_kernel_begin_child();
	g_forked = (struct owner){ .tid = gettid() };
	*find_owner(g_forked.tid) = &g_forked;
	error = tr2p_wall_begin_child();
	start_all(&g_forked);
	tr2p_timers_unlock();
	if (error)
		tr2p_warning("no thread for the wall clock of a forked child: ", strerrordesc_np(error));
}
