/* SPDX-License-Identifier: MIT */
/*
 * t2x_clock.h - from readings of a raw clock to nanoseconds since 1970, exactly.
 */
#ifndef T2X_CLOCK_H
#define T2X_CLOCK_H

#include <stdint.h>

struct t2x_clock {
	uint64_t ticks_per_s;     /* 0: not known yet */
	uint64_t raw;             /* reading ... */
	int64_t seconds;          /* ... at this full second since 1970 */
	uint64_t second_raw;      /* cache: reading at the second that was asked for last ... */
	uint64_t second_ns;       /* ... and that second */
};

/* A clock of which nothing is known: readings are taken as nanoseconds. */
void t2x_clock_fallback(struct t2x_clock *clock);

/* Set the pair (TIMEINFO) or the rate (TIMETYPE; 0 is taken as 1). */
void t2x_clock_set_pair(struct t2x_clock *clock, uint64_t raw, int64_t seconds);
void t2x_clock_set_rate(struct t2x_clock *clock, uint64_t ticks_per_s);

/* Rounded down; times before 1970 are 0, those beyond what 64 bits hold are the largest. */
uint64_t t2x_clock_ns(struct t2x_clock *clock, uint64_t raw);

#endif
