/* SPDX-License-Identifier: MIT */
/*
 * tr2_pause.h - the consumer thread ends for the time of a call of the program, and comes back behind it.
 *
 * Some calls are refused to a process of several threads: unshare(2), setns(2).  Others change what belongs to a thread
 * and not to the process: its capabilities.  A new thread inherits those of its creator, and glibc aborts a program
 * in which setuid(2) or its like succeeds in one thread and fails in another.  So this thread ends before such a call,
 * and the calling thread creates it again.  libtrace2-prof intercepts these calls (tr2p_alone.h).
 */
#ifndef TR2_PAUSE_H
#define TR2_PAUSE_H

/*
 * The thread ends.  None starts before tr2_pause_end().  One caller at a time.
 * Return  1: tr2_pause_end() has to follow; 0: there is no thread, or it could not come back
 * Blocks  for 1 ms, while a write of the thread is slow for a second at most    Errno kept
 */
int tr2_pause_begin(void);

/* The thread starts again, or with a later call of the program where the caller may be a signal handler.  Errno kept */
void tr2_pause_end(void);

#endif
