/* SPDX-License-Identifier: MIT */
/*
 * tr2p_tasks.h - the threads of this process, as /proc shows them.
 *
 * Nothing allocates and nothing is long: also for signal handlers, on a stack of their own.
 *
 * Files that a thread opens have the lowest free number at first, on which another one may count that has just closed
 * it.  So it is a child that looks, by vfork()'s kind of clone(2): it has the memory of the process, but descriptors of
 * its own, and the thread waits for it.  No program sees it, but one that waits for children with __WALL.
 */
#ifndef TR2P_TASKS_H
#define TR2P_TASKS_H

#include <stddef.h>
#include <sys/types.h>

/* Find out whether such a child can be had; else, under emulators, the thread itself opens files.  Before the rest */
void tr2p_tasks_init(void);

/*
 * Call visit for each, but for the libraries' own, until it does not return 0: in that child, where getpid() and
 * gettid() are not the thread's.
 * Return  what the last call did; 0; or an error number: there is no /proc, or no child    Signal safe
 */
int tr2p_tasks_each(int visit(pid_t tid, void *data), void *data);

/* 1: a thread of this name is the library's. */
int tr2p_tasks_is_ours(const char *name);

/* A thread's name: of the calling one, or within visit.  "": it has ended    Signal safe */
void tr2p_tasks_name(pid_t tid, char *name, size_t size);

/* 1: it would not answer a signal: it blocks it, or is a main thread that has ended.  Within visit    Signal safe */
int tr2p_tasks_cannot_answer(pid_t tid, int signal);

#endif
