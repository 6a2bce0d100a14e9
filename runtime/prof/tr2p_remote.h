/* SPDX-License-Identifier: MIT */
/*
 * tr2p_remote.h - a signal from outside asks where all threads are: `t2 stacks'.
 *
 * Whichever thread gets it asks all others, and takes its own sample; nobody waits.  So a process answers that hangs:
 * its main thread in a loop, or all of them in locks.  Samples go into the trace, and not into the totals of the
 * process, which belong to who called trace2_prof_write_to().  The ring file says which signal it is; and so does, for
 * forked children that have recorded nothing yet, a page that they inherit, by its name in /proc/PID/maps.
 *
 * The signal is the program's if it wants it: then nothing is asked by it any more.  Until then the program is told
 * that it has its default, as without us: a program may know its own handlers only, and set again what it was told.
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
