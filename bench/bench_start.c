/* SPDX-License-Identifier: MIT */
/*
 * bench_start - what tracing adds to a short process.
 *
 * usage: bench_start DIRECTORY ROUNDS
 *
 * Starts itself again and again, from start to end, in turn: without any call of the library, with tracing
 * off, with tracing on into DIRECTORY/start.tlg and ten events.  All three are linked with the library.  The
 * last line of output is "recorded N", as in bench_emit.
 */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"
#include "trace2.h"

enum { EVENTS = 10, RUNS_A_ROUND = 10 };

extern char **environ;

static void be_child(void)
{
	trace2_initialize();
	for (int i = 0; i < EVENTS; i++)
		trace2_data_intmax("bench", NULL, "start", i);
}

/* Run this program as a child; destination: TRACE2_RAW, NULL: unset. */
static void run_child(char *what, const char *destination)
{
	char *argv[] = { "bench_start", what, NULL };
	pid_t pid;
	int status;

	if (destination ? setenv("TRACE2_RAW", destination, 1) : unsetenv("TRACE2_RAW"))
		bench_fail("environment");
	if ((errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ)) != 0)
		bench_fail("spawn");
	if (waitpid(pid, &status, 0) != pid)
		bench_fail("wait");
	if (status) {
		fprintf(stderr, "bench: a child failed: %d\n", status);
		exit(1);
	}
}

static const char *on_destination;       /* an absolute path */

static void run_idle(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		run_child("idle", NULL);
}

static void run_off(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		run_child("child", NULL);
}

static void run_on(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		run_child("child", on_destination);
}

static struct bench_case cases[] = {
	{ .name = "a process that does nothing", .run = run_idle, .ops = RUNS_A_ROUND, .alone = 1 },
	{ .name = "the same, tracing off", .run = run_off, .ops = RUNS_A_ROUND, .alone = 1 },
	{ .name = "the same, tracing on, ten events", .run = run_on, .ops = RUNS_A_ROUND, .alone = 1 },
};

int main(int argc, char **argv)
{
	const unsigned count = sizeof(cases) / sizeof(*cases);
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;
	char path[4096];

	if (argc == 2 && !strcmp(argv[1], "child")) {
		be_child();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "idle"))
		return 0;
	if (!rounds) {
		fprintf(stderr, "usage: bench_start DIRECTORY ROUNDS (1 to %d)\n", BENCH_ROUNDS_MAX);
		return 2;
	}
	if (snprintf(path, sizeof(path), "%s/start.tlg", argv[1]) >= (int)sizeof(path))
		bench_fail(argv[1]);
	on_destination = path;
	bench_start();
	bench_measure(cases, count, rounds, NULL);
	bench_stop();
	bench_print("start to end of a process", cases, count, rounds, 0);
	printf("recorded %" PRIu64 "\n", cases[2].done * EVENTS);
	return 0;
}
