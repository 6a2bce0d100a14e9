/* SPDX-License-Identifier: MIT */
/*
 * tr2_leave.h - whether the consumer thread has to end for a time; tr2_pause.h says why, and asks for it.
 *
 * The state goes from RUNS to ASKED, by the thread that asks.  From there either the consumer goes on to LEAVES and
 * ends, or, if it does not look in time, the thread that asks goes back to RUNS.
 */
#ifndef TR2_LEAVE_H
#define TR2_LEAVE_H

/* Ask the thread to end.  None starts from here on, until tr2_leave_end() */
void tr2_leave_ask(void);

/* Return  1: the thread has not looked, and stays; 0: it has ended, or will at once */
int tr2_leave_take_back(void);

/* 1: what the thread has noted for itself is seen, also by the next one, which the caller creates. */
int tr2_leave_has_left(void);

/* Threads may start.  Also in a forked child */
void tr2_leave_end(void);

/* 1: no thread is to start.  Signal safe */
int tr2_leave_is(void);

/* 1: the thread has to end now.  Thread  the consumer */
int tr2_leave_now(void);

#endif
