/* SPDX-License-Identifier: MIT */
/*
 * bench_emit - what a call costs.
 *
 * usage: bench_emit DIRECTORY ROUNDS
 *
 * Traces into DIRECTORY/trace.tlg.  Measurements: bench.h.  Tracing off is measured before the library is
 * initialized.  bench_emit_static is the same program, linked with the static library.
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "baseline.h"
#include "trace2.h"

/*
 * A burst takes two thirds of a ring of 1.5 MiB; between bursts everything is written out.  Shorter ones would
 * mostly measure how the sleeping drain is woken.
 */
enum { BURST = 40000, LINE_BYTES = 256 };

static int text_fd;

/* ---- what it is compared with ------------------------------------------------------------------- */

/* volatile: the compiler is not to know what it prints */
static const char *volatile text_argument = "a message";

#define RUN_SNPRINTF(name, ...) \
	static void name(unsigned thread, unsigned ops) \
	{ \
		char message[LINE_BYTES]; \
		(void)thread; \
		for (unsigned i = 0; i < ops; i++) { \
			snprintf(message, sizeof(message), __VA_ARGS__); \
			bench_barrier(); \
		} \
	}

RUN_SNPRINTF(run_snprintf_int, "%d", (int)i)
RUN_SNPRINTF(run_snprintf_text, "%s", text_argument)
RUN_SNPRINTF(run_snprintf_both, "%s %d", text_argument, (int)i)

/* A line as the perf text has it, the way a program without a tracer would make it. */
static int format_line(char *line, unsigned number)
{
	struct timespec now;
	struct tm day;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &day);
	return snprintf(line, LINE_BYTES, "%02d:%02d:%02d.%06ld %-28s | d%d | %-24s | %-12s | %3s | %9.6f | %9s | "
			"%-12.12s | label:%s %u\n", day.tm_hour, day.tm_min, day.tm_sec, now.tv_nsec / 1000,
			"bench_emit.c:142", 0, "main", "region_enter", "", (double)now.tv_nsec / 1e9, "", "bench",
			"inline", number);
}

static void run_line(unsigned thread, unsigned ops)
{
	char line[LINE_BYTES];

	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		bench_keep(format_line(line, i));
}

/* The file is written over in each burst, so it stays small. */
static void run_line_write(unsigned thread, unsigned ops)
{
	char line[LINE_BYTES];

	(void)thread;
	lseek(text_fd, 0, SEEK_SET);
	for (unsigned i = 0; i < ops; i++) {
		int length = format_line(line, i);

		if (write(text_fd, line, (size_t)length) != length)
			bench_fail("write");
	}
}

/* ---- the calls ---------------------------------------------------------------------------------- */

/* Regions, entered and left in turn; one operation is one of the two. */
#define RUN_REGION(name, enter, leave) \
	static void name(unsigned thread, unsigned ops) \
	{ \
		(void)thread; \
		for (unsigned i = 0; i < ops; i += 2) { \
			enter; \
			bench_barrier(); \
			leave; \
			bench_barrier(); \
		} \
	}

RUN_REGION(run_region, trace2_region_enter("bench", "inline", NULL), trace2_region_leave("bench", "inline", NULL))
RUN_REGION(run_region_fl, trace2_region_enter_fl(__FILE__, __LINE__, "bench", "function", NULL),
	   trace2_region_leave_fl(__FILE__, __LINE__, "bench", "function", NULL))
RUN_REGION(run_region_int, trace2_region_enter_printf("bench", "int", NULL, "%d", (int)i),
	   trace2_region_leave_printf("bench", "int", NULL, "%d", (int)i))
RUN_REGION(run_region_text, trace2_region_enter_printf("bench", "text", NULL, "%s", text_argument),
	   trace2_region_leave_printf("bench", "text", NULL, "%s", text_argument))
RUN_REGION(run_region_both, trace2_region_enter_printf("bench", "both", NULL, "%s %d", text_argument, (int)i),
	   trace2_region_leave_printf("bench", "both", NULL, "%s %d", text_argument, (int)i))
BENCH_CALL(run_enter, trace2_region_enter("bench", "off", NULL))
BENCH_CALL(run_step, trace2_step("bench", "step"))
BENCH_CALL(run_intmax, trace2_data_intmax("bench", NULL, "integer", i))
BENCH_CALL(run_string, trace2_data_string("bench", NULL, "string", "twelve bytes"))
BENCH_CALL(run_timer, trace2_timer_start(TRACE2_TIMER_ID_TEST1); trace2_timer_stop(TRACE2_TIMER_ID_TEST1))
BENCH_CALL(run_counter, trace2_counter_add(TRACE2_COUNTER_ID_TEST1, i))

static struct bench_case off_cases[] = {
	{ .name = "off: empty loop", .run = baseline_nothing, .ops = BURST },
	{ .name = "off: one cycle", .run = baseline_cycles, .ops = BURST },
	{ .name = "off: region enter", .run = run_enter, .ops = BURST },
	{ .name = "off: region, function", .run = run_region_fl, .ops = BURST },
	{ .name = "off: region, \"%s %d\"", .run = run_region_both, .ops = BURST },
	{ .name = "off: data_intmax", .run = run_intmax, .ops = BURST },
	{ .name = "off: timer start and stop", .run = run_timer, .ops = BURST },
};

static struct bench_case on_cases[] = {
	{ .name = "empty loop", .run = baseline_nothing, .ops = BURST },
	{ .name = "clock", .run = baseline_clock, .ops = BURST },
	{ .name = "baseline: clock + 24 bytes stored", .run = baseline_store, .ops = BURST },
	{ .name = "region, inline", .run = run_region, .ops = BURST, .recorded = 1 },
	{ .name = "region, inline, bursts of 10,000", .run = run_region, .ops = BURST / 4, .recorded = 1 },
	{ .name = "region, function", .run = run_region_fl, .ops = BURST, .recorded = 1 },
	{ .name = "step", .run = run_step, .ops = BURST, .recorded = 1 },
	{ .name = "data_intmax", .run = run_intmax, .ops = BURST / 2, .recorded = 1 },
	{ .name = "data_string, 12 bytes", .run = run_string, .ops = BURST / 2, .recorded = 1 },
	{ .name = "region, \"%d\"", .run = run_region_int, .ops = BURST / 4, .recorded = 1 },
	{ .name = "snprintf \"%d\"", .run = run_snprintf_int, .ops = BURST / 4 },
	{ .name = "region, \"%s\"", .run = run_region_text, .ops = BURST / 4, .recorded = 1 },
	{ .name = "snprintf \"%s\"", .run = run_snprintf_text, .ops = BURST / 4 },
	{ .name = "region, \"%s %d\"", .run = run_region_both, .ops = BURST / 4, .recorded = 1 },
	{ .name = "snprintf \"%s %d\"", .run = run_snprintf_both, .ops = BURST / 4 },
	{ .name = "timer start and stop", .run = run_timer, .ops = BURST },
	{ .name = "counter add", .run = run_counter, .ops = BURST },
	{ .name = "perf line, snprintf", .run = run_line, .ops = BURST / 40, .alone = 1 },
	{ .name = "perf line, snprintf and write(2)", .run = run_line_write, .ops = BURST / 40, .alone = 1 },
};

static const unsigned off_count = sizeof(off_cases) / sizeof(*off_cases);
static const unsigned on_count = sizeof(on_cases) / sizeof(*on_cases);

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;

	if (!rounds) {
		fprintf(stderr, "usage: bench_emit DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	baseline_init();
	bench_trace_into(argv[1]);
	text_fd = open(argv[1], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (text_fd < 0)
		bench_fail(argv[1]);
	bench_start();
	bench_measure(off_cases, off_count, rounds, NULL);
	bench_print(off_cases, off_count, rounds);

	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	/* The writing thread starts here, from a thread that may use every processor. */
	run_region(0, BURST);
	trace2_flush();
	bench_measure(on_cases, on_count, rounds, trace2_flush);
	bench_print(on_cases, on_count, rounds);
	bench_stop();
	bench_print_recorded(on_cases, on_count, BURST);
	return 0;
}
