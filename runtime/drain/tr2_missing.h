/* SPDX-License-Identifier: MIT */
/*
 * tr2_missing.h - the consumer thread is wanted and does not run.
 *
 * It cannot be started while the calling code may be a signal handler, because signals are blocked that have handlers,
 * or while the system refuses new threads.  Until it runs, and while the process is young (tr2_young.h), each recording
 * thread has its ring's position aside (tr2_ring_set_aside()).  So all calls take the slow path, and now and then one
 * of them looks whether the thread can be started.  Until then the recording threads write full rings and old events
 * themselves.
 */
#ifndef TR2_MISSING_H
#define TR2_MISSING_H

#include <stdint.h>

struct tr2_look;
struct tr2_thread;

/*
 * Self has acquired a ring, or has reserved in it.  Set its position aside if the thread is missing or the process
 * young, so that its next call takes the slow path; else take it back.  tr2_missing_mind() needs signals masked.
 */
void tr2_missing_mind(struct tr2_thread *self);
void tr2_missing_mind_self(void);

/*
 * 1 if the thread runs by now, if the process is no longer young, or if the calling thread may look now.
 * Cost  a clock read    Signal safe
 */
int tr2_missing_is_time_to_look(const struct tr2_look *look);

/*
 * Look: start the thread if no handler can be running, as tr2_wake_start().  If it cannot be started, write events here
 * that are old by the settings.
 * look  is set to the time of the next look, so that in the long run looking takes a fiftieth of the thread's time
 * mask  as in tr2_wake_wanted()    Signals masked    Signal safe    Cost  0.1 us; 5 us if the mask has changed
 */
void tr2_missing_look(struct tr2_look *look, uint64_t mask);

/* Start the thread if it is missing and no handler can be running.  Signal safe    Errno kept */
void tr2_missing_start(void);

/*
 * A thread of the program is to open a file: let the next call of any thread take its slow path, where it does that.
 * An add that is under way may undo that, so repeat it.  Blocks  at most 10 ms
 */
void tr2_missing_await_call(void);

/* In a forked child: nothing is known yet. */
void tr2_missing_reset(void);

#endif
