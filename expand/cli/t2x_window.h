/* SPDX-License-Identifier: MIT */
/*
 * t2x_window.h - `t2 record --delay --seconds': a program is recorded from one time to another.
 *
 * The program runs from the first moment to its own end.  Its processes are switched on and off by their control pages
 * (t2x_switch.h).  A process that starts in between is switched within LOOK_MS: what it does before that is recorded as
 * its environment says.
 */
#ifndef T2X_WINDOW_H
#define T2X_WINDOW_H

#include <signal.h>
#include <stdint.h>

#include "t2x_switch.h"

struct t2x_window {
	uint64_t delay_ms, seconds_ms;    /* 0: records from the start; 0: to the end */
	volatile sig_atomic_t *stop;      /* not 0: the user wants it to end; NULL: he cannot say so */
	struct t2x_switch these;
};

/* Switch the processes until the first of them, a pidfd, has ended. */
void t2x_window_run(struct t2x_window *window, int process);

/*
 * The same for a process that was not started here: switch it on, and switch all off at the end, also if the user ends
 * it.  prepare is called behind the delay.
 * Return  0; 1: prepare has returned 0, or memory is short
 */
int t2x_window_attach(struct t2x_window *window, int process, int (*prepare)(void *data), void *data);

/* Return  a pidfd, -1 with errno */
int t2x_window_open(pid_t pid);

#endif
