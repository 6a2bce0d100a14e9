/* SPDX-License-Identifier: MIT */
/* tr2_percentile.c - see tr2_percentile.h. */
#include "tr2_percentile.h"

#include <string.h>

static unsigned bucket_of(uint64_t ticks)
{
	unsigned power;

	if (ticks < 8)
		return (unsigned)ticks;
	power = 63 - (unsigned)__builtin_clzll(ticks);
	return (power - 2) * 8 + (unsigned)(ticks >> (power - 3) & 7);
}

/* The middle of a bucket. */
static uint64_t middle_of(unsigned bucket)
{
	const unsigned power = bucket / 8 + 2;

	if (bucket < 8)
		return bucket;
	return ((uint64_t)(bucket % 8 + 8) << (power - 3)) + (UINT64_C(1) << (power - 3)) / 2;
}

static void forget(struct tr2_percentile *percentile, uint64_t minute)
{
	uint32_t *old = percentile->minute[minute % TR2_PERCENTILE_MINUTES];

	for (unsigned i = 0; i < TR2_PERCENTILE_BUCKETS; i++) {
		percentile->total[i] -= old[i];
		percentile->count -= old[i];
	}
	memset(old, 0, sizeof(percentile->minute[0]));
	percentile->found_at = 0;
}

void tr2_percentile_go_on(struct tr2_percentile *percentile, uint64_t minute)
{
	uint64_t from = percentile->latest + 1;

	if (minute > percentile->latest + TR2_PERCENTILE_MINUTES)
		from = minute - TR2_PERCENTILE_MINUTES + 1;
	for (; from <= minute; from++)
		forget(percentile, from);
	if (minute > percentile->latest)
		percentile->latest = minute;
}

void tr2_percentile_add(struct tr2_percentile *percentile, uint64_t ticks)
{
	unsigned bucket = bucket_of(ticks);

	percentile->minute[percentile->latest % TR2_PERCENTILE_MINUTES][bucket]++;
	percentile->total[bucket]++;
	percentile->count++;
}

static uint64_t find(const struct tr2_percentile *percentile)
{
	uint64_t above = percentile->count / 100, seen = 0;
	unsigned i = TR2_PERCENTILE_BUCKETS;

	while (i && seen <= above)
		seen += percentile->total[--i];
	return middle_of(i);
}

uint64_t tr2_percentile_get(struct tr2_percentile *percentile)
{
	if (percentile->count < TR2_PERCENTILE_LEAST)
		return 0;
	if (!percentile->found_at || percentile->count - percentile->found_at > percentile->found_at / 8) {
		percentile->found = find(percentile);
		percentile->found_at = percentile->count;
	}
	return percentile->found;
}
