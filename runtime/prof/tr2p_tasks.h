/* SPDX-License-Identifier: MIT */
/*
 * tr2p_tasks.h - the threads of this process, as /proc shows them.
 *
 * Nothing here allocates, and all functions are short, so that signal handlers may call them on a stack of their own.
 *
 * A file that a thread opens first gets the lowest free number, and another thread that has just closed that number may
 * count on it.  So a child looks, made by a clone(2) like that of vfork(): it shares the memory of the process and has
 * descriptors of its own, and the thread waits for it.  Only a program that waits for children with __WALL can see it.
 */
#ifndef TR2P_TASKS_H
#define TR2P_TASKS_H

#include <stddef.h>
#include <sys/types.h>

/* Find out whether such a child works; if not, as under emulators, the thread itself opens files.  Before the rest */
void tr2p_tasks_init(void);

/*
 * Call visit for each thread but the libraries' own, until it returns something else than 0.  It runs in that child,
 * where getpid() and gettid() are not the thread's.
 * Return  what the last call has returned; 0; or an error number: there is no /proc, or no child    Signal safe
 */
int tr2p_tasks_each(int visit(pid_t tid, void *data), void *data);

/* 1: a thread of this name is the library's. */
int tr2p_tasks_is_ours(const char *name);

/* A thread's name: of the calling one, or within visit.  "": it has ended    Signal safe */
void tr2p_tasks_name(pid_t tid, char *name, size_t size);

/*
 * Run something in a child that has this process's memory, but its own copies of descriptors; until it has ended.
 * Return  0; an error number, also if the system gives children no such memory    Thread  any, after tr2p_tasks_init()
 */
int tr2p_tasks_in_child(int run(void *), void *data);

/* 1: the thread blocks the signal, or is a main thread that has ended.  Within visit    Signal safe */
int tr2p_tasks_cannot_answer(pid_t tid, int signal);

#endif
