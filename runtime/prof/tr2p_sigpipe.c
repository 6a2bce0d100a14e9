/* SPDX-License-Identifier: MIT */
/* tr2p_sigpipe.c - see tr2p_sigpipe.h. */
#include "tr2p_sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { KERNEL_SET_BYTES = 8 };

void tr2p_sigpipe_hold(struct tr2p_sigpipe *held)
{
	sigset_t pending;

	sigpending(&pending);
	held->was_pending = sigismember(&pending, SIGPIPE);
	sigemptyset(&held->pipe);
	sigaddset(&held->pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &held->pipe, &held->before);
}

/* The kernel's call: libc's is a cancellation point. */
void tr2p_sigpipe_release(const struct tr2p_sigpipe *held, int error)
{
	const struct timespec at_once = { 0, 0 };

	if (error == EPIPE && !held->was_pending)
		while (syscall(SYS_rt_sigtimedwait, &held->pipe, NULL, &at_once, KERNEL_SET_BYTES) < 0 &&
		       errno == EINTR)
			continue;
	pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}
