/* SPDX-License-Identifier: MIT */
/*
 * tr2_young.h - a process that has just begun to record does without the consumer thread.
 *
 * Most processes end within milliseconds and record little.  The thread would be a third of what tracing costs them,
 * and on a busy machine they would not be reaped before it has run.  A young process keeps its events in its ring file,
 * where they outlive it, and writes them when it ends.
 *
 * Youth ends, and the thread starts, with the first of these: a thread opens its second chunk; a second thread records;
 * a call comes when the time of youth is over.  For the last one each position is aside while the process is young, so
 * that all calls take the slow path (tr2_ring_set_aside()).  If no call comes any more, the last events stay in the
 * ring file: tlg_ring_file.lacks_thread shows readers that they have to look there.
 */
#ifndef TR2_YOUNG_H
#define TR2_YOUNG_H

#include <stdint.h>

/*
 * Recording begins.  Not every process may be young: the settings may ask for the thread at once; so does a control
 * page, and a destination whose reader waits, or that may block a write.
 * Return  1: the process is young now; 0: it is not, and the caller starts the thread if it is wanted
 */
int tr2_young_begin(void);

/* 1 while it is.  Signal safe */
int tr2_young_is(void);

/* 1 if the clock says that youth is over; only meaningful while tr2_young_is().  Signal safe    Cost  a clock read */
int tr2_young_is_outgrown(void);

/*
 * End youth, if it has not ended: the thread starts, or is missing from now on (tr2_missing.h).
 * mask  as in tr2_wake_wanted()    Signal safe
 */
void tr2_young_end(uint64_t mask);

/* The calling thread has a ring: end youth if it is the second one.  mask  as above    Signal safe */
void tr2_young_note_thread(uint64_t mask);

/*
 * The library catches a signal from now on.  Its handler may have a small stack, and then only the thread can write
 * live text outputs.  So a process with these is no longer young.  Signal safe
 */
void tr2_young_note_signal(void);

/*
 * In a forked child: it is not young.  Servers fork and soon lock their children in (seccomp(2)).  Then a new thread,
 * or the question whether there is a sandbox, may end the child.  So the thread starts before that.
 */
void tr2_young_reset(void);

#endif
