/* SPDX-License-Identifier: MIT */
/*
 * tr2p_quiet.h - waits that ticks of the wall clock do not interrupt.
 *
 * Some functions fail with EINTR whenever a handler has run, SA_RESTART or not (signal(7) lists them): poll(),
 * epoll_wait(), nanosleep() and others.  A program that has no handlers need not expect that, and many give up.  So
 * while a thread waits in one of these, and the wall clock runs, SIGPROF is blocked: ticks add up in the timer, and
 * come as one with their weight when the wait is over, with the stack of the wait.
 *
 * The wait is one of many short ones, SLICE_NS long: ticks come in between, so that a thread that waits forever is
 * sampled all the same.  For the program it is one: its own signals come while the kernel waits, and never between, so
 * that what its handlers interrupt fails as ever.
 */
#ifndef TR2P_QUIET_H
#define TR2P_QUIET_H

#include <signal.h>

#include "base/tr2_atomic.h"
#include "tr2p_thread.h"

/* The wall clock runs.  Written by tr2p_timers.c */
extern int tr2p_g_wall;

static inline int tr2p_quiet_is_off(void)
{
	/* relaxed: a flag by itself */
	return __builtin_expect(!tr2_load_rlx(&tr2p_g_wall), 1) || tr2p_is_inside();
}

/* SIGPROF blocked up to the end of the scope, also if the thread is cancelled in it.  For waits without slices */
struct tr2p_quiet {
	int is_on;
	sigset_t before;
};

struct tr2p_quiet tr2p_quiet_begin(void);
void tr2p_quiet_end(const struct tr2p_quiet *quiet);

#define TR2P_QUIET() \
	__attribute__((cleanup(tr2p_quiet_end), unused)) const struct tr2p_quiet quiet_scope = tr2p_quiet_begin()

#endif
