/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_hints.h - hints at ring files that have the rest of an input that is empty, or has no end.
 */
#ifndef T2X_RING_HINTS_H
#define T2X_RING_HINTS_H

#include "t2x_inputs.h"

/*
 * All inputs have been read: of those that lack something, and are not joined with ring files that were asked for, say
 * which options give it.  Nothing is said where there is no other ring file that names the input.
 */
void t2x_ring_hints_report(const struct t2x_inputs *inputs, const struct t2x_recover *recover);

#endif
