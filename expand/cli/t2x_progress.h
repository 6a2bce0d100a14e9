/* SPDX-License-Identifier: MIT */
/*
 * t2x_progress.h - a line on the terminal that says how far t2expand is, of work that takes more than a second.
 *
 * A thread of its own looks ten times a second at how much has been read, so reading costs no more for it.  Messages
 * wait until the line is gone.
 */
#ifndef T2X_PROGRESS_H
#define T2X_PROGRESS_H

#include <stdint.h>

/* Begin; total is how many bytes there are to read, 0: nobody knows.  Only if standard error is a terminal. */
void t2x_progress_start(uint64_t total);

/* Erase the line; any thread, any number of times. */
void t2x_progress_stop(void);

/* What the line says after so many nanoseconds.  Return  to */
char *t2x_progress_put(char *to, unsigned size, uint64_t done, uint64_t total, uint64_t ns);

#endif
