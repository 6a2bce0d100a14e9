/* SPDX-License-Identifier: MIT */
/*
 * bench_tail - how long the slowest calls take.
 *
 * usage: bench_tail DIRECTORY ROUNDS
 *
 * Traces into DIRECTORY/trace.tlg, while the drain runs.  Clock reads around each call time it, so each time contains
 * one clock read more than in bench_emit.  The case "nothing" is only this read, and "baseline" the least work of any
 * tracer: the distance of its slowest calls from its median is due to the machine.
 * Measurements: bench.h, the quantiles of each round.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "trace2.h"

/* A burst is long enough to meet the drain at work, and fits into a ring of 1.5 MiB. */
enum { BURST = 50000, LARGEST_TICKS = UINT16_MAX };
enum { NOTHING, BASELINE, REGION, STEP, CASES };

/* Calls by duration in ticks; the last counter: as long or longer. */
struct histogram {
	uint64_t calls[LARGEST_TICKS + 1];
	uint64_t total, longest;
};

static struct histogram histograms[CASES];

/*
 * The durations are counted when the burst is over.  The counter of a rare duration is not in the cache: if it was
 * counted between two calls, the call behind each slow call became slow itself.
 */
static uint64_t durations[BURST];

static void count_calls(struct histogram *h)
{
	for (unsigned i = 0; i < BURST; i++) {
		uint64_t ticks = durations[i];

		h->calls[ticks < LARGEST_TICKS ? ticks : LARGEST_TICKS]++;
		h->total++;
		if (ticks > h->longest)
			h->longest = ticks;
	}
}

#define TIME_CALLS(h, call) \
	do { \
		for (unsigned i = 0; i < BURST; i++) { \
			uint64_t start = bench_ticks(); \
			call; \
			durations[i] = bench_ticks() - start; \
		} \
		count_calls(h); \
	} while (0)

/* The clock and 24 bytes, into as much memory as a burst takes of the ring. */
static inline void store_bare(unsigned i)
{
	static uint64_t memory[BURST][3];

	memory[i][1] = bench_ticks();
	memory[i][2] = i;
	memory[i][0] = 1;
	bench_keep(memory);
}

static inline void pass_region(unsigned i)
{
	if (i % 2 == 0)
		trace2_region_enter("bench", "tail", NULL);
	else
		trace2_region_leave("bench", "tail", NULL);
}

/* Smallest duration that `part` of the calls do not exceed; part > 1: the longest. */
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

static const struct {
	const char *name;
	double part;
} quantiles[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "longest", 2 } };

enum { QUANTILES = sizeof(quantiles) / sizeof(*quantiles) };

static double results[CASES][QUANTILES][BENCH_ROUNDS_MAX];   /* ticks */

/* Put the round's quantiles into the results, and clear the histogram. */
static void finish_round(unsigned index, unsigned round)
{
	struct histogram *h = &histograms[index];

	for (unsigned q = 0; q < QUANTILES; q++)
		results[index][q][round] = (double)find_quantile(h, quantiles[q].part);
	memset(h, 0, sizeof(*h));
}

static void run_round(unsigned round)
{
	TIME_CALLS(&histograms[NOTHING], bench_barrier());
	TIME_CALLS(&histograms[BASELINE], store_bare(i));
	TIME_CALLS(&histograms[REGION], pass_region(i));
	trace2_flush();
	TIME_CALLS(&histograms[STEP], trace2_step("bench", "step"));
	trace2_flush();
	for (unsigned i = 0; i < CASES; i++)
		finish_round(i, round);
}

static void print_results(unsigned rounds, double ticks_per_ns)
{
	static const char *const names[CASES] = { "nothing", "baseline", "region, inline", "step" };
	char name[64];

	for (unsigned i = 0; i < CASES; i++)
		for (unsigned q = 0; q < QUANTILES; q++) {
			for (unsigned r = 0; r < rounds; r++)
				results[i][q][r] /= ticks_per_ns;
			snprintf(name, sizeof(name), "%s, %s", names[i], quantiles[q].name);
			bench_print_values(name, 1, "ns", results[i][q], rounds);
		}
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;

	if (!rounds) {
		fprintf(stderr, "usage: bench_tail DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	bench_trace_into(argv[1]);
	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	for (unsigned round = 0; round < rounds; round++)
		run_round(round);
	print_results(rounds, measure_ticks_per_ns());
	printf("recorded %" PRIu64 "\n", (uint64_t)rounds * BURST * 2);
	return 0;
}
