/* SPDX-License-Identifier: MIT */
/*
 * tr2_missing.h - while the drain's thread is wanted and does not run.
 *
 * Signals are blocked that have handlers, so that the calling code may be one; or the system refuses the thread.  Until
 * it runs, and while the process is young (tr2_young.h), each recording thread has its ring's position aside
 * (tr2_ring_set_aside()): all of its calls take the slow path, and now and then one of them looks whether the thread
 * can be started.  As long as it is wanted and cannot, the threads that record write themselves: what is in full rings,
 * and what gets old.
 */
#ifndef TR2_MISSING_H
#define TR2_MISSING_H

#include <stdint.h>

struct tr2_look;
struct tr2_thread;

/*
 * Self has a ring, or has reserved in it: if the thread is missing, or the process young, its next call comes to the
 * slow path.  The first wants signals masked.
 */
void tr2_missing_mind(struct tr2_thread *self);
void tr2_missing_mind_self(void);

/*
 * 1 if the thread runs meanwhile, if youth is over, or if the calling thread may look now.
 * Cost  a clock read    Signal safe
 */
int tr2_missing_is_time_to_look(const struct tr2_look *look);

/*
 * Look: start the thread if no handler can be running, as tr2_wake_start().  Where it cannot be started, write here
 * what was recorded, if that is old by the settings.
 * look  when to look next is set, so that looking takes a fiftieth of the thread's time, when it has long gone on
 * mask  as in tr2_wake_wanted()    Signals masked    Signal safe    Cost  0.1 us; 5 us if the mask has changed
 */
void tr2_missing_look(struct tr2_look *look, uint64_t mask);

/* The thread, if it is missing, is started if signals are open.  Signal safe    Errno kept */
void tr2_missing_start(void);

/* In a forked child: nothing is known yet. */
void tr2_missing_reset(void);

#endif
