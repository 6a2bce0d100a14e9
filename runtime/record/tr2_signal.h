/* SPDX-License-Identifier: MIT */
/*
 * tr2_signal.h - the `signal` event, which is recorded before a signal ends the process.
 *
 * The library catches only signals with their default action.  Its handler records the event, writes everything, and
 * then lets the signal end the process.  A handler that the program installs, before or after, stays.
 *
 * A signal that requests a snapshot of the flight recorder does not end the process, unless it is a fault.
 */
#ifndef TR2_SIGNAL_H
#define TR2_SIGNAL_H

/*
 * Catch SIGPIPE, as git does, and the signals that PREFIX_SIGNALS lists: "TERM,INT", "15".  Hook those of
 * PREFIX_RAW_SNAPSHOT.  Signal unsafe
 */
void tr2_signal_init(void);

/* Catch a signal.  Return  0; -1: it ends no process, or has another action    Signal safe */
int tr2_signal_catch(int signo);

#endif
