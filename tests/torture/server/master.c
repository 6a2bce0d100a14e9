/* SPDX-License-Identifier: MIT */
/* master.c - the master of the server: it forks workers, and blocks all signals except while it waits for them. */
#include "server.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"

static unsigned own;                      /* slot */
static volatile sig_atomic_t asked[NSIG];

static void note(int signo)
{
	if (signo != SIGCHLD)
		record(HANDLED);
	asked[signo] = 1;
}

static int take(int signo)
{
	int was = asked[signo];

	asked[signo] = 0;
	return was;
}

static void handle_signals(void)
{
	static const int signals[] = { SIGHUP, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD };
	struct sigaction action = { .sa_handler = note };

	sigfillset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}

static int is_worker(const struct slot *slot)
{
	return LOAD(slot->generation) && !LOAD(slot->is_over);
}

static void start_worker(void)
{
	unsigned slot = slot_acquire();
	pid_t pid;

	if (slot == MOST_SLOTS)
		return;
	record(NUMBER);
	pid = fork();
	if (!pid)
		be_worker(slot);
	STORE(shared->slot[slot].pid, (uint32_t)pid);
	STORE(shared->slot[slot].generation, LOAD(shared->generation));
	record(TEXT);
}

/* Return  how a worker ends that gets this signal */
static int end_of(unsigned slot, int signo)
{
	return signo == SIGQUIT ? 0 : slot % 2 ? SIGTERM : EXIT_TERM << 8;
}

/* Send a signal to all workers up to this generation. */
static void send(int signo, uint32_t generation)
{
	for (unsigned i = 0; i < LOAD(shared->used); i++) {
		struct slot *slot = &shared->slot[i];
		if (!is_worker(slot) || slot->generation > generation)
			continue;
		if (signo != SIGUSR1)
			slot_may_end(slot, end_of(i, signo));
		kill((pid_t)LOAD(slot->pid), signo);
	}
}

static void start_generation(void)
{
	uint32_t before = LOAD(shared->generation);

	STORE(shared->generation, before + 1);
	for (int i = 0; i < WORKERS; i++)
		start_worker();
	send(SIGQUIT, before);
}

/* Wait for those that have ended.  Return  how many workers there are */
static unsigned reap(void)
{
	unsigned n = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		slot_end(pid, status);
	for (unsigned i = 0; i < LOAD(shared->used); i++)
		n += (unsigned)is_worker(&shared->slot[i]);
	return n;
}

/* Replace each worker that has ended by itself. */
static void replace_workers(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LOAD(shared->used); i++)
		n += is_worker(&shared->slot[i]) && shared->slot[i].generation == LOAD(shared->generation);
	for (; n < WORKERS; n++)
		start_worker();
}

static _Noreturn void stop(int signo, const sigset_t *open)
{
	record(MESSAGE);
	send(signo, UINT32_MAX);
	while (reap())
		sigsuspend(open);
	record(MESSAGE);
	trace2_cmd_exit(0);
	exit(0);
}

static void act(const sigset_t *open)
{
	reap();
	if (take(SIGTERM))
		stop(SIGTERM, open);
	if (take(SIGQUIT))
		stop(SIGQUIT, open);
	if (take(SIGUSR1))
		send(SIGUSR1, UINT32_MAX);
	if (take(SIGUSR2)) {
		record(MESSAGE);
		become("master", MOST_SLOTS);
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
	}
	if (take(SIGHUP))
		start_generation();
	take(SIGCHLD);
	replace_workers();
	record(NUMBER);
}

_Noreturn void be_master(void)
{
	const char *argv[] = { program, "master", NULL };
	sigset_t all, open;

	sigemptyset(&open);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	own = slot_acquire();
	if (own == MOST_SLOTS)
		_exit(96);
	record_as(own);
	STORE(shared->master, (uint32_t)getpid());
	handle_signals();
	trace2_initialize();
	trace2_cmd_start(argv);
	record(MESSAGE);
	start_generation();
	for (;;) {
		sigsuspend(&open);
		act(&open);
	}
}
