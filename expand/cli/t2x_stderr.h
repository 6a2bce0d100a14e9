/* SPDX-License-Identifier: MIT */
/*
 * t2x_stderr.h - messages that wait while something else has the terminal: a pager, a progress bar.
 *
 * What is written to standard error meanwhile goes to a file without a name, and to the terminal when it is free, also
 * if a signal ends the program.  Not for SIGKILL: then it is lost.
 */
#ifndef T2X_STDERR_H
#define T2X_STDERR_H

/*
 * Hold back what is written to standard error, if that is a terminal.  A signal that ends the program calls at_signal
 * first, which must be async-signal-safe, and returns the exit status; -1: the signal ends the program all the same.
 */
void t2x_stderr_hold(int (*at_signal)(int signal));

/* Print what was held back, and restore the actions of the signals. */
void t2x_stderr_release(void);

/* The terminal, for a message that must not wait.  Standard error itself, if nothing is held back. */
int t2x_stderr_fd(void);

#endif
