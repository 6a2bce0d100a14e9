/* SPDX-License-Identifier: MIT */
/*
 * tr2p_sandbox.h - programs that forbid themselves system calls: the profiler ends in time.
 *
 * After prctl(PR_SET_SECCOMP) a process may be ended for any call that its sandbox does not know, such as those that we
 * make in a handler, when memory fills, and at the end.  So tr2p_sandbox.c stands in front of prctl() and of syscall(),
 * by which libseccomp does it.  Where a filter lets or refuses our calls we go on.  Else, and in strict mode, the trace
 * is ended before the sandbox begins: no clock runs any more, nothing is sampled in any thread, and nothing in the
 * process, nor in those that it forks, calls the system for us.
 *
 * Not seen is who calls the kernel without libc, and what a process was started with.
 */
#ifndef TR2P_SANDBOX_H
#define TR2P_SANDBOX_H

#include "base/tr2_atomic.h"

/* Nothing is to be sampled or started any more.  Written by tr2p_sandbox.c */
extern int tr2p_g_is_closed;

static inline int tr2p_sandbox_is_closed(void)
{
	return tr2_load_rlx(&tr2p_g_is_closed); /* relaxed: a flag by itself */
}

/*
 * 1: the process was started under a filter, or has got one since that we have seen: what the filter does to a rare
 * call is not known.
 * Signal safe    Cost  a load
 */
int tr2p_sandbox_has_filter(void);

/* With the first profile: whether there is a filter already. */
void tr2p_sandbox_init(void);

/*
 * The environment for a program that is to be executed; in a closed process without what starts the profiler.
 * room  for as many pointers as the environment has, and one more; or NULL if the process is not closed
 */
char *const *tr2p_sandbox_environment(char *const *environment, char **room);

#endif
