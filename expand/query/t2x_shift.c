/* SPDX-License-Identifier: MIT */
/* t2x_shift.c - see t2x_shift.h. */
#include "t2x_shift.h"

#include <stdlib.h>
#include <string.h>

enum { EXACT_RUNS = 40, EXACT_SUMS = EXACT_RUNS * (EXACT_RUNS + 1) + 1, DRAWS = 100000 };

static const double unlikely = 0.05;

struct value {
	uint64_t value;
	int is_new;
};

struct t2x_shift_test {
	unsigned nold, nnew, n;
	unsigned mean;            /* of the sum of the new ones' ranks */
	size_t cut;               /* the interval: from the cut-th quotient to the cut-th from the end; 0: none */
	double least_p;
	struct value *values;     /* of both sides, ascending */
	unsigned *ranks;          /* theirs, doubled; equal values share their mean rank */
	unsigned *drawn;
	double *quotients;
	double *p, *p_of_ties;    /* of a sum so far from the mean: where all values differ; where some are the same */
	double *ways;             /* [k * EXACT_SUMS + s]: to choose k of the ranks with the sum s */
};

/* ---- how likely a sum of ranks is --------------------------------------------------------------- */

static unsigned far_of(const struct t2x_shift_test *test, unsigned sum)
{
	return sum > test->mean ? sum - test->mean : test->mean - sum;
}

/* In how many ways nnew of the ranks have each sum. */
static const double *count_ways(struct t2x_shift_test *test)
{
	unsigned most = 0;

	memset(test->ways, 0, (test->nnew + 1) * sizeof(double) * EXACT_SUMS);
	test->ways[0] = 1;
	for (unsigned i = 0; i < test->n; i++) {
		const unsigned rank = test->ranks[i];
		most += rank;
		for (unsigned k = i + 1 < test->nnew ? i + 1 : test->nnew; k; k--) {
			double *to = test->ways + k * EXACT_SUMS;
			const double *from = to - EXACT_SUMS;
			for (unsigned sum = most; sum >= rank; sum--)
				to[sum] += from[sum - rank];
		}
	}
	return test->ways + test->nnew * EXACT_SUMS;
}

/* How often each distance from the mean occurs among all choices.  Return  how many choices there are */
static double count_all(struct t2x_shift_test *test, double *p)
{
	const double *ways = count_ways(test);
	double all = 0;

	for (unsigned sum = 0; sum < EXACT_SUMS; sum++) {
		all += ways[sum];
		if (ways[sum] > 0)
			p[far_of(test, sum)] += ways[sum];
	}
	return all;
}

/* The same among random choices: always the same ones, so that an answer can be had again. */
static double count_draws(struct t2x_shift_test *test, double *p)
{
	uint64_t random = 88172645463325252u;

	memcpy(test->drawn, test->ranks, test->n * sizeof(*test->drawn));
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		unsigned sum = 0;
		for (unsigned i = 0; i < test->nnew; i++) {
			unsigned other, rank;
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			other = i + (unsigned)((random >> 32) * (test->n - i) >> 32);
			rank = test->drawn[other];
			test->drawn[other] = test->drawn[i];
			test->drawn[i] = rank;
			sum += rank;
		}
		p[far_of(test, sum)]++;
	}
	p[test->mean]++;          /* the observed choice counts, too, so no p is 0 */
	return DRAWS + 1;
}

/* p[d]: how likely a sum is that is d from its mean, or farther. */
static void find_tail(struct t2x_shift_test *test, double *p)
{
	double all, as_far = 0;

	memset(p, 0, (test->mean + 1) * sizeof(*p));
	all = test->ways ? count_all(test, p) : count_draws(test, p);
	for (unsigned far = test->mean + 1; far--;) {
		as_far += p[far];
		p[far] = as_far / all;
	}
}

/*
 * Each pair with the larger value on the new side adds 2 to the sum of the new ones' ranks.  So the test rejects a
 * quotient by its place among those of all pairs: the interval has those that it does not reject.
 */
static void find_limits(struct t2x_shift_test *test)
{
	const unsigned least = test->nnew * (test->nnew + 1), pairs = test->nold * test->nnew;

	for (unsigned i = 0; i < test->n; i++)
		test->ranks[i] = 2 * (i + 1);
	find_tail(test, test->p);
	test->least_p = test->p[far_of(test, least)];
	while (test->cut < pairs / 2 && test->p[far_of(test, least + 2 * (unsigned)test->cut)] <= unlikely)
		test->cut++;
}

struct t2x_shift_test *t2x_shift_new(unsigned nold, unsigned nnew)
{
	struct t2x_shift_test *test = calloc(1, sizeof(*test));
	const unsigned n = nold + nnew, mean = nnew * (n + 1);

	if (!test)
		return NULL;
	*test = (struct t2x_shift_test){
		.nold = nold, .nnew = nnew, .n = n, .mean = mean,
		.values = calloc(n, sizeof(*test->values)), .ranks = calloc(n, sizeof(*test->ranks)),
		.drawn = calloc(n, sizeof(*test->drawn)), .quotients = calloc((size_t)nold * nnew, sizeof(double)),
		.p = calloc(mean + 1, sizeof(double)), .p_of_ties = calloc(mean + 1, sizeof(double)),
		.ways = n > EXACT_RUNS ? NULL : calloc(nnew + 1, sizeof(double) * EXACT_SUMS),
	};
	if (!test->values || !test->ranks || !test->drawn || !test->quotients || !test->p || !test->p_of_ties ||
	    (n <= EXACT_RUNS && !test->ways)) {
		t2x_shift_free(test);
		return NULL;
	}
	find_limits(test);
	return test;
}

void t2x_shift_free(struct t2x_shift_test *test)
{
	if (!test)
		return;
	free(test->values);
	free(test->ranks);
	free(test->drawn);
	free(test->quotients);
	free(test->p);
	free(test->p_of_ties);
	free(test->ways);
	free(test);
}

double t2x_shift_least_p(const struct t2x_shift_test *test)
{
	return test->least_p;
}

/* ---- a pair of sides ---------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static int compare_quotients(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Return  1: some values are the same */
static int rank(struct t2x_shift_test *test)
{
	int has_ties = 0;

	qsort(test->values, test->n, sizeof(*test->values), compare_values);
	for (unsigned i = 0, end; i < test->n; i = end) {
		for (end = i + 1; end < test->n && test->values[end].value == test->values[i].value;)
			end++;
		for (unsigned k = i; k < end; k++)
			test->ranks[k] = i + 1 + end;
		has_ties |= end > i + 1;
	}
	return has_ties;
}

static double find_p(struct t2x_shift_test *test, const uint64_t *old, const uint64_t *new)
{
	double *p = test->p;
	unsigned sum = 0;

	for (unsigned i = 0; i < test->nold; i++)
		test->values[i] = (struct value){ old[i], 0 };
	for (unsigned i = 0; i < test->nnew; i++)
		test->values[test->nold + i] = (struct value){ new[i], 1 };
	if (rank(test))
		find_tail(test, p = test->p_of_ties);
	for (unsigned i = 0; i < test->n; i++)
		sum += test->values[i].is_new ? test->ranks[i] : 0;
	return p[far_of(test, sum)];
}

struct t2x_shift t2x_shift_find(struct t2x_shift_test *test, const uint64_t *old, const uint64_t *new)
{
	const size_t n = (size_t)test->nold * test->nnew;
	double *quotients = test->quotients;
	struct t2x_shift shift = { .p = find_p(test, old, new), .has_interval = test->cut > 0 };

	for (unsigned i = 0; i < test->nold; i++)
		for (unsigned k = 0; k < test->nnew; k++)
			quotients[(size_t)i * test->nnew + k] = (double)new[k] / (double)old[i];
	qsort(quotients, n, sizeof(double), compare_quotients);
	shift.change = (quotients[(n - 1) / 2] + quotients[n / 2]) / 2 - 1;
	if (shift.has_interval) {
		shift.low = quotients[test->cut - 1] - 1;
		shift.high = quotients[n - test->cut] - 1;
	}
	return shift;
}

unsigned t2x_shift_believe(const double *p, unsigned n, double share)
{
	unsigned believed = 0;

	for (unsigned i = 0; i < n; i++)
		if (p[i] <= share * (i + 1) / n)
			believed = i + 1;
	return believed;
}
