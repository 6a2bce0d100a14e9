/* SPDX-License-Identifier: MIT */
/*
 * bench_tail - how long single calls take, at worst.
 *
 * usage: bench_tail DIRECTORY ROUNDS
 *
 * Traces into DIRECTORY/tail.tlg.  Each call is timed by the clock reads around it, so the figures contain
 * one clock read more than those of bench_emit; the case "nothing" is that read alone.  The last line of
 * output is "recorded N", as in bench_emit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "trace2.h"

/* A burst is long enough to meet the drain at work, and fits into a ring of 1.5 MiB. */
enum { BURST = 50000, CASES = 3, LARGEST_TICKS = UINT16_MAX };

/* Calls by duration in ticks; the last counter: as long or longer. */
struct histogram {
	uint64_t calls[LARGEST_TICKS + 1];
	uint64_t total, longest;
};

static struct histogram histograms[CASES];

static void count_call(struct histogram *h, uint64_t ticks)
{
	h->calls[ticks < LARGEST_TICKS ? ticks : LARGEST_TICKS]++;
	h->total++;
	if (ticks > h->longest)
		h->longest = ticks;
}

#define TIME_CALLS(h, call) \
	do { \
		for (unsigned i = 0; i < BURST; i++) { \
			uint64_t start = bench_ticks(); \
			call; \
			count_call((h), bench_ticks() - start); \
		} \
	} while (0)

static inline void pass_region(unsigned i)
{
	if (i % 2 == 0)
		trace2_region_enter("bench", "tail", NULL);
	else
		trace2_region_leave("bench", "tail", NULL);
}

/* Smallest duration that `part` of the calls do not exceed. */
static uint64_t find_quantile(const struct histogram *h, double part)
{
	uint64_t wanted = (uint64_t)((double)h->total * part), seen = 0;

	for (unsigned ticks = 0; ticks < LARGEST_TICKS; ticks++) {
		seen += h->calls[ticks];
		if (seen >= wanted)
			return ticks;
	}
	return h->longest;
}

static double measure_ticks_per_ns(void)
{
	uint64_t start_ns = bench_now_ns(), start = bench_ticks(), now_ns;

	do
		now_ns = bench_now_ns();
	while (now_ns - start_ns < 50000000);
	return (double)(bench_ticks() - start) / (double)(now_ns - start_ns);
}

static void print_row(const char *name, const struct histogram *h, double ticks_per_ns)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };

	printf("%-28s", name);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		printf(" %8.1f", (double)find_quantile(h, parts[i]) / ticks_per_ns);
	printf(" %10.0f\n", (double)h->longest / ticks_per_ns);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;
	double ticks_per_ns = measure_ticks_per_ns();
	char path[4096];

	if (!rounds) {
		fprintf(stderr, "usage: bench_tail DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	if (snprintf(path, sizeof(path), "%s/tail.tlg", argv[1]) >= (int)sizeof(path) ||
	    setenv("TRACE2_RAW", path, 1))
		bench_fail(argv[1]);
	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	for (unsigned round = 0; round < rounds; round++) {
		TIME_CALLS(&histograms[0], bench_barrier());
		TIME_CALLS(&histograms[1], pass_region(i));
		trace2_flush();
		TIME_CALLS(&histograms[2], trace2_step("bench", "step"));
		trace2_flush();
	}
	printf("ns for one call, %u rounds of %d calls\n%-28s %8s %8s %8s %8s %8s %10s\n", rounds, BURST, "",
	       "p50", "p90", "p99", "p99.9", "p99.99", "longest");
	print_row("nothing: the clock alone", &histograms[0], ticks_per_ns);
	print_row("region, literal names", &histograms[1], ticks_per_ns);
	print_row("step", &histograms[2], ticks_per_ns);
	printf("recorded %" PRIu64 "\n", histograms[1].total + histograms[2].total);
	return 0;
}
