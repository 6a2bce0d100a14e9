/* SPDX-License-Identifier: MIT */
/* tr2p_timers.c - the table of threads that have timers, by their ids. */
#include "tr2p_timers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_mutex.h"
#include "tr2p_quiet.h"
#include "tr2p_settings.h"
#include "tr2p_thread.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { SLOTS = 1024 };

struct owner {
	struct owner *next;               /* in its slot */
	pid_t tid;
	int has[TR2P_CLOCKS];
	timer_t timers[TR2P_CLOCKS];
};

/* Of the one thread that a forked child begins with: there an allocator may be in any state. */
static struct owner g_forked;

static struct timers {
	struct tr2p_mutex lock;           /* of all of this; it never waits for another one */
	struct owner *slots[SLOTS];
	uint64_t period_ns[TR2P_CLOCKS];  /* 0: the clock does not run; looked at without the lock, too */
	void *cookies[TR2P_CLOCKS];
} g_timers = { .lock = TR2P_MUTEX_INIT };

/* ---- one thread ------------------------------------------------------------------------------------ */

/* Of a thread's CPU time, as the kernel numbers these clocks: pthread_getcpuclockid() for any thread. */
static clockid_t find_clock(enum tr2p_clock clock, pid_t tid)
{
	enum { PER_THREAD = 4, SCHEDULED = 2 };

	return clock == TR2P_CLOCK_WALL ? CLOCK_MONOTONIC : (clockid_t)(~(unsigned)tid << 3 | PER_THREAD | SCHEDULED);
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

/*
 * The first tick comes at a random moment of the first period: so that a thread that lives shorter is sampled as often
 * as it should be, and not all threads at once.
 * Return  0 or an error number; 0 too if the thread has ended
 */
static int start_one(struct owner *owner, enum tr2p_clock clock)
{
	uint64_t period = period_of(clock);
	struct itimerspec times = {
		.it_interval = to_timespec(period), .it_value = to_timespec(1 + tr2p_random() % period)
	};
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGPROF;
	event.sigev_value.sival_ptr = g_timers.cookies[clock];
	event.sigev_notify_thread_id = owner->tid;
	if (timer_create(find_clock(clock, owner->tid), &event, &owner->timers[clock]))
		return errno == EINVAL ? 0 : errno;
	owner->has[clock] = 1;
	return timer_settime(owner->timers[clock], 0, &times, NULL) && errno != ESRCH ? errno : 0;
}

static void stop_one(struct owner *owner, enum tr2p_clock clock)
{
	if (owner->has[clock])
		timer_delete(owner->timers[clock]);
	owner->has[clock] = 0;
}

static int is_any_on(void)
{
	return period_of(TR2P_CLOCK_CPU) || period_of(TR2P_CLOCK_WALL);
}

/* Start the clocks that run and that the thread does not have yet. */
static int start_all(struct owner *owner)
{
	int error = 0;

	for (unsigned clock = 0; !error && clock < TR2P_CLOCKS; clock++)
		if (period_of(clock) && !owner->has[clock])
			error = start_one(owner, clock);
	return error;
}

static int begin(pid_t tid)
{
	struct owner **at = find_owner(tid);

	if (!is_any_on())
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
	*at = owner->next;
	if (owner != &g_forked)
		free(owner);
}

/* ---- all threads ----------------------------------------------------------------------------------- */

/* libtrace2's thread, which blocks all signals, gets none. */
static int is_of_libtrace2(int tasks, const char *tid)
{
	static const char comm[] = "trace2-drain\n";
	char path[64], name[32];
	size_t n = strnlen(tid, sizeof(path) - sizeof("/comm"));
	ssize_t got;
	int fd;

	memcpy(path, tid, n);
	memcpy(path + n, "/comm", sizeof("/comm"));
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, name, sizeof(name));
	if (fd >= 0)
		close(fd);
	return got == sizeof(comm) - 1 && !memcmp(name, comm, sizeof(comm) - 1);
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
		if (tid > 0 && !is_of_libtrace2(dirfd(tasks), entry->d_name))
			error = begin(tid);
	}
	closedir(tasks);
	return error;
}

static void set_period(enum tr2p_clock clock, uint64_t period_ns)
{
	tr2_store_rlx(&g_timers.period_ns[clock], period_ns); /* relaxed: as in period_of() */
	if (clock == TR2P_CLOCK_WALL)
		tr2_store_rlx(&tr2p_g_wall, period_ns != 0); /* relaxed: a flag by itself */
}

static void stop_all(enum tr2p_clock clock)
{
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

int tr2p_timers_start(enum tr2p_clock clock, uint64_t period_ns, void *cookie)
{
	int error;

	tr2p_timers_lock();
	set_period(clock, period_ns);
	g_timers.cookies[clock] = cookie;
	error = begin_all();
	if (error)
		stop_all(clock);
	tr2p_timers_unlock();
	return error;
}

void tr2p_timers_stop(enum tr2p_clock clock)
{
	tr2p_timers_lock();
	stop_all(clock);
	tr2p_timers_unlock();
}

void tr2p_timers_unblock_ticks(void)
{
	sigset_t ticks;

	if (!is_any_on())
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
	error = begin(gettid());
	tr2p_timers_unlock();
	if (error && !tr2_exchange_rlx(&is_reported, 1)) /* relaxed: once */
		tr2p_warning("no timer for a thread, and perhaps others, of which no tick comes: ",
			     strerrordesc_np(error));
}

void tr2p_timers_end_thread(void)
{
	tr2p_timers_lock();
	end(gettid());
	tr2p_timers_unlock();
}

void tr2p_timers_begin_child(void)
{
	memset(g_timers.slots, 0, sizeof(g_timers.slots));   /* not freed: see g_forked */
	g_forked = (struct owner){ .tid = gettid() };
	*find_owner(g_forked.tid) = &g_forked;
	start_all(&g_forked);
	tr2p_timers_unlock();
}
