/* SPDX-License-Identifier: MIT */
/*
 * tr2p_alone.c - in front of unshare() and setns(): the wall clock's thread is not there meanwhile.
 *
 * A namespace of users can be entered, and memory and handlers be unshared, by a process of one thread only.  Without
 * the profiler the program may be one.  Behind the call the thread comes back, if the kernel lets it.
 */
#ifndef TR2_IS_SANITIZED

#include <errno.h>
#include <sched.h>

#include "tr2p_cpu.h"
#include "tr2p_next.h"
#include "tr2p_signal.h"
#include "tr2p_thread.h"
#include "tr2p_wall.h"

#define FUNCTIONS(X) X(unshare) X(setns)

TR2P_NEXT_TABLE(FUNCTIONS);

/* The child of vfork() has our memory, but none of our threads. */
static int is_clock_here(void)
{
	return !tr2p_is_inside() && tr2p_wall_is_on() && !tr2p_signal_is_in_vfork();
}

/* Nobody starts, stops or forks meanwhile. */
static void begin_alone(void)
{
	tr2p_cpu_lock();
	tr2p_wall_pause();
}

static void end_alone(void)
{
	int saved = errno;

	tr2p_wall_resume();
	tr2p_cpu_unlock();
	errno = saved;
}

TR2P_IN_FRONT int unshare(int flags)
{
	const int alone = CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
	int result;

	if (!(flags & alone) || !is_clock_here())
		return NEXT(unshare)(flags);
	begin_alone();
	result = NEXT(unshare)(flags);
	end_alone();
	return result;
}

TR2P_IN_FRONT int setns(int fd, int type)
{
	int result;

	if (!is_clock_here())
		return NEXT(setns)(fd, type);
	begin_alone();
	result = NEXT(setns)(fd, type);
	end_alone();
	return result;
}

#else
extern int tr2p_alone_is_left_to_sanitizers;
#endif
