/* SPDX-License-Identifier: MIT */
/*
 * tr2_wake.h - the drain's thread: when it starts, how long it sleeps.
 */
#ifndef TR2_WAKE_H
#define TR2_WAKE_H

#include <stdint.h>

/*
 * A ring has opened a chunk: start the thread if one is needed and it is safe to, wake it if it sleeps long.
 * mask  the calling thread's signal mask before tracing blocked all    Signal safe
 */
void tr2_wake_chunk_opened(uint64_t mask);

/* Start the thread, if it does not run.  Signal unsafe */
void tr2_wake_start(void);

/* Called from ordinary code: a good moment to start the thread, if one is wanted.  Signal unsafe */
void tr2_wake_if_wanted(void);

/* 1 while the thread runs. */
int tr2_wake_is_running(void);

/*
 * 1 if the code that the calling thread would return to may be a signal handler: a signal that has one is blocked
 * (as it is while its handler runs), or may nest.  mask: the thread's, before tracing blocked all.  Cost  5 us
 */
int tr2_wake_may_be_in_handler(uint64_t mask);

/* In a forked child: there is no thread. */
void tr2_wake_reset(void);

#endif
