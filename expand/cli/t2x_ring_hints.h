/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_hints.h - hints at ring files that have more of an input than was read.
 */
#ifndef T2X_RING_HINTS_H
#define T2X_RING_HINTS_H

#include "t2x_inputs.h"

/*
 * Call it when all inputs have been read.  For each input that a ring file names, but no option joins with it, it names
 * the options that would add its events.  It is silent about the ring file of a dead process that has written all.
 * It looks for ring files anew only if a stream of an input has no end; else those count that t2x_recover_find() found.
 * Cost  it opens each of them, and reads what is left in those of dead processes that name an input
 */
void t2x_ring_hints_report(const struct t2x_inputs *inputs, const struct t2x_recover *recover);

#endif
