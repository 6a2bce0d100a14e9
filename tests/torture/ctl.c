/* SPDX-License-Identifier: MIT */
/*
 * ctl.c - P18: a program that is steered by its control page while it does what programs do.
 *
 * usage: ctl COUNTS WORK N PAUSE       WORK has a letter for each thing that it does:
 *          p  N calls                   t  three threads with N each       f  three forked children with N each
 *          s  five programs, N each     e  exec() of itself, which does the rest
 *          g  from here on, a signal each millisecond, whose handler calls, too
 *          k  SIGKILL to itself
 *        PAUSE  microseconds between two calls
 *
 * It prints "done" at the end, and its exit status is 7.  ctl.h has what it counts.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "ctl.h"
#include "trace2.h"

extern char **environ;

static struct counts *counts;
static char *program, *counts_path, *number_text, *pause_text;
static uint64_t number;
static unsigned pause_us;
static struct process *self;
static struct slot *handler_slot;
static unsigned disturbed;                /* errno or output was changed */

static struct slot *new_slot(void)
{
	struct slot *slot = &counts->slot[atomic_fetch_add(&counts->slots, 1) % SLOTS];

	atomic_store(&slot->pid, getpid());
	return slot;
}

/* A process id stays its own through exec: whoever steers it goes on. */
static void find_self(void)
{
	unsigned n = atomic_load(&counts->processes);

	self = NULL;
	for (unsigned i = 0; i < n && i < PROCESSES; i++)
		if (atomic_load(&counts->process[i].pid) == getpid())
			self = &counts->process[i];
	if (!self)
		self = &counts->process[atomic_fetch_add(&counts->processes, 1) % PROCESSES];
	atomic_store(&self->pid, getpid());
}

/* One call.  It is certain only if nothing was switched from before to behind it. */
static void call(struct slot *slot)
{
	uint64_t i = atomic_load(&slot->begun) + 1, at = (uint64_t)(slot - counts->slot);
	uint32_t before = atomic_load(&self->switched), is_quiet = !atomic_load(&self->switching);
	int was_on = trace2_is_enabled(), error = (int)(i % 100);

	if (i >= CALLS)
		return;
	atomic_store(&slot->begun, i);
	errno = error;
	trace2_data_intmax("ctl", NULL, "n", (intmax_t)(at << SLOT_SHIFT | i));
	disturbed += errno != error;
	if (was_on && trace2_is_enabled() && is_quiet && !atomic_load(&self->switching) &&
	    atomic_load(&self->switched) == before && !atomic_load(&self->is_unsure))
		atomic_fetch_or(&slot->certain[i / 8], (uint8_t)(1 << i % 8));
	atomic_store(&slot->returned, i);
}

static void record(uint64_t n, unsigned pause)
{
	struct slot *slot = new_slot();

	for (uint64_t i = 0; i < n; i++) {
		call(slot);
		if (pause)
			usleep(pause);
	}
}

static void on_signal(int signal)
{
	int saved = errno;

	(void)signal;
	if (atomic_load(&handler_slot->pid) == getpid())
		call(handler_slot);
	errno = saved;
}

/* In the main thread only: of two threads one slot would be torn. */
static void start_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	const struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	sigset_t one;

	handler_slot = new_slot();
	sigemptyset(&one);
	sigaddset(&one, SIGALRM);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void *run_thread(void *unused)
{
	trace2_thread_start("ctl");
	record(number, pause_us);
	trace2_thread_exit();
	return unused;
}

static void run_threads(void)
{
	pthread_t threads[3];
	sigset_t one, before;

	sigemptyset(&one);
	sigaddset(&one, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &one, &before);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, run_thread, NULL))
			_exit(4);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* A killed child is no fault of the program's. */
static void await_children(int status)
{
	int ended;
	pid_t child;

	while ((child = wait(&ended)) > 0 || (child < 0 && errno == EINTR))
		if (child > 0 && ended != status << 8 && !(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL))
			disturbed++;
}

static void run_children(void)
{
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			find_self();
			record(number, pause_us);
			exit(3 + (disturbed != 0));
		}
	await_children(3);
}

static void run_short_programs(void)
{
	char *arguments[] = { program, counts_path, (char[]){ "p" }, number_text, pause_text, NULL };
	pid_t child;

	for (int i = 0; i < 5; i++)
		posix_spawn(&child, program, NULL, NULL, arguments, environ);
	await_children(7);
}

static void become(char *work)
{
	char *arguments[] = { program, counts_path, work, number_text, pause_text, NULL };
	const struct itimerval none = { 0 };

	setitimer(ITIMER_REAL, &none, NULL);
	for (unsigned i = 0; i < atomic_load(&counts->slots) && i < SLOTS; i++)
		if (atomic_load(&counts->slot[i].pid) == getpid())
			atomic_store(&counts->slot[i].is_closed, 1);
	trace2_exec(program, (const char **)arguments);
	execv(program, arguments);
	_exit(5);
}

int main(int argc, char **argv)
{
	if (argc < 5 || !(counts = map_counts(argv[1])))
		return 2;
	program = argv[0];
	counts_path = argv[1];
	number_text = argv[3];
	pause_text = argv[4];
	number = strtoull(number_text, NULL, 10);
	pause_us = (unsigned)strtoul(pause_text, NULL, 10);
	find_self();
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	for (char *work = argv[2]; *work; work++) {
		switch (*work) {
		case 't': run_threads(); break;
		case 'f': run_children(); break;
		case 's': run_short_programs(); break;
		case 'e': become(work + 1); break;
		case 'g': start_signals(); break;
		case 'k': raise(SIGKILL); break;
		default: record(number, pause_us);
		}
	}
	if (printf("done\n") != 5 || fflush(stdout))
		return 8;
	return disturbed ? 9 : 7;
}
