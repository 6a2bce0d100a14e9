/* SPDX-License-Identifier: MIT */
/* tr2_clock.c - choosing and reading the raw clock. */
#include "tr2_clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tlg.h"
#include "tlg_math.h"
#include "tr2_atomic.h"
#include "tr2_memory.h"
#include "tr2_sys.h"

#define NS_PER_S UINT64_C(1000000000)

TR2_NEAR static struct {
	unsigned type;            /* TLG_CLOCK_*, 0 before tr2_clock_init() */
	struct tr2_anchor start;
	uint64_t ticks_per_s;     /* roughly, for tr2_clock_ticks(); 0: not yet known */
	uint64_t epoch_ns;        /* CLOCK_REALTIME - CLOCK_MONOTONIC at the start */
} g_clock;

static uint64_t read_ns(clockid_t id)
{
	struct timespec t;

	tr2_sys_clock(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
#define COUNTER_TYPE TLG_CLOCK_TSC

static uint64_t read_counter(void)
{
	return __builtin_ia32_rdtsc();
}

static int is_source_counter(void)
{
	static const char source[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[8] = "";
	int fd = tr2_sys_open(source, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = tr2_sys_read(fd, name, sizeof(name) - 1);
	tr2_sys_close(fd);
	return n == 4 && !memcmp(name, "tsc\n", 4);
}

/*
 * The kernel's choice of clock source is the best judge of the counter: it has checked that it is invariant
 * and equal on all processors.  A process may also be denied it (prctl), and would be killed for reading it.
 */
static int counter_is_good(void)
{
	int allowed = 0;

	return !tr2_sys_prctl(PR_GET_TSC, (unsigned long)&allowed) && allowed == PR_TSC_ENABLE &&
	       (tr2_sys_clock_is_counter() || is_source_counter());
}
#elif defined(__aarch64__)
#define COUNTER_TYPE TLG_CLOCK_CNTVCT

static uint64_t read_counter(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}

static int counter_is_good(void)
{
	return 1;   /* the architecture defines it: constant rate, the same on all processors */
}
#else
#define COUNTER_TYPE TLG_CLOCK_MONOTONIC

static uint64_t read_counter(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

static int counter_is_good(void)
{
	return 0;
}
#endif

uint64_t tr2_clock_raw(void)
{
	return g_clock.type == TLG_CLOCK_MONOTONIC ? read_ns(CLOCK_MONOTONIC) : read_counter();
}

uint64_t tr2_clock_ms(void)
{
	return read_ns(CLOCK_MONOTONIC) / 1000000;
}

/* The tightest of a few readings: raw, ns, raw; the middle of the raw ones belongs to ns. */
struct tr2_anchor tr2_clock_anchor(void)
{
	struct tr2_anchor best = { 0, 0 };
	uint64_t best_gap = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = tr2_clock_raw();
		uint64_t ns = read_ns(CLOCK_MONOTONIC);
		uint64_t gap = tr2_clock_raw() - before;
		if (gap < best_gap) {
			best_gap = gap;
			best = (struct tr2_anchor){ before + gap / 2, ns + g_clock.epoch_ns };
		}
	}
	return best;
}

void tr2_clock_init(void)
{
	if (g_clock.type)
		return;
	tr2_sys_clock_init();
	g_clock.type = counter_is_good() ? COUNTER_TYPE : TLG_CLOCK_MONOTONIC;
	g_clock.epoch_ns = read_ns(CLOCK_REALTIME) - read_ns(CLOCK_MONOTONIC);
	g_clock.start = tr2_clock_anchor();
}

unsigned tr2_clock_type(void)
{
	return g_clock.type;
}

int tr2_clock_is_inline(void)
{
	return g_clock.type != TLG_CLOCK_MONOTONIC;
}

uint64_t tr2_clock_start(void)
{
	return g_clock.start.raw;
}

struct tr2_anchor tr2_clock_first(void)
{
	return g_clock.start;
}

void tr2_clock_timebase(struct tr2_timebase *base)
{
	struct tr2_anchor now = tr2_clock_anchor();
	uint64_t elapsed_ns = now.ns - g_clock.start.ns;
	uint64_t ticks = now.raw - g_clock.start.raw, rest;

	base->ticks_per_s = NS_PER_S;
	if (g_clock.type != TLG_CLOCK_MONOTONIC && elapsed_ns && ticks)
		base->ticks_per_s = tlg_mul_div(ticks, NS_PER_S, elapsed_ns, &rest);
	base->sec = (int64_t)(now.ns / NS_PER_S);
	base->raw = now.raw - tlg_mul_div(now.ns % NS_PER_S, base->ticks_per_s, NS_PER_S, &rest);
}

/* Any thread may be the first to ask; whichever answer stays is good enough. */
uint64_t tr2_clock_ticks(uint64_t ns)
{
	uint64_t ticks_per_s = tr2_load_rlx(&g_clock.ticks_per_s); /* relaxed: a number by itself */
	struct tr2_timebase base;
	uint64_t rest;

	if (g_clock.type == TLG_CLOCK_MONOTONIC)
		return ns;
	if (!ticks_per_s) {
		tr2_clock_timebase(&base);
		ticks_per_s = base.ticks_per_s;
		tr2_store_rlx(&g_clock.ticks_per_s, ticks_per_s); /* relaxed: as above */
	}
	return tlg_mul_div(ns, ticks_per_s, NS_PER_S, &rest);
}

uint64_t tr2_clock_ns(uint64_t ticks)
{
	struct tr2_timebase base;
	uint64_t rest;

	tr2_clock_timebase(&base);
	return tlg_mul_div(ticks, NS_PER_S, base.ticks_per_s, &rest);
}
