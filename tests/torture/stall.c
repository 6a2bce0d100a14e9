/* SPDX-License-Identifier: MIT */
/*
 * stall.c - runs a program and stops its drain's thread for good, as if the machine never scheduled it.  The rest of
 * the program must continue and end.
 *
 * usage: stall anywhere|writing PROGRAM ARGUMENT...
 *   PROGRAM stops itself once (SIGSTOP) to have the drain stopped: wherever the drain is, or in front of a write(2),
 *   when it has locked the drain's lock.
 * Exit status: the program's; 1 if it has no drain, or does not end within five minutes.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/ptrace.h does not go together with sys/ptrace.h: of what PTRACE_GET_SYSCALL_INFO gives, the beginning. */
struct syscall_info {
	uint8_t op;
	uint8_t spare[3];
	uint32_t arch;
	uint64_t instruction_pointer, stack_pointer, number;
	uint64_t room[8];
};
enum { GET_SYSCALL_INFO = 0x420e, SYSCALL_INFO_ENTRY = 1, LONGEST_S = 300 };

static pid_t program;

static void give_up(int signo)
{
	(void)signo;
	kill(program, SIGKILL);
}

static int is_drain(pid_t tid)
{
	char path[64], name[32] = "";
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)program, (int)tid);
	in = fopen(path, "re");
	if (in && !fgets(name, sizeof(name), in))
		name[0] = '\0';
	if (in)
		fclose(in);
	return !strcmp(name, "trace2-drain\n");
}

/* Return  0: it has none */
static pid_t find_drain(void)
{
	char path[64];
	const struct dirent *entry;
	pid_t tid, found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)program);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid && is_drain(tid))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static int is_at_write(pid_t tid)
{
	struct syscall_info info = { .op = 0 };

	return ptrace((enum __ptrace_request)GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) > 0 &&
	       info.op == SYSCALL_INFO_ENTRY && info.number == SYS_write;
}

/* Let the drain, which has stopped, run up to its next write, or to the program's end if there is none. */
static void run_to_write(pid_t drain)
{
	int status;

	while (waitpid(drain, &status, __WALL) == drain && WIFSTOPPED(status) && !is_at_write(drain))
		ptrace(PTRACE_SYSCALL, drain, NULL, NULL);
}

static pid_t start(char **arguments)
{
	pid_t pid = fork();

	if (!pid) {
		execv(arguments[0], arguments);
		_exit(127);
	}
	return pid;
}

/* Wait for all stopped threads too, or waitpid() never reports the end of the program. */
static int await_end(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
		if (pid == program && WIFEXITED(status))
			return WEXITSTATUS(status);
		else if (pid == program && WIFSIGNALED(status))
			break;
	return 1;
}

int main(int argc, char **argv)
{
	int status, is_writing;
	pid_t drain;

	if (argc < 3)
		return 2;
	is_writing = !strcmp(argv[1], "writing");
	signal(SIGALRM, give_up);
	alarm(LONGEST_S);
	program = start(argv + 2);
	if (waitpid(program, &status, WUNTRACED) != program || !WIFSTOPPED(status))
		return 1;
	drain = find_drain();
	if (!drain || ptrace(PTRACE_SEIZE, drain, NULL, (void *)PTRACE_O_TRACESYSGOOD) ||
	    ptrace(PTRACE_INTERRUPT, drain, NULL, NULL)) {
		fprintf(stderr, "stall: no drain to stop\n");
		kill(program, SIGKILL);
		return 1;
	}
	kill(program, SIGCONT);
	if (is_writing)
		run_to_write(drain);
	return await_end();
}
