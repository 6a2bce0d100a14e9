/* SPDX-License-Identifier: MIT */
/*
 * tr2_session.h - the session of this process: rings, destinations and a stream of its own.
 *
 * A forked child begins a session of its own with its first event, and not before: most children only run another
 * program.  What comes in which order, and why, says the table in api/tr2_life.c.
 */
#ifndef TR2_SESSION_H
#define TR2_SESSION_H

#include <stdint.h>

/*
 * The session of the process that switches tracing on.  Return  0 or -errno; then nothing is left behind
 * Thread  before any other    Signal unsafe
 */
int tr2_session_begin(void);

/* As tr2_session_begin() does: now and then look for what dead processes left, see ring/tr2_leftover.h.  Errno kept */
void tr2_session_look(void);

/* Register for fork(): around it nobody else drains, so that a child finds what it takes over in order. */
void tr2_session_watch_forks(void);

/*
 * See to it that what the calling thread records goes into a session of its own process, not of its parent's; _masked:
 * signals are masked already, mask is what was blocked before.
 * Return  0: there is no tracing here    Signal safe    Errno kept
 */
int tr2_session_ensure(void);
int tr2_session_ensure_masked(uint64_t mask);

/*
 * The session is over: now and then look for what other processes left, see ring/tr2_leftover.h.  Most often in one
 * that has run for a while.  Errno kept
 */
void tr2_session_clean_up(void);

/* How many times a child has begun a session since the process that switched tracing on: 0 in that one. */
unsigned tr2_session_forks(void);

#endif
