/* SPDX-License-Identifier: MIT */
/*
 * tr2_sid.h - the session id, the two variables by which processes form a tree, the ids of streams.
 *
 * The variables are always git's, GIT_TRACE2_PARENT_SID and GIT_TRACE2_PARENT_NAME, so that git and other programs
 * form one tree.  What changes the environment is signal unsafe.
 */
#ifndef TR2_SID_H
#define TR2_SID_H

#include <stdint.h>

/* The session id, computed and exported by the first call.  Static storage. */
const char *tr2_sid(void);

/*
 * In a forked child of a process that has called tr2_sid(): begin a session of its own, below its parent's.  Programs
 * that it starts see that session, if the environment still holds what tr2_sid() has put there.
 * Return  the session id    Signal safe    Alloc none    Locks none
 */
const char *tr2_sid_fork(void);

/* Its last component, the process's own. */
const char *tr2_sid_own(void);

/* 1: no traced process has started this one, nor tried to be traced. */
int tr2_sid_is_first(void);

/* 1: the session above this one was of this very process, before it became another program (exec). */
int tr2_sid_is_after_exec(void);

/* 1: "NAME=value" is one of the two variables. */
int tr2_sid_is_variable(const char *variable);

/* Add a command name to the hierarchy in the environment, for children.  Return  the whole, in static storage */
const char *tr2_sid_add_name(const char *name);

/* A random number, not 0, for the id of a stream.  Signal safe */
uint32_t tr2_sid_stream(void);

/* "YYYYMMDDTHHMMSS", UTC, of seconds since 1970, which are not negative; and as many bytes as it may need. */
enum { TR2_SID_DATE = 48 };
void tr2_sid_date(int64_t seconds, char date[TR2_SID_DATE]);

#endif
