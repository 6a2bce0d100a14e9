/* SPDX-License-Identifier: MIT */
/* tr2p_quiet.c - in front of the functions that any handler interrupts. */
#include "tr2p_quiet.h"

int tr2p_g_wall;

struct tr2p_quiet tr2p_quiet_begin(void)
{
	struct tr2p_quiet quiet = { .is_on = !tr2p_quiet_is_off() };
	sigset_t ticks;

	if (quiet.is_on) {
		sigemptyset(&ticks);
		sigaddset(&ticks, SIGPROF);
		pthread_sigmask(SIG_BLOCK, &ticks, &quiet.before);
	}
	return quiet;
}

void tr2p_quiet_end(const struct tr2p_quiet *quiet)
{
	if (quiet->is_on)
		pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}

/* Where functions with a timeout have two versions, for times of 32 and 64 bits, each program would need its own. */
#if !defined(TR2_IS_SANITIZED) && __SIZEOF_LONG__ == 8
#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/msg.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "tr2p_next.h"
#include "tr2p_signal.h"

enum { SECOND = 1000000000, SLICE_NS = SECOND / 10, SELECT_MAX = 8192 };

/* Of programs that are compiled with _FORTIFY_SOURCE */
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask, size_t bytes);

#define FUNCTIONS(X) \
	X(poll) X(ppoll) X(__poll_chk) X(__ppoll_chk) X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) X(select) \
	X(pselect) X(nanosleep) X(clock_nanosleep) X(usleep) X(sleep) X(thrd_sleep) X(pause) X(sigsuspend) \
	X(semop) X(semtimedop) X(msgsnd) X(msgrcv)

TR2P_NEXT_TABLE(FUNCTIONS);

/* ---- slices ---------------------------------------------------------------------------------------- */

struct wait {
	sigset_t before;          /* the thread's mask */
	sigset_t mask;            /* while it waits: with SIGPROF */
	clockid_t clock;
	int is_endless;
	int64_t end_ns;           /* on that clock */
	struct timespec slice;
};

static int is_time(const struct timespec *time)
{
	return time->tv_sec >= 0 && time->tv_sec < INT_MAX && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

static int64_t to_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec to_time(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

static int64_t left(const struct wait *wait)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(wait->clock, &now);
	ns = wait->end_ns - to_ns(&now);
	return ns > 0 ? ns : 0;
}

/*
 * Between two slices ticks may come, and nothing else: what does would not end the wait.
 * mask     while it waits; NULL: the thread's own
 * timeout  NULL: none
 */
static struct wait begin(const sigset_t *mask, const struct timespec *timeout)
{
	struct wait wait = { .clock = CLOCK_MONOTONIC, .is_endless = !timeout };
	struct timespec now;
	sigset_t between;

	tr2p_signal_fill(&between);
	sigdelset(&between, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &between, &wait.before);
	wait.mask = mask ? *mask : wait.before;
	sigaddset(&wait.mask, SIGPROF);
	if (timeout) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		wait.end_ns = to_ns(&now) + to_ns(timeout);
	}
	return wait;
}

/* Also if the thread is cancelled meanwhile. */
static void end(const struct wait *wait)
{
	int saved = errno;

	pthread_sigmask(SIG_SETMASK, &wait->before, NULL);
	errno = saved;
}

#define WAIT(mask, timeout) __attribute__((cleanup(end))) struct wait wait = begin(mask, timeout)

static const struct timespec *next_slice(struct wait *wait)
{
	int64_t ns = wait->is_endless ? SLICE_NS : left(wait);

	wait->slice = to_time(ns < SLICE_NS ? ns : SLICE_NS);
	return &wait->slice;
}

static int next_slice_ms(struct wait *wait)
{
	return (int)((to_ns(next_slice(wait)) + 999999) / 1000000);
}

/* Nothing has come in this slice, and there is another one. */
static int goes_on(const struct wait *wait, int result)
{
	return !result && (wait->is_endless || left(wait) > 0);
}

static struct timespec of_ms(int ms)
{
	return to_time(ms > 0 ? (int64_t)ms * 1000000 : 0);
}

/* ---- files ----------------------------------------------------------------------------------------- */

static int poll_quietly(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	WAIT(mask, timeout);
	int result;

	do
		result = NEXT(ppoll)(fds, n, next_slice(&wait), &wait.mask);
	while (goes_on(&wait, result));
	return result;
}

TR2P_IN_FRONT int poll(struct pollfd *fds, nfds_t n, int ms)
{
	const struct timespec timeout = of_ms(ms);

	return tr2p_quiet_is_off() || !ms ? NEXT(poll)(fds, n, ms) :
					    poll_quietly(fds, n, ms < 0 ? NULL : &timeout, NULL);
}

TR2P_IN_FRONT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	return tr2p_quiet_is_off() || (timeout && !is_time(timeout)) ? NEXT(ppoll)(fds, n, timeout, mask) :
								       poll_quietly(fds, n, timeout, mask);
}

TR2P_IN_FRONT int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t bytes)
{
	return bytes / sizeof(*fds) < n ? NEXT(__poll_chk)(fds, n, ms, bytes) : poll(fds, n, ms);
}

TR2P_IN_FRONT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
			      size_t bytes)
{
	return bytes / sizeof(*fds) < n ? NEXT(__ppoll_chk)(fds, n, timeout, mask, bytes) :
					  ppoll(fds, n, timeout, mask);
}

static int epoll_quietly(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
			 const sigset_t *mask)
{
	WAIT(mask, timeout);
	int result;

	do
		result = NEXT(epoll_pwait)(fd, events, max, next_slice_ms(&wait), &wait.mask);
	while (goes_on(&wait, result));
	return result;
}

TR2P_IN_FRONT int epoll_pwait(int fd, struct epoll_event *events, int max, int ms, const sigset_t *mask)
{
	const struct timespec timeout = of_ms(ms);

	return tr2p_quiet_is_off() || !ms ? NEXT(epoll_pwait)(fd, events, max, ms, mask) :
					    epoll_quietly(fd, events, max, ms < 0 ? NULL : &timeout, mask);
}

TR2P_IN_FRONT int epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
	return tr2p_quiet_is_off() ? NEXT(epoll_wait)(fd, events, max, ms) : epoll_pwait(fd, events, max, ms, NULL);
}

static int epoll2_quietly(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
			  const sigset_t *mask)
{
	WAIT(mask, timeout);
	int result;

	do
		result = NEXT(epoll_pwait2)(fd, events, max, next_slice(&wait), &wait.mask);
	while (goes_on(&wait, result));
	return result;
}

TR2P_IN_FRONT int epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
			       const sigset_t *mask)
{
	return tr2p_quiet_is_off() || (timeout && !is_time(timeout)) ?
		       NEXT(epoll_pwait2)(fd, events, max, timeout, mask) :
		       epoll2_quietly(fd, events, max, timeout, mask);
}

/*
 * Sets are empty when a slice is over: each begins with what the program has asked for.
 * rest  what is left of the timeout, if not NULL
 */
static int select_quietly(int n, fd_set *const sets[3], const struct timespec *timeout, const sigset_t *mask,
			  struct timespec *rest)
{
	size_t bytes = ((size_t)n + 63) / 64 * 8;
	char *asked = alloca(3 * bytes + 1);
	int result;
	WAIT(mask, timeout);

	for (unsigned i = 0; i < 3; i++)
		if (sets[i])
			memcpy(asked + i * bytes, sets[i], bytes);
	do {
		for (unsigned i = 0; i < 3; i++)
			if (sets[i])
				memcpy(sets[i], asked + i * bytes, bytes);
		result = NEXT(pselect)(n, sets[0], sets[1], sets[2], next_slice(&wait), &wait.mask);
	} while (goes_on(&wait, result));
	if (rest && timeout)
		*rest = to_time(left(&wait));
	return result;
}

TR2P_IN_FRONT int pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
			  const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
	if (tr2p_quiet_is_off() || n < 0 || n > SELECT_MAX || (timeout && !is_time(timeout)))
		return NEXT(pselect)(n, in, out, bad, timeout, mask);
	return select_quietly(n, (fd_set *const[]){ in, out, bad }, timeout, mask, NULL);
}

static int is_timeval(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_sec < INT_MAX && time->tv_usec >= 0 && time->tv_usec < 1000000;
}

/* Linux says in timeout what is left of it. */
TR2P_IN_FRONT int select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
			 struct timeval *restrict timeout)
{
	struct timespec time = { 0, 0 }, rest = { 0, 0 };
	int result;

	if (tr2p_quiet_is_off() || n < 0 || n > SELECT_MAX || (timeout && !is_timeval(timeout)))
		return NEXT(select)(n, in, out, bad, timeout);
	if (timeout)
		time = (struct timespec){ timeout->tv_sec, timeout->tv_usec * 1000 };
	result = select_quietly(n, (fd_set *const[]){ in, out, bad }, timeout ? &time : NULL, NULL, &rest);
	if (timeout)
		*timeout = (struct timeval){ rest.tv_sec, rest.tv_nsec / 1000 };
	return result;
}

/* ---- time ------------------------------------------------------------------------------------------ */

/* clock  NULL: time is from now on.  Return  0 or an error number; then rest, if not NULL, is what is left */
static int sleep_quietly(const struct timespec *time, const clockid_t *clock, struct timespec *rest)
{
	int saved = errno, result;
	WAIT(NULL, time);

	if (clock) {
		wait.clock = *clock;
		wait.end_ns = to_ns(time);
	}
	do
		result = NEXT(ppoll)(NULL, 0, next_slice(&wait), &wait.mask);
	while (goes_on(&wait, result));
	if (!result)
		return 0;
	if (rest)
		*rest = to_time(left(&wait));
	result = errno;
	errno = saved;
	return result;
}

TR2P_IN_FRONT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	const int is_absolute = flags & TIMER_ABSTIME;

	if (tr2p_quiet_is_off() || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !time || !is_time(time))
		return NEXT(clock_nanosleep)(clock, flags, time, rest);
	return sleep_quietly(time, is_absolute ? &clock : NULL, is_absolute ? NULL : rest);
}

TR2P_IN_FRONT int nanosleep(const struct timespec *time, struct timespec *rest)
{
	int error;

	if (tr2p_quiet_is_off() || !time || !is_time(time))
		return NEXT(nanosleep)(time, rest);
	error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
	if (error)
		errno = error;
	return error ? -1 : 0;
}

TR2P_IN_FRONT int usleep(useconds_t us)
{
	const struct timespec time = to_time((int64_t)us * 1000);

	return tr2p_quiet_is_off() ? NEXT(usleep)(us) : nanosleep(&time, NULL);
}

TR2P_IN_FRONT unsigned sleep(unsigned seconds)
{
	struct timespec time = { .tv_sec = seconds }, rest = { 0, 0 };

	if (tr2p_quiet_is_off() || !is_time(&time))
		return NEXT(sleep)(seconds);
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &rest) ? (unsigned)rest.tv_sec : 0;
}

TR2P_IN_FRONT int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
	int error;

	if (tr2p_quiet_is_off() || !time || !is_time(time))
		return NEXT(thrd_sleep)(time, rest);
	error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
	return error == EINTR ? -1 : error ? -2 : 0;
}

/* ---- signals --------------------------------------------------------------------------------------- */

TR2P_IN_FRONT int sigsuspend(const sigset_t *mask)
{
	return tr2p_quiet_is_off() ? NEXT(sigsuspend)(mask) : poll_quietly(NULL, 0, NULL, mask);
}

TR2P_IN_FRONT int pause(void)
{
	return tr2p_quiet_is_off() ? NEXT(pause)() : poll_quietly(NULL, 0, NULL, NULL);
}

/* ---- System V -------------------------------------------------------------------------------------- */

TR2P_IN_FRONT int semop(int id, struct sembuf *operations, size_t n)
{
	TR2P_QUIET();
	return NEXT(semop)(id, operations, n);
}

TR2P_IN_FRONT int semtimedop(int id, struct sembuf *operations, size_t n, const struct timespec *timeout)
{
	TR2P_QUIET();
	return NEXT(semtimedop)(id, operations, n, timeout);
}

TR2P_IN_FRONT int msgsnd(int id, const void *message, size_t bytes, int flags)
{
	TR2P_QUIET();
	return NEXT(msgsnd)(id, message, bytes, flags);
}

TR2P_IN_FRONT ssize_t msgrcv(int id, void *message, size_t bytes, long type, int flags)
{
	TR2P_QUIET();
	return NEXT(msgrcv)(id, message, bytes, type, flags);
}
#endif
