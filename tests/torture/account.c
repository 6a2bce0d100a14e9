/* SPDX-License-Identifier: MIT */
/*
 * account.c - checks that emitted = stored + lost, exactly, for each reason and thread.
 *
 * Some threads of a program flood their rings, while others begin and end.  The program counts, in shared memory, how
 * many calls of each thread returned.  A reader of the tests counts the checkpoints in the file, and t2expand has to
 * report the same number of lost ones.
 *
 *   discard, block   into a file
 *   slow, wait       the same into a pipe whose reader pauses at random; block gives up after 3 ms
 *   overwrite        snapshots at random: by calls, by a signal, by errors
 *
 * usage: account POLICY ROUNDS SEED T2EXPAND
 * Prints its counts and "N passed, N failed".
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rawread.h"
#include "tlg_desc.h"
#include "trace2.h"
#include "traced.h"
#include "ring/tr2_thread.h"

enum { FLOODERS = 3, VISITORS = 60, TIDS = 1024, ROUND = 40000 };

static uint64_t (*emitted)[8];           /* by tid, a cache line each; shared with the program */
static uint64_t seed;
static unsigned passed, failed;
static const char *policy, *t2expand;
static int finished[2], is_slow;

static unsigned random_below(uint64_t *state, unsigned n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((*state >> 33) % n);
}

/* ---- the program --------------------------------------------------------------------------------- */

/* A call has returned: count it for the calling thread. */
static void count(void)
{
	if (!tr2_self || tr2_self->tid >= TIDS)
		abort();
	emitted[tr2_self->tid][0]++;
}

static void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void report(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace2_cmd_error_va(format, ap);
	va_end(ap);
	count();
}

/* Record long texts.  They need several chains, some of which may be lost without their checkpoint. */
static void emit_random(uint64_t *state)
{
	static char text[20000];

	switch (random_below(state, 64)) {
	case 0:
		if (!text[0])
			memset(text, 'x', sizeof(text) - 1);
		trace2_data_string("account", NULL, "text", text + random_below(state, sizeof(text)));
		break;
	case 1:
		trace2_printf("%d of %s", 1, "many");
		break;
	case 2:
	case 3:
		trace2_data_intmax("account", NULL, "int", 5);
		break;
	default:
		trace2_region_enter("account", "region", NULL);
		count();
		trace2_region_leave("account", "region", NULL);
	}
	count();
}

static void *flood(void *data)
{
	uint64_t state = (uint64_t)(uintptr_t)data;
	uint32_t tid;

	trace2_thread_start("flood");
	count();
	for (int i = 0; i < ROUND; i++)
		emit_random(&state);
	tid = tr2_self->tid;
	trace2_thread_exit();
	emitted[tid][0]++;
	return NULL;
}

static void *visit(void *data)
{
	uint64_t state = (uint64_t)(uintptr_t)data;

	for (unsigned i = random_below(&state, 500); i; i--)
		emit_random(&state);
	return NULL;
}

static void ask_for_snapshot(uint64_t *state)
{
	switch (random_below(state, 3)) {
	case 0:
		trace2_snapshot("a call");
		count();
		break;
	case 1:
		raise(SIGUSR1);
		count();   /* the event of the handler */
		break;
	default:
		report("an error");
		count();   /* the event that says why */
	}
}

/* Start threads that end soon, as long as the others flood. */
static void receive_visitors(uint64_t *state)
{
	pthread_t thread[4];

	for (int i = 0; i < VISITORS; i += 4) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&thread[k], NULL, visit, (void *)(uintptr_t)random_below(state, 1u << 31)))
				abort();
		for (int k = 0; k < 4; k++)
			pthread_join(thread[k], NULL);
		if (!strcmp(policy, "overwrite"))
			ask_for_snapshot(state);
	}
}

/* The reader of the pipe pauses before each read. */
static void pause_at_times(void *state)
{
	const struct timespec pause = { 0, random_below(state, 10) ? 0 : random_below(state, 20000000) };

	nanosleep(&pause, NULL);
}

static int run_program(void *data)
{
	uint64_t state = *(uint64_t *)data;
	pthread_t threads[FLOODERS];

	if (is_slow)
		traced_slow_target(pause_at_times, &state);
	trace2_initialize();
	count();
	for (int i = 0; i < FLOODERS; i++)
		if (pthread_create(&threads[i], NULL, flood, (void *)(uintptr_t)random_below(&state, 1u << 31)))
			abort();
	receive_visitors(&state);
	for (int i = 0; i < FLOODERS; i++)
		pthread_join(threads[i], NULL);
	count();   /* atexit */
	return 0;
}

/* ---- the judge ----------------------------------------------------------------------------------- */

static void check(int good, const char *what, uint64_t is, uint64_t should)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("FAIL %s, %s: %llu, should be %llu\n", policy, what, (unsigned long long)is, (unsigned long long)should);
}

/* Return  how many checkpoints t2expand reports as lost for this reason */
static uint64_t reported_by_t2expand(const char *said, unsigned reason)
{
	char line[256], text[64];
	unsigned long long n;
	FILE *in = fopen(said, "r");
	uint64_t sum = 0;

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "t2expand: %llu checkpoints lost by the program: %63[^\n]", &n, text) == 2 &&
		    !strcmp(text, tlg_loss_name(reason)))
			sum += n;
	if (in)
		fclose(in);
	return sum;
}

static void compare_with_t2expand(void)
{
	char command[512], said[160];

	snprintf(said, sizeof(said), "%s/said", t.dir);
	snprintf(command, sizeof(command), "'%s' --format=normal '%s' >/dev/null 2>'%s'", t2expand, t.raw, said);
	check(!system(command), "t2expand's status", 1, 0);
	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++) {
		uint64_t reported = reported_by_t2expand(said, reason), lost = raw_lost(&file, RAW_ALL, reason);
		check(reported == lost, "reported by t2expand", reported, lost);
	}
}

static uint64_t lost_checkpoints(uint64_t tid)
{
	uint64_t sum = 0;

	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++)
		sum += reason == TLG_LOSS_CUT ? 0 : raw_lost(&file, tid, reason);
	return sum;
}

/* The process counts the losses of threads beyond the size of the table.  Then only the total is known. */
static uint64_t judge_threads(void)
{
	int is_known = !lost_checkpoints(TLG_NO_THREAD);
	uint64_t sum = 0, found;

	for (uint64_t tid = 0; tid < TIDS; tid++) {
		sum += emitted[tid][0];
		if (!is_known || !emitted[tid][0])
			continue;
		found = raw_stored(&file, tid) + lost_checkpoints(tid);
		check(found == emitted[tid][0], "stored and lost of a thread", found, emitted[tid][0]);
	}
	return sum;
}

static void run_round(uint64_t totals[TLG_LOSS_REASONS + 2])
{
	static const char *const settings[][6] = {
		{ "discard", "TRACE2_RAW_POLICY=discard" },
		{ "block", "TRACE2_RAW_POLICY=block", "TRACE2_RAW_WAIT=60000" },
		{ "slow", "TRACE2_RAW_POLICY=discard", "TRACE2_RAW=9" },
		{ "wait", "TRACE2_RAW_POLICY=block", "TRACE2_RAW_WAIT=3", "TRACE2_RAW=9" },
		{ "overwrite", "TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_SNAPSHOT=error,USR1" },
	};
	const char *with[8] = { "TRACE2_RAW_RING=192k" };
	uint64_t sum, found, round = seed;
	char none;

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(settings[i][0], policy))
			memcpy(with + 1, settings[i] + 1, sizeof(settings[i]) - sizeof(settings[i][0]));
	memset(emitted, 0, TIDS * sizeof(*emitted));
	random_below(&seed, 2);
	traced_init(&t);
	if (pipe(finished))
		abort();
	traced_run(&t, run_program, &round, with);
	close(finished[1]);
	while (read(finished[0], &none, 1) > 0)
		;
	close(finished[0]);
	check(!t.status, "status of the program", (unsigned)t.status, 0);
	check(!raw_read(t.raw, &file) && !file.bad_blocks, "bad blocks", file.bad_blocks, 0);
	check(file.hits == file.end_stored, "END.stored", file.end_stored, file.hits);
	sum = judge_threads();
	found = file.hits + lost_checkpoints(RAW_ALL);
	check(found == sum, "stored and lost", found, sum);
	compare_with_t2expand();
	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++)
		totals[reason] += raw_lost(&file, RAW_ALL, reason);
	totals[0] += file.hits;
	totals[TLG_LOSS_REASONS] += sum;
	totals[TLG_LOSS_REASONS + 1] += file.cycles;
	raw_free(&file);
	traced_done(&t);
}

int main(int argc, char **argv)
{
	uint64_t totals[TLG_LOSS_REASONS + 2] = { 0 };

	if (argc != 5) {
		fprintf(stderr, "usage: account POLICY ROUNDS SEED T2EXPAND\n");
		return 2;
	}
	policy = argv[1];
	is_slow = !strcmp(policy, "slow") || !strcmp(policy, "wait");
	seed = strtoull(argv[3], NULL, 10);
	t2expand = argv[4];
	emitted = traced_shared(TIDS * sizeof(*emitted));
	for (int i = atoi(argv[2]); i > 0; i--)
		run_round(totals);
	printf("%s: %llu checkpoints emitted, %llu stored in %llu cycles", policy,
	       (unsigned long long)totals[TLG_LOSS_REASONS], (unsigned long long)totals[0],
	       (unsigned long long)totals[TLG_LOSS_REASONS + 1]);
	for (unsigned reason = 1; reason < TLG_LOSS_REASONS; reason++)
		if (totals[reason])
			printf(", %llu %s", (unsigned long long)totals[reason], tlg_loss_name(reason));
	printf("\n%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
