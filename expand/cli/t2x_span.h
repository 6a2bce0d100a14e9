/* SPDX-License-Identifier: MIT */
/*
 * t2x_span.h - from when to when the inputs go, so that --since and --until have a meaning before anything is shown;
 * and where in the inputs reading has to begin for that.
 *
 * When they begin is looked for in the first blocks of each, when they end behind its last cycle: little is read for
 * it.  A file that is not in the order of time (read/t2x_order.h) is read twice.  Of pipes, and of many files in their
 * order, the filter learns from the first event when they begin, and all is read; t2x_filter.h has what was wrong about
 * it in early_ns.
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
