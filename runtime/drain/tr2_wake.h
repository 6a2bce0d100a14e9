/* SPDX-License-Identifier: MIT */
/*
 * tr2_wake.h - the drain's thread, the consumer: when it starts, how long it sleeps.
 */
#ifndef TR2_WAKE_H
#define TR2_WAKE_H

#include <stdint.h>

/*
 * A ring has opened a chunk, or could not: start the thread if it is safe to, wake it if it sleeps long.
 * mask  the calling thread's signal mask before tracing blocked all    Signal safe
 */
void tr2_wake_wanted(uint64_t mask);

/* A recording thread has opened a chunk: as above, but a short sleep is ended only by a few of them. */
void tr2_wake_opened(uint64_t mask);

/*
 * Start the thread, if it does not run, the settings let it, and the system does: if not, that is tried again after a
 * second at the earliest.  Signal unsafe    Errno kept
 */
void tr2_wake_start(void);

/* Called from ordinary code: a good moment to start the thread, if one is wanted.  Signal unsafe */
void tr2_wake_if_wanted(void);

/* 1 while the thread is wanted and does not run: see tr2_missing.h.  Signal safe */
int tr2_wake_is_missing(void);

/* How long the thread sleeps at most, in ms: half of what the settings let an event wait. */
unsigned tr2_wake_longest_ms(void);

/* The thread, if it runs, looks at the rings now.  Signal safe */
void tr2_wake_now(void);

/*
 * Have the thread write everything and close, as tr2_drain_finish().  The thread must run.  Signal safe
 * Blocks  while it makes progress, else for a second
 */
void tr2_wake_finish(unsigned reason);

/*
 * Wait until the thread is gone, after tracing has been switched off and all was written: from then on no thread of
 * ours calls the system.
 * Blocks  for 1 ms, at most a second or two    Errno kept
 */
void tr2_wake_await_end(void);

/*
 * Another process is about to start, and may write to the same destinations: write what the live text outputs have so
 * far, so that its lines come behind.  That takes stack: where a signal handler may be running, the thread is asked to
 * do it; without the thread a handler on a stack of its own leaves it.  Without live text outputs nothing is done.
 * Blocks  as tr2_drain_flush(), or as tr2_wake_finish()    Signal safe    Errno kept    Cost  5 us, and the write
 */
void tr2_wake_show(void);

/*
 * The thread is to run on the processors that the calling thread may use now, whoever starts it.  Without this
 * call, and on machines with more than 1024 processors, it runs where its starter does.
 */
void tr2_wake_init(void);

/*
 * 1 if every process that records is to have the thread, from its first event on: by the settings, or for those who
 * look on (text), or ask from outside (flight recorder).
 */
int tr2_wake_is_for_all(void);

/* 1 while the thread runs; 0 in a forked child that has not begun its session. */
int tr2_wake_is_running(void);

/* 1: beside the calling thread and this one no thread runs in the process.  0 also where /proc is not mounted.  2 us */
int tr2_wake_is_alone(void);

/* 1 if somebody has wanted it before it was there. */
int tr2_wake_is_wanted(void);

/* 1 while it runs, or is just being started. */
int tr2_wake_is_coming(void);

/* In a forked child: there is no thread.  may_start  0: nor must there be one, for the allocator may be in any state */
void tr2_wake_reset(int may_start);

#endif
