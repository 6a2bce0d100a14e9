/* SPDX-License-Identifier: MIT */
/*
 * t2x_forward.h - the signals that `t2 record' gets are meant for the program that it runs.
 *
 * A service manager, a shell or an administrator knows only our process id.  Whatever they send is sent on: SIGWINCH
 * stops Apache, and the value that sigqueue() sends goes along.  Timers that ran out are sent on, too: alarm()
 * outlives exec, and was set for the program.
 *
 * Four kinds are not sent on.  What a terminal sends reaches the program by itself, as one of its process group.  So
 * does what somebody sends to the whole group, or to all processes of a service, see t2x_witness.h.  What the program
 * sends to its own group or to its parent was not for the program.  And our own faults are ours.
 */
#ifndef T2X_FORWARD_H
#define T2X_FORWARD_H

#include <sys/types.h>

/* From now on signals go to the child.  The caller blocks all of them from before the child's fork until afterwards. */
void t2x_forward_to(pid_t child);

/* The child has ended, but nobody has waited for it yet: signals that arrive from now on are dropped. */
void t2x_forward_end(void);

/*
 * For several children, one after the other:
 *
 * t2x_forward_asked_to_end()  the signal, of ^C, SIGTERM and their like, that came last, since the first child or in
 *                             between; 0: none.  One that we were started to ignore does not count
 * t2x_forward_undo()          each signal is as it was before: in a new child, and when no other one comes
 */
int t2x_forward_asked_to_end(void);
void t2x_forward_undo(void);

/*
 * End as the child did: by the same signal, without a core of our own.
 * status  as waitpid() returns it    Return  its exit status
 */
int t2x_forward_end_as(int status);

#endif
