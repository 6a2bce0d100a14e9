/* SPDX-License-Identifier: MIT */
/*
 * tr2_clock.h - the raw clock, and how its ticks relate to the calendar.
 *
 * The raw clock is the time stamp counter where the kernel itself trusts it as its clock source, the ARM
 * virtual counter, or else CLOCK_MONOTONIC.  Its rate is never measured by waiting: the distance between
 * the start of the process and the latest anchor gives it.  So any event between the two is as exact as
 * the two readings (about 30 ns).
 */
#ifndef TR2_CLOCK_H
#define TR2_CLOCK_H

#include <stdint.h>

/* A raw reading and the time it belongs to. */
struct tr2_anchor {
	uint64_t raw;
	uint64_t ns;              /* since 1970-01-01 UTC; never jumps: CLOCK_MONOTONIC plus a fixed offset */
};

/* What TIMETYPE and TIMEINFO say: raw is the reading at the full second sec. */
struct tr2_timebase {
	uint64_t raw;
	int64_t sec;
	uint64_t ticks_per_s;
};

/* Choose the clock and take the first anchor, the start of the process.  Idempotent.  Signal safe.  Cost 8 us. */
void tr2_clock_init(void);

/* TLG_CLOCK_*; and 1 if the public inline path may read the clock by itself. */
unsigned tr2_clock_type(void);
int tr2_clock_is_inline(void);

/* The raw clock now.  Never 0.  Signal safe.  Cost  a clock read: 8 ns, 18 ns for CLOCK_MONOTONIC. */
uint64_t tr2_clock_raw(void);

/* The raw clock at the start of the process; and the time it belongs to. */
uint64_t tr2_clock_start(void);
struct tr2_anchor tr2_clock_first(void);

/* A new anchor.  Signal safe.  Cost  100 ns. */
struct tr2_anchor tr2_clock_anchor(void);

/* A duration in ns, by the best rate known now.  Cost  100 ns. */
uint64_t tr2_clock_ns(uint64_t ticks);

/* The ticks of this duration, about. */
uint64_t tr2_clock_ticks(uint64_t ns);

/* CLOCK_MONOTONIC in ms: for deadlines.  Signal safe */
uint64_t tr2_clock_ms(void);

/* The best time base that the start and a reading now give.  Signal safe.  Cost  100 ns. */
void tr2_clock_timebase(struct tr2_timebase *base);

#endif
