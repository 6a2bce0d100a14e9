/* SPDX-License-Identifier: MIT */
/*
 * t2x_clock.h - from readings of a raw clock to nanoseconds since 1970, exactly.
 */
#ifndef T2X_CLOCK_H
#define T2X_CLOCK_H

#include <stdint.h>

#include "tlg_math.h"

struct t2x_clock {
	uint64_t ticks_per_s;     /* 0: not known yet */
	uint64_t raw;             /* reading ... */
	int64_t seconds;          /* ... at this full second since 1970 */
	uint64_t second_raw;      /* cache: reading at the second that was asked for last ... */
	uint64_t second_ns;       /* ... and that second */
	uint64_t second_ticks;    /* that many from there on: ticks_per_s; 0: nothing is kept */
	uint64_t reciprocal;      /* 2^(64 + shift) / ticks_per_s, rounded up; see t2x_clock_part() */
	unsigned shift;
};

#define T2X_NS_PER_S UINT64_C(1000000000)

/* A clock of which nothing is known: readings are taken as nanoseconds. */
void t2x_clock_fallback(struct t2x_clock *clock);

/* Set the pair (TIMEINFO) or the rate (TIMETYPE; 0 is taken as 1). */
void t2x_clock_set_pair(struct t2x_clock *clock, uint64_t raw, int64_t seconds);
void t2x_clock_set_rate(struct t2x_clock *clock, uint64_t ticks_per_s);

/* Rounded down; times before 1970 are 0, those beyond what 64 bits hold are the largest. */
static inline uint64_t t2x_clock_ns(struct t2x_clock *clock, uint64_t raw);

/* The long way, for another second than the last. */
uint64_t t2x_clock_other_ns(struct t2x_clock *clock, uint64_t raw);

/*
 * ticks * T2X_NS_PER_S / ticks_per_s, ticks below ticks_per_s, of a rate for which a second is kept: a division costs
 * as much as all the rest.  The dividend is less than 2^63, the reciprocal too large by less than 1.  So the quotient
 * is too large by less than 2^63 / 2^(64 + shift), which is no more than 1 / ticks_per_s: rounded down it is exact.
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
