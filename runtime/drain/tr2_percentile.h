/* SPDX-License-Identifier: MIT */
/*
 * tr2_percentile.h - the 99th percentile of the durations of the last hour, for triggers.
 *
 * Sixty histograms, of a minute each, and their total.  A bucket is an eighth of a power of two, so a percentile is
 * right to 7 %.  Durations are ticks of the raw clock: their unit does not matter.
 *
 * Thread  the holder of the drain's lock    Signal safe
 */
#ifndef TR2_PERCENTILE_H
#define TR2_PERCENTILE_H

#include <stdint.h>

enum {
	TR2_PERCENTILE_MINUTES = 60,
	TR2_PERCENTILE_BUCKETS = 496,     /* 8 for each power of two */
	TR2_PERCENTILE_LEAST = 200,       /* durations; of fewer there is no percentile */
};

struct tr2_percentile {
	uint32_t minute[TR2_PERCENTILE_MINUTES][TR2_PERCENTILE_BUCKETS];
	uint32_t total[TR2_PERCENTILE_BUCKETS];
	uint64_t count;                   /* in total */
	uint64_t latest;                  /* minutes since the beginning */
	uint64_t found, found_at;         /* the percentile when count was found_at */
};

/* So many minutes have begun: forget what is older than an hour. */
void tr2_percentile_go_on(struct tr2_percentile *percentile, uint64_t minute);

void tr2_percentile_add(struct tr2_percentile *percentile, uint64_t ticks);

/* It, in ticks; 0: there are not enough durations.  It is found again when there are an eighth more. */
uint64_t tr2_percentile_get(struct tr2_percentile *percentile);

#endif
