/* SPDX-License-Identifier: MIT */
/*
 * fork.c - a process whose threads record all the time forks in every possible way; the children record at once.
 *
 * Each event has a number.  Memory that all processes share has the numbers that were recorded; they are compared with
 * the file to which all processes append.
 *
 * usage: fork ROUNDS
 * Prints its counts and "N passed, N failed".
 */
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"
#include "base/t2x_report.h"
#include "read/t2x_input.h"

enum kind { KIND_FORK, KIND_FORK_EXIT, KIND_BARE_FORK, KIND_CLONE, KIND_CLONE3, KIND_VFORK, KIND_VFORK_EXEC,
	    KIND_SPAWN, KINDS };
enum {
	THREADS = 2, BY_CHILD = 16,
	MOST_CHILDREN = 1 << 14, CHILDREN_FROM = 1000,            /* lower numbers are exit codes */
	THREADS_FROM = CHILDREN_FROM + MOST_CHILDREN * BY_CHILD,
	BY_THREAD = 1 << 20, NUMBERS = THREADS_FROM + (THREADS + 1) * BY_THREAD,
};

/* Shared by all processes. */
struct tally {
	unsigned char recorded[NUMBERS], found[NUMBERS];
	uint32_t pids[MOST_CHILDREN];          /* of the child that records; 0: it shares the parent's memory */
	uint32_t streams[MOST_CHILDREN];       /* in which its first event was found */
	uint32_t by_thread[THREADS + 1];
	uint64_t events, children;
	uint64_t wrong_pid, wrong_stream, wrong_session, unknown, lost;
	uint32_t parent;                       /* the process that forks */
};

static struct tally *tally;
static volatile int stop;

static void record(uint32_t number)
{
	trace2_data_intmax("fork", NULL, "number", number);
	tally->recorded[number] = 1;
}

static void record_next(unsigned thread)
{
	uint32_t n = tally->by_thread[thread]++;

	if (n < BY_THREAD)
		record(THREADS_FROM + thread * BY_THREAD + n);
}

/* ---- the program -------------------------------------------------------------------------------- */

static void *record_on(void *number)
{
	const struct timespec pause = { 0, 100000 };

	trace2_thread_start("busy");
	while (!stop) {
		for (int i = 0; i < 8; i++)
			record_next((unsigned)(uintptr_t)number);
		nanosleep(&pause, NULL);
	}
	trace2_thread_exit();
	return NULL;
}

static pid_t call_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static pid_t call_clone3(void)
{
	struct clone_args arguments = { .exit_signal = SIGCHLD };

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

static void be_child(uint32_t child)
{
	for (uint32_t i = 0; i < BY_CHILD; i++)
		record(CHILDREN_FROM + child * BY_CHILD + i);
}

/* A child of vfork() shares the parent's memory: its events belong to the parent, and are written before its exec. */
static pid_t make_vfork(uint32_t child, int execs)
{
	static char name[] = "true", *const argv[] = { name, NULL };
	pid_t pid = vfork();

	if (!pid) {
		be_child(child);
		if (!execs)
			_exit(0);
		trace2_exec(name, argv);
		execvp(name, argv);
		_exit(1);
	}
	return pid;
}

static pid_t make_spawn(uint32_t child)
{
	static char name[] = "true", *const argv[] = { name, NULL };
	pid_t pid = -1;

	be_child(child);
	return posix_spawnp(&pid, name, NULL, NULL, argv, environ) ? -1 : pid;
}

static pid_t make_child(enum kind kind, uint32_t child)
{
	pid_t pid;

	if (kind == KIND_VFORK || kind == KIND_VFORK_EXEC)
		return make_vfork(child, kind == KIND_VFORK_EXEC);
	if (kind == KIND_SPAWN)
		return make_spawn(child);
	pid = kind == KIND_BARE_FORK ? _Fork() : kind == KIND_CLONE ? call_clone() :
	      kind == KIND_CLONE3 ? call_clone3() : fork();
	if (pid)
		return pid;
	tally->pids[child] = (uint32_t)syscall(SYS_getpid);
	be_child(child);
	if (kind == KIND_FORK_EXIT)
		exit(0);
	trace2_flush();
	_exit(0);
}

static int run_forks(void *data)
{
	const uint32_t rounds = (uint32_t)(size_t)data;
	pthread_t threads[THREADS];
	int failed = 0, status;

	tally->parent = (uint32_t)getpid();
	trace2_initialize();
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, record_on, (void *)i))
			return 1;
	for (uint32_t child = 0; child < rounds * KINDS && child < MOST_CHILDREN; child++) {
		pid_t pid = make_child((enum kind)(child % KINDS), child);
		record_next(THREADS);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			failed++;
		tally->children++;
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return failed != 0;
}

/* ---- what the file holds ------------------------------------------------------------------------ */

static void count_event(const struct t2x_block *block, uint64_t number)
{
	uint64_t child = (number - CHILDREN_FROM) / BY_CHILD;

	if (number < CHILDREN_FROM)
		return;
	tally->events++;
	if (number >= NUMBERS) {
		tally->unknown++;
		return;
	}
	tally->found[number]++;
	if (number >= THREADS_FROM || !tally->pids[child])
		return;
	tally->wrong_pid += block->pid != (uint16_t)tally->pids[child];
	if (!tally->streams[child])
		tally->streams[child] = block->stream;
	tally->wrong_stream += tally->streams[child] != block->stream;
}

/* Check the session id of PROCINFO: the parent has one component, a child has the parent's and its own. */
static void count_session(const struct tlg_event *event, unsigned n)
{
	char sid[256] = "", own[16];
	size_t at = 0;
	const char *slash;

	for (unsigned i = 1; i < n && at + TLG_TEXT_SIZE < sizeof(sid); i++, at += TLG_TEXT_SIZE) {
		if (tlg_event_type(&event[i]) != TLG_INFO)
			break;
		memcpy(sid + at, &event[i].u.info, TLG_TEXT_SIZE);
	}
	slash = strchr(sid, '/');
	snprintf(own, sizeof(own), "-P%08x", event->u.procinfo.pid);
	if (strlen(sid) < strlen(own) || strcmp(sid + strlen(sid) - strlen(own), own))
		tally->wrong_session++;
	snprintf(own, sizeof(own), "-P%08x", tally->parent);
	if ((event->u.procinfo.pid == tally->parent) != !slash ||
	    (slash && (slash - sid < 43 || memcmp(slash - strlen(own), own, strlen(own)))))
		tally->wrong_session++;
}

static void count_block(const struct t2x_block *block)
{
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		if (tlg_event_type(event) == TLG_PROCINFO)
			count_session(event, block->count - i);
		tally->lost += tlg_event_type(event) == TLG_LOSS;
		if (tlg_event_type(event) == TLG_HIT && i + 1 < block->count &&
		    tlg_event_type(&event[1]) == TLG_VALUE && event[1].u.value.argtype == TLG_ARG_INT)
			count_event(block, (uint64_t)event[1].u.value.value);
	}
}

/* Return  pieces of damage, UINT64_MAX: it cannot be read */
static uint64_t read_file(const char *path)
{
	struct t2x_report report = { .to = NULL };
	struct t2x_input input = { .path = path, .report = &report };
	struct t2x_block block;

	if (!t2x_input_check(&input, 0))
		return UINT64_MAX;
	while (t2x_input_next(&input.blocks, &block))
		count_block(&block);
	t2x_input_close(&input);
	return report.damages;
}

static int check_run(const char *name, size_t rounds, const char *const *settings)
{
	uint64_t missing = 0, doubled = 0, invented = 0, damages;
	int right;

	memset(tally, 0, sizeof(*tally));
	traced_init(&t);
	traced_run(&t, run_forks, (void *)rounds, settings);
	damages = read_file(t.raw);
	for (uint32_t n = 0; n < NUMBERS; n++) {
		missing += tally->recorded[n] && !tally->found[n];
		invented += tally->found[n] && !tally->recorded[n];
		doubled += tally->found[n] > 1;
	}
	printf("%s: %llu children in %d kinds, %llu numbered events; ", name, (unsigned long long)tally->children,
	       (int)KINDS, (unsigned long long)tally->events);
	printf("%llu missing, %llu twice, %llu made up, %llu losses, ", (unsigned long long)missing,
	       (unsigned long long)doubled, (unsigned long long)invented, (unsigned long long)tally->lost);
	printf("%llu of a wrong process, %llu of two streams, %llu of a wrong session\n",
	       (unsigned long long)tally->wrong_pid, (unsigned long long)tally->wrong_stream,
	       (unsigned long long)tally->wrong_session);
	right = !t.status && !*t.said && tally->children == rounds * KINDS && tally->events > tally->children &&
		!missing && !doubled && !invented && !damages &&
		!tally->unknown && !tally->lost && !tally->wrong_pid && !tally->wrong_stream &&
		!tally->wrong_session;
	if (!right)
		printf("FAIL %s: status %x, %llu damages, said \"%s\"\n", name, (unsigned)t.status,
		       (unsigned long long)damages, t.said);
	traced_done(&t);
	return right;
}

int main(int argc, char **argv)
{
	const size_t rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	int passed;

	if (!rounds || rounds > MOST_CHILDREN / KINDS / 2)
		return 2;
	tally = traced_shared(sizeof(*tally));
	passed = check_run("plain", rounds, (const char *const[]){ "TRACE2_RAW_ENCODING=plain", NULL });
	passed += check_run("packed, LZ4", rounds, (const char *const[]){ "TRACE2_RAW_LZ4=1", NULL });
	printf("%d passed, %d failed\n", passed, 2 - passed);
	return passed != 2;
}
