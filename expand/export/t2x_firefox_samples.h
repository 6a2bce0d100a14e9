/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox_samples.h - the samples of a thread: for each profile one more thread behind it, whose stacks are of
 * functions, not of regions.  A sample weighs what it stands for: time, bytes, or objects.
 */
#ifndef T2X_FIREFOX_SAMPLES_H
#define T2X_FIREFOX_SAMPLES_H

#include "t2x_firefox_gathered.h"

/* Return  0: the thread has as many profiles as it may have, and this is of another one */
int t2x_firefox_put_sample(struct t2x_firefox *firefox, struct t2x_firefox_thread *thread, const struct t2x_event *ev);

#endif
