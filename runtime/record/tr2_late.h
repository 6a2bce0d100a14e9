/* SPDX-License-Identifier: MIT */
/*
 * tr2_late.h - a session that another process asks for, long after the program has begun; and one that pauses.
 *
 * A dormant process (drain/tr2_dormant.h) has settings, a clock and a session id, and no rings.  The consumer thread
 * cannot begin the session: it opens no files (base/tr2_fd.h).  So it only switches the macros on.  The first call of
 * any thread of the program takes its slow path and begins the session, as the first call in a forked child does.  The
 * other threads wait for that meanwhile.
 *
 * Nobody knows which regions are open when a session begins late.  So each thread's definition in the ring says that
 * its regions are only assumed (OPEN with TLG_OPEN_ASSUMED, see FORMAT.md).
 *
 * A session that pauses keeps its rings and files.  What happens in between is one dropped checkpoint of each thread
 * that has recorded before, with the reason TLG_LOSS_OFF: so readers know of a gap.
 */
#ifndef TR2_LATE_H
#define TR2_LATE_H

#include <stdint.h>

/* Where a late session is: not asked for, or the process is no dormant one; asked for; begun; it cannot be begun. */
enum tr2_late { TR2_LATE_NONE, TR2_LATE_WANTED, TR2_LATE_BEGINNING, TR2_LATE_BEGUN, TR2_LATE_FAILED };

/*
 * Ask for a session whose trace goes to a path, and switch the macros on.
 * Return  0; -EBUSY: there is one, or somebody is just beginning it; -ENAMETOOLONG    Thread  the consumer
 */
int tr2_late_want(const char *path);

/* Where that is; *error: of TR2_LATE_FAILED, as -errno. */
enum tr2_late tr2_late_state(int *error);

/* Nobody has called since it was asked for: ask no more, and switch the macros off.  Return  1; 0: it has begun */
int tr2_late_withdraw(void);

/*
 * In the slow path of a call: begin the session if it is asked for, or wait until another thread has.
 * mask    as in tr2_wake_wanted()    Return  0: there is none    Signals masked    Signal safe
 */
int tr2_late_ensure(uint64_t mask);

/* function is called in the first thread of a late session, in front of its first event.  It introduces the program. */
void tr2_late_set_introduction(void (*function)(void));
void tr2_late_introduce(void);

/*
 * Pause a session: the macros are off, and all that was recorded is written.  Go on.  Both wait for the drain's lock.
 * tr2_late_has_paused() is 1 in between, also in a child that was forked meanwhile.
 * Return  0: there is no session to pause, or none that pauses    Thread  the consumer
 */
int tr2_late_pause(void);
int tr2_late_resume(void);
int tr2_late_has_paused(void);

/*
 * For tr2_late.c, in tr2_session.c: begin the session of a dormant process, whose trace goes to a path; the calling
 * thread need not be main.  Take down what was set up of a session in which nothing was recorded.
 * mask  as in tr2_wake_wanted()    Return  0 or -errno; then nothing is left behind    Signals masked    Signal safe
 */
int tr2_session_begin_late(const char *path, uint64_t mask);
void tr2_session_drop(void);

/* In a forked child, before its first event: a session that the parent was just beginning is not begun here. */
void tr2_late_begin_child(void);

#endif
