/* SPDX-License-Identifier: MIT */
/*
 * bench_emit - what a call costs.
 *
 * usage: bench_emit DIRECTORY ROUNDS
 *
 * Traces into DIRECTORY/emit.tlg.  The last line of output, "recorded N", is what the trace must hold of
 * category "bench"; run.sh compares.  Tracing off is measured before the library is initialized.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "trace2.h"

/*
 * A burst takes two thirds of a ring of 1.5 MiB; between bursts everything is written out.  Shorter ones would
 * mostly measure how the sleeping drain is woken.
 */
enum { BURST = 40000, RING_EVENTS = 32768, EVENT_BYTES = 24, LINE_BYTES = 256 };

static uint64_t *rings[BENCH_THREADS];   /* of the floor: shared memory, as the library's rings are */
static int text_fd;

static void *map_ring(void)
{
	size_t bytes = (size_t)RING_EVENTS * EVENT_BYTES;
	int fd = memfd_create("bench", MFD_CLOEXEC);
	void *ring;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		bench_fail("memfd");
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		bench_fail("mmap");
	close(fd);
	memset(ring, 1, bytes);
	return ring;
}

/* ---- the cases ---------------------------------------------------------------------------------- */

static void run_nothing(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		bench_barrier();
}

static void run_clock(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		bench_keep(bench_ticks());
}

/* The least that a tracer with a clock can do: its position is in a register, nobody reads. */
static void run_floor(unsigned thread, unsigned ops)
{
	uint64_t *ring = rings[thread];

	for (unsigned i = 0; i < ops; i++) {
		uint64_t *event = ring + (size_t)(i % RING_EVENTS) * (EVENT_BYTES / sizeof(*ring));

		event[1] = bench_ticks();
		event[2] = i;
		event[0] = ops;
		bench_barrier();
	}
}

/* With a barrier behind each call: as in a real program, it has to look whether tracing is on each time. */
static void run_region(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i += 2) {
		trace2_region_enter("bench", "inline", NULL);
		bench_barrier();
		trace2_region_leave("bench", "inline", NULL);
		bench_barrier();
	}
}

static void run_region_fl(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i += 2) {
		trace2_region_enter_fl(__FILE__, __LINE__, "bench", "function", NULL);
		trace2_region_leave_fl(__FILE__, __LINE__, "bench", "function", NULL);
	}
}

static void run_region_printf(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i += 2) {
		trace2_region_enter_printf("bench", "printf", NULL, "%s %d", "a message", (int)i);
		trace2_region_leave_printf("bench", "printf", NULL, "%s %d", "a message", (int)i);
	}
}

static void run_step(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++) {
		trace2_step("bench", "step");
		bench_barrier();
	}
}

static void run_intmax(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++) {
		trace2_data_intmax("bench", NULL, "integer", i);
		bench_barrier();
	}
}

static void run_string(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		trace2_data_string("bench", NULL, "string", "twelve bytes");
}

static void run_snprintf(unsigned thread, unsigned ops)
{
	char message[LINE_BYTES];

	(void)thread;
	for (unsigned i = 0; i < ops; i++) {
		snprintf(message, sizeof(message), "%s %d", "a message", (int)i);
		bench_barrier();
	}
}

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

static struct bench_case off_cases[] = {
	{ .name = "empty loop", .run = run_nothing, .ops = BURST },
	{ .name = "region, literal names", .run = run_region, .ops = BURST },
	{ .name = "region, through the function", .run = run_region_fl, .ops = BURST },
	{ .name = "region with a message", .run = run_region_printf, .ops = BURST },
	{ .name = "data_intmax", .run = run_intmax, .ops = BURST },
};

enum { FLOOR = 2 };
static struct bench_case on_cases[] = {
	{ .name = "empty loop", .run = run_nothing, .ops = BURST },
	{ .name = "clock", .run = run_clock, .ops = BURST },
	{ .name = "floor: clock + 24 bytes stored", .run = run_floor, .ops = BURST },
	{ .name = "region, literal names", .run = run_region, .ops = BURST, .recorded = 1 },
	{ .name = "region, through the function", .run = run_region_fl, .ops = BURST, .recorded = 1 },
	{ .name = "step", .run = run_step, .ops = BURST, .recorded = 1 },
	{ .name = "data_intmax", .run = run_intmax, .ops = BURST / 2, .recorded = 1 },
	{ .name = "data_string, 12 bytes", .run = run_string, .ops = BURST / 2, .recorded = 1 },
	{ .name = "region with a message \"%s %d\"", .run = run_region_printf, .ops = BURST / 4, .recorded = 1 },
	{ .name = "snprintf of that message", .run = run_snprintf, .ops = BURST / 4, .alone = 1 },
	{ .name = "perf line by snprintf", .run = run_line, .ops = BURST / 40, .alone = 1 },
	{ .name = "perf line by snprintf, write(2)", .run = run_line_write, .ops = BURST / 40, .alone = 1 },
};

static const unsigned off_count = sizeof(off_cases) / sizeof(*off_cases);
static const unsigned on_count = sizeof(on_cases) / sizeof(*on_cases);

static void set_destination(const char *directory)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/emit.tlg", directory) >= (int)sizeof(path) ||
	    setenv("TRACE2_RAW", path, 1))
		bench_fail(directory);
	text_fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (text_fd < 0)
		bench_fail(directory);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;
	uint64_t recorded = BURST;

	if (!rounds) {
		fprintf(stderr, "usage: bench_emit DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	for (unsigned i = 0; i < BENCH_THREADS; i++)
		rings[i] = map_ring();
	set_destination(argv[1]);
	bench_start();
	bench_measure(off_cases, off_count, rounds, NULL);
	bench_print("tracing off", off_cases, off_count, rounds, 0);

	trace2_initialize();
	if (!trace2_is_enabled())
		bench_fail("tracing is not on");
	/* The writing thread starts here, from a thread that may use every processor. */
	run_region(0, BURST);
	trace2_flush();
	bench_measure(on_cases, on_count, rounds, trace2_flush);
	bench_print("\ntracing on", on_cases, on_count, rounds, FLOOR);
	bench_stop();
	for (unsigned i = 0; i < on_count; i++)
		recorded += on_cases[i].recorded ? on_cases[i].done : 0;
	printf("recorded %" PRIu64 "\n", recorded);
	return 0;
}
