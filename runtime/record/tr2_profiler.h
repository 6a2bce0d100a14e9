/* SPDX-License-Identifier: MIT */
/*
 * tr2_profiler.h - the function by which libtrace2-prof starts and stops profiles while the program runs, if it is
 * there: tr2_sample_steer_v1() has set it.
 */
#ifndef TR2_PROFILER_H
#define TR2_PROFILER_H

typedef int tr2_profiler_call(const char *list, char *stop, unsigned long stop_size, char *why, unsigned long why_size);

/* That function; NULL: libtrace2-prof is not there. */
tr2_profiler_call *tr2_profiler(void);

#endif
