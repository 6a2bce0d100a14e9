/* SPDX-License-Identifier: MIT */
/*
 * bench_memory - what an event costs inside of work, above all inside of work that misses the cache.
 *
 * usage: bench_memory DIRECTORY ROUNDS
 *
 * There are three kinds of work: independent reads at scattered places of 32 MiB, of which the processor executes
 * several at the same time; dependent reads in 16 MiB, each at the address that the one before has read; and computing.
 * Each runs alone, and with one operation behind each piece of work: a clock read, a timed event, a step, a counter.
 * The cost of the operation is the difference.  A clock read may have to wait for all reads before it.  Then it costs
 * far more in the first kind of work than in a loop.  Traces into DIRECTORY/trace.tlg.  Measurements: bench.h.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "trace2.h"

enum { WORDS = 32 << 20 >> 3, CIRCLE_WORDS = 16 << 20 >> 3, BURST = 10000, LINE_WORDS = 8 };

#define SPREAD UINT64_C(0x9e3779b97f4a7c15)      /* 2^64 / golden ratio: multiples of it are spread evenly */

static uint64_t memory[WORDS];
static uint64_t circle[CIRCLE_WORDS];            /* [i]: index of another word, all in one circle */

static inline uint64_t read_spread(uint64_t number, uint64_t sum)
{
	return sum + memory[(number * SPREAD >> 42) % WORDS];
}

static inline uint64_t read_chain(uint64_t number, uint64_t at)
{
	(void)number;
	return circle[at % CIRCLE_WORDS];
}

static inline uint64_t compute(uint64_t number, uint64_t sum)
{
	uint64_t x = number * SPREAD + sum;

	for (int k = 0; k < 12; k++)
		x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x;
}

/* Work in bursts, each of which continues where the thread's last one ended. */
static uint64_t positions[BENCH_THREADS][LINE_WORDS];

#define RUN_WORK(name, work, call) \
	static void name(unsigned thread, unsigned ops) \
	{ \
		uint64_t first = positions[thread][0], value = positions[thread][1]; \
		for (uint64_t i = first; i < first + ops; i++) { \
			value = work(i, value); \
			call; \
			bench_barrier(); \
		} \
		positions[thread][0] = first + ops; \
		positions[thread][1] = value; \
	}

#define RUN_WORKS(work) \
	RUN_WORK(run_##work, work, ) \
	RUN_WORK(run_##work##_clock, work, bench_keep(bench_ticks())) \
	RUN_WORK(run_##work##_event, work, trace2_region_leave("bench", #work, NULL)) \
	RUN_WORK(run_##work##_step, work, trace2_step("bench", #work)) \
	RUN_WORK(run_##work##_counter, work, trace2_counter_add(TRACE2_COUNTER_ID_TEST1, 1))

RUN_WORKS(read_spread)
RUN_WORKS(read_chain)
RUN_WORKS(compute)

#define CASES(work, text) \
	{ .name = text, .run = run_##work, .ops = BURST }, \
	{ .name = text ", clock", .run = run_##work##_clock, .ops = BURST }, \
	{ .name = text ", event", .run = run_##work##_event, .ops = BURST, .recorded = 1 }, \
	{ .name = text ", step", .run = run_##work##_step, .ops = BURST, .recorded = 1 }, \
	{ .name = text ", counter", .run = run_##work##_counter, .ops = BURST }

static struct bench_case cases[] = {
	CASES(read_spread, "independent reads"),
	CASES(read_chain, "dependent reads"),
	CASES(compute, "computing"),
};

/* Sattolo's shuffle: one circle through all words, so that no burst returns to where it was. */
static void make_circle(void)
{
	uint64_t random = 1;

	for (uint64_t i = 0; i < CIRCLE_WORDS; i++)
		circle[i] = i;
	for (uint64_t i = CIRCLE_WORDS - 1; i > 0; i--) {
		uint64_t kept = circle[i], other;

		random = random * UINT64_C(6364136223846793005) + 1;
		other = (random >> 33) % i;
		circle[i] = circle[other];
		circle[other] = kept;
	}
}

int main(int argc, char **argv)
{
	const unsigned count = sizeof(cases) / sizeof(*cases);
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;

	if (!rounds) {
		fprintf(stderr, "usage: bench_memory DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	memset(memory, 1, sizeof(memory));
	make_circle();
	bench_trace_into(argv[1]);
	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	bench_traced(cases, count, rounds);
	return 0;
}
