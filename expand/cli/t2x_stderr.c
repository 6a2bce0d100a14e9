/* SPDX-License-Identifier: MIT */
/* t2x_stderr.c - see t2x_stderr.h. */
#include "t2x_stderr.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/t2x_out.h"

static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

/* There is one standard error. */
static struct {
	int (*at_signal)(int signal);         /* NULL: nothing is held */
	struct sigaction before[SIGNALS];
	int terminal;                         /* -1: standard error itself */
	int messages;
} held = { .terminal = -1 };

static void show_messages(void)
{
	char text[4096];
	ssize_t n;

	if (held.terminal < 0)
		return;
	lseek(held.messages, 0, SEEK_SET);
	while ((n = read(held.messages, text, sizeof(text))) > 0)
		if (t2x_out_write_all(held.terminal, text, (size_t)n))
			break;
	dup2(held.terminal, STDERR_FILENO);
	close(held.terminal);
	close(held.messages);
	held.terminal = -1;
}

static void end(int signo)
{
	int status = held.at_signal(signo);

	show_messages();
	if (status >= 0)
		_exit(status);
	signal(signo, SIG_DFL);
	raise(signo);
}

/* A signal that is ignored stays so. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = end };

	sigfillset(&action.sa_mask);
	for (unsigned i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &held.before[i]) && held.before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

void t2x_stderr_hold(int (*at_signal)(int signal))
{
	held.at_signal = at_signal;
	if (isatty(STDERR_FILENO)) {
		held.messages = memfd_create("messages", MFD_CLOEXEC);
		if (held.messages >= 0)
			held.terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (held.terminal >= 0)
			dup2(held.messages, STDERR_FILENO);
		else if (held.messages >= 0)
			close(held.messages);
	}
	catch_signals();
}

void t2x_stderr_release(void)
{
	if (!held.at_signal)
		return;
	for (unsigned i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &held.before[i], NULL);
	held.at_signal = NULL;
	show_messages();
}

int t2x_stderr_fd(void)
{
	return held.terminal < 0 ? STDERR_FILENO : held.terminal;
}
