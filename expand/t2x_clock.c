/* SPDX-License-Identifier: MIT */
/* t2x_clock.c - 128-bit arithmetic once a second, 64-bit in between. */
#include "t2x_clock.h"

#define NS_PER_S UINT64_C(1000000000)

__extension__ typedef __int128 wide;

/* Makes the cache miss. */
static void forget_second(struct t2x_clock *clock)
{
	clock->second_raw = UINT64_MAX;
	clock->second_ns = 0;
}

void t2x_clock_fallback(struct t2x_clock *clock)
{
	t2x_clock_set_rate(clock, NS_PER_S);
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
	forget_second(clock);
}

static uint64_t convert(const struct t2x_clock *clock, uint64_t raw)
{
	wide ticks = (int64_t)(raw - clock->raw), rate = clock->ticks_per_s;
	wide ns = ticks * (wide)NS_PER_S;

	ns = (ns < 0 ? ns - (rate - 1) : ns) / rate + (wide)clock->seconds * (wide)NS_PER_S;
	if (ns < 0)
		return 0;
	return ns > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Remember the full second that raw lies in, as long as the short way can be exact for it. */
static void keep_second(struct t2x_clock *clock, uint64_t raw)
{
	int64_t ticks = (int64_t)(raw - clock->raw), rate = (int64_t)clock->ticks_per_s;
	int64_t second = ticks / rate - (ticks % rate < 0);
	wide ns = ((wide)clock->seconds + second) * (wide)NS_PER_S;

	if (ns < 0 || ns > (wide)(UINT64_MAX - NS_PER_S))
		return;
	clock->second_raw = clock->raw + (uint64_t)second * (uint64_t)rate;
	clock->second_ns = (uint64_t)ns;
}

uint64_t t2x_clock_ns(struct t2x_clock *clock, uint64_t raw)
{
	const uint64_t rate = clock->ticks_per_s;
	uint64_t ticks = raw - clock->second_raw;

	if (rate > UINT64_MAX / NS_PER_S)
		return convert(clock, raw);
	if (ticks >= rate || clock->second_raw == UINT64_MAX) {
		keep_second(clock, raw);
		ticks = raw - clock->second_raw;
		if (ticks >= rate || clock->second_raw == UINT64_MAX)
			return convert(clock, raw);
	}
	return clock->second_ns + ticks * NS_PER_S / rate;
}
