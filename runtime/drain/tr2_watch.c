/* SPDX-License-Identifier: MIT */
/* tr2_watch.c - see tr2_watch.h. */
#include "tr2_watch.h"

#include <string.h>

#include "tr2_judge.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"

enum {
	TIMEOUT_US = 10000,       /* with an unfinished event, before the glance goes around it */
	QUOTA_EVENTS = 1 << 18,   /* of one ring in one look */
};

static struct watching {
	int is_on;
	uint64_t next_open;       /* raw clock: when the first open region is too old; UINT64_MAX: none will be */
	uint64_t missed;
} g_watching;

TR2_LARGE static struct tlg_event g_copied[TR2_GLANCE_EVENTS];

int tr2_watch_begin(const struct tr2_rules *rules)
{
	int error = tr2_judge_begin(rules);

	g_watching = (struct watching){ .is_on = !error, .next_open = UINT64_MAX };
	return error;
}

void tr2_watch_reset(void)
{
	tr2_judge_reset();
	g_watching = (struct watching){ .is_on = g_watching.is_on, .next_open = UINT64_MAX };
}

/* Return  events */
static uint64_t watch_ring(struct tr2_thread *thread, uint64_t now)
{
	const uint64_t timeout = tr2_clock_ticks(TIMEOUT_US * UINT64_C(1000));
	struct tr2_watch *watch = thread->reader.watch;
	uint64_t seen = 0;
	unsigned n;

	do {
		uint64_t missed = 0;
		n = tr2_ring_glance(&watch->glance, &thread->ring, now, timeout, g_copied, &missed);
		tr2_track_skip_missing(&watch->track, missed);
		g_watching.missed += missed != 0;
		for (unsigned at = 0, count; at < n; at += count) {
			count = tlg_chain_length(&g_copied[at], n - at);
			tr2_judge_chain(watch, &g_copied[at], count);
		}
		seen += n;
	} while (n && seen < QUOTA_EVENTS);
	return seen;
}

static int has_watch(struct tr2_thread *thread)
{
	if (!thread->reader.watch)
		thread->reader.watch = tr2_memory_acquire(sizeof(struct tr2_watch));
	return thread->reader.watch != NULL;
}

static void watch_open_regions(void)
{
	const uint64_t now = tr2_clock_raw();

	g_watching.next_open = UINT64_MAX;
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		uint64_t when = thread->reader.watch ? tr2_judge_open_regions(thread->reader.watch, now) : UINT64_MAX;

		if (when < g_watching.next_open)
			g_watching.next_open = when;
	}
}

uint64_t tr2_watch_look(uint64_t now)
{
	uint64_t seen = 0;

	if (!g_watching.is_on)
		return 0;
	tr2_judge_refresh(now);
	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread))
		seen += has_watch(thread) ? watch_ring(thread, now) : 0;
	tr2_judge_rates(now);
	watch_open_regions();
	return seen;
}

uint64_t tr2_watch_wait_ns(uint64_t now)
{
	if (g_watching.next_open == UINT64_MAX)
		return UINT64_MAX;
	return g_watching.next_open > now ? tr2_clock_ns(g_watching.next_open - now) + 1 : 1;
}

uint64_t tr2_watch_missed(void)
{
	return g_watching.missed;
}
