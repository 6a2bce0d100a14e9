/* SPDX-License-Identifier: MIT */
/* t2x_record_place.h - where the trace of `t2 record' goes. */
#ifndef T2X_RECORD_PLACE_H
#define T2X_RECORD_PLACE_H

#include <limits.h>

/*
 * Find the absolute path of the trace, and make room for it: a trace of an earlier run is replaced.
 * output  as the user has it, NULL: by the name of the program    Return  0; else the exit status, reported on stderr
 */
int t2x_record_place(char path[PATH_MAX], const char *output, const char *program);

#endif
