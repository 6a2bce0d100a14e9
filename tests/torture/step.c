/* SPDX-License-Identifier: MIT */
/*
 * step.c - P2: the harness stops a recording process at every instruction of its calls.  It kills the process there; or
 * it sends a signal whose handler records; or it sends the signal and then kills the process at every instruction of
 * the handler.  What the process left must have each call that had returned, whole and once.
 *
 * The calls are: the inline path, an integer, a message, a text, a function that looks its names up.  They are made in
 * four places: when each call site is passed for the first time, when everything is ready, where a chunk ends, and
 * where a chunk ends and the drain's thread is started.  A fifth place is the end of the program, up to the removal of
 * its ring file, which may go only when its .tlg file has everything.  It gets no signals: tracing is over there.
 *
 * In a loop, the harness visits an address when it is passed for the first four times, the 8th, 16th, ..., but not
 * those in the kernel's clock function.  Each visit kills another process.  The end, and a handler, have too many
 * instructions for that: there the harness steps one process and examines its files at each step (still.h), in one of
 * LOOKS handlers, and kills only some processes.
 *
 * usage: step STRIDE KILLS SEED
 *        STRIDE: make one of so many visits; KILLS: so many kills in handlers, and as many at the end.
 * The work is divided among the processors.  Prints its counts and "N passed, N failed".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect.h"
#include "follow.h"
#include "stepper.h"
#include "still.h"
#include "trace2.h"
#include "traced.h"
#include "drain/tr2_recovery.h"

enum {
	STEPPED = 2 * FOLLOW_CALLS,       /* calls */
	MOST_STEPS = 1000000,
	LOOKS = 16,
	HANDLER_STEPS = 200,              /* of its calls, about */
	RECORDINGS = 8, TRIES = 20,       /* of a path; to go there */
	MOST_WORKERS = 16,
};
/*
 * before: calls before the stepped ones: none; so many that all sites have been passed; almost as many as the first
 * chunk has space for, a short one; almost as many as it and the second have space for.  chunks: in use behind them
 */
static struct place { const char *name; unsigned before, chunks; } places[] = {
	{ "first passes", 0, 1 },
	{ "all ready", 2 * FOLLOW_CALLS, 1 },
	{ "end of the first chunk", 15 * FOLLOW_CALLS, 2 },
	{ "end of the second chunk", 287 * FOLLOW_CALLS, 3 },
	{ "end of the program", 2 * FOLLOW_CALLS, 1 },
};
enum { PLACES = sizeof(places) / sizeof(places[0]), CALL_PLACES = PLACES - 1 };
static const struct place *const program_ends = &places[CALL_PLACES];
static struct stepper_path paths[PLACES];

/* Shared with the victim, so that it outlives it. */
static struct report {
	uint64_t returned, handled;       /* calls, the handler's calls */
	int is_finished;
} *report;

/* The counts of one worker; the others see them, too. */
static struct counts {
	uint64_t kills, signals, pairs, pair_kills, end_kills, looks;
	uint64_t lost, torn, twice, unreadable, diverted, in_flight;
} *sum;

static uint64_t seed;
static unsigned worker, workers, look_at;
static char copy[128];

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
	__atomic_store_n(&report->handled, report->handled + 1, __ATOMIC_RELEASE);
}

static void make_calls(unsigned from, unsigned to)
{
	for (unsigned n = from; n < to; n++) {
		follow_call(0, n);
		__atomic_store_n(&report->returned, n + 1, __ATOMIC_RELEASE);
	}
}

static void run_victim(const struct place *place)
{
	struct sigaction action = { .sa_handler = handle };

	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	tr2_recovery_pid_space();   /* readers of a copy need this: a lease on the copy does not show that it lives */
	make_calls(0, place->before);
	if (place->before)
		raise(SIGUSR1);   /* so that the handler's sites have been passed, too */
	if (place == program_ends) {
		trace2_cmd_exit(FOLLOW_EXTRA);   /* the number of no call, so it counts like the handler's */
		report->handled++;
	}
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(1);
	raise(SIGSTOP);
	if (place == program_ends)
		exit(0);
	make_calls(place->before, place->before + STEPPED);
	report->is_finished = 1;
	raise(SIGSTOP);
	_exit(1);
}

static pid_t start(const struct place *place)
{
	pid_t victim;
	int status;

	memset(report, 0, sizeof(*report));
	victim = fork();
	if (!victim)
		run_victim(place);
	if (waitpid(victim, &status, 0) != victim || !WIFSTOPPED(status))
		exit(3);
	return victim;
}

static int is_finished(void)
{
	return report->is_finished;
}

/* ---- what it left ------------------------------------------------------------------------------- */

/* Everything has returned: nothing may be missing. */
enum { ANYWHERE, BEHIND_ALL };

static void judge(const struct follow *follow, const struct t2x_salvage_totals *got, int where)
{
	uint64_t seen = follow_seen(follow, 0);

	sum->unreadable += got->hits == UINT64_MAX || got->damaged || follow_dropped(follow);
	sum->lost += follow->missing + (seen < report->returned ? report->returned - seen : 0);
	sum->lost += follow->extra < report->handled;
	sum->twice += follow->twice + (seen > report->returned + 1) + (follow->extra > report->handled + 1);
	sum->torn += follow->torn;
	sum->in_flight += got->in_flight;
	if (where == BEHIND_ALL && (seen != report->returned || follow->extra != report->handled || got->in_flight))
		sum->lost++;
}

/* ring  NULL: the ring file has been removed, so the .tlg file must have everything, with END */
static void check_left(const char *ring, int where)
{
	static struct follow follow;
	struct t2x_salvage_totals got = { .hits = UINT64_MAX };

	follow_begin(&follow);
	follow.thread[0].slot = 0;
	if (ring)
		got = collect(ring, 0, follow_block, &follow);
	else if (collect_file(t.raw, follow_block, &follow) && follow.is_whole)
		got.hits = 0;
	judge(&follow, &got, where);
}

static void kill_and_check(pid_t victim, int where)
{
	char ring[256];
	int is_there;

	stepper_kill(victim);
	is_there = collect_find((uint32_t)victim, ring, sizeof(ring));
	check_left(is_there ? ring : NULL, where);
	if (is_there)
		unlink(ring);
	unlink(t.raw);
}

/* ---- looking ------------------------------------------------------------------------------------ */

static struct still still;

static int begin_looking(pid_t victim)
{
	char ring[256];

	if (collect_find((uint32_t)victim, ring, sizeof(ring)) && still_open(&still, ring, copy, t.raw))
		return 1;
	sum->unreadable++;
	return 0;
}

static void end_looking(void)
{
	still_close(&still);
	unlink(copy);
}

static void look(void)
{
	if (!still_update(&still))
		return;
	check_left(still_is_removed(&still) ? NULL : copy, ANYWHERE);
	sum->looks++;
}

static int look_and_go_on(void)
{
	look();
	return 0;
}

/* ---- what there is to visit --------------------------------------------------------------------- */

/* Record the path of a first process.  Return  0: the place is not as the table describes it */
static int record(const struct place *place, struct stepper_path *path)
{
	pid_t victim = start(place);
	int is_end = place == program_ends, is_right = stepper_init(path, MOST_STEPS) && begin_looking(victim);
	int stop = is_right ? stepper_record(path, victim, is_end ? look_and_go_on : is_finished) : 0;

	if (is_end) {
		look();
		is_right &= !stop && still_is_removed(&still);
	} else {
		is_right &= stop == SIGTRAP && is_finished() && still_chunks(&still) == place->chunks;
	}
	end_looking();
	kill_and_check(victim, is_end ? ANYWHERE : BEHIND_ALL);
	return is_right;
}

static int is_visited(const struct stepper_path *path, uint32_t n)
{
	uint32_t pass = path->pass[n];

	return pass <= 4 || (!(pass & (pass - 1)) && !stepper_is_kernels(path->at[n]));
}

static uint32_t count_visits(const struct stepper_path *path)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < path->count; n++)
		count += (uint32_t)is_visited(path, n);
	return count;
}

/* ---- visits ------------------------------------------------------------------------------------- */

/*
 * Bring a process to this instruction.  Some processes take another path, because it depends on the time that the clock
 * shows.  The harness kills and checks these where they are, and tries another one.  Return  0: all took another path
 */
static pid_t start_at(const struct place *place, uint32_t at, int holds_threads)
{
	for (int tries = 0; tries < TRIES; tries++) {
		pid_t victim = start(place);
		if ((!holds_threads || stepper_hold_threads(victim)) &&
		    stepper_go_to(&paths[place - places], victim, at))
			return victim;
		kill_and_check(victim, ANYWHERE);
	}
	sum->diverted++;
	return 0;
}

static void kill_at(const struct place *place, uint32_t at)
{
	pid_t victim = start_at(place, at, 0);

	if (!victim)
		return;
	kill_and_check(victim, ANYWHERE);
	sum->kills++;
}

static void signal_at(const struct place *place, uint32_t at)
{
	pid_t victim = start_at(place, at, 0);
	int stop = SIGUSR1;

	if (!victim)
		return;
	while (stop == SIGUSR1)   /* it was blocked, and comes now */
		stop = stepper_go_on(victim, SIGUSR1);
	if (stop != SIGSTOP || !report->is_finished || report->handled != 1 + !!place->before)
		sum->unreadable++;
	kill_and_check(victim, BEHIND_ALL);
	sum->signals++;
}

static uint64_t handled_before;

static int has_handled(void)
{
	return report->handled > handled_before;
}

/*
 * Bring a process to the handler's first instruction: at once, or as soon as signals are not blocked.  Threads that it
 * starts before stay stopped, so that only the handler changes the files.  Return  0: it never gets there
 */
static pid_t start_handler(const struct place *place, uint32_t at)
{
	pid_t victim = start_at(place, at, 1);
	int stop;

	if (!victim)
		return 0;
	handled_before = report->handled;
	stop = stepper_step(victim, SIGUSR1);
	if (stop == SIGTRAP && stepper_address(victim) != (uintptr_t)handle)
		stop = stepper_go_on(victim, 0);
	if (stop == SIGUSR1)
		stop = stepper_step(victim, SIGUSR1);
	if (stop == SIGTRAP && stepper_address(victim) == (uintptr_t)handle)
		return victim;
	sum->diverted++;
	kill_and_check(victim, ANYWHERE);
	return 0;
}

static void signal_and_look_at(const struct place *place, uint32_t at)
{
	pid_t victim = start_handler(place, at);

	if (!victim)
		return;
	if (begin_looking(victim)) {
		for (look(); !has_handled() && stepper_step(victim, 0) == SIGTRAP; look())
			sum->pairs++;
		end_looking();
	}
	kill_and_check(victim, ANYWHERE);
}

static void signal_and_kill_at(const struct place *place, uint32_t at, unsigned steps)
{
	pid_t victim = start_handler(place, at);

	if (!victim)
		return;
	while (steps-- && !has_handled() && stepper_step(victim, 0) == SIGTRAP)
		;
	kill_and_check(victim, ANYWHERE);
	sum->pair_kills++;
}

/* At the end the path depends on the bytes that are compressed, which differ: that does not count as diverted. */
static void kill_at_end(uint32_t at)
{
	pid_t victim = start(program_ends);

	sum->end_kills += (uint64_t)stepper_go_to(&paths[CALL_PLACES], victim, at);
	kill_and_check(victim, ANYWHERE);
}

/* ---- the run ------------------------------------------------------------------------------------ */

static void prepare(void)
{
	traced_init(&t);
	snprintf(copy, sizeof(copy), "%s/copy", t.dir);
	traced_into(&t);
	setenv("TRACE2_RAW_THREAD", "late", 0);   /* within what is stepped, and stopped there */
	report = traced_shared(sizeof(*report));
}

/* Keep the shortest of some paths: on a busy machine one may have met the kernel while it updates the clock. */
static int record_shortest(const struct place *place, struct stepper_path *path)
{
	struct stepper_path other;
	int is_right = record(place, path);

	for (int i = 1; is_right && i < RECORDINGS && place != program_ends; i++) {
		is_right = record(place, &other);
		stepper_keep_shorter(path, &other);
	}
	return is_right;
}

static int record_all(void)
{
	for (const struct place *place = places; place <= program_ends; place++) {
		struct stepper_path *path = &paths[place - places];
		if (!record_shortest(place, path)) {
			printf("%s: it is not what happens there\n", place->name);
			return 0;
		}
		printf("%s: %u instructions", place->name, path->count);
		if (place != program_ends)
			printf(", %u visits", count_visits(path));
		printf("\n");
	}
	return 1;
}

/* This worker's visits. */
static void visit(const struct place *place, unsigned stride, unsigned offset)
{
	const struct stepper_path *path = &paths[place - places];
	uint32_t all = 0, mine = 0;

	for (uint32_t at = 0; at < path->count; at++) {
		if (!is_visited(path, at) || all++ % (stride * workers) != stride * worker + offset)
			continue;
		kill_at(place, at);
		signal_at(place, at);
		if (mine++ % LOOKS == look_at)
			signal_and_look_at(place, at);
	}
}

static void run_worker(unsigned stride, unsigned kills)
{
	unsigned offset = random_below(stride);

	look_at = random_below(LOOKS);
	seed += worker;
	for (const struct place *place = places; place < program_ends; place++) {
		visit(place, stride, offset);
		for (unsigned i = 0; i < kills / CALL_PLACES / workers; i++)
			signal_and_kill_at(place, random_below(paths[place - places].count),
					   random_below(HANDLER_STEPS));
	}
	for (unsigned i = 0; i < kills / workers; i++)
		kill_at_end(random_below(paths[CALL_PLACES].count));
}

/* Run as many workers as processors, each with its own counts.  Return  0: not all have finished */
static int run_workers(struct counts *counts, unsigned stride, unsigned kills)
{
	int status, is_good = 1;

	for (worker = 0; worker < workers; worker++) {
		if (fork())
			continue;
		stepper_share_processor(worker);
		sum = &counts[worker];
		prepare();
		run_worker(stride, kills);
		_exit(rmdir(t.dir) != 0);
	}
	while (wait(&status) > 0)
		is_good &= WIFEXITED(status) && !WEXITSTATUS(status);
	return is_good;
}

static int judge_all(const struct counts *all, int is_good)
{
	printf("%ju kills, %ju signals, %ju instructions of handlers, of about %ju, %ju kills there; %ju at "
	       "the end: %ju lost, %ju torn, %ju twice, %ju unreadable; %ju events in flight, %ju looks, %ju "
	       "diverted\n",
	       all->kills, all->signals, all->pairs, all->pairs * LOOKS, all->pair_kills, all->end_kills, all->lost,
	       all->torn, all->twice, all->unreadable, all->in_flight, all->looks, all->diverted);
	if (all->lost || all->torn || all->twice || all->unreadable || !all->kills || !all->signals || !all->end_kills)
		is_good = 0;
	/* some handlers recorded in the middle of a record, and were looked at behind that */
	if (all->pairs > 1000 && !all->in_flight)
		is_good = 0;
	return is_good && all->diverted <= 2 + all->kills / 30;
}

int main(int argc, char **argv)
{
	const unsigned words = sizeof(struct counts) / sizeof(uint64_t);
	unsigned stride = argc == 4 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	uint64_t *counts = traced_shared((MOST_WORKERS + 1) * sizeof(struct counts));
	int is_good;

	if (!stride)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	seed = strtoull(argv[3], NULL, 10);
	workers = stepper_processors() < MOST_WORKERS ? stepper_processors() : MOST_WORKERS;
	sum = (struct counts *)counts;
	prepare();
	if (!record_all())
		return 3;
	rmdir(t.dir);
	fflush(stdout);
	is_good = run_workers(sum + 1, stride, (unsigned)strtoul(argv[2], NULL, 10));
	for (unsigned i = words; i < (workers + 1) * words; i++)
		counts[i % words] += counts[i];
	is_good = judge_all((struct counts *)counts, is_good);
	printf("%d passed, %d failed\n", is_good, !is_good);
	return !is_good;
}
