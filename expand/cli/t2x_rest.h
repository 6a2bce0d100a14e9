/* SPDX-License-Identifier: MIT */
/*
 * t2x_rest.h - where the rest of an input is that has nothing, or no end: in the ring files of its processes.
 */
#ifndef T2X_REST_H
#define T2X_REST_H

#include "t2x_inputs.h"

/*
 * All inputs have been read: of those that lack something, and are not joined with ring files, say which options give
 * it.  Nothing is said where there is no ring file that names the input.
 */
void t2x_rest_report(const struct t2x_inputs *inputs);

#endif
