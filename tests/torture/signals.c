/* SPDX-License-Identifier: MIT */
/*
 * signals.c - handlers that record in the middle of a call that records, and jump out of it.
 *
 * The victim numbers its events and writes down outside of its own memory which calls it began and which
 * returned.  "jumps" stops it at every instruction of a call, by single steps, and has a handler jump out of it
 * from there; "crash" ends it there by a signal that the library records; "timers" has timers interrupt it at
 * random.  What the trace holds is compared with what was written down.
 *
 * usage: signals jumps|crash|timers AMOUNT SEED
 * Prints its figures and "N passed, N failed".
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rawread.h"
#include "trace2.h"
#include "traced.h"

enum { MOST_EVENTS = 1 << 23, MOST_DEPTH = 3, FILLER = 300, MOST_STEPS = 4000 };

/* How the victim makes a call; each is another way through the library. */
enum kind { KIND_INT, KIND_INT_FL, KIND_MESSAGE, KIND_TEXT, KIND_REGION, KINDS };

/* Shared with the victim, so that it outlives it. */
struct told {
	unsigned char state[MOST_EVENTS];      /* of the numbered event: 0, CALLED, RETURNED */
	uint32_t numbered;
	uint64_t others_called, others_returned;   /* events without a number */
	uint32_t kind, depth;                  /* what the victim is to do next; KINDS: end */
	uint32_t finished;                     /* it did so without being interrupted */
	uint32_t handled, deepest;
};
enum { CALLED = 1, RETURNED };

static struct told *told;
static uint64_t seed;
static unsigned passed, failed;

static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

/* ---- the victim --------------------------------------------------------------------------------- */

static void emit_numbered(enum kind kind)
{
	uint32_t n = __atomic_fetch_add(&told->numbered, 1, __ATOMIC_RELAXED);

	if (n >= MOST_EVENTS)
		return;
	told->state[n] = CALLED;
	if (kind == KIND_INT)
		trace2_data_intmax("signals", NULL, "number", n);
	else if (kind == KIND_INT_FL)
		trace2_data_intmax_fl(__FILE__, __LINE__, "signals", NULL, "number", n);
	else
		trace2_printf("%d, called %s", (int)n, "in a signal handler or not");
	told->state[n] = RETURNED;
}

static void emit(enum kind kind)
{
	static const char text[] = "A text that needs more than one event, so that its chain is half written when the "
				   "signal comes, wherever it comes.";

	if (kind <= KIND_MESSAGE) {
		emit_numbered(kind);
		return;
	}
	__atomic_fetch_add(&told->others_called, 1, __ATOMIC_RELAXED);
	if (kind == KIND_TEXT)
		trace2_data_string("signals", NULL, "text", text);
	else
		trace2_region_enter("signals", "region", NULL);
	__atomic_fetch_add(&told->others_returned, 1, __ATOMIC_RELAXED);
}

/* ---- jumps: the victim that is stopped -------------------------------------------------------------- */

static const int by_depth[MOST_DEPTH] = { SIGUSR1, SIGUSR2, SIGALRM };
static sigjmp_buf out;

/* The stepper takes over here. */
static void stop_here(void)
{
	raise(SIGTRAP);
}

/* On depth d records, and is interrupted by the handler of depth d + 1; the deepest jumps out of all. */
static void jump_out(int signal)
{
	uint32_t depth = signal == by_depth[0] ? 1 : signal == by_depth[1] ? 2 : 3;

	told->handled++;
	if (depth > told->deepest)
		told->deepest = depth;
	if (depth < told->depth) {
		stop_here();
		emit((enum kind)told->kind);
	} else {
		emit(KIND_INT);
	}
	siglongjmp(out, 1);
}

static int run_stopped(void)
{
	struct sigaction action = { .sa_handler = jump_out };

	for (int i = 0; i < MOST_DEPTH; i++)
		sigaction(by_depth[i], &action, NULL);
	trace2_initialize();
	for (int kind = 0; kind < KINDS; kind++)
		emit((enum kind)kind);   /* call sites are registered */
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		return 1;
	for (;;) {
		if (!sigsetjmp(out, 1)) {
			stop_here();
			if (told->kind == KINDS)
				return 0;
			emit((enum kind)told->kind);
			told->finished = 1;
		}
		for (int i = 0; i < FILLER; i++)
			emit(KIND_INT);
	}
}

/* ---- jumps: the stepper --------------------------------------------------------------------------------- */

/* Let it go on until it stops by a SIGTRAP; other signals are its own.  0: it has ended. */
static int until_stop(pid_t victim, int signal, int *status)
{
	for (;;) {
		if (ptrace(PTRACE_CONT, victim, 0, signal) || waitpid(victim, status, 0) != victim)
			return 0;
		if (!WIFSTOPPED(*status))
			return 0;
		signal = WSTOPSIG(*status);
		if (signal == SIGTRAP)
			return 1;
	}
}

/* 1: it has made so many steps and is still within its call. */
static int step(pid_t victim, unsigned steps, int *status)
{
	told->finished = 0;
	for (unsigned i = 0; i < steps && !told->finished; i++)
		if (ptrace(PTRACE_SINGLESTEP, victim, 0, 0) || waitpid(victim, status, 0) != victim ||
		    !WIFSTOPPED(*status))
			return 0;
	return !told->finished;
}

/*
 * The victim stands before its call: interrupt it steps further on, there its handler, in the depths, anywhere.
 * Return  1, or 0 if the call was over before
 */
static int interrupt_at(pid_t victim, unsigned steps, int *status)
{
	int inside = step(victim, steps, status);
	uint32_t depth = 1;

	told->deepest = 0;
	while (inside && until_stop(victim, by_depth[depth - 1], status) && told->deepest == depth &&
	       depth < told->depth) {
		step(victim, random_below(steps + 200), status);   /* the nested call is never over: it jumps */
		depth++;
	}
	if (!inside)
		until_stop(victim, 0, status);
	return inside;
}

/* A step is a switch from one process to the other and back: five times as fast on one processor. */
static void share_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Run the victim through every step of every kind and depth.  data: how many steps to make at once */
static int run_stepper(void *data)
{
	const unsigned stride = (unsigned)(size_t)data;
	uint64_t places = 0;
	pid_t victim;
	int status;

	share_processor();
	victim = fork();
	if (!victim)
		exit(run_stopped());
	if (waitpid(victim, &status, 0) != victim || !WIFSTOPPED(status))
		return 1;
	for (uint32_t depth = 1; depth <= MOST_DEPTH; depth++) {
		for (uint32_t kind = 0; kind < KINDS; kind++) {
			unsigned steps = 1 + random_below(stride);
			told->kind = kind;
			told->depth = depth;
			for (; steps < MOST_STEPS && interrupt_at(victim, steps, &status); steps += stride)
				places++;
		}
	}
	told->kind = KINDS;
	until_stop(victim, 0, &status);
	fprintf(stderr, "%llu places\n", (unsigned long long)places);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* ---- crash: a signal that the library records ----------------------------------------------------------- */

static int run_crashing(void)
{
	trace2_initialize();
	for (int i = 0; i < 10; i++)
		emit((enum kind)told->kind);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		return 1;
	stop_here();
	emit((enum kind)told->kind);
	told->finished = 1;
	stop_here();
	return 0;
}

/* A segmentation fault data steps into the call.  0: it ended as it should; 2: the call was over before */
static int run_crasher(void *data)
{
	pid_t victim = fork();
	int status, inside;

	if (!victim)
		exit(run_crashing());
	if (waitpid(victim, &status, 0) != victim || !WIFSTOPPED(status))
		return 1;
	inside = step(victim, (unsigned)(size_t)data, &status);
	until_stop(victim, inside ? SIGSEGV : SIGKILL, &status);
	if (!inside)
		return 2;
	return !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV;
}

/* ---- timers ----------------------------------------------------------------------------------------- */

static volatile int now_deep;

/* Three of these nest in any order; one in 16 jumps out of all. */
static void interrupt(int signal)
{
	uint32_t n = told->numbered;

	if ((uint32_t)++now_deep > told->deepest)
		told->deepest = (uint32_t)now_deep;
	told->handled++;
	emit((enum kind)(n % KINDS));
	emit(KIND_INT);
	(void)signal;
	if (n * UINT32_C(2654435761) >> 28 == 0)
		siglongjmp(out, 1);
	now_deep--;
}

static int start_timer(int signal)
{
	const struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal };
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	timer_t timer;

	return sigaction(signal, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	       timer_settime(timer, 0, &every, NULL);
}

static int run_timers(void *data)
{
	const uint32_t enough = (uint32_t)(size_t)data;

	trace2_initialize();
	for (int i = 0; i < MOST_DEPTH; i++)
		if (start_timer(by_depth[i]))
			return 1;
	for (unsigned n = 0; told->handled < enough; n++) {
		if (!sigsetjmp(out, 1))
			emit((enum kind)(n % KINDS));
		else
			now_deep = 0;
		for (volatile int pace = 0; pace < 1000; pace++)
			;
	}
	for (int i = 0; i < MOST_DEPTH; i++)
		signal(by_depth[i], SIG_IGN);
	emit(KIND_INT);
	fprintf(stderr, "%u signals, %u deep\n", told->handled, told->deepest);
	return 0;
}

/* ---- what the trace holds --------------------------------------------------------------------------- */

struct sum {
	uint64_t called, returned, stored, missing, doubled, invented;
};

static struct sum compare(void)
{
	unsigned char *seen = calloc(MOST_EVENTS, 1);
	struct sum sum = { told->others_called, told->others_returned, file.hits, 0, 0, 0 };

	if (!seen)
		abort();
	raw_tally(&file, TLG_STYLE_data_intmax, "number", seen, MOST_EVENTS);
	raw_tally(&file, TLG_STYLE_printf, NULL, seen, MOST_EVENTS);
	for (uint32_t n = 0; n < MOST_EVENTS; n++) {
		sum.called += told->state[n] >= CALLED;
		sum.returned += told->state[n] == RETURNED;
		sum.missing += told->state[n] == RETURNED && !seen[n];
		sum.doubled += seen[n] > 1;
		sum.invented += seen[n] && !told->state[n];
	}
	free(seen);
	return sum;
}

/* extra: events that the library records by itself. */
static int is_right(const struct sum *sum, unsigned extra)
{
	uint64_t full = file.lost_by[TLG_LOSS_FULL], abandoned = file.lost_by[TLG_LOSS_ABANDONED];
	int right = !t.status && !file.bad_blocks && file.ends == 1 && file.hits == file.end_stored &&
		    told->numbered < MOST_EVENTS && !sum->doubled && !sum->invented &&
		    file.lost == full + abandoned &&
		    sum->missing <= full &&                                       /* what returned is there */
		    sum->returned + extra <= sum->stored + full &&
		    sum->stored + full + abandoned <= sum->called + extra &&      /* what is lost was called */
		    (abandoned || full || !file.gaps);

	if (!right)
		printf("wrong: status %x, %zu bad blocks, %zu ENDs, %zu of %llu hits, %llu doubled, %llu invented, "
		       "%llu gaps\n", (unsigned)t.status, file.bad_blocks, file.ends, file.hits,
		       (unsigned long long)file.end_stored, (unsigned long long)sum->doubled,
		       (unsigned long long)sum->invented, (unsigned long long)file.gaps);
	return right;
}

static void verdict(const char *name, int right)
{
	passed += right != 0;
	failed += !right;
	if (!right)
		printf("FAIL %s\n", name);
}

static void show(const char *name, const struct sum *sum)
{
	printf("%s: %.*s; %llu calls, %llu returned, %llu stored, %llu missing; %llu lost to a full ring, "
	       "%llu abandoned\n", name, (int)strcspn(t.said, "\n"), t.said, (unsigned long long)sum->called,
	       (unsigned long long)sum->returned, (unsigned long long)sum->stored,
	       (unsigned long long)sum->missing, (unsigned long long)file.lost_by[TLG_LOSS_FULL],
	       (unsigned long long)file.lost_by[TLG_LOSS_ABANDONED]);
}

static void check_run(const char *name, int (*program)(void *), size_t amount, const char *const *settings)
{
	struct sum sum;

	memset(told, 0, sizeof(*told));
	traced_init(&t);
	traced_run(&t, program, (void *)amount, settings);
	if (raw_read(t.raw, &file)) {
		verdict("no trace", 0);
	} else {
		sum = compare();
		show(name, &sum);
		verdict(name, is_right(&sum, 2));   /* version, atexit */
		/* a ring that holes have used up records nothing any more */
		verdict("the ring goes on", file.lost_by[TLG_LOSS_FULL] < sum.returned / 2);
		raw_free(&file);
	}
	traced_done(&t);
}

/* One crash.  0: the call was over before */
static int check_crash(uint32_t kind, unsigned steps, uint64_t *crashes, uint64_t *missing)
{
	const char *const settings[] = { "TRACE2_SIGNALS=SEGV", NULL };
	struct sum sum;

	memset(told, 0, sizeof(*told));
	told->kind = kind;
	traced_init(&t);
	traced_run(&t, run_crasher, (void *)(size_t)steps, settings);
	if (WIFEXITED(t.status) && WEXITSTATUS(t.status) == 2) {
		traced_done(&t);
		return 0;
	}
	++*crashes;
	if (!raw_read(t.raw, &file)) {
		sum = compare();
		*missing += sum.missing;
		if (!is_right(&sum, 2) || file.end_reason != TLG_END_SIGNAL ||   /* version, signal */
		    raw_count(&file, TLG_STYLE_signal, NULL) != 1)
			verdict("crash", 0);
		raw_free(&file);
	} else {
		verdict("no trace", 0);
	}
	traced_done(&t);
	return 1;
}

static void check_crashes(unsigned stride)
{
	uint64_t crashes = 0, missing = 0;

	for (uint32_t kind = 0; kind < KINDS; kind++)
		for (unsigned steps = 1 + random_below(stride); check_crash(kind, steps, &crashes, &missing);)
			steps += stride;
	printf("crash: %llu places, %llu events missing whose call had returned\n", (unsigned long long)crashes,
	       (unsigned long long)missing);
	verdict("crashes", crashes > KINDS && !missing);
}

int main(int argc, char **argv)
{
	size_t amount = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;

	if (!amount)
		return 2;
	seed = strtoull(argv[3], NULL, 10);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 1;
	if (!strcmp(argv[1], "jumps"))
		check_run("jumps", run_stepper, amount, NULL);
	else if (!strcmp(argv[1], "timers"))
		check_run("timers", run_timers, amount, NULL);
	else if (!strcmp(argv[1], "crash"))
		check_crashes((unsigned)amount);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
