/* SPDX-License-Identifier: MIT */
/* t2x_clock.c - calculates with 128 bits once a second, with 64 bits in between. */
#include "t2x_clock.h"

/* Return  1: the nanoseconds of a second times the rate fit into 63 bits, and the reciprocal into 64 */
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
	/* 1 << shift is the largest power of two below the rate. */
	clock->shift = 63 - (unsigned)__builtin_clzll(clock->ticks_per_s - 1);
	clock->reciprocal = tlg_mul_div(UINT64_C(1) << 63, UINT64_C(2) << clock->shift, clock->ticks_per_s, &rest);
	clock->reciprocal += rest != 0;
}

/* Find the full second in which raw lies, and the ticks since then.  Return  0: 64 bits cannot hold the second */
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

/* Cache the full second in which raw lies, if t2x_clock_part() is exact for this rate. */
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
