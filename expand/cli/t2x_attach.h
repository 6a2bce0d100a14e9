/* SPDX-License-Identifier: MIT */
/*
 * t2x_attach.h - names that only this moment and this computer have go to the end of the trace of `t2 record'.
 *
 * These are what compilers in its processes have said of the code that they made (perf-PID.map, jit-PID.dump), for
 * later processes overwrite these files; and the functions of the kernel that are in samples (t2x_excerpt.h).
 *
 * A compiler's file counts if it is in /tmp or the working directory, if this user owns it, if it was written to since
 * the command began, and if its process is in the trace.  A trace that is not in LZ4 frames stays as it is.
 */
#ifndef T2X_ATTACH_H
#define T2X_ATTACH_H

#include "t2x_collect.h"

/* The command has ended, and what its processes left has been collected.  What goes wrong is reported on stderr. */
void t2x_attach(const struct t2x_collecting *collecting);

#endif
