/* SPDX-License-Identifier: MIT */
/*
 * t2x_attach.h - what compilers in the processes of `t2 record' have said of the code that they made (perf-PID.map,
 * jit-PID.dump) goes to the end of the trace, for later processes overwrite these files.
 *
 * Theirs are files in /tmp and the working directory that this user owns, written to since the command began, of
 * processes that are in the trace.  A trace that is not in LZ4 frames stays as it is.
 */
#ifndef T2X_ATTACH_H
#define T2X_ATTACH_H

#include "t2x_collect.h"

/* The command has ended, and what its processes left has been collected.  What goes wrong is reported on stderr. */
void t2x_attach(const struct t2x_collecting *collecting);

#endif
