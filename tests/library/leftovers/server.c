/* SPDX-License-Identifier: MIT */
/*
 * A fork server as nginx and postgres are: the master blocks signals, forks workers, and opens them again; a worker
 * records, gives up its privileges, opens its signals, and works until one ends it.
 *
 *   server ROUNDS   each with one worker that ends in each way: told to (HUP), by TERM's and by INT's default action,
 *                   by _exit, as another program, as one that does not exist
 *
 * USR1 makes a worker record once more.  Before a signal ends it, a worker says on a pipe that it is idle.
 * Prints how many checkpoints named "work" all of them have recorded.
 */
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace2.h"

enum { NOBODY = 65534, WORK = 5 };
enum end { BY_HUP, BY_TERM, BY_INT, BY_EXIT, BY_EXEC, BY_FAILED_EXEC, ENDS };

static volatile sig_atomic_t is_told, is_asked;

static void note(int signo)
{
	if (signo == SIGHUP)
		is_told = 1;
	else
		is_asked = 1;
}

static void pause_ms(long ms)
{
	const struct timespec pause = { 0, ms * 1000000 };

	nanosleep(&pause, NULL);
}

static void say(int fd)
{
	if (write(fd, "", 1) != 1)
		_exit(4);
}

static int change_user(void)
{
	return !geteuid() && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY));
}

/* What is recorded here is written before the worker says that it is idle: some of them end by no code of theirs. */
static void work(enum end end, int fd)
{
	const char *argv[] = { "true", NULL };

	for (int i = 0; i < WORK; i++)
		trace2_data_intmax("worker", NULL, "work", i);
	trace2_flush();
	say(fd);
	while (end <= BY_INT && !is_told) {
		if (is_asked) {
			is_asked = 0;
			trace2_data_intmax("worker", NULL, "work", WORK);
			trace2_flush();
			say(fd);
		}
		pause_ms(1);
	}
	if (end == BY_HUP)
		exit(0);
	if (end == BY_EXIT) {
		trace2_cmd_exit(0);
		trace2_flush();
		_exit(0);
	}
	trace2_exec(end == BY_EXEC ? "/bin/true" : "/nowhere/true", argv);
	execv(end == BY_EXEC ? "/bin/true" : "/nowhere/true", (char **)argv);
	trace2_exec_result(0, 2);
	exit(0);
}

static pid_t start(enum end end, int fd)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid) {
		trace2_cmd_mode("worker");
		signal(SIGHUP, note);
		signal(SIGUSR1, note);
		if (change_user())
			_exit(3);
		sigprocmask(SIG_SETMASK, &before, NULL);
		work(end, fd);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int finish(enum end end, pid_t pid, int fd)
{
	static const int signals[] = { [BY_HUP] = SIGHUP, [BY_TERM] = SIGTERM, [BY_INT] = SIGINT };
	int status;
	char byte;

	if (read(fd, &byte, 1) != 1)
		return 0;
	if (end <= BY_INT) {
		kill(pid, SIGUSR1);
		if (read(fd, &byte, 1) != 1)
			return 0;
		kill(pid, signals[end]);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 0;
	return end == BY_TERM || end == BY_INT ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, failed = 0, recorded = 0, fds[2];

	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	if (pipe(fds))
		return 1;
	for (int i = 0; i < rounds; i++)
		for (enum end end = 0; end < ENDS; end++) {
			failed += !finish(end, start(end, fds[1]), fds[0]);
			recorded += end <= BY_INT ? WORK + 1 : WORK;
		}
	pause_ms(rounds ? 200 : 0);
	printf("%d\n", recorded);
	return failed;
}
