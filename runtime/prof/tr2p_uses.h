/* SPDX-License-Identifier: MIT */
/*
 * tr2p_uses.h - whether the program knows of Trace2: it, or one of the libraries that it was started with, is linked
 * with libtrace2.  Then it is the one to say what it is called.
 */
#ifndef TR2P_USES_H
#define TR2P_USES_H

int tr2p_uses_trace2(void);

/*
 * Why a profiler that was only preloaded stays out of the way of the program; NULL: it need not.
 *
 * The sanitizers of threads and of memory follow each thread and each store from the first instruction on.  What we do
 * in between they take for faults of the program, or they fail.  AddressSanitizer and LeakSanitizer stop all threads at
 * the end, to look for leaks; of ours they do not know, and find false ones.
 */
const char *tr2p_why_not(void);

#endif
