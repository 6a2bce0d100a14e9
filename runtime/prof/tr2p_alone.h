/* SPDX-License-Identifier: MIT */
/*
 * tr2p_alone.h - calls around which the wall clock's threads and libtrace2's thread end and come back.
 *
 * A namespace of users can be entered, and memory and handlers be unshared, by a process of one thread only.  Without
 * the profiler the program may be one.
 *
 * Capabilities belong to a thread, and a new thread inherits those of its creator.  glibc has each thread of a process
 * execute setuid(2) and its like, and aborts the program if one thread is allowed that and another is not.  So these
 * threads are created again when the program changes its capabilities: their own are always the program's.
 */
#ifndef TR2P_ALONE_H
#define TR2P_ALONE_H

/*
 * Around such a call: the threads end; they come back, if the kernel lets them.  Nobody starts, stops or forks between
 * the two.
 * Return  1: tr2p_alone_end() has to follow.  0: the process has no such thread    Signal unsafe
 */
int tr2p_alone_begin(void);

/* Errno kept */
void tr2p_alone_end(void);

#endif
