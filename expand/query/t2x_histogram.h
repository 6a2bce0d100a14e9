/* SPDX-License-Identifier: MIT */
/*
 * t2x_histogram.h - percentiles of durations.
 *
 * Up to T2X_HISTOGRAM_EXACT values are kept as they are.  More are counted in buckets: 128 for each power of two, so a
 * percentile, the middle of a bucket, is off by at most 1/256 (0.4 %), and below 256 not at all.  A percentile is a
 * value of which there are at least so many per cent up to it (nearest rank).
 */
#ifndef T2X_HISTOGRAM_H
#define T2X_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
	T2X_HISTOGRAM_EXACT = 64,
	T2X_HISTOGRAM_SHIFT = 7,
	T2X_HISTOGRAM_BUCKETS = 1 << T2X_HISTOGRAM_SHIFT,             /* of a power of two */
	T2X_HISTOGRAM_POWERS = 64 - T2X_HISTOGRAM_SHIFT + 1,
};

/* All zero: empty. */
struct t2x_histogram {
	uint64_t count;
	uint64_t *values;                        /* the first T2X_HISTOGRAM_EXACT; room grows with them */
	uint64_t **powers;                       /* the buckets of each; NULL: none has been needed */
	int is_cut;                              /* there was no memory: percentiles are not known */
};

/* The long way: one of the first values, or the first of its power of two. */
void t2x_histogram_add_new(struct t2x_histogram *h, uint64_t value, size_t *budget);

static inline unsigned t2x_histogram_power(uint64_t value)
{
	return value < T2X_HISTOGRAM_BUCKETS ? 0 : 64 - T2X_HISTOGRAM_SHIFT - (unsigned)__builtin_clzll(value);
}

static inline unsigned t2x_histogram_bucket(unsigned power, uint64_t value)
{
	return (value >> (power - (power > 0))) % T2X_HISTOGRAM_BUCKETS;
}

/* budget  bytes that histograms may still take */
static inline void t2x_histogram_add(struct t2x_histogram *h, uint64_t value, size_t *budget)
{
	unsigned power = t2x_histogram_power(value);
	uint64_t *buckets = h->powers ? h->powers[power] : NULL;

	if (__builtin_expect(!buckets || h->count < T2X_HISTOGRAM_EXACT, 0)) {
		t2x_histogram_add_new(h, value, budget);
		return;
	}
	buckets[t2x_histogram_bucket(power, value)]++;
	h->count++;
}

/* Add the values of another one: the same as if they had been added one by one. */
void t2x_histogram_join(struct t2x_histogram *h, const struct t2x_histogram *from, size_t *budget);

/* The percentile, 1 to 100.  Return  0 too if it is not known */
uint64_t t2x_histogram_percentile(struct t2x_histogram *h, unsigned percent);

void t2x_histogram_free(struct t2x_histogram *h);

#endif
