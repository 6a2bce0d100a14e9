/* SPDX-License-Identifier: MIT */
/*
 * tr2p_sigwait.c - in front of the functions that wait for signals, and take ours along if they wait for all.
 *
 * Ticks and the question where a thread is are answered here, with the stack that waits, and the function waits on.
 * What reads a signalfd of all signals would get ticks: they are left out of its set.
 */
#ifndef TR2_IS_SANITIZED

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

#include "tr2p_ask.h"
#include "tr2p_cpu.h"
#include "tr2p_next.h"
#include "tr2p_wait.h"

#define FUNCTIONS(X) X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(signalfd)

TR2P_NEXT_TABLE(FUNCTIONS);

/* Return  whether to wait on */
static int is_taken(int signo, const siginfo_t *info, const void *caller)
{
	int saved = errno, is_ours;

	if (signo <= 0)
		return 0;
	is_ours = tr2p_cpu_take_waited(info, caller) || tr2p_ask_take_waited(info, caller);
	errno = saved;
	return is_ours;
}

static int wait_for(const sigset_t *set, siginfo_t *info, const void *caller)
{
	siginfo_t one;
	int signo;

	do
		signo = NEXT(sigwaitinfo)(set, &one);
	while (is_taken(signo, &one, caller));
	if (signo > 0 && info)
		*info = one;
	return signo;
}

TR2P_IN_FRONT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return wait_for(set, info, TR2P_CALLER);
}

/* libc's does not return EINTR either. */
TR2P_IN_FRONT int sigwait(const sigset_t *restrict set, int *restrict signo)
{
	int saved = errno, got, error;

	do {
		got = wait_for(set, NULL, TR2P_CALLER);
		error = got < 0 ? errno : 0;
	} while (error == EINTR);
	errno = saved;
	if (!error)
		*signo = got;
	return error;
}

/* See tr2p_lock.c: one function of two versions. */
#if __SIZEOF_LONG__ == 8
/* What is left of a time, that began at start. */
static struct timespec time_left(const struct timespec *time, const struct timespec *start)
{
	enum { SECOND = 1000000000 };
	struct timespec now, left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left.tv_sec = time->tv_sec - (now.tv_sec - start->tv_sec);
	left.tv_nsec = time->tv_nsec - (now.tv_nsec - start->tv_nsec);
	if (left.tv_nsec < 0) {
		left.tv_nsec += SECOND;
		left.tv_sec--;
	} else if (left.tv_nsec >= SECOND) {
		left.tv_nsec -= SECOND;
		left.tv_sec++;
	}
	return left.tv_sec < 0 ? (struct timespec){ 0, 0 } : left;
}

TR2P_IN_FRONT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
			       const struct timespec *restrict time)
{
	struct timespec start, left;
	siginfo_t one;
	int signo;

	if (!time)
		return wait_for(set, info, TR2P_CALLER);
	clock_gettime(CLOCK_MONOTONIC, &start);
	left = *time;
	while (is_taken(signo = NEXT(sigtimedwait)(set, &one, &left), &one, TR2P_CALLER))
		left = time_left(time, &start);
	if (signo > 0 && info)
		*info = one;
	return signo;
}
#endif

/* Nobody can wait for SIGKILL: a set that has it is one of all signals, and not of SIGPROF in particular. */
TR2P_IN_FRONT int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t others;

	if (sigismember(set, SIGKILL) != 1)
		return NEXT(signalfd)(fd, set, flags);
	others = *set;
	sigdelset(&others, SIGPROF);
	return NEXT(signalfd)(fd, &others, flags);
}

#else
extern int tr2p_sigwait_is_left_to_sanitizers;
#endif
