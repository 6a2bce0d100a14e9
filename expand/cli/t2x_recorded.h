/* SPDX-License-Identifier: MIT */
/* t2x_recorded.h - the last line of `t2 record': what it has written, and how to look at it. */
#ifndef T2X_RECORDED_H
#define T2X_RECORDED_H

#include <stddef.h>

/*
 * On stderr, only if it is a terminal with the command in its foreground: scripts see only the program's output.
 * trace     the absolute path of a file or a directory.  If nothing is there, nothing is said.
 * profiles  as in TRACE2_PROF
 */
void t2x_recorded_tell(const char *trace, const char *profiles);

/* A name in quotes, if the shell needs them.  Return  to; NULL: it has a quote in it */
const char *t2x_recorded_quote(char *to, size_t size, const char *name);

#endif
