/* SPDX-License-Identifier: MIT */
/*
 * bench_lttng - compares LTTng-UST with this library: what an event costs, and the same events recorded by both.
 *
 * usage: bench_lttng DIRECTORY ROUNDS
 *        bench_lttng DIRECTORY record TIMES
 *
 * To be run in an LTTng session that has all tracepoints but bench:off enabled (peers.sh makes one).  Our part
 * goes into DIRECTORY/trace.tlg.  The first form prints measurements, bench.h, and "recorded_lttng N", the events that
 * the session must hold.  The second enters a region, records a number and leaves, so many times, with us and with
 * LTTng, and prints nothing but the two totals.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "baseline.h"
#include "trace2.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.def"

/* LTTng's bursts fit into a quarter of its ring of 8 MiB, ours into two thirds of one of 1.5 MiB. */
enum { BURST = 40000, LTTNG_BURST = 10000, RECORD_BURST = 5000, RECORD_EVENTS = 3 };

BENCH_CALL(run_region, trace2_region_leave("bench", "inline", NULL))   /* enters would nest, and be printed so */
BENCH_CALL(run_intmax, trace2_data_intmax("bench", NULL, "value", i))
BENCH_CALL(run_integer, lttng_ust_tracepoint(bench, integer, i))
BENCH_CALL(run_strings, lttng_ust_tracepoint(bench, data, "bench", "value", i))
BENCH_CALL(run_off, lttng_ust_tracepoint(bench, off, i))

static struct bench_case cases[] = {
	{ .name = "empty loop", .run = baseline_nothing, .ops = BURST },
	{ .name = "baseline: clock + 24 bytes stored", .run = baseline_store, .ops = BURST },
	{ .name = "region, inline", .run = run_region, .ops = BURST, .recorded = 1 },
	{ .name = "data_intmax", .run = run_intmax, .ops = BURST / 2, .recorded = 1 },
	{ .name = "LTTng-UST, integer", .run = run_integer, .ops = LTTNG_BURST },
	{ .name = "LTTng-UST, two texts and an integer", .run = run_strings, .ops = LTTNG_BURST },
	{ .name = "LTTng-UST, tracepoint off", .run = run_off, .ops = BURST },
};

/* Wait until our drain and LTTng's consumer have written all events. */
static void let_consumers_write(void)
{
	const struct timespec pause = { 0, 5000000 };

	trace2_flush();
	nanosleep(&pause, NULL);
}

static void record_both(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		trace2_region_enter("bench", "both", NULL);
		lttng_ust_tracepoint(bench, region_enter, "bench", "both");
		trace2_data_intmax("bench", NULL, "number", i);
		lttng_ust_tracepoint(bench, data, "bench", "number", i);
		trace2_region_leave("bench", "both", NULL);
		lttng_ust_tracepoint(bench, region_leave, "bench", "both");
		if (i % RECORD_BURST == RECORD_BURST - 1)
			let_consumers_write();
	}
	printf("recorded %u\nrecorded_lttng %u\n", times * RECORD_EVENTS, times * RECORD_EVENTS);
}

static void measure(unsigned rounds)
{
	const unsigned count = sizeof(cases) / sizeof(*cases);
	uint64_t ours = 0, theirs = 0;

	baseline_init();
	bench_start();
	bench_measure(cases, count, rounds, let_consumers_write);
	bench_print(cases, count, rounds);
	bench_stop();
	for (unsigned i = 0; i < count; i++) {
		ours += cases[i].recorded ? cases[i].done : 0;
		theirs += cases[i].run == run_integer || cases[i].run == run_strings ? cases[i].done : 0;
	}
	printf("recorded %" PRIu64 "\nrecorded_lttng %" PRIu64 "\n", ours, theirs);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;
	unsigned times = argc == 4 && !strcmp(argv[2], "record") ? (unsigned)strtoul(argv[3], NULL, 10) : 0;

	if (!rounds && !times) {
		fprintf(stderr, "usage: bench_lttng DIRECTORY ROUNDS (1 to %d)\n"
			"       bench_lttng DIRECTORY record TIMES\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	bench_trace_into(argv[1]);
	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	if (times)
		record_both(times);
	else
		measure(rounds);
	return 0;
}
