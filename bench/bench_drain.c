/* SPDX-License-Identifier: MIT */
/*
 * bench_drain - how fast the drain writes, how much CPU time it uses, and how large the trace becomes.
 *
 * usage: bench_drain DIRECTORY ROUNDS
 *
 * Each case records in a process of its own, packed and plain, with and without LZ4:
 *   flat out   region events one after the other, on one thread and on two; a full ring makes its thread wait
 *   paced      so many events a second on each of one thread or two, which work between two events; events that do not
 *              fit into the ring are lost
 *   mix        the events of a usual program, four threads: how many bytes each checkpoint takes
 * Leaves the traces of the last round in DIRECTORY, and prints a line "trace FILE RECORDED" for each, with which run.sh
 * checks that they are complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "tlg.h"
#include "trace2.h"

enum {
	THREADS_MAX = 4,
	ROUNDS_MAX = 5,
	FLAT_EVENTS = 6000000,
	PACED_EVENTS = 3000000,
	MIX_EVENTS = 60000,
	BURST = 100,               /* between two looks at the clock */
};

enum kind { FLAT, PACED, MIX };

struct workload {
	enum kind kind;
	const char *name;
	unsigned threads;
	uint64_t events;           /* checkpoints of each thread */
	double pace;               /* checkpoints a second; 0: as fast as it goes */
};

static const struct workload workloads[] = {
	{ FLAT, "flat out", 1, FLAT_EVENTS, 0 },      { FLAT, "flat out", 2, FLAT_EVENTS / 2, 0 },
	{ PACED, "paced 20 M/s", 1, PACED_EVENTS, 20e6 }, { PACED, "paced 40 M/s", 1, PACED_EVENTS, 40e6 },
	{ PACED, "paced 60 M/s", 1, PACED_EVENTS, 60e6 }, { PACED, "paced 10 M/s", 2, PACED_EVENTS, 10e6 },
	{ MIX, "mix", 4, MIX_EVENTS, 0 },
};

static const struct encoding {
	const char *name, *encoding, *lz4;
} encodings[] = {
	{ "packed", "packed", "0" }, { "packed + LZ4", "packed", "1" },
	{ "plain", "plain", "0" },   { "LZ4", "plain", "1" },
};

enum { WORKLOADS = sizeof(workloads) / sizeof(workloads[0]), ENCODINGS = sizeof(encodings) / sizeof(encodings[0]) };

/* What one process reports, and what its trace says. */
struct run {
	double seconds;            /* from the first event until all is written */
	double drain_seconds;      /* of a processor, the recording threads apart */
	double bytes, stored;
};

/* ---- recording ---------------------------------------------------------------------------------- */

static const struct workload *g_workload;
static pthread_barrier_t g_start;
static double g_ticks_per_s;

struct recorder {
	pthread_t thread;
	uint64_t random;
	double cpu_seconds;        /* result */
};

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void record_flat(uint64_t events)
{
	for (uint64_t i = 0; i < events; i += 2) {
		trace2_region_enter("bench", "flat", NULL);
		bench_barrier();
		trace2_region_leave("bench", "flat", NULL);
		bench_barrier();
	}
}

static void record_paced(uint64_t events, double pace)
{
	uint64_t gap = (uint64_t)(BURST * g_ticks_per_s / pace), next = bench_ticks();

	for (uint64_t i = 0; i < events; i += BURST) {
		record_flat(BURST);
		next += gap;
		while (bench_ticks() < next)
			;
	}
}

static double uniform(struct recorder *recorder)
{
	recorder->random ^= recorder->random << 13;
	recorder->random ^= recorder->random >> 7;
	recorder->random ^= recorder->random << 17;
	return (double)(recorder->random >> 11) / 9007199254740992.0;
}

/* 2 to the power x, near enough, for x from 0 to 60. */
static double power_of_two(double x)
{
	uint64_t whole = (uint64_t)x;

	return (double)(UINT64_C(1) << whole) * (1 + x - (double)whole);
}

/* Work between events: about log-normal, 300 ticks in the middle, a third of that and the threefold not rare. */
static void work(struct recorder *recorder)
{
	double normal = 0;
	uint64_t until;

	for (int i = 0; i < 4; i++)
		normal += 1.73 * (uniform(recorder) - 0.5);
	until = bench_ticks() + (uint64_t)power_of_two(8.2 + 1.6 * normal);
	while (bench_ticks() < until)
		;
}

static char g_labels[200][16];

/* One of 200 names, some far more often than others. */
static const char *any_label(struct recorder *recorder)
{
	return g_labels[(unsigned)power_of_two(7.64 * uniform(recorder)) % 200];
}

static const char *any_word(struct recorder *recorder)
{
	static const char *const words[] = { "index", "refresh", "lookup", "objects/pack", "HEAD", "origin/main" };

	return words[(unsigned)(6 * uniform(recorder))];
}

/* Data; half of it text. */
static void record_data(struct recorder *recorder)
{
	if (uniform(recorder) < 0.5)
		trace2_data_intmax("bench", NULL, any_label(recorder), (int)(1000 * uniform(recorder)));
	else
		trace2_data_string("bench", NULL, any_label(recorder), any_word(recorder));
}

/* Regions, nested; 15 % data; 16 % with a message. */
static void record_mix(struct recorder *recorder, uint64_t events)
{
	const char *open[32];
	unsigned depth = 0;

	for (uint64_t i = 0; i < events; i++) {
		double what = uniform(recorder);
		int number = (int)(1000 * uniform(recorder)), has_message = what < 0.31;
		work(recorder);
		if (what < 0.15) {
			record_data(recorder);
		} else if (!depth || (depth < 32 && uniform(recorder) < 0.5)) {
			open[depth] = any_label(recorder);
			if (has_message)
				trace2_region_enter_printf("bench", open[depth], NULL, "%s of %d", any_word(recorder),
							   number);
			else
				trace2_region_enter("bench", open[depth], NULL);
			depth++;
		} else if (has_message) {
			trace2_region_leave_printf("bench", open[--depth], NULL, "done: %d", number);
		} else {
			trace2_region_leave("bench", open[--depth], NULL);
		}
	}
}

static void *record(void *argument)
{
	struct recorder *recorder = argument;

	trace2_thread_start("recorder");
	pthread_barrier_wait(&g_start);
	if (g_workload->kind == FLAT)
		record_flat(g_workload->events);
	else if (g_workload->kind == PACED)
		record_paced(g_workload->events, g_workload->pace);
	else
		record_mix(recorder, g_workload->events);
	recorder->cpu_seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	if (g_workload->kind == PACED)
		trace2_flush();   /* there is room for what the library records itself: only ours is lost */
	trace2_thread_exit();
	return NULL;
}

/* ---- one process -------------------------------------------------------------------------------- */

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		bench_fail("setenv");
}

/* In a process of its own: record, write the times to fd. */
static _Noreturn void run_here(const struct encoding *encoding, const char *path, int fd)
{
	struct recorder recorders[THREADS_MAX];
	unsigned threads = g_workload->threads;
	double start, cpu, times[2];

	set("TRACE2_RAW", path);
	set("TRACE2_RAW_ENCODING", encoding->encoding);
	set("TRACE2_RAW_LZ4", encoding->lz4);
	set("TRACE2_RAW_POLICY", g_workload->kind == PACED ? "discard" : "block");
	trace2_initialize();
	pthread_barrier_init(&g_start, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		recorders[i] = (struct recorder){ .random = i + 1 };
		if ((errno = pthread_create(&recorders[i].thread, NULL, record, &recorders[i])) != 0)
			bench_fail("thread");
	}
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	pthread_barrier_wait(&g_start);
	start = seconds_of(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(recorders[i].thread, NULL);
		cpu += recorders[i].cpu_seconds;
	}
	trace2_flush();
	times[0] = seconds_of(CLOCK_MONOTONIC) - start;
	times[1] = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (write(fd, times, sizeof(times)) != sizeof(times))
		bench_fail("pipe");
	exit(0);
}

/* What the trace's END says was stored. */
static double read_stored(const char *path)
{
	char command[600];
	struct tlg_event end;
	const char *out = getenv("T2_OUT");
	FILE *in;
	size_t got;

	snprintf(command, sizeof(command), "%.60s/t2expand --format=raw '%.400s' 2>/dev/null | tail -c 24",
		 out ? out : "build", path);
	in = popen(command, "r");
	got = in ? fread(&end, 1, sizeof(end), in) : 0;
	if (!in || pclose(in) || got != sizeof(end) || tlg_event_type(&end) != TLG_END) {
		fprintf(stderr, "%s does not end as it should\n", path);
		exit(1);
	}
	return (double)end.u.end.stored;
}

static struct run run_case(const struct workload *workload, const struct encoding *encoding, const char *path)
{
	struct run run = { 0 };
	struct stat file;
	double times[2];
	int fds[2], status;
	pid_t pid;

	unlink(path);
	if (pipe(fds))
		bench_fail("pipe");
	fflush(stdout);
	g_workload = workload;
	pid = fork();
	if (!pid)
		run_here(encoding, path, fds[1]);
	close(fds[1]);
	if (pid < 0 || read(fds[0], times, sizeof(times)) != sizeof(times) ||
	    waitpid(pid, &status, 0) != pid || status || stat(path, &file))
		bench_fail("a run");
	close(fds[0]);
	run.seconds = times[0];
	run.drain_seconds = times[1];
	run.bytes = (double)file.st_size;
	run.stored = read_stored(path);
	return run;
}

/* ---- all of them -------------------------------------------------------------------------------- */

static struct run g_runs[WORKLOADS][ENCODINGS][ROUNDS_MAX];

static void measure(const char *directory, unsigned rounds)
{
	char path[400];

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned w = 0; w < WORKLOADS; w++)
			for (unsigned e = 0; e < ENCODINGS; e++) {
				snprintf(path, sizeof(path), "%.300s/drain-%u-%u.tlg", directory, w, e);
				g_runs[w][e][round] = run_case(&workloads[w], &encodings[e], path);
			}
}

/* Checkpoints of the recording threads; the library adds version, start and exit, and two for each thread. */
static double recorded(const struct workload *workload)
{
	return (double)workload->events * workload->threads;
}

static void print_values(const struct workload *workload, unsigned w, unsigned e, unsigned rounds, const char *what,
			 const char *unit, double (*value)(const struct workload *, const struct run *))
{
	char name[128];
	double values[ROUNDS_MAX];

	snprintf(name, sizeof(name), "%s, %s%s%s", workload->name, encodings[e].name, *what ? ": " : "", what);
	for (unsigned round = 0; round < rounds; round++)
		values[round] = value(workload, &g_runs[w][e][round]);
	bench_print_values(name, workload->threads, unit, values, rounds);
}

static double rate(const struct workload *workload, const struct run *run)
{
	return recorded(workload) / run->seconds / 1e6;
}

static double drain_ns(const struct workload *workload, const struct run *run)
{
	(void)workload;
	return run->drain_seconds / run->stored * 1e9;
}

static double size(const struct workload *workload, const struct run *run)
{
	(void)workload;
	return run->bytes / run->stored;
}

static double lost(const struct workload *workload, const struct run *run)
{
	double events = recorded(workload);

	return run->stored < events ? 100 * (1 - run->stored / events) : 0;
}

static void print(const char *directory, unsigned rounds)
{
	for (unsigned w = 0; w < WORKLOADS; w++)
		for (unsigned e = 0; e < ENCODINGS; e++) {
			const struct workload *workload = &workloads[w];
			if (workload->kind == FLAT)
				print_values(workload, w, e, rounds, "", "M/s", rate);
			if (workload->kind != PACED)
				print_values(workload, w, e, rounds, "CPU time of the drain", "ns", drain_ns);
			if (workload->kind != MIX)
				print_values(workload, w, e, rounds, "lost", "%", lost);
			if (workload->kind != PACED)
				print_values(workload, w, e, rounds, "size", "B", size);
			printf("trace %.300s/drain-%u-%u.tlg %.0f\n", directory, w, e, recorded(workload));
		}
}

static void measure_clock(void)
{
	double start = seconds_of(CLOCK_MONOTONIC), now;
	uint64_t ticks = bench_ticks();

	do
		now = seconds_of(CLOCK_MONOTONIC);
	while (now - start < 0.02);
	g_ticks_per_s = (double)(bench_ticks() - ticks) / (now - start);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? bench_rounds(argv[2]) : 0;

	if (!rounds || argv[1][0] != '/') {
		fputs("usage: bench_drain /ABSOLUTE/DIRECTORY ROUNDS\n", stderr);
		return 2;
	}
	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	for (unsigned i = 0; i < 200; i++)
		snprintf(g_labels[i], sizeof(g_labels[i]), "label-%u", i);
	measure_clock();
	measure(argv[1], rounds);
	print(argv[1], rounds);
	return 0;
}
