/* SPDX-License-Identifier: MIT */
/* t2x_clock.c - 128-bit arithmetic once a second, 64-bit in between. */
#include "t2x_clock.h"

/* The nanoseconds of a second times the rate, and the reciprocal, take no more than 63 and 64 bits. */
static int is_short(const struct t2x_clock *clock)
{
	return clock->ticks_per_s > 1 && clock->ticks_per_s <= INT64_MAX / T2X_NS_PER_S;
}

static void forget_second(struct t2x_clock *clock)
{
	clock->second_ticks = 0;
}

void t2x_clock_fallback(struct t2x_clock *clock)
{
	t2x_clock_set_rate(clock, T2X_NS_PER_S);
	t2x_clock_set_pair(clock, 0, 0);
}

void t2x_clock_set_pair(struct t2x_clock *clock, uint64_t raw, int64_t seconds)
{
	clock->raw = raw;
	clock->seconds = seconds;
	forget_second(clock);
}

void t2x_clock_set_rate(struct t2x_clock *clock, uint64_t ticks_per_s)
{
	uint64_t rest;

	clock->ticks_per_s = ticks_per_s ? ticks_per_s : 1;
	forget_second(clock);
	if (!is_short(clock))
		return;
	/* the power of two that is next below the rate */
	clock->shift = 63 - (unsigned)__builtin_clzll(clock->ticks_per_s - 1);
	clock->reciprocal = tlg_mul_div(UINT64_C(1) << 63, UINT64_C(2) << clock->shift, clock->ticks_per_s, &rest);
	clock->reciprocal += rest != 0;
}

/* The full second that raw lies in, and the ticks since then; 0: none that can be counted in 64 bits. */
static int find_second(const struct t2x_clock *clock, uint64_t raw, int64_t *second, uint64_t *part)
{
	int64_t ticks = (int64_t)(raw - clock->raw);
	uint64_t size = ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks;
	uint64_t whole = size / clock->ticks_per_s;

	*part = size % clock->ticks_per_s;
	if (ticks < 0)
		whole = -whole - (*part ? 1 : 0);
	if (ticks < 0 && *part)
		*part = clock->ticks_per_s - *part;
	return !__builtin_add_overflow(clock->seconds, (int64_t)whole, second);
}

static uint64_t convert(const struct t2x_clock *clock, uint64_t raw)
{
	uint64_t part, rest, ns;
	int64_t second;

	if (!find_second(clock, raw, &second, &part))
		return clock->seconds < 0 ? 0 : UINT64_MAX;
	if (second < 0)
		return 0;
	if (__builtin_mul_overflow((uint64_t)second, T2X_NS_PER_S, &ns))
		return UINT64_MAX;
	part = tlg_mul_div(part, T2X_NS_PER_S, clock->ticks_per_s, &rest);
	return __builtin_add_overflow(ns, part, &ns) ? UINT64_MAX : ns;
}

/* Remember the full second that raw lies in, if the short way can be exact for it. */
static void keep_second(struct t2x_clock *clock, uint64_t raw)
{
	int64_t second;
	uint64_t part;

	if (!find_second(clock, raw, &second, &part) || second < 0 ||
	    (uint64_t)second > (UINT64_MAX - T2X_NS_PER_S) / T2X_NS_PER_S)
		return;
	clock->second_raw = raw - part;
	clock->second_ns = (uint64_t)second * T2X_NS_PER_S;
	clock->second_ticks = clock->ticks_per_s;
}

uint64_t t2x_clock_other_ns(struct t2x_clock *clock, uint64_t raw)
{
	if (is_short(clock))
		keep_second(clock, raw);
	return convert(clock, raw);
}
