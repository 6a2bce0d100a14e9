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
	uint64_t second_ticks;    /* that many from there on: ticks_per_s; 0: nothing is kept */
	uint64_t factor;          /* 2^T2X_CLOCK_SHIFT nanoseconds a tick, rounded down */
};

#define T2X_NS_PER_S UINT64_C(1000000000)
/* Rates up to UINT64_MAX / T2X_NS_PER_S keep products of ticks of a second with either factor in 64 bits. */
enum { T2X_CLOCK_SHIFT = 33 };

/* A clock of which nothing is known: readings are taken as nanoseconds. */
void t2x_clock_fallback(struct t2x_clock *clock);

/* Set the pair (TIMEINFO) or the rate (TIMETYPE; 0 is taken as 1). */
void t2x_clock_set_pair(struct t2x_clock *clock, uint64_t raw, int64_t seconds);
void t2x_clock_set_rate(struct t2x_clock *clock, uint64_t ticks_per_s);

/* Rounded down; times before 1970 are 0, those beyond what 64 bits hold are the largest. */
static inline uint64_t t2x_clock_ns(struct t2x_clock *clock, uint64_t raw);

/* The long way, for another second than the last. */
uint64_t t2x_clock_other_ns(struct t2x_clock *clock, uint64_t raw);

/* ticks * T2X_NS_PER_S / ticks_per_s, ticks below ticks_per_s: a division costs as much as all the rest. */
static inline uint64_t t2x_clock_part(const struct t2x_clock *clock, uint64_t ticks)
{
	uint64_t ns = ticks * clock->factor >> T2X_CLOCK_SHIFT;
	uint64_t left = ticks * T2X_NS_PER_S - ns * clock->ticks_per_s;

	/* the factor was rounded: too little by one, more only for rates beyond 2^T2X_CLOCK_SHIFT */
	for (; left >= clock->ticks_per_s; left -= clock->ticks_per_s)
		ns++;
	return ns;
}

static inline uint64_t t2x_clock_ns(struct t2x_clock *clock, uint64_t raw)
{
	uint64_t ticks = raw - clock->second_raw;

	if (ticks < clock->second_ticks)
		return clock->second_ns + t2x_clock_part(clock, ticks);
	return t2x_clock_other_ns(clock, raw);
}

#endif
