/* SPDX-License-Identifier: MIT */
/*
 * tr2p_uses.h - does the program use Trace2?  It does if it, or a library that it was started with, is linked with
 * libtrace2.  Then the program names itself, by trace2_cmd_start() and trace2_cmd_name().
 */
#ifndef TR2P_USES_H
#define TR2P_USES_H

int tr2p_uses_trace2(void);

/*
 * The reason why a profiler that was only preloaded does nothing in this program; NULL: there is none.
 *
 * The sanitizers of threads and of memory follow each thread and each store from the first instruction on.  They take
 * the profiler's work for faults of the program, or they fail.  AddressSanitizer and LeakSanitizer stop all threads at
 * the end, to look for leaks.  They do not know the profiler's threads, and report false leaks.
 */
const char *tr2p_why_not(void);

#endif
