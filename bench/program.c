/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "trace2.h"

enum { LOOP = 2, CASES, PATH_BYTES = 512, NAME_BYTES = 80 };

static const struct mode {
	const char *name;
	enum program_kind kind;
	const char *target, *file;      /* NULL: tracing is off */
	const char *policy;             /* NULL: the default */
} modes[] = {
	{ "off", PROGRAM_OURS, NULL, NULL, NULL },
	{ "on", PROGRAM_OURS, "TRACE2_RAW", "trace.tlg", NULL },
	{ "block", PROGRAM_OURS, "TRACE2_RAW", "trace.tlg", "block" },
	{ "overwrite", PROGRAM_OURS, "TRACE2_RAW", "trace.tlg", "overwrite" },
	{ "live", PROGRAM_OURS, "TRACE2_PERF", "perf", NULL },
	{ "lttng", PROGRAM_LTTNG, NULL, NULL, NULL },
};

static uint64_t flush_ns;

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void program_check(int is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "bench: wrong result: %s\n", what);
	exit(1);
}

static const struct mode *find_mode(const char *name)
{
	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(name, modes[i].name))
			return &modes[i];
	return NULL;
}

static void choose(const struct mode *mode, const char *directory)
{
	char path[PATH_BYTES];

	if (!mode->target)
		return;
	if (directory[0] != '/' || snprintf(path, sizeof(path), "%s/%s", directory, mode->file) >= PATH_BYTES ||
	    setenv(mode->target, path, 1) || (mode->policy && setenv("TRACE2_RAW_POLICY", mode->policy, 1)))
		bench_fail(directory);
}

static void flush(void)
{
	uint64_t start_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);

	trace2_flush();
	flush_ns += read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

/* Wait until LTTng's consumer has written all events. */
static void let_consumer_write(void)
{
	const struct timespec pause = { 0, 5000000 };

	nanosleep(&pause, NULL);
}

static int is_drain(const char *task)
{
	char path[PATH_BYTES], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", task);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strcmp(name, "trace2-drain\n");
}

/* CPU time of the library's thread so far; 0: there is none. */
static uint64_t drain_ns(void)
{
	const unsigned per_thread = 4, scheduler = 2;   /* the kernel's clock ids of other threads */
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	uint64_t ns = 0;

	if (!tasks)
		bench_fail("/proc/self/task");
	while ((task = readdir(tasks)) != NULL)
		if (is_drain(task->d_name))
			ns += read_ns((clockid_t)(~(unsigned)atoi(task->d_name) << 3 | per_thread | scheduler));
	closedir(tasks);
	return ns;
}

/*
 * The bursts of the work follow each other without a pause, as in production, and events without space are lost.  Each
 * burst of the loop finds an empty ring.
 */
static void measure(const struct program *program, const struct mode *mode, unsigned rounds)
{
	static const char *const what[CASES] = { "without events", "with events", "loop" };
	static char names[CASES][NAME_BYTES];
	struct bench_case cases[CASES] = {
		{ .run = program->work[PROGRAM_NONE], .ops = program->work_events },
		{ .run = program->work[mode->kind], .ops = program->work_events, .recorded = 1 },
		{ .run = program->loop[mode->kind], .ops = program->loop_events, .recorded = 1 },
	};
	const int is_lttng = mode->kind == PROGRAM_LTTNG;
	const unsigned loop_rounds = (rounds + 3) / 4;
	uint64_t recorded = 0;

	for (unsigned i = 0; i < CASES; i++) {
		snprintf(names[i], NAME_BYTES, "%s, %s: %s", program->name, mode->name, what[i]);
		cases[i].name = names[i];
		cases[i].alone = program->alone;
	}
	bench_start();
	bench_measure(cases, LOOP, rounds, is_lttng ? let_consumer_write : NULL);
	flush();
	bench_measure(cases + LOOP, CASES - LOOP, loop_rounds, is_lttng ? let_consumer_write : flush);
	bench_print(cases, LOOP, rounds);
	bench_print(cases + LOOP, CASES - LOOP, loop_rounds);
	bench_stop();
	for (unsigned i = 0; i < CASES; i++)
		recorded += cases[i].recorded ? cases[i].done : 0;
	printf("%s %" PRIu64 "\ndrain %" PRIu64 "\n", is_lttng ? "recorded_lttng" : "recorded", recorded,
	       flush_ns + drain_ns());
}

int program_main(const struct program *program, int argc, char **argv)
{
	unsigned rounds = argc == 4 ? bench_rounds(argv[2]) : 0;
	const struct mode *mode = argc == 4 ? find_mode(argv[3]) : NULL;

	if (!rounds || !mode) {
		fprintf(stderr, "usage: bench_%s DIRECTORY ROUNDS off|on|block|overwrite|live|lttng\n", program->name);
		return 2;
	}
	choose(mode, argv[1]);
	program->set_up();
	trace2_initialize();
	if (trace2_is_enabled() != (mode->target != NULL))
		bench_fail("tracing is not as the mode says");
	measure(program, mode, rounds);
	return 0;
}
