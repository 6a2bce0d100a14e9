/* SPDX-License-Identifier: MIT */
/*
 * t2x_expand.h - from inputs to one output: front end, model and writer put together, with the threads of --jobs
 * between them.  It also reports what concerns the inputs as a whole.
 */
#ifndef T2X_EXPAND_H
#define T2X_EXPAND_H

#include "t2x_expansion.h"

/* Return  0 or -ENOMEM: the output is not complete */
int t2x_expand(const struct t2x_expansion *x);

#endif
