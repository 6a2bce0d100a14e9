/* SPDX-License-Identifier: MIT */
/*
 * kill.c - P1: processes with three recording threads and their drain die at random moments.  The harness joins the
 * file and the ring file of each, and compares the events with the calls that had returned.
 *
 * A thread makes calls in a fixed order.  When a call has returned, the thread counts it in a page that outlives the
 * process.  So the n-th event of a thread must be that of its n-th call.  The harness finds and counts events that are
 * missing, torn or there twice.  The threads of half of the victims stop before their rings can be full; those of the
 * others have small rings and wait for the drain.  If events are dropped nevertheless, the trace must count them.
 *
 * With "live" the process is read while it runs, and then killed.  The reading must have every call that had returned
 * when it began.
 *
 * With "flight" the oldest events are overwritten.  Behind the first event that is there, none may be missing, and
 * those in front of it must be counted.  The sequence of the first event and the regions around it must be known.
 *
 * usage: kill kill|live|flight|segv|abort|exit|exec TIMES SEED
 * Prints its counts and "N passed, N failed".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "follow.h"
#include "trace2.h"
#include "traced.h"

enum {
	THREADS = 3,
	MOST_ROUNDS = 5000,               /* FOLLOW_EVENTS each: fewer than a ring holds */
	LONGEST_US = 3000,
	BY_PROGRAM = 50,                  /* t2expand itself expands one death in so many, too */
};

/* Shared with the victim, so that it outlives it. */
static struct report {
	uint32_t begun;                   /* threads that run */
	struct { _Alignas(64) uint64_t returned; } thread[THREADS];
} *report;

static struct counts {
	uint64_t deaths, calls, recovered, in_flight, lost, torn, twice, unreadable, dropped, out_of_place;
} sum;

static uint64_t seed;
static int looks;                         /* "live": read the living process, too */
static int is_flight;                     /* "flight": the oldest events are overwritten */
static char again[128];

static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

/* ---- the victim --------------------------------------------------------------------------------- */

static struct { int signal, exits, execs; uint64_t at; } death;   /* what thread 0 does after so many calls */

static void die(void)
{
	char *const arguments[] = { (char[]){ "true" }, NULL };
	volatile int *volatile nowhere = NULL;

	if (death.execs)
		execv("/bin/true", arguments);
	if (death.exits)
		_exit(0);
	if (death.signal == SIGSEGV)
		*nowhere = 0;
	abort();
}

static void *run_thread(void *which)
{
	uint64_t slot = (uintptr_t)which, n = 0;

	__atomic_fetch_add(&report->begun, 1, __ATOMIC_RELAXED);
	while (n < MOST_ROUNDS * FOLLOW_CALLS) {
		follow_call(slot, n);
		__atomic_store_n(&report->thread[slot].returned, ++n, __ATOMIC_RELEASE);
		if (!slot && n == death.at)
			die();
	}
	for (;;)
		pause();
	return NULL;
}

static void run_victim(void)
{
	pthread_t threads[THREADS];

	trace2_initialize();
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, (void *)i);
	for (;;)
		pause();
}

/* ---- what it left ------------------------------------------------------------------------------- */

/* Count the calls that the threads reported but the events do not show. */
static void judge(struct follow *follow)
{
	uint64_t dropped = follow_dropped(follow);

	for (int slot = 0; slot < THREADS; slot++) {
		uint64_t returned = report->thread[slot].returned, seen = follow_seen(follow, slot);
		/* If the thread's first number was not recorded, at most one of its calls has returned. */
		if (seen < returned && returned > 1)
			follow->missing += returned - seen;
		sum.calls += returned;
	}
	/* A dropped call may not have returned yet. */
	if (follow->missing > dropped || follow->missing + THREADS < dropped)
		sum.lost += (uint64_t)llabs((long long)(follow->missing - dropped));
	sum.dropped += dropped;
	sum.torn += follow->torn;
	sum.twice += follow->twice;
	sum.out_of_place += is_flight ? follow->out_of_place : 0;
}

static void add_unreadable(const char *why, int number)
{
	printf("FAIL death %ju: %s (%d)\n", sum.deaths, why, number);
	sum.unreadable++;
}

/* t2expand writes a trace of what was left, and the harness follows this trace in the same way. */
static void recover_by_program(const char *ring, struct follow *follow)
{
	char command[512];
	int status;

	snprintf(command, sizeof(command), "%s/t2expand --recover=%s --format=raw -o %s 2>/dev/null", getenv("T2_OUT"),
		 ring, again);
	follow_begin(follow);
	status = system(command);
	/* 3: the last write was incomplete; t2expand reports that, and uses the events of the ring instead */
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3) ||
	    !collect_file(again, follow_block, follow)) {
		add_unreadable("t2expand --recover", status);
		return;
	}
	judge(follow);
}

/* Read the process while it records. */
static void look(pid_t victim, const char *ring, struct follow *follow)
{
	uint64_t returned[THREADS];

	for (int slot = 0; slot < THREADS; slot++)
		returned[slot] = __atomic_load_n(&report->thread[slot].returned, __ATOMIC_ACQUIRE);
	follow_begin(follow);
	if (collect(ring, (uint32_t)victim, follow_block, follow).hits == UINT64_MAX) {
		add_unreadable("while it lives", 0);
		return;
	}
	for (int slot = 0; slot < THREADS; slot++)
		if (follow_seen(follow, slot) + follow_dropped(follow) < returned[slot] && returned[slot] > 1)
			sum.lost++;
	sum.lost += follow->missing > follow_dropped(follow);
	sum.torn += follow->torn;
	sum.twice += follow->twice;
}

/*
 * A program that reads a dying process in /proc, as ps does, keeps its memory mapped a little longer, and so the ring
 * file.  If the drain had no time to write its PID namespace into the file, the process seems to live until then.
 */
static struct t2x_salvage_totals collect_dead(const char *ring, struct follow *follow)
{
	const struct timespec pause = { 0, 10000000 };
	struct t2x_salvage_totals got = { .hits = UINT64_MAX };

	for (int tries = 0; tries < 1000 && got.hits == UINT64_MAX; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		follow_begin(follow);
		got = collect(ring, 0, follow_block, follow);
	}
	return got;
}

static void check(pid_t victim)
{
	static struct follow follow;
	char ring[256];
	struct t2x_salvage_totals got;

	if (!collect_find((uint32_t)victim, ring, sizeof(ring))) {
		add_unreadable("no ring", 0);
		return;
	}
	got = collect_dead(ring, &follow);
	if (got.hits == UINT64_MAX || got.damaged || follow.is_whole)
		add_unreadable(got.hits == UINT64_MAX ? "its ring" : got.damaged ? "damaged" : "whole",
			       (int)got.damaged);
	sum.recovered += got.hits;
	sum.in_flight += got.in_flight;
	judge(&follow);
	if (sum.deaths % BY_PROGRAM == 0)
		recover_by_program(ring, &follow);
	unlink(ring);
	unlink(t.raw);
}

static void kill_after(pid_t victim, unsigned us)
{
	const struct timespec delay = { 0, us * 1000L };
	static struct follow follow;
	char ring[256];

	while (!__atomic_load_n(&report->begun, __ATOMIC_RELAXED))
		sched_yield();
	nanosleep(&delay, NULL);
	if (looks && collect_find((uint32_t)victim, ring, sizeof(ring)))
		look(victim, ring, &follow);
	kill(victim, SIGKILL);
}

static void let_one_die(void)
{
	int is_waiting = sum.deaths / 4 % 2 != 0;
	unsigned us = random_below(LONGEST_US), calls = random_below(MOST_ROUNDS * FOLLOW_CALLS - 1);
	pid_t victim;

	memset(report, 0, sizeof(*report));
	death.at = death.signal || death.exits || death.execs ? calls + 1 : 0;
	setenv("TRACE2_RAW_LZ4", sum.deaths % 2 ? "1" : "0", 1);
	setenv("TRACE2_RAW_ENCODING", sum.deaths % 4 < 2 ? "packed" : "plain", 1);
	setenv("TRACE2_RAW_RING", is_flight ? "128k" : is_waiting ? "256k" : "1536k", 1);
	setenv("TRACE2_RAW_POLICY", is_flight ? "overwrite" : is_waiting ? "block" : "discard", 1);
	victim = fork();
	if (!victim)
		run_victim();
	if (!death.at)
		kill_after(victim, us);
	waitpid(victim, NULL, 0);
	sum.deaths++;
	check(victim);
}

static void prepare(void)
{
	const char *out = getenv("T2_OUT");

	setenv("T2_OUT", out ? out : "build", 1);
	traced_init(&t);
	snprintf(again, sizeof(again), "%s/again.tlg", t.dir);
	traced_into(&t);
	setenv("TRACE2_RAW_WAIT", "60000", 1);
	report = traced_shared(sizeof(*report));
}

int main(int argc, char **argv)
{
	unsigned times = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	int is_bad;

	if (!times)
		return 2;
	prepare();
	seed = strtoull(argv[3], NULL, 10);
	death.signal = !strcmp(argv[1], "segv") ? SIGSEGV : !strcmp(argv[1], "abort") ? SIGABRT : 0;
	looks = !strcmp(argv[1], "live");
	is_flight = !strcmp(argv[1], "flight");
	death.exits = !strcmp(argv[1], "exit");
	death.execs = !strcmp(argv[1], "exec");
	while (sum.deaths < times)
		let_one_die();
	unlink(again);
	rmdir(t.dir);
	printf("%s: %ju deaths, %ju calls returned, %ju checkpoints only in rings, %ju events in flight, %ju dropped "
	       "and counted, %ju lost, %ju torn, %ju twice, %ju not in their place, %ju unreadable\n",
	       argv[1], sum.deaths, sum.calls, sum.recovered, sum.in_flight, sum.dropped, sum.lost, sum.torn, sum.twice,
	       sum.out_of_place, sum.unreadable);
	is_bad = sum.lost || sum.torn || sum.twice || sum.out_of_place || sum.unreadable || !sum.calls ||
		 !sum.recovered;
	printf("%d passed, %d failed\n", !is_bad, is_bad);
	return is_bad;
}
