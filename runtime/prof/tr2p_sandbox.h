/* SPDX-License-Identifier: MIT */
/*
 * tr2p_sandbox.h - programs that forbid themselves system calls: the profiler ends in time.
 *
 * After prctl(PR_SET_SECCOMP) a process may be ended for any call that its sandbox does not know, such as those that
 * the profiler makes in a handler, when memory fills, and at the end.  So tr2p_sandbox.c intercepts prctl() and
 * syscall(), which libseccomp uses.  If a filter allows or refuses the profiler's calls, profiling goes on.  Otherwise,
 * and in strict mode, the profiler ends the trace before the sandbox begins: no clock runs any more, no thread is
 * sampled, and neither the process nor its children make a system call for the profiler.
 *
 * It does not notice a program that calls the kernel without libc, nor a filter that a process was started with.
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
 * 1: the process was started under a filter, or has installed one that the profiler knows: what that does to a rare
 * call is unknown.
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
