/* SPDX-License-Identifier: MIT */
/*
 * tr2p_signal_mask.c - in front of the functions that wait with another signal mask.
 *
 * Ticks come while a thread runs in user mode, and no call that waits is interrupted by them.  But where the program
 * blocks all signals they stay pending, and a call that lets signals in for as long as it waits would let them in first
 * of all, and fail with EINTR at once.  So these calls do not let SIGPROF in while a clock runs, unless the program has
 * a handler for it; ticks come when the program unblocks it.
 */
#if !defined(TR2_IS_SANITIZED)

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "tr2p_next.h"
#include "tr2p_signal.h"
#include "tr2p_thread.h"
#include "tr2p_timers.h"

/* Of programs that are compiled with _FORTIFY_SOURCE */
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask, size_t bytes);

#define FUNCTIONS_OF_ANY_TIME(X) X(epoll_pwait) X(sigsuspend)

/* Where functions with a timeout have two versions, for times of 32 and 64 bits, each program would need its own. */
#if __SIZEOF_LONG__ == 8
#define FUNCTIONS(X) FUNCTIONS_OF_ANY_TIME(X) X(ppoll) X(__ppoll_chk) X(pselect) X(epoll_pwait2)
#else
#define FUNCTIONS(X) FUNCTIONS_OF_ANY_TIME(X)
#endif

TR2P_NEXT_TABLE(FUNCTIONS);

/* Return  the mask to wait with, which may be in own */
static const sigset_t *without_ticks(const sigset_t *mask, sigset_t *own)
{
	if (!mask || tr2p_is_inside() || !tr2p_timers_are_on() || tr2p_signal_has_handler(SIGPROF))
		return mask;
	*own = *mask;
	sigaddset(own, SIGPROF);
	return own;
}

TR2P_IN_FRONT int epoll_pwait(int fd, struct epoll_event *events, int max, int ms, const sigset_t *mask)
{
	sigset_t own;

	return NEXT(epoll_pwait)(fd, events, max, ms, without_ticks(mask, &own));
}

TR2P_IN_FRONT int sigsuspend(const sigset_t *mask)
{
	sigset_t own;

	return NEXT(sigsuspend)(without_ticks(mask, &own));
}

#if __SIZEOF_LONG__ == 8
TR2P_IN_FRONT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask)
{
	sigset_t own;

	return NEXT(ppoll)(fds, n, time, without_ticks(mask, &own));
}

TR2P_IN_FRONT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask,
			      size_t bytes)
{
	sigset_t own;

	return NEXT(__ppoll_chk)(fds, n, time, without_ticks(mask, &own), bytes);
}

TR2P_IN_FRONT int pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
			  const struct timespec *restrict time, const sigset_t *restrict mask)
{
	sigset_t own;

	return NEXT(pselect)(n, in, out, bad, time, without_ticks(mask, &own));
}

TR2P_IN_FRONT int epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *time,
			       const sigset_t *mask)
{
	sigset_t own;

	return NEXT(epoll_pwait2)(fd, events, max, time, without_ticks(mask, &own));
}
#endif

#else
extern int tr2p_signal_mask_is_left_to_sanitizers;
#endif
