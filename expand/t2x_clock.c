/* SPDX-License-Identifier: MIT */
/* t2x_clock.c - 128-bit arithmetic once a second, 64-bit in between. */
#include "t2x_clock.h"

__extension__ typedef __int128 wide;

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
	clock->ticks_per_s = ticks_per_s ? ticks_per_s : 1;
	clock->factor = (T2X_NS_PER_S << T2X_CLOCK_SHIFT) / clock->ticks_per_s;
	forget_second(clock);
}

static uint64_t convert(const struct t2x_clock *clock, uint64_t raw)
{
	wide ticks = (int64_t)(raw - clock->raw), rate = clock->ticks_per_s;
	wide ns = ticks * (wide)T2X_NS_PER_S;

	ns = (ns < 0 ? ns - (rate - 1) : ns) / rate + (wide)clock->seconds * (wide)T2X_NS_PER_S;
	if (ns < 0)
		return 0;
	return ns > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Remember the full second that raw lies in, if the short way can be exact for it. */
static void keep_second(struct t2x_clock *clock, uint64_t raw)
{
	int64_t ticks = (int64_t)(raw - clock->raw), rate = (int64_t)clock->ticks_per_s;
	int64_t second = ticks / rate - (ticks % rate < 0);
	wide ns = ((wide)clock->seconds + second) * (wide)T2X_NS_PER_S;

	if (ns < 0 || ns > (wide)(UINT64_MAX - T2X_NS_PER_S))
		return;
	clock->second_raw = clock->raw + (uint64_t)second * (uint64_t)rate;
	clock->second_ns = (uint64_t)ns;
	clock->second_ticks = clock->ticks_per_s;
}

uint64_t t2x_clock_other_ns(struct t2x_clock *clock, uint64_t raw)
{
	if (clock->ticks_per_s <= UINT64_MAX / T2X_NS_PER_S)
		keep_second(clock, raw);
	return convert(clock, raw);
}
