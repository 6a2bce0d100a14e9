/* SPDX-License-Identifier: MIT */
/*
 * t2x_witness.h - a process that says who else was sent a signal: us alone, or all around us.
 *
 * systemd stops a service by SIGTERM to all of its processes, a shell's `kill %1' and timeout(1) signal a process
 * group.  The program has got this signal, then, and must not get it again from us: for many programs the second one
 * means "at once".  A signal does not tell to whom else it was sent.  So a second child, which is in the same groups
 * as the program and does nothing else, notes what it is sent.
 *
 * The sender may need a moment to reach all, so the question waits for PAUSE_MS.  An answer that comes too late means
 * a signal too many, as without a witness, and never one too few: what the witness got long ago does not count.
 */
#ifndef T2X_WITNESS_H
#define T2X_WITNESS_H

#include <sys/types.h>

/* All signals are blocked.  Without a witness, for there is no process to be had, every signal was for us alone. */
void t2x_witness_start(void);
void t2x_witness_end(void);

/* 1: the sender has sent it to the witness, too.  Signal safe. */
int t2x_witness_has_got(int signal, pid_t sender);

#endif
