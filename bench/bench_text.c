/* SPDX-License-Identifier: MIT */
/*
 * bench_text - what an event costs its thread while the program writes texts.
 *
 * usage: bench_text DIRECTORY ROUNDS
 *
 * Writes DIRECTORY/perf and DIRECTORY/event, git's formats, and also the binary trace DIRECTORY/trace.tlg.  The drain
 * does all of that, so an event should cost its thread as much as without the texts.  In git the thread itself formats
 * and writes.  Measurements: bench.h, in ns of the thread's CPU time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "baseline.h"
#include "trace2.h"

enum { BURST = 2000 };

static void run_region(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i += 2) {
		trace2_region_enter("bench", "text", NULL);
		trace2_region_leave("bench", "text", NULL);
	}
}

static void run_data(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		trace2_data_string("bench", NULL, "text", "a short value");
}

static void run_message(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i += 2) {
		trace2_region_enter_printf("bench", "message", NULL, "%s %d", "number", (int)i);
		trace2_region_leave_printf("bench", "message", NULL, "%s %d", "number", (int)i);
	}
}

/* What git is measured by: see run.sh. */
static void run_param(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		trace2_def_param("bench.k12345", "value", NULL);
}

static struct bench_case cases[] = {
	{ .name = "baseline: clock + 24 bytes stored", .run = baseline_store, .ops = BURST },
	{ .name = "texts on: region, inline", .run = run_region, .ops = BURST, .recorded = 1 },
	{ .name = "texts on: data_string", .run = run_data, .ops = BURST, .recorded = 1 },
	{ .name = "texts on: region, \"%s %d\"", .run = run_message, .ops = BURST, .recorded = 1 },
	{ .name = "texts on: def_param", .run = run_param, .ops = BURST },
};

/* Have the library write this text into a file of the directory. */
static void write_text(const char *setting, const char *directory, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path) || setenv(setting, path, 1))
		bench_fail(directory);
}

int main(int argc, char **argv)
{
	const unsigned count = sizeof(cases) / sizeof(*cases);
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;

	if (!rounds) {
		fprintf(stderr, "usage: bench_text DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	baseline_init();
	bench_trace_into(argv[1]);
	write_text("TRACE2_PERF", argv[1], "perf");
	write_text("TRACE2_EVENT", argv[1], "event");
	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	bench_traced(cases, count, rounds);
	return 0;
}
