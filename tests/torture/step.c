/* SPDX-License-Identifier: MIT */
/*
 * step.c - P2: a recording process is stopped at every instruction of its calls, by single steps, and killed there;
 * or gets a signal there whose handler records; or gets the signal and is killed at every instruction of the
 * handler.  What it left must have each call that had returned, whole and once.
 *
 * The calls are the inline path, an integer, a message; in three places: where each is passed for the first time,
 * where all is ready, and where a chunk ends and the drain's thread is started.
 *
 * usage: step STRIDE PAIRS SEED
 *        every STRIDE-th instruction of the two longer places, every STRIDE/20-th of the other; so many pairs of
 *        signal and kill
 * Prints its figures and "N passed, N failed".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect.h"
#include "follow.h"
#include "trace2.h"

enum {
	STEPPED = 12,                     /* calls */
	MOST_STEPS = 100000,
	HANDLER_STEPS = 400,              /* of its calls, about */
};
/* Calls before the stepped ones: none; all sites have been passed; almost as many as the first chunk holds */
static const struct place { const char *name; unsigned before; int is_long; } places[] = {
	{ "first passes", 0, 1 }, { "all ready", 8, 0 }, { "end of a chunk", 104, 1 },
};

/* Shared with the victim, so that it outlives it. */
static struct told {
	uint64_t returned, handled;       /* calls, the handler's calls */
	int is_finished;
} *told;

static struct figures {
	uint64_t kills, signals, pairs, instructions, lost, torn, twice, unreadable, in_flight;
} sum;

static uint64_t seed;
static char dir[64], raw[128];

static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

/* ---- the victim --------------------------------------------------------------------------------- */

static void handle(int signal)
{
	(void)signal;
	trace2_data_intmax("step", NULL, "handled", FOLLOW_EXTRA);
	__atomic_store_n(&told->handled, told->handled + 1, __ATOMIC_RELEASE);
}

static void make_calls(unsigned from, unsigned to)
{
	for (unsigned n = from; n < to; n++) {
		switch (n % FOLLOW_CALLS) {
		case FOLLOW_ENTER:
			trace2_region_enter("step", "round", NULL);
			break;
		case FOLLOW_NUMBER:
			trace2_data_intmax("step", NULL, "number", n);
			break;
		case FOLLOW_MESSAGE:
			trace2_printf("call %d", (int)n);
			break;
		default:
			trace2_region_leave("step", "round", NULL);
			break;
		}
		__atomic_store_n(&told->returned, n + 1, __ATOMIC_RELEASE);
	}
}

static void run_victim(unsigned before)
{
	struct sigaction action = { .sa_handler = handle };

	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	make_calls(0, before);
	if (before)
		raise(SIGUSR1);   /* so that the handler, too, is past its first time */
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(1);
	raise(SIGSTOP);
	make_calls(before, before + STEPPED);
	told->is_finished = 1;
	raise(SIGSTOP);
	_exit(1);
}

static pid_t start(unsigned before)
{
	pid_t victim;
	int status;

	memset(told, 0, sizeof(*told));
	victim = fork();
	if (!victim)
		run_victim(before);
	if (waitpid(victim, &status, 0) != victim || !WIFSTOPPED(status))
		exit(3);
	return victim;
}

/* Make steps, the first with this signal.  Return  0: the calls are finished */
static int step(pid_t victim, unsigned steps, long signal)
{
	int status;

	for (unsigned i = 0; i < steps && !told->is_finished; i++) {
		if (ptrace(PTRACE_SINGLESTEP, victim, 0, signal) || waitpid(victim, &status, 0) != victim ||
		    !WIFSTOPPED(status))
			exit(3);
		signal = WSTOPSIG(status) == SIGUSR1 ? SIGUSR1 : 0;   /* it was blocked, and comes now */
	}
	return !told->is_finished;
}

/* ---- what it left ------------------------------------------------------------------------------- */

static void kill_and_check(pid_t victim, int is_strict)
{
	static struct follow follow;
	struct t2x_salvage_sum got = { .hits = UINT64_MAX };
	char ring[256];
	uint64_t seen;

	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	follow_begin(&follow);
	follow.thread[0].slot = 0;
	if (collect_find((uint32_t)victim, ring, sizeof(ring)))
		got = collect(ring, 0, follow_block, &follow);
	seen = follow_seen(&follow, 0);
	sum.unreadable += got.hits == UINT64_MAX || got.damaged || follow_dropped(&follow);
	sum.lost += follow.missing + (seen < told->returned ? told->returned - seen : 0);
	sum.lost += follow.extra < told->handled;
	sum.twice += follow.twice + (seen > told->returned + 1) + (follow.extra > told->handled + 1);
	sum.torn += follow.torn;
	sum.in_flight += got.in_flight;
	/* everything has returned: there must be no hole */
	if (is_strict && (seen != told->returned || follow.extra != told->handled || got.in_flight))
		sum.lost++;
	unlink(ring);
	unlink(raw);
}

/* How many instructions the calls take. */
static unsigned count_steps(unsigned before)
{
	pid_t victim = start(before);
	unsigned n = 0;

	while (n < MOST_STEPS && step(victim, 1, 0))
		n++;
	kill_and_check(victim, 0);
	return n;
}

static void kill_at(unsigned before, unsigned at)
{
	pid_t victim = start(before);

	step(victim, at, 0);
	kill_and_check(victim, 0);
	sum.kills++;
}

static void signal_at(unsigned before, unsigned at)
{
	pid_t victim = start(before);
	int status;

	step(victim, at, 0);
	do {
		if (ptrace(PTRACE_CONT, victim, 0, (long)SIGUSR1) || waitpid(victim, &status, 0) != victim)
			exit(3);
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1);   /* it was blocked, and comes now */
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP || !told->is_finished || told->handled != 1 + !!before)
		sum.unreadable++;
	kill_and_check(victim, 1);
	sum.signals++;
}

static void signal_and_kill_at(unsigned before, unsigned at, unsigned then)
{
	pid_t victim = start(before);

	step(victim, at, 0);
	step(victim, 1 + then, (long)SIGUSR1);
	kill_and_check(victim, 0);
	sum.pairs++;
}

/* ---- the run ------------------------------------------------------------------------------------ */

static int prepare(void)
{
	snprintf(dir, sizeof(dir), "/dev/shm/trace2-step.XXXXXX");
	if (!mkdtemp(dir))
		return 0;
	snprintf(raw, sizeof(raw), "%s/raw.tlg", dir);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	setenv("TRACE2_RAW", raw, 1);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told != MAP_FAILED;
}

static void run_place(const struct place *place, unsigned stride, unsigned pairs)
{
	unsigned steps = count_steps(place->before);

	if (!place->is_long)
		stride = stride > 20 ? stride / 20 : 1;
	sum.instructions += steps;
	for (unsigned at = random_below(stride); at < steps; at += stride)
		kill_at(place->before, at);
	for (unsigned at = random_below(stride); at < steps; at += stride)
		signal_at(place->before, at);
	for (unsigned i = 0; i < pairs; i++)
		signal_and_kill_at(place->before, random_below(steps), random_below(HANDLER_STEPS));
	printf("%s: %u instructions\n", place->name, steps);
}

int main(int argc, char **argv)
{
	unsigned stride = argc == 4 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	unsigned n = sizeof(places) / sizeof(places[0]);
	int is_bad;

	if (!stride || !prepare())
		return 2;
	seed = strtoull(argv[3], NULL, 10);
	for (unsigned i = 0; i < n; i++)
		run_place(&places[i], stride, (unsigned)strtoul(argv[2], NULL, 10) / n);
	rmdir(dir);
	printf("%ju kills, %ju signals, %ju signals with a kill in the handler: %ju lost, %ju torn, %ju twice, "
	       "%ju unreadable; %ju events in flight\n",
	       sum.kills, sum.signals, sum.pairs, sum.lost, sum.torn, sum.twice, sum.unreadable, sum.in_flight);
	is_bad = sum.lost || sum.torn || sum.twice || sum.unreadable || !sum.kills || !sum.signals;
	/* some handlers recorded in the middle of a record, and some of these were killed behind that */
	is_bad |= sum.pairs > 1000 && !sum.in_flight;
	printf("%d passed, %d failed\n", !is_bad, is_bad);
	return is_bad;
}
