/* SPDX-License-Identifier: MIT */
/*
 * tr2p_remote.h - a signal from another process asks where all threads are: `t2 stacks'.
 *
 * The thread that gets the signal asks all others, and takes its own sample; no thread waits.  So also a process that
 * hangs answers: with its main thread in a loop, or all threads in locks.  The samples go into the trace, and not into
 * the totals of the process, which belong to the callers of trace2_prof_write_to().  The ring file has the number of
 * the signal.  Forked children that have recorded nothing yet inherit a page that shows it by its name in
 * /proc/PID/maps.
 *
 * If the program sets an action for the signal, the signal is the program's, and asks no more.  Until then sigaction()
 * returns the default action to the program, as without the profiler: a program may know its own handlers only, and
 * restore what it has got.
 */
#ifndef TR2P_REMOTE_H
#define TR2P_REMOTE_H

#include <signal.h>
#include <stdint.h>

/*
 * A signal by name or number: USR1, SIGUSR1, 10, RTMIN+1; in capitals.
 * Return  0: it is none that may ask, see tlg_signal.h
 */
int tr2p_remote_parse(const char *name);

/*
 * From now on it asks.
 * Return  0 or an error number; EBUSY: there is a handler for it, it is ignored, or all signals of real time have one
 */
int tr2p_remote_start(int signal);

/* Behind a successful sigaction() of the program's. */
void tr2p_remote_lost(int signal);

/* 1: this action is ours, of a signal that asks.  Signal safe */
int tr2p_remote_is_ours(const struct sigaction *action);

/* In the thread that is asked, see tr2p_ask.h. */
void tr2p_remote_answer(uint32_t question, const void *context, const void *caller);

#endif
