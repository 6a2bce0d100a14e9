/* SPDX-License-Identifier: MIT */
/* tr2p_alone.c - in front of unshare(), setns() and capset(). */
#include "tr2p_alone.h"

#ifndef TR2_IS_SANITIZED

#include <errno.h>
#include <sched.h>

#include "tr2p_cpu.h"
#include "tr2p_init.h"
#include "tr2p_next.h"
#include "tr2p_signal.h"
#include "tr2p_thread.h"
#include "tr2p_wall.h"
#include "record/tr2_sample.h"

/* A program may bring along an older libtrace2, without these. */
#pragma weak tr2_sample_pause_v1
#pragma weak tr2_sample_resume_v1

/* libc has it, for libcap and libcap-ng, and declares it nowhere. */
int capset(void *header, const void *data);

#define FUNCTIONS(X) X(unshare) X(setns) X(capset)

TR2P_NEXT_TABLE(FUNCTIONS);

static int has_consumer;          /* it has ended for the call */

/* The child of vfork() has our memory, but none of our threads.  Before tr2p_init() no fork minds the lock. */
int tr2p_alone_begin(void)
{
	if (!tr2p_is_ready() || tr2p_is_inside() || tr2_sample_is_inside_v1() || tr2p_signal_is_in_vfork())
		return 0;
	tr2p_cpu_lock();
	has_consumer = tr2_sample_pause_v1 && tr2_sample_resume_v1 && tr2_sample_pause_v1();
	if (!has_consumer && !tr2p_wall_is_on()) {
		tr2p_cpu_unlock();
		return 0;
	}
	tr2p_wall_pause();
	return 1;
}

void tr2p_alone_end(void)
{
	int saved = errno;

	if (has_consumer)
		tr2_sample_resume_v1();
	tr2p_wall_resume();
	tr2p_cpu_unlock();
	errno = saved;
}

TR2P_IN_FRONT int unshare(int flags)
{
	const int alone = CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
	const int is_alone = (flags & alone) != 0 && tr2p_alone_begin();
	const int result = NEXT(unshare)(flags);

	if (is_alone)
		tr2p_alone_end();
	return result;
}

TR2P_IN_FRONT int setns(int fd, int type)
{
	const int is_alone = tr2p_alone_begin(), result = NEXT(setns)(fd, type);

	if (is_alone)
		tr2p_alone_end();
	return result;
}

TR2P_IN_FRONT int capset(void *header, const void *data)
{
	const int is_alone = tr2p_alone_begin(), result = NEXT(capset)(header, data);

	if (is_alone)
		tr2p_alone_end();
	return result;
}

#else
extern int tr2p_alone_is_left_to_sanitizers;
#endif
