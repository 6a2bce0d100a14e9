/* SPDX-License-Identifier: MIT */
/*
 * calls.c - a program that makes system calls of many kinds and records between them.  harness_faults.sh compares its
 * system calls with tracing with those without.
 *
 * usage: calls FILE      The harness compares the system calls between opening FILE, a file of its own, and closing it.
 *                        The program works on the file, also in a thread and in a forked child, and starts other
 *                        programs in four ways.
 * Exit status 7.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"

enum { ROUNDS = 40, FINE = 7 };

static char *const arguments[] = { (char[]){ "true" }, NULL };
static int failed;

/* Record, and between the calls do the program's own work, if fd is open. */
static void work_on(int fd, int round)
{
	trace2_region_enter("calls", "round", NULL);
	trace2_printf("round %d", round);
	failed |= fd >= 0 && (write(fd, "round", 5) != 5 || lseek(fd, 0, SEEK_SET));
	trace2_region_leave("calls", "round", NULL);
}

static void *run_thread(void *fd)
{
	trace2_thread_start("calls");
	for (int i = 0; i < ROUNDS; i++)
		work_on((int)(intptr_t)fd, i);
	trace2_thread_exit();
	return NULL;
}

static void use_thread(int fd)
{
	pthread_t thread;

	failed |= pthread_create(&thread, NULL, run_thread, (void *)(intptr_t)fd) || pthread_join(thread, NULL);
}

/* A new descriptor must have the same number as without tracing, or the system calls differ. */
static void use_descriptors(int fd)
{
	char byte = 'x';
	int ends[2];
	struct pollfd readable = { .events = POLLIN };

	failed |= pipe(ends);
	readable.fd = ends[0];
	work_on(fd, 0);
	failed |= write(ends[1], &byte, 1) != 1 || poll(&readable, 1, -1) != 1 || read(ends[0], &byte, 1) != 1;
	failed |= dup2(ends[0], 50) != 50;
	work_on(fd, 1);
	close(50);
	close(ends[0]);
	close(ends[1]);
}

static void await(pid_t pid, int expected)
{
	int status = -1;

	failed |= pid <= 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != expected;
}

static void use_fork(int fd)
{
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < ROUNDS; i++)
			work_on(fd, i);
		_exit(failed ? 1 : FINE);
	}
	await(pid, FINE);
}

static void use_fork_and_exec(int fd)
{
	pid_t pid = fork();

	if (!pid) {
		work_on(fd, 0);
		trace2_exec("true", arguments);
		execv("/bin/true", arguments);
		_exit(1);
	}
	await(pid, 0);
}

static void use_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execv("/bin/true", arguments);
		_exit(1);
	}
	await(pid, 0);
}

static void use_spawn(void)
{
	struct trace2_child child = { .argv = (const char *const *)arguments };
	pid_t pid = -1;

	trace2_child_start(&child);
	failed |= posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ);
	await(pid, 0);
	trace2_child_exit(&child, 0);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2)
		return 2;
	trace2_initialize();
	work_on(-1, 0);   /* the first pass of a call registers it */
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < ROUNDS; i++)
		work_on(fd, i);
	use_thread(fd);
	use_descriptors(fd);
	use_fork(fd);
	use_fork_and_exec(fd);
	use_vfork();
	use_spawn();
	close(fd);
	return failed ? 1 : FINE;
}
