/* SPDX-License-Identifier: MIT */
/*
 * recover.c - P14: t2expand is killed while it recovers, at random moments, and run again.  Its output must be that of
 * an undisturbed run, and it may remove a ring file only when the output is complete.
 *
 * usage: recover TIMES SEED            TIMES: how often to kill it
 * Prints its counts and "N passed, N failed".
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "trace2.h"
#include "traced.h"

enum {
	ROUNDS = 12000,                   /* fit into the ring; the file has every second one, too */
	MOST_RUNS = 10,                   /* tries to kill one run: some end before */
};

extern char **environ;

static uint64_t seed;
static char out[128], ring[256], kept[256], program[512];
static char *expected;                    /* the output of an undisturbed run */
static size_t expected_bytes;
static unsigned runs, killed, early, different, removed_early, removed;
static unsigned last_us;                  /* duration of the last undisturbed run */

static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

static void run_victim(void)
{
	trace2_initialize();
	for (int i = 0; i < ROUNDS; i++) {
		trace2_region_enter("recover", "round", NULL);
		trace2_printf("round %d of %s", i, "many");
		trace2_region_leave("recover", "round", NULL);
		if (i == ROUNDS / 2)
			trace2_flush();
	}
	raise(SIGKILL);
	_exit(1);
}

static pid_t start(int deletes)
{
	char recover[300], *arguments[] = {
		program, recover, (char[]){ "-o" }, out, deletes ? (char[]){ "--delete" } : NULL, NULL
	};
	posix_spawn_file_actions_t actions;
	pid_t child = -1;

	snprintf(recover, sizeof(recover), "--recover=%s", ring);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&child, program, &actions, NULL, arguments, environ))
		child = -1;
	posix_spawn_file_actions_destroy(&actions);
	return child;
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Exit status of an undisturbed run, -1: it did not exit. */
static int run(int deletes)
{
	uint64_t begun = now_us();
	pid_t child = start(deletes);
	int status = 0, has_exited = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);

	last_us = (unsigned)(now_us() - begun);
	return has_exited ? WEXITSTATUS(status) : -1;
}

/* The output, to be freed; NULL: it cannot be read. */
static char *read_output(size_t *bytes)
{
	struct stat st;
	int fd = open(out, O_RDONLY | O_CLOEXEC);
	char *text = NULL;

	if (fd >= 0 && !fstat(fd, &st) && (text = malloc((size_t)st.st_size + 1)))
		*bytes = (size_t)read(fd, text, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return text;
}

static int is_as_expected(void)
{
	size_t bytes = 0;
	char *text = read_output(&bytes);
	int is_same = text && bytes == expected_bytes && !memcmp(text, expected, bytes);

	free(text);
	return is_same;
}

/* Kill a run at a random moment of its expected duration; then let another one finish. */
static void disturb(void)
{
	int deletes = (int)random_below(2), status = 0;
	const struct timespec delay = { 0, random_below(last_us < 900000 ? last_us + 1 : 900000) * 1000L };
	pid_t child = start(deletes);

	runs++;
	nanosleep(&delay, NULL);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	killed += WIFSIGNALED(status);
	early += !is_as_expected();
	if (access(ring, F_OK)) {
		removed++;
		removed_early += !is_as_expected();
		link(kept, ring);
	}
	different += run(deletes) || !is_as_expected();
	if (deletes && access(ring, F_OK) && link(kept, ring))
		removed_early++;
}

/* Make a process that died, and the output of an undisturbed run.  Return  0: something is wrong */
static int prepare(void)
{
	const char *build = getenv("T2_OUT");
	pid_t victim;
	int status;

	traced_init(&t);
	snprintf(out, sizeof(out), "%s/out", t.dir);
	snprintf(kept, sizeof(kept), "%s/kept", t.dir);
	snprintf(program, sizeof(program), "%s/t2expand", build ? build : "build");
	traced_into(&t);
	victim = fork();
	if (!victim)
		run_victim();
	waitpid(victim, NULL, 0);
	if (!collect_find((uint32_t)victim, ring, sizeof(ring)) || link(ring, kept)) {
		puts("the victim has left no ring file");
		return 0;
	}
	status = run(0);
	if (status || !(expected = read_output(&expected_bytes))) {
		printf("t2expand --recover, undisturbed: exit status %d\n", status);
		return 0;
	}
	return 1;
}

static void clean_up(void)
{
	const char *const paths[] = { t.raw, out, ring, kept };

	for (unsigned i = 0; i < 4; i++)
		unlink(paths[i]);
	rmdir(t.dir);
}

int main(int argc, char **argv)
{
	unsigned times = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	int is_bad;

	if (!times || !prepare())
		return 2;
	seed = strtoull(argv[2], NULL, 10);
	while (killed < times && runs < MOST_RUNS * times)
		disturb();
	clean_up();
	printf("%u runs of t2expand --recover, %u killed, %u with incomplete output; then %u other outputs of %zu "
	       "bytes; %u ring files removed, %u too early\n",
	       runs, killed, early, different, expected_bytes, removed, removed_early);
	is_bad = different || removed_early || killed < times || !early;
	printf("%d passed, %d failed\n", !is_bad, is_bad);
	return is_bad;
}
