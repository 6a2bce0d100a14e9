/* SPDX-License-Identifier: MIT */
/*
 * t2x_clock.h - converts readings of a raw clock to nanoseconds since 1970, exactly.
 */
#ifndef T2X_CLOCK_H
#define T2X_CLOCK_H

#include <stdint.h>

#include "tlg_math.h"

struct t2x_clock {
	uint64_t ticks_per_s;     /* 0: not known yet */
	uint64_t raw;             /* reading ... */
	int64_t seconds;          /* ... at this full second since 1970 */
	uint64_t second_raw;      /* cache: reading at the start of the second of the last conversion ... */
	uint64_t second_ns;       /* ... and that second */
	uint64_t second_ticks;    /* ticks for which the cache is valid: ticks_per_s; 0: the cache is empty */
	uint64_t reciprocal;      /* 2^(64 + shift) / ticks_per_s, rounded up; see t2x_clock_part() */
	unsigned shift;
};

#define T2X_NS_PER_S UINT64_C(1000000000)

/* A clock of which nothing is known: its readings count as nanoseconds. */
void t2x_clock_fallback(struct t2x_clock *clock);

/* Set the pair (TIMEINFO) or the rate (TIMETYPE; 0 counts as 1). */
void t2x_clock_set_pair(struct t2x_clock *clock, uint64_t raw, int64_t seconds);
void t2x_clock_set_rate(struct t2x_clock *clock, uint64_t ticks_per_s);

/* Convert a reading, rounded down.  A time before 1970 becomes 0; one that 64 bits cannot hold becomes UINT64_MAX. */
static inline uint64_t t2x_clock_ns(struct t2x_clock *clock, uint64_t raw);

/* The slow conversion, for a reading in another second than the cached one. */
uint64_t t2x_clock_other_ns(struct t2x_clock *clock, uint64_t raw);

/*
 * ticks * T2X_NS_PER_S / ticks_per_s, for ticks < ticks_per_s and a clock whose cache is filled.  It multiplies by a
 * reciprocal, because a division would cost as much as the rest of the conversion.  The result is exact: the dividend
 * is less than 2^63 and the reciprocal is too large by less than 1, so the quotient is too large by less than
 * 2^63 / 2^(64 + shift), which is at most 1 / ticks_per_s and disappears in the rounding.
 */
static inline uint64_t t2x_clock_part(const struct t2x_clock *clock, uint64_t ticks)
{
	return tlg_mul_high(ticks * T2X_NS_PER_S, clock->reciprocal) >> clock->shift;
}

static inline uint64_t t2x_clock_ns(struct t2x_clock *clock, uint64_t raw)
{
	uint64_t ticks = raw - clock->second_raw;

	if (ticks < clock->second_ticks)
		return clock->second_ns + t2x_clock_part(clock, ticks);
	return t2x_clock_other_ns(clock, raw);
}

#endif
