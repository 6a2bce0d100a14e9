/* SPDX-License-Identifier: MIT */
/*
 * tr2_young.h - a process that has just begun to record does without the consumer thread.
 *
 * Most processes end within milliseconds and record little.  The thread would be a third of what tracing costs them,
 * and on a busy machine they would not be reaped before it has run.  A young process keeps its events in its ring file,
 * where they outlive it, and writes them when it ends.
 *
 * Youth ends, and the thread starts, with the first of these: a thread opens its second chunk; a second thread records;
 * a call comes when the process is no longer young by the clock.  For the last one the position of the ring is aside
 * while the process is young, so that all calls take the slow path (tr2_ring_set_aside()).  What a process records and
 * then leaves alone stays in the ring file: tlg_ring_file.lacks_thread says so to readers.
 */
#ifndef TR2_YOUNG_H
#define TR2_YOUNG_H

#include <stdint.h>

/*
 * Recording begins.  Not every process may be young: the settings can ask for the thread at once, and so does a
 * destination whose reader waits, or where a write may block.
 * Return  1: the process is young now; 0: it is not, and the caller starts the thread if it is wanted
 */
int tr2_young_begin(void);

/* 1 while it is.  Signal safe */
int tr2_young_is(void);

/* 1 if the clock says that youth is over; only meaningful while tr2_young_is().  Signal safe    Cost  a clock read */
int tr2_young_is_outgrown(void);

/*
 * End it, if it has not ended: the thread starts, or is missing from now on (tr2_missing.h).
 * mask  as in tr2_wake_wanted()    Signal safe
 */
void tr2_young_end(uint64_t mask);

/* The calling thread has a ring: end youth if it is the second one.  mask  as above    Signal safe */
void tr2_young_note_thread(uint64_t mask);

/*
 * A signal is caught.  Its handler may be on a small stack, where only the thread can write live text outputs: so with
 * these no process is young any more.  Signal safe
 */
void tr2_young_note_signal(void);

/*
 * In a forked child: it is not young.  Servers fork, and lock their children in soon after (seccomp(2)), where a new
 * thread, or the question whether there is a sandbox, may end them: the thread is there before that.
 */
void tr2_young_reset(void);

#endif
