/* SPDX-License-Identifier: MIT */
/*
 * t2x_compare.h - --diff: each file or directory of the command line is a run of a program, of which the totals count.
 */
#ifndef T2X_COMPARE_H
#define T2X_COMPARE_H

#include "t2x_expand.h"
#include "query/t2x_diff.h"

/*
 * Read all runs.  x  says how to read them; its own inputs are not read
 * is_unusable  set if a run cannot be read
 * Return  0 or -ENOMEM; in both cases the caller frees what is in diff
 */
int t2x_compare_read(struct t2x_diff *diff, const struct t2x_expansion *x, int *is_unusable);
void t2x_compare_free(struct t2x_diff *diff);

#endif
