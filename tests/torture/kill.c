/* SPDX-License-Identifier: MIT */
/*
 * kill.c - P1: processes with three recording threads and their drain die at random moments; of each is collected
 * what it left, file and ring file joined, and compared with what the threads had told of every call that returned.
 *
 * A thread makes calls in a fixed order and counts each in a page that outlives the process, when it has
 * returned.  So of a thread's events the n-th must be that of its n-th call: one that is missing, torn or
 * there twice is found, and counted as what it is.  Half of the victims' threads stop before their rings could be
 * full; the others' have small rings and wait for the drain.  What is dropped nevertheless must be counted.
 *
 * With "live" the process is read while it runs, and only then killed: the same is asked of what that shows, up to
 * the calls that had returned when the reading began.
 *
 * usage: kill kill|live|segv|abort|exit|exec TIMES SEED
 * Prints its figures and "N passed, N failed".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "trace2.h"

enum {
	THREADS = 3,
	MOST_ROUNDS = 8000,               /* 6 events each: fewer than a ring holds */
	LONGEST_US = 3000,
	MOST_TIDS = 64,
	BY_PROGRAM = 50,                  /* one death in so many is expanded by t2expand itself, too */
};

enum call { ENTER, NUMBER, MESSAGE, LEAVE, CALLS };

/* Shared with the victim, so that it outlives it. */
static struct told {
	uint32_t begun;                   /* threads that run */
	struct { _Alignas(64) uint64_t returned; } thread[THREADS];
} *told;

static struct figures {
	uint64_t deaths, calls, recovered, in_flight, lost, torn, twice, unreadable, dropped;
} sum;

static uint64_t seed;
static int looks;                         /* at the living, too */
static char dir[64], raw[128], again[128];

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

static void make_call(uint64_t slot, uint64_t n)
{
	switch ((enum call)(n % CALLS)) {
	case ENTER:
		trace2_region_enter("kill", "round", NULL);
		break;
	case NUMBER:
		trace2_data_intmax("kill", NULL, "number", (intmax_t)(slot << 32 | n));
		break;
	case MESSAGE:
		trace2_printf("call %d", (int)n);
		break;
	default:
		trace2_region_leave("kill", "round", NULL);
		break;
	}
}

static void *run_thread(void *which)
{
	uint64_t slot = (uintptr_t)which, n = 0;

	__atomic_fetch_add(&told->begun, 1, __ATOMIC_RELAXED);
	while (n < MOST_ROUNDS * CALLS) {
		make_call(slot, n);
		__atomic_store_n(&told->thread[slot].returned, ++n, __ATOMIC_RELEASE);
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

struct following {
	struct thread { int slot; uint64_t next; uint32_t scopes[CALLS]; } thread[MOST_TIDS];
	struct tlg_loss losses[MOST_TIDS];
	uint64_t missing;                 /* calls of which there is nothing */
	int is_whole;                     /* END was there */
};

/* The number that the event of a call carries, UINT64_MAX: none. */
static uint64_t number_of(const struct tlg_event *event)
{
	if (!(event->flags & TLG_HAS_INFO) || tlg_event_type(&event[1]) != TLG_VALUE)
		return UINT64_MAX;
	return (uint64_t)event[1].u.value.value;
}

/* Whether the event is that of call n of the thread. */
static int is_call(const struct thread *thread, const struct tlg_event *event, uint64_t n)
{
	uint64_t number = number_of(event);
	uint32_t scope = thread->scopes[n % CALLS];

	if (!event->u.hit.when || !event->u.hit.scopeIndex || (scope && scope != event->u.hit.scopeIndex))
		return 0;
	if (n % CALLS == NUMBER)
		return number == (thread->slot >= 0 ? (uint64_t)thread->slot << 32 | n : number >> 32 << 32 | n);
	return n % CALLS == MESSAGE ? number == n : number == UINT64_MAX && !(event->flags & TLG_HAS_INFO);
}

/* It is not the call that was due: is it a later one, an earlier one?  What has no number may be any of its kind. */
static void explain(struct following *following, struct thread *thread, const struct tlg_event *event)
{
	int has_number = number_of(event) != UINT64_MAX;

	for (uint64_t skipped = 1; skipped < 100000; skipped++) {
		if (is_call(thread, event, thread->next + skipped)) {
			following->missing += skipped;
			thread->next += skipped + 1;
			return;
		}
		if (has_number && skipped <= thread->next && is_call(thread, event, thread->next - skipped)) {
			sum.twice++;
			return;
		}
	}
	sum.torn++;
	thread->next++;
}

static void follow_hit(struct following *following, const struct tlg_event *event)
{
	struct thread *thread = &following->thread[event->u.hit.tid % MOST_TIDS];

	if (event->u.hit.tid >= MOST_TIDS) {
		sum.torn++;
		return;
	}
	if (!is_call(thread, event, thread->next)) {
		explain(following, thread, event);
		return;
	}
	if (thread->next % CALLS == NUMBER && thread->slot < 0)
		thread->slot = (int)(number_of(event) >> 32);
	thread->scopes[thread->next++ % CALLS] = event->u.hit.scopeIndex;
}

/* What the library says that it dropped, in total. */
static void follow_loss(struct following *following, const struct tlg_loss *loss)
{
	struct tlg_loss *at = following->losses;

	while (at < &following->losses[MOST_TIDS - 1] && at->reason &&
	       (at->tid != loss->tid || at->reason != loss->reason))
		at++;
	*at = *loss;
}

/* A collect_fn.  Thread 0 of the process, main, records nothing but its version. */
static void follow_block(void *data, const struct t2x_block *block)
{
	struct following *following = data;

	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		following->is_whole |= tlg_event_type(event) == TLG_END;
		if (tlg_event_type(event) == TLG_LOSS)
			follow_loss(following, &event->u.loss);
		if (tlg_event_type(event) == TLG_HIT && event->u.hit.tid && block->tid != TLG_NO_THREAD)
			follow_hit(following, event);
	}
}

static void begin_following(struct following *following)
{
	memset(following, 0, sizeof(*following));
	for (unsigned i = 0; i < MOST_TIDS; i++)
		following->thread[i].slot = -1;
}

/* What the threads told that the events did not show. */
static void finish_following(struct following *following)
{
	uint64_t dropped = 0;

	for (int slot = 0; slot < THREADS; slot++) {
		uint64_t returned = told->thread[slot].returned, seen = 0;
		for (unsigned i = 0; i < MOST_TIDS; i++)
			if (following->thread[i].slot == slot)
				seen = following->thread[i].next;
		/* its first number was not recorded: at most one call has returned */
		if (seen < returned && returned > 1)
			following->missing += returned - seen;
		sum.calls += returned;
	}
	for (unsigned i = 0; i < MOST_TIDS; i++)
		dropped += following->losses[i].count;
	/* a call may have been dropped that had not returned yet */
	if (following->missing > dropped || following->missing + THREADS < dropped)
		sum.lost += (uint64_t)llabs((long long)(following->missing - dropped));
	sum.dropped += dropped;
}

/* ---- recovering --------------------------------------------------------------------------------- */

/* The program itself makes a trace of what was left, which is followed in the same way. */
static void recover_by_program(const char *ring, struct following *following)
{
	struct t2x_report report = { .to = NULL };
	struct t2x_input input = { .path = again, .report = &report };
	struct t2x_block block;
	char command[512];
	int status;

	snprintf(command, sizeof(command), "%s/t2expand --recover=%s --format=raw -o %s 2>/dev/null", getenv("T2_OUT"),
		 ring, again);
	begin_following(following);
	status = system(command);
	/* 3: the last write arrived in part, which is said, and replaced by what the ring has */
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3) ||
	    !t2x_input_check(&input, 0)) {
		sum.unreadable++;
		return;
	}
	while (t2x_input_next(&input.blocks, &block))
		follow_block(following, &block);
	t2x_input_close(&input);
	finish_following(following);
}

/* Read the process while it records. */
static void look(pid_t victim, const char *ring, struct follow *follow)
{
	uint64_t returned[THREADS];

	for (int slot = 0; slot < THREADS; slot++)
		returned[slot] = __atomic_load_n(&told->thread[slot].returned, __ATOMIC_ACQUIRE);
	follow_begin(follow);
	if (collect(ring, (uint32_t)victim, follow_block, follow).hits == UINT64_MAX) {
		sum.unreadable++;
		return;
	}
	for (int slot = 0; slot < THREADS; slot++)
		if (follow_seen(follow, slot) + follow_dropped(follow) < returned[slot] && returned[slot] > 1)
			sum.lost++;
	sum.lost += follow->missing > follow_dropped(follow);
	sum.torn += follow->torn;
	sum.twice += follow->twice;
}

static void check(pid_t victim)
{
	static struct following following;
	char ring[256];
	struct t2x_salvage_sum got;

	begin_following(&following);
	if (!collect_find((uint32_t)victim, ring, sizeof(ring))) {
		sum.unreadable++;
		return;
	}
	got = collect(ring, 0, follow_block, &following);
	if (got.hits == UINT64_MAX || got.damaged || following.is_whole)
		sum.unreadable++;
	sum.recovered += got.hits;
	sum.in_flight += got.in_flight;
	finish_following(&following);
	if (sum.deaths % BY_PROGRAM == 0)
		recover_by_program(ring, &following);
	unlink(ring);
	unlink(raw);
}

static void kill_after(pid_t victim, unsigned us)
{
	const struct timespec delay = { 0, us * 1000L };
	static struct follow follow;
	char ring[256];

	while (!__atomic_load_n(&told->begun, __ATOMIC_RELAXED))
		sched_yield();
	nanosleep(&delay, NULL);
	if (looks && collect_find((uint32_t)victim, ring, sizeof(ring)))
		look(victim, ring, &follow);
	kill(victim, SIGKILL);
}

static void let_one_die(void)
{
	int is_waiting = sum.deaths / 4 % 2 != 0;
	unsigned us = random_below(LONGEST_US), calls = random_below(MOST_ROUNDS * CALLS - 1);
	pid_t victim;

	memset(told, 0, sizeof(*told));
	death.at = death.signal || death.exits || death.execs ? calls + 1 : 0;
	setenv("TRACE2_RAW_LZ4", sum.deaths % 2 ? "1" : "0", 1);
	setenv("TRACE2_RAW_ENCODING", sum.deaths % 4 < 2 ? "packed" : "plain", 1);
	setenv("TRACE2_RAW_RING", is_waiting ? "256k" : "1536k", 1);
	setenv("TRACE2_RAW_POLICY", is_waiting ? "block" : "discard", 1);
	victim = fork();
	if (!victim)
		run_victim();
	if (!death.at)
		kill_after(victim, us);
	waitpid(victim, NULL, 0);
	sum.deaths++;
	check(victim);
}

static int prepare(void)
{
	const char *out = getenv("T2_OUT");

	setenv("T2_OUT", out ? out : "build", 1);
	snprintf(dir, sizeof(dir), "/dev/shm/trace2-kill.XXXXXX");
	if (!mkdtemp(dir))
		return 0;
	snprintf(raw, sizeof(raw), "%s/raw.tlg", dir);
	snprintf(again, sizeof(again), "%s/again.tlg", dir);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	setenv("TRACE2_RAW", raw, 1);
	setenv("TRACE2_RAW_WAIT", "60000", 1);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told != MAP_FAILED;
}

int main(int argc, char **argv)
{
	unsigned times = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	int is_bad;

	if (!times || !prepare())
		return 2;
	seed = strtoull(argv[3], NULL, 10);
	death.signal = !strcmp(argv[1], "segv") ? SIGSEGV : !strcmp(argv[1], "abort") ? SIGABRT : 0;
	looks = !strcmp(argv[1], "live");
	death.exits = !strcmp(argv[1], "exit");
	death.execs = !strcmp(argv[1], "exec");
	while (sum.deaths < times)
		let_one_die();
	unlink(again);
	rmdir(dir);
	printf("%s: %ju deaths, %ju calls returned, %ju checkpoints only in rings, %ju events in flight, %ju dropped "
	       "and counted, %ju lost, %ju torn, %ju twice, %ju unreadable\n",
	       argv[1], sum.deaths, sum.calls, sum.recovered, sum.in_flight, sum.dropped, sum.lost, sum.torn, sum.twice,
	       sum.unreadable);
	is_bad = sum.lost || sum.torn || sum.twice || sum.unreadable || !sum.calls || !sum.recovered;
	printf("%d passed, %d failed\n", !is_bad, is_bad);
	return is_bad;
}
