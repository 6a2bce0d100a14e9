/* SPDX-License-Identifier: MIT */
/*
 * t2x_span.h - from when to when the inputs go, so that --since and --until have a meaning before anything is shown;
 * and where in the inputs reading has to begin for that.
 *
 * When they begin is looked for in the first blocks of each, when they end behind its last cycle: little is read for
 * it.  That is done for a few regular files; of anything else the filter learns from the first event when it begins,
 * and all is read.
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
