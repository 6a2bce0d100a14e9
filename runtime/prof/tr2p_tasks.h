/* SPDX-License-Identifier: MIT */
/*
 * tr2p_tasks.h - the threads of this process, as /proc shows them.
 *
 * Nothing allocates and nothing is long: also for signal handlers, on a stack of their own.
 */
#ifndef TR2P_TASKS_H
#define TR2P_TASKS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Call visit for each, but for libtrace2's own, until it does not return 0.
 * Return  what the last call did; 0; or an error number: there is no /proc    Signal safe
 */
int tr2p_tasks_each(int visit(pid_t tid, void *data), void *data);

/* A thread's name.  "": it has ended    Signal safe */
void tr2p_tasks_name(pid_t tid, char *name, size_t size);

/* 1: it would not answer a signal: it blocks it, or is a main thread that has ended.  Signal safe */
int tr2p_tasks_is_deaf(pid_t tid, int signal);

#endif
