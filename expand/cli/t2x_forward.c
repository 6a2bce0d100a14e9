/* SPDX-License-Identifier: MIT */
/* t2x_forward.c - see t2x_forward.h. */
#include "t2x_forward.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t2x_witness.h"

static volatile pid_t child;              /* 0: it has ended, and its id may be another process's */
static volatile sig_atomic_t asked_by;
static struct sigaction usual[65];        /* what each signal did */
static int is_installed;

/* Each bit is a signal. */
static int is_one_of(int signal, unsigned long signals)
{
	return signal < 32 && (signals >> signal & 1) != 0;
}

#define BIT(signal) (1UL << (signal))

/* As without a handler: a process group that nobody could continue does not stop. */
static void stop_ourselves(int signal)
{
	const struct sigaction fallback = { .sa_handler = SIG_DFL };
	struct sigaction ours;
	sigset_t one;

	sigaction(signal, &fallback, &ours);
	raise(signal);
	sigemptyset(&one);
	sigaddset(&one, signal);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(signal, &ours, NULL);
}

/*
 * The kernel sends it, or we ourselves by abort() or by a write that fails.  Such a write (SIGPIPE, SIGXFSZ) returns an
 * error, which its caller reports, and we still end as the program does.
 */
static void act_ourselves(int signal)
{
	const unsigned long stops = BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU),
			    ends = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) |
				   BIT(SIGSYS) | BIT(SIGABRT) | BIT(SIGXCPU);
	const struct sigaction fallback = { .sa_handler = SIG_DFL };

	if (is_one_of(signal, stops)) {
		stop_ourselves(signal);
	} else if (is_one_of(signal, ends)) {
		/* A fault happens again when this handler returns. */
		sigaction(signal, &fallback, NULL);
		raise(signal);
	}
}

/* Those of real time come in numbers, each with a value, and nobody sends them to groups: they do not wait. */
static int is_for_all(int signal, pid_t sender)
{
	return signal < SIGRTMIN && t2x_witness_has_got(signal, sender);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	const unsigned long timers = BIT(SIGALRM) | BIT(SIGVTALRM) | BIT(SIGPROF);
	int saved = errno;

	(void)context;
	if (is_one_of(signal, BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTERM) | BIT(SIGHUP)) &&
	    usual[signal].sa_handler != SIG_IGN)
		asked_by = signal;
	if (!child)
		return;
	if (info->si_code > 0 && is_one_of(signal, timers))
		kill(child, signal);
	else if (info->si_code > 0 || info->si_pid == getpid())
		act_ourselves(signal);
	else if (info->si_pid != child && !is_for_all(signal, info->si_pid)) {
		if (info->si_code == SI_QUEUE)
			sigqueue(child, signal, info->si_value);
		else
			kill(child, signal);
	}
	errno = saved;
}

/* Also what we were started to ignore, as a shell's job in the background SIGINT: the program may have its own mind. */
void t2x_forward_to(pid_t to)
{
	struct sigaction ours = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };

	child = to;
	t2x_witness_start();
	sigfillset(&ours.sa_mask);
	/* SIGKILL, SIGSTOP and what glibc keeps for itself are refused. */
	for (int signal = 1; !is_installed && signal <= SIGRTMAX; signal++)
		if (signal != SIGCHLD)
			sigaction(signal, &ours, &usual[signal]);
	is_installed = 1;
}

void t2x_forward_end(void)
{
	sigset_t all, before;

	/* A handler asks the witness. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	t2x_witness_end();
	child = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int t2x_forward_asked_to_end(void)
{
	return asked_by;
}

void t2x_forward_undo(void)
{
	for (int signal = 1; is_installed && signal <= SIGRTMAX; signal++)
		if (signal != SIGCHLD)
			sigaction(signal, &usual[signal], NULL);
	is_installed = 0;
	asked_by = 0;
}

int t2x_forward_end_as(int status)
{
	const struct rlimit no_core = { 0, 0 };

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
