/* SPDX-License-Identifier: MIT */
/*
 * signals.c - signal handlers record in the middle of a call that records, and jump out of it.
 *
 * The victim numbers its events, and notes in shared memory which calls it began and which returned.  The harness
 * compares the trace with these notes.  "jumps" stops the victim at every instruction of a call (stepper.h), and lets a
 * handler jump out of it from there; "chunks" does so where each call finds its chunk full; "end" so shortly before the
 * end that nobody has read the ring yet; "crash" ends it there by a signal that the library records; "timers" lets
 * timers interrupt it at random.
 *
 * usage: signals jumps|chunks|end|crash|timers AMOUNT SEED
 * Prints its counts and "N passed, N failed".
 */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fill.h"
#include "rawread.h"
#include "stepper.h"
#include "trace2.h"
#include "traced.h"

enum { MOST_EVENTS = 1 << 23, MOST_DEPTH = 3, FILLER = 300, MOST_STEPS = 4000, MANY_ABANDONED = 20 };

/* Kinds of calls; each uses another path through the library. */
enum kind { KIND_INT, KIND_INT_FL, KIND_MESSAGE, KIND_TEXT, KIND_REGION, KINDS };

/* Shared with the victim, so that it outlives it. */
struct report {
	unsigned char state[MOST_EVENTS];      /* of the numbered event: 0, CALLED, RETURNED */
	uint32_t numbered;
	uint64_t others_called, others_returned;   /* events without a number */
	uint32_t kind, depth;                  /* the victim's next call; KINDS: end */
	uint32_t finished;                     /* the call was not interrupted */
	uint32_t stops;                        /* how often the victim has stopped for the stepper */
	uint32_t handled, deepest, timeouts;
};
enum { CALLED = 1, RETURNED };

static struct report *report;
static uint64_t seed, diverted;             /* calls that took another path than to the planned instruction */
static unsigned passed, failed, fills_chunks, is_at_end;

static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

/* ---- the victim --------------------------------------------------------------------------------- */

static void emit_numbered(enum kind kind)
{
	uint32_t n = __atomic_fetch_add(&report->numbered, 1, __ATOMIC_RELAXED);

	if (n >= MOST_EVENTS)
		return;
	report->state[n] = CALLED;
	if (kind == KIND_INT)
		trace2_data_intmax("signals", NULL, "number", n);
	else if (kind == KIND_INT_FL)
		trace2_data_intmax_fl(__FILE__, __LINE__, "signals", NULL, "number", n);
	else
		trace2_printf("%d, called %s", (int)n, "in a signal handler or not");
	report->state[n] = RETURNED;
}

static void emit(enum kind kind)
{
	static const char text[] = "A text that needs more than one event, so that its chain is half written when the "
				   "signal comes, wherever it comes.";

	if (kind <= KIND_MESSAGE) {
		emit_numbered(kind);
		return;
	}
	__atomic_fetch_add(&report->others_called, 1, __ATOMIC_RELAXED);
	if (kind == KIND_TEXT)
		trace2_data_string("signals", NULL, "text", text);
	else
		trace2_region_enter("signals", "region", NULL);
	__atomic_fetch_add(&report->others_returned, 1, __ATOMIC_RELAXED);
}

/* ---- jumps: the victim that is stopped -------------------------------------------------------------- */

static const int by_depth[MOST_DEPTH] = { SIGUSR1, SIGUSR2, SIGALRM };
static sigjmp_buf out;

/* The victim stops here for the stepper. */
static void stop_here(void)
{
	report->stops++;
	raise(SIGSTOP);
}

/* The handler of depth d records; that of depth d + 1 interrupts it; the deepest one jumps out of all. */
static void jump_out(int signal)
{
	uint32_t depth = signal == by_depth[0] ? 1 : signal == by_depth[1] ? 2 : 3;

	report->handled++;
	if (depth > report->deepest)
		report->deepest = depth;
	if (depth < report->depth) {
		stop_here();
		emit((enum kind)report->kind);
		report->finished = 1;
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
			if (report->kind == KINDS)
				return 0;
			emit((enum kind)report->kind);
			report->finished = 1;
		}
		for (int i = 0; i < (is_at_end ? 1 : FILLER); i++)
			emit(KIND_INT);
		if (fills_chunks) {
			report->timeouts += (unsigned)fill_chunk();
			emit(KIND_INT);   /* where chunks change outside of handlers, fragmented ones are given back */
			report->timeouts += (unsigned)fill_chunk();
		}
	}
}

/* ---- jumps: the stepper --------------------------------------------------------------------------------- */

/* Let the victim run until it stops itself; other signals are its own.  Return  0: it has ended */
static int until_stop(pid_t victim, int signal)
{
	const uint32_t stops = report->stops;

	while (report->stops == stops || signal != SIGSTOP) {
		signal = stepper_go_on(victim, signal == SIGTRAP ? 0 : signal);
		if (!signal)
			return 0;
	}
	return 1;
}

static int is_finished(void)
{
	return report->finished != 0;
}

/* Record the path of a call, in the program and, for the depths, in a handler. */
static struct stepper_path paths[2][KINDS];

static int record(struct stepper_path *path, pid_t victim)
{
	report->finished = 0;
	return stepper_init(path, MOST_STEPS) && stepper_record(path, victim, is_finished) == SIGTRAP &&
	       is_finished() && until_stop(victim, 0);
}

static int record_all(pid_t victim)
{
	int is_good = 1;

	for (int i = 0; i < 4; i++)
		until_stop(victim, 0);   /* so that, with chunks filled, the drain's thread runs */
	for (uint32_t kind = 0; is_good && kind < KINDS; kind++) {
		report->kind = kind;
		report->depth = 1;
		is_good = record(&paths[0][kind], victim);
		report->depth = 2;
		is_good = is_good && until_stop(victim, by_depth[0]) && record(&paths[1][kind], victim);
	}
	return is_good;
}

/* Bring the victim, which is in front of a call, to this instruction.  Return  0: it has stopped behind the call */
static int bring_to(const struct stepper_path *path, pid_t victim, uint32_t at)
{
	const uint32_t stops = report->stops;

	report->finished = 0;
	diverted += !stepper_go_to(path, victim, at) && path != &paths[1][report->kind];
	if (is_finished() && report->stops == stops)
		until_stop(victim, 0);
	return !is_finished();
}

/* Interrupt the call at this instruction, and the handlers of greater depth at any instruction. */
static void interrupt_at(pid_t victim, uint32_t at)
{
	const struct stepper_path *nested = &paths[1][report->kind];
	int is_inside = bring_to(&paths[0][report->kind], victim, at);

	report->deepest = 0;
	for (uint32_t depth = 1; is_inside && until_stop(victim, by_depth[depth - 1]); depth++) {
		if (report->deepest != depth || depth == report->depth)
			break;
		is_inside = bring_to(nested, victim, random_below(nested->count));
	}
}

/* Run the victim through every step of every kind and depth.  data: how many steps to make at once */
static int run_stepper(void *data)
{
	const unsigned stride = (unsigned)(size_t)data;
	uint64_t places = 0;
	pid_t victim;
	int status;

	stepper_share_processor(0);
	victim = fork();
	if (!victim)
		exit(run_stopped());
	if (waitpid(victim, &status, 0) != victim || !WIFSTOPPED(status) || !record_all(victim))
		return 1;
	for (uint32_t depth = 1; depth <= (is_at_end ? 1 : MOST_DEPTH); depth++) {
		for (uint32_t kind = 0; kind < KINDS; kind++) {
			uint32_t at = 1 + random_below(stride);
			report->kind = kind;
			report->depth = depth;
			for (; at < paths[0][kind].count; at += stride, places++)
				interrupt_at(victim, at);
		}
	}
	report->kind = KINDS;
	if (!ptrace(PTRACE_CONT, victim, 0, 0))
		waitpid(victim, &status, 0);
	fprintf(stderr, "%ju places, %u handlers, %ju calls took another way\n", places, report->handled, diverted);
	return !WIFEXITED(status) || WEXITSTATUS(status) || diverted > places / 10;
}

/* ---- crash: a signal that the library records ----------------------------------------------------------- */

static int run_crashing(void)
{
	trace2_initialize();
	for (int i = 0; i < 10; i++)
		emit((enum kind)report->kind);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		return 1;
	stop_here();
	emit((enum kind)report->kind);
	report->finished = 1;
	stop_here();
	return 0;
}

/* A segmentation fault data steps into the call.  0: it ended as it should; 2: the call was over before */
static int run_crasher(void *data)
{
	pid_t victim = fork();
	int status, signal = SIGSEGV;

	if (!victim)
		exit(run_crashing());
	if (waitpid(victim, &status, 0) != victim || !WIFSTOPPED(status))
		return 1;
	for (size_t steps = (size_t)data; steps && !is_finished(); steps--)
		stepper_step(victim, 0);
	if (is_finished()) {
		stepper_kill(victim);
		return 2;
	}
	do {   /* where it was blocked it comes later; the library raises it again */
		if (ptrace(PTRACE_CONT, victim, 0, (long)signal) || waitpid(victim, &status, 0) != victim)
			return 1;
		signal = WSTOPSIG(status);
	} while (WIFSTOPPED(status) && signal == SIGSEGV);
	return !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV;
}

/* ---- timers ----------------------------------------------------------------------------------------- */

static volatile int now_deep;

/* Three of these nest in any order; one in 16 jumps out of all. */
static void interrupt(int signal)
{
	uint32_t n = report->numbered;

	if ((uint32_t)++now_deep > report->deepest)
		report->deepest = (uint32_t)now_deep;
	report->handled++;
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
	volatile int started = 0;

	trace2_initialize();
	if (sigsetjmp(out, 1))   /* before the first signal that may jump; one timer more does no harm */
		now_deep = 0;
	for (; started < MOST_DEPTH; started++)
		if (start_timer(by_depth[started]))
			return 1;
	for (volatile unsigned n = 0; report->handled < enough; n++) {
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
	fprintf(stderr, "%u signals, %u deep\n", report->handled, report->deepest);
	return 0;
}

/* ---- what the trace holds --------------------------------------------------------------------------- */

struct sum {
	uint64_t called, returned, stored, missing, doubled, invented;
};

/* Reset everything for the next run. */
static void forget(void)
{
	memset(report->state, 0, report->numbered < MOST_EVENTS ? report->numbered : MOST_EVENTS);
	memset(&report->numbered, 0, sizeof(*report) - offsetof(struct report, numbered));
}

static struct sum compare(void)
{
	const uint32_t most = report->numbered < MOST_EVENTS ? report->numbered : MOST_EVENTS;
	unsigned char *seen = calloc(most + 1, 1);
	struct sum sum = { report->others_called, report->others_returned, file.hits, 0, 0, 0 };

	if (!seen)
		abort();
	sum.invented += raw_tally(&file, TLG_STYLE_data_intmax, "number", seen, most);
	sum.invented += raw_tally(&file, TLG_STYLE_printf, NULL, seen, most);
	for (uint32_t n = 0; n < most; n++) {
		sum.called += report->state[n] >= CALLED;
		sum.returned += report->state[n] == RETURNED;
		sum.missing += report->state[n] == RETURNED && !seen[n];
		sum.doubled += seen[n] > 1;
		sum.invented += seen[n] && !report->state[n];
	}
	free(seen);
	return sum;
}

/* extra: events that the library records by itself. */
static int is_right(const struct sum *sum, unsigned extra)
{
	uint64_t full = file.lost_by[TLG_LOSS_FULL], abandoned = file.lost_by[TLG_LOSS_ABANDONED];
	int right = !t.status && !file.bad_blocks && file.ends == 1 && file.hits == file.end_stored &&
		    report->numbered < MOST_EVENTS && !sum->doubled && !sum->invented &&
		    file.lost == full + abandoned &&
		    sum->missing <= full &&                                       /* what returned is there */
		    sum->returned + extra <= sum->stored + full &&
		    sum->stored + full + abandoned <= sum->called + extra &&      /* what is lost was called */
		    (abandoned || full || !file.gaps);

	if (!right)
		printf("wrong: status %x, %zu bad blocks, %zu ENDs, %zu of %ju hits, %ju doubled, %ju invented, "
		       "%ju gaps\n", (unsigned)t.status, file.bad_blocks, file.ends, file.hits, file.end_stored,
		       sum->doubled, sum->invented, file.gaps);
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
	printf("%s: %.*s; %ju calls, %ju returned, %ju stored, %ju missing; %ju lost to a full ring, %ju abandoned\n",
	       name, (int)strcspn(t.said, "\n"), t.said, sum->called, sum->returned, sum->stored, sum->missing,
	       file.lost_by[TLG_LOSS_FULL], file.lost_by[TLG_LOSS_ABANDONED]);
}

static void check_run(const char *name, int (*program)(void *), size_t amount, const char *const *settings)
{
	struct sum sum;

	forget();
	traced_init(&t);
	traced_run(&t, program, (void *)amount, settings);
	if (raw_read(t.raw, &file)) {
		verdict("no trace", 0);
	} else {
		sum = compare();
		show(name, &sum);
		verdict(name, is_right(&sum, 2));   /* version, atexit */
		/* a ring used up by abandoned reservations records nothing any more */
		verdict("the ring goes on", file.lost_by[TLG_LOSS_FULL] < sum.returned / 2 &&
					    report->timeouts < FILL_TIMEOUTS);
		verdict("many abandoned reservations", !is_at_end || file.lost_by[TLG_LOSS_ABANDONED] > MANY_ABANDONED);
		raw_free(&file);
	}
	traced_done(&t);
}

/* One crash.  0: the call was over before */
static int check_crash(uint32_t kind, unsigned steps, uint64_t *crashes, uint64_t *missing)
{
	const char *const settings[] = { "TRACE2_SIGNALS=SEGV", NULL };
	struct sum sum;

	forget();
	report->kind = kind;
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
	printf("crash: %ju places, %ju events missing whose call had returned\n", crashes, missing);
	verdict("crashes", crashes > KINDS && !missing);
}

int main(int argc, char **argv)
{
	size_t amount = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;

	if (!amount)
		return 2;
	seed = strtoull(argv[3], NULL, 10);
	report = traced_shared(sizeof(*report));
	fills_chunks = !strcmp(argv[1], "chunks");
	is_at_end = !strcmp(argv[1], "end");
	if (!strcmp(argv[1], "jumps") || fills_chunks || is_at_end)
		/* The drain's thread starts with tracing, not during the steps. */
		check_run(argv[1], run_stepper, amount, (const char *const[]){ "TRACE2_RAW_THREAD=init", NULL });
	else if (!strcmp(argv[1], "timers"))
		check_run("timers", run_timers, amount, NULL);
	else if (!strcmp(argv[1], "crash"))
		check_crashes((unsigned)amount);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
