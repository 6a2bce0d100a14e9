/* SPDX-License-Identifier: MIT */
/*
 * t2x_shift.h - by how much the values of new runs differ from those of old ones, and whether that may be chance.
 *
 * Runs are compared, not the events in them: events of a run have its processor, its page cache and its neighbours in
 * common.  The test is that of Wilcoxon, Mann and Whitney, a permutation test of the runs' ranks: by all permutations
 * for up to 40 runs of both sides together, by 100,000 random ones for more.  A run that took ten times as long as the
 * others has the highest rank, and no more weight than that.  The change is the median of the quotients new / old of
 * all pairs, and its interval has the quotients that the same test does not reject (Hodges and Lehmann).  The runs of
 * both sides are to be made in turn; how their times are distributed does not matter.
 */
#ifndef T2X_SHIFT_H
#define T2X_SHIFT_H

#include <stdint.h>

struct t2x_shift {
	double change;            /* 0.03: new ones took 3 per cent longer */
	double low, high;         /* its interval, at 95 per cent; has_interval 0: too few runs */
	int has_interval;
	double p;                 /* the probability of so large a difference if the sides were equal */
};

/* For sides of so many runs, one at least.  Return  NULL: no memory */
struct t2x_shift_test *t2x_shift_new(unsigned nold, unsigned nnew);
void t2x_shift_free(struct t2x_shift_test *test);

/* Of values above 0, in any order.  Cost  10 us for 20 and 20, 1 ms if some are the same */
struct t2x_shift t2x_shift_find(struct t2x_shift_test *test, const uint64_t *old, const uint64_t *new);

/* The least p that so many runs can have. */
double t2x_shift_least_p(const struct t2x_shift_test *test);

/*
 * How many of n values of p to believe, from the first on, so that on average no more than that share of those are
 * false (Benjamini and Hochberg).  p: ascending
 */
unsigned t2x_shift_believe(const double *p, unsigned n, double share);

#endif
