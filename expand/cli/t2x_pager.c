/* SPDX-License-Identifier: MIT */
/* t2x_pager.c - see t2x_pager.h. */
#include "t2x_pager.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t2x_stderr.h"

/* There is one standard output. */
static struct {
	pid_t pid;                    /* 0: none */
	int terminal;                 /* what standard output was */
} pager;

/* Whether the shell would find a program of this name. */
static int is_program(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name);
		if (!access(file, X_OK))
			return 1;
		path += n + (path[n] == ':');
	}
	return 0;
}

const char *t2x_pager_find(void)
{
	const char *command = getenv("T2_PAGER"), *term = getenv("TERM");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = term && *term && strcmp(term, "dumb") != 0 && is_program("less") ? "less" : "";
	/* in front of any thread: -F quits when the text fits, -R leaves colours, -X leaves the text on the screen */
	if (*command)
		setenv("LESS", "FRX", 0);
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* No more text; async-signal-safe. */
static void wait_for_end(void)
{
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager.pid = 0;
}

/* Who has left the pager has seen enough.  Otherwise what it has is to be read before the shell has the terminal. */
static int end_with_pager(int signo)
{
	dup2(pager.terminal, STDOUT_FILENO);
	wait_for_end();
	return signo == SIGPIPE ? EXIT_SUCCESS : -1;
}

/* mask  signals that are blocked in it     Return  0 or an errno */
static int spawn(const char *command, int from, const sigset_t *mask)
{
	char shell[] = "sh", option[] = "-c", *copy = strdup(command);
	char *argv[] = { shell, option, copy, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = ENOMEM;

	if (!copy || posix_spawn_file_actions_init(&actions))
		goto free;
	if (posix_spawnattr_init(&attributes))
		goto destroy;
	error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, mask);
	if (!error)
		error = posix_spawn(&pager.pid, "/bin/sh", &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
destroy:
	posix_spawn_file_actions_destroy(&actions);
free:
	free(copy);
	return error;
}

void t2x_pager_start(const char *command)
{
	sigset_t all, mask;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return;
	pager.terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	/* a signal comes when there is no pager, or when it is waited for */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	if (pager.terminal >= 0 && !spawn(command, ends[0], &mask)) {
		dup2(ends[1], STDOUT_FILENO);
		t2x_stderr_hold(end_with_pager);
	} else {
		pager.pid = 0;
	}
	close(ends[0]);
	close(ends[1]);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

int t2x_pager_finish(void)
{
	if (!pager.pid)
		return 0;
	dup2(pager.terminal, STDOUT_FILENO);
	close(pager.terminal);
	wait_for_end();
	t2x_stderr_release();
	return 1;
}
