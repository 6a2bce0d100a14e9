/* SPDX-License-Identifier: MIT */
/*
 * tr2_wake.h - the drain's thread, the consumer: when it starts, how long it sleeps.
 */
#ifndef TR2_WAKE_H
#define TR2_WAKE_H

#include <stdint.h>

/*
 * A thread has opened a chunk, or could not.  Start the consumer thread if that is safe; wake it if it sleeps long.
 * mask  the calling thread's signal mask before tracing blocked all    Signal safe
 */
void tr2_wake_wanted(uint64_t mask);

/* A recording thread has opened a chunk: as above, but a short sleep is ended only by a few of them. */
void tr2_wake_opened(uint64_t mask);

/*
 * Start the thread, unless it runs or the settings forbid it.  If the system refuses, the next try comes after a second
 * at the earliest.  Signal unsafe    Errno kept
 */
void tr2_wake_start(void);

/* The caller is no signal handler: start the thread, if one is wanted.  Signal unsafe */
void tr2_wake_if_wanted(void);

/* 1 while the thread is wanted and does not run: see tr2_missing.h.  Signal safe */
int tr2_wake_is_missing(void);

/* How long the thread sleeps at most, in ms: half of what the settings let an event wait. */
unsigned tr2_wake_longest_ms(void);

/* Have the thread, if it runs, look at the rings now.  Signal safe */
void tr2_wake_now(void);

/*
 * Have the thread write everything and close, as tr2_drain_finish().  The thread must run.  Signal safe
 * Blocks  while it makes progress, else for a second
 */
void tr2_wake_finish(unsigned reason);

/*
 * Wait until the thread has ended, after tracing is off and all is written, or when tr2_pause.h asks it to end: then no
 * thread of ours makes system calls.
 * Blocks  for 1 ms, at most a second or two    Errno kept
 */
void tr2_wake_await_end(void);

/* It has ended, for a time (tr2_pause.h): from here on it is missing. */
void tr2_wake_has_left(void);

/*
 * The program starts another process, which may write to the same destinations.  Write what the live text outputs have
 * so far, so that the new process's lines come behind.  Writing needs much stack.  So a possible signal handler asks
 * the thread to write; without a thread, a handler on a stack of its own does nothing.  Nothing is done without live
 * text outputs either.
 * Blocks  as tr2_drain_flush(), or as tr2_wake_finish()    Signal safe    Errno kept    Cost  5 us, and the write
 */
void tr2_wake_show(void);

/*
 * The thread is to run on the processors that the calling thread may use now, whichever thread starts it.  Without this
 * call, and on machines with more than 1024 processors, it runs where the thread that starts it may run.
 */
void tr2_wake_init(void);

/*
 * 1 if every process that records is to have the thread from its first event on: the settings want it; somebody may
 * read the live text; another process may request a snapshot.
 */
int tr2_wake_is_for_all(void);

/* 1 while the thread runs; 0 in a forked child that has not begun its session. */
int tr2_wake_is_running(void);

/* 1: beside the calling thread and this one no thread runs in the process.  0 also where /proc is not mounted.  2 us */
int tr2_wake_is_alone(void);

/* 1 if a call has wanted it before it ran. */
int tr2_wake_is_wanted(void);

/* 1 while it runs, or is just being started. */
int tr2_wake_is_coming(void);

/*
 * A process that is not traced: make a control page and start the thread, which serves it (tr2_dormant.h).
 * Thread  a program's; in a forked child the handler of fork()    Signal unsafe    Errno kept    Cost  30 us
 */
void tr2_wake_start_dormant(void);

/* In a forked child: there is no thread.  may_start  0: nor must there be one, for the allocator may be in any state */
void tr2_wake_reset(int may_start);

#endif
