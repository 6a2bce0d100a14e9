/* SPDX-License-Identifier: MIT */
/*
 * tr2_signal.h - the `signal` event: what is recorded before a signal ends the process.
 *
 * Only a signal with its default action is taken: it is recorded, everything is written out, then it has its effect.  A
 * program that installs its own handler, before or after, keeps it.
 * The signals that ask the flight recorder for a snapshot end nothing, but for faults, which must.
 */
#ifndef TR2_SIGNAL_H
#define TR2_SIGNAL_H

/*
 * Take SIGPIPE, as git does, and the signals that PREFIX_SIGNALS lists: "TERM,INT", "15".  Hook those of
 * PREFIX_RAW_SNAPSHOT.  Signal unsafe
 */
void tr2_signal_init(void);

/* Take a signal.  0, or -1: it ends no process, or has another action.  Signal safe */
int tr2_signal_catch(int signo);

#endif
