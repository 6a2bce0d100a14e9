/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_hints.h - hints at ring files that have the rest of an input that is empty, or has no end.
 */
#ifndef T2X_RING_HINTS_H
#define T2X_RING_HINTS_H

#include "t2x_inputs.h"

/*
 * Call it when all inputs have been read.  For each input that lacks events, and that no option joins with its ring
 * file, it names the options that would add them.  It is silent if no other ring file names the input.
 */
void t2x_ring_hints_report(const struct t2x_inputs *inputs, const struct t2x_recover *recover);

#endif
