/* SPDX-License-Identifier: MIT */
/*
 * follow.c - P17: what t2 follow prints is compared with what the program has counted itself.
 *
 * usage: follow run COUNTS WORK N PAUSE     a program that records.  WORK has a letter for each thing that it does:
 *          p  N events               t  three threads with N each         f  three forked children with N each
 *          r  rotation, N events     s  ten programs with 3 events each   b  N events as fast as it can
 *          e  exec() of itself, which does the rest                        k  SIGKILL to itself
 *        PAUSE  microseconds between two events
 *        follow judge COUNTS [LOSES]        reads the lines of --format=ndjson while they come
 *
 * COUNTS is a file that all of them map.  Each thread has a slot of it: how many of its calls began, how many returned.
 * An event's value is its slot and its number, so the judge knows what must come, and in which order.  With LOSES,
 * events may be missing, but none may come twice or late, and what comes first of a slot need not be its first.
 * The judge prints its counts, and the longest time from an event to its line.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"

enum { SLOTS = 16384, SLOT_SHIFT = 40, BUCKETS = 100000 };

struct counts {
	_Atomic uint32_t slots;
	struct slot { _Atomic uint64_t begun, returned; } slot[SLOTS];
};

extern char **environ;

static struct counts *counts;
static char *program, *counts_path, *number_text, *pause_text;
static uint64_t number;
static unsigned pause_us;

static struct counts *map_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory;

	if (fd < 0 || ftruncate(fd, sizeof(struct counts)))
		return NULL;
	memory = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/* ---- the program that records ------------------------------------------------------------------- */

static void record(uint64_t n, unsigned pause)
{
	uint64_t at = atomic_fetch_add(&counts->slots, 1);
	struct slot *slot = &counts->slot[at % SLOTS];

	for (uint64_t i = 1; i <= n; i++) {
		atomic_store(&slot->begun, i);
		trace2_data_intmax("follow", NULL, "n", (intmax_t)(at << SLOT_SHIFT | i));
		atomic_store(&slot->returned, i);
		if (pause)
			usleep(pause);
	}
}

static void *run_thread(void *unused)
{
	trace2_thread_start("follow");
	record(number, pause_us);
	trace2_thread_exit();
	return unused;
}

static void run_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, run_thread, NULL))
			_exit(4);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void run_children(void)
{
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			record(number, pause_us);
			exit(0);
		}
	while (wait(NULL) > 0)
		continue;
}

static void run_short_programs(void)
{
	char *arguments[] = {
		program, (char[]){ "run" }, counts_path, (char[]){ "b" }, (char[]){ "3" }, (char[]){ "0" }, NULL
	};
	pid_t child;

	for (int i = 0; i < 10; i++)
		if (!posix_spawn(&child, program, NULL, NULL, arguments, environ))
			waitpid(child, NULL, 0);
}

static void become(char *work)
{
	char *arguments[] = { program, (char[]){ "run" }, counts_path, work, number_text, pause_text, NULL };

	trace2_exec(program, (const char **)arguments);
	execv(program, arguments);
	_exit(3);
}

static void work_on(char *work)
{
	for (; *work; work++) {
		switch (*work) {
		case 't': run_threads(); break;
		case 'f': run_children(); break;
		case 's': run_short_programs(); break;
		case 'e': become(work + 1); break;
		case 'k': raise(SIGKILL); break;
		case 'b': record(number, 0); break;
		case 'r': trace2_rotate(); /* fall through */
		default: record(number, pause_us);
		}
	}
}

/* ---- the judge ---------------------------------------------------------------------------------- */

struct verdict {
	uint64_t lines, missing, twice, late, unknown;
	uint64_t last[SLOTS];
	uint64_t lag_ms[BUCKETS];         /* how many lines took so long */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void judge_line(struct verdict *verdict, const char *line, int loses)
{
	const char *time = strstr(line, "\"time\":\""), *text = strstr(line, "\"label\":\"n\"");
	const char *digits = text ? strstr(text, "\"value\":") : NULL;
	uint64_t value, slot, n, lag, now = now_ns(), ns = time ? strtoull(time + 8, NULL, 10) : 0;

	if (!digits)
		return;
	value = digits ? strtoull(digits + 8, NULL, 10) : 0;
	slot = value >> SLOT_SHIFT;
	n = value & ((UINT64_C(1) << SLOT_SHIFT) - 1);
	if (slot >= SLOTS || !n || n > counts->slot[slot].begun) {
		verdict->unknown++;
		return;
	}
	verdict->lines++;
	verdict->twice += n == verdict->last[slot];
	verdict->late += n < verdict->last[slot];
	if (n > verdict->last[slot] + 1 && !loses)
		verdict->missing += n - verdict->last[slot] - 1;
	if (n > verdict->last[slot])
		verdict->last[slot] = n;
	lag = now > ns ? (now - ns) / 1000000 : 0;
	verdict->lag_ms[lag < BUCKETS ? lag : BUCKETS - 1]++;
}

static unsigned find_lag(const struct verdict *verdict, double share)
{
	uint64_t sum = 0;
	unsigned i = 0;

	while (i < BUCKETS - 1 && (double)(sum += verdict->lag_ms[i]) < share * (double)verdict->lines)
		i++;
	return i;
}

static int judge(int loses)
{
	struct verdict *verdict = calloc(1, sizeof(*verdict));
	uint64_t returned = 0;
	char *line = NULL;
	size_t size = 0;

	while (verdict && getline(&line, &size, stdin) > 0)
		judge_line(verdict, line, loses);
	for (unsigned i = 0; verdict && i < counts->slots && i < SLOTS; i++) {
		returned += counts->slot[i].returned;
		if (counts->slot[i].returned > verdict->last[i] && !loses)
			verdict->missing += counts->slot[i].returned - verdict->last[i];
	}
	free(line);
	if (!verdict)
		return 2;
	printf("%u slots, %llu calls returned, %llu printed, %llu missing, %llu twice, %llu late, %llu unknown; "
	       "lag p50 %u ms, p99 %u ms, max %u ms\n",
	       (unsigned)counts->slots, (unsigned long long)returned, (unsigned long long)verdict->lines,
	       (unsigned long long)verdict->missing, (unsigned long long)verdict->twice,
	       (unsigned long long)verdict->late, (unsigned long long)verdict->unknown, find_lag(verdict, 0.5),
	       find_lag(verdict, 0.99), find_lag(verdict, 1));
	return verdict->missing || verdict->twice || verdict->late || verdict->unknown || !verdict->lines;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !(counts = map_counts(argv[2])))
		return 2;
	if (!strcmp(argv[1], "judge"))
		return judge(argc > 3);
	if (argc < 6)
		return 2;
	program = argv[0];
	counts_path = argv[2];
	number_text = argv[4];
	pause_text = argv[5];
	number = strtoull(number_text, NULL, 10);
	pause_us = (unsigned)strtoul(pause_text, NULL, 10);
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	work_on(argv[3]);
	return 0;
}
