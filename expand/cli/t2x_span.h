/* SPDX-License-Identifier: MIT */
/*
 * t2x_span.h - from when to when the inputs go, so that --since and --until have a meaning before anything is shown;
 * and where in the inputs reading has to begin for that.
 *
 * The first blocks of an input show when it begins, and the last cycle shows when it ends, so little is read for
 * that.  A file that is not in the order of time (read/t2x_order.h) is read twice.  Pipes, and many files read in
 * sequence, are read from their start: the filter takes the time of the first event as their beginning, and counts in
 * early_ns (query/t2x_filter.h) by how much it was wrong.
 */
#ifndef T2X_SPAN_H
#define T2X_SPAN_H

#include "t2x_inputs.h"

/*
 * The settings' filter knows when the inputs begin and, if it needs that, when they end; reading begins where it
 * has to.
 * inputs  all have been looked at, nothing was read
 * Return  0; -EINVAL: the end is asked for, and is not to be had, which was said; -ENOMEM
 */
int t2x_span_find(struct t2x_settings *settings, struct t2x_inputs *inputs);

#endif
