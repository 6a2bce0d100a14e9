#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that know nothing of libtrace2-prof and leave without exit(), by _exit(), exec and what is like them: their
# samples are in the trace, once, and nothing stays in shared memory.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
cd "$tmp" || exit 1
mkdir rings
export XDG_RUNTIME_DIR=$tmp/rings

cat >leave.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile block;
static char *const list[] = { "sh", "-c", "exit $A", NULL }, *const environment[] = { "A=3", NULL };

/* A million bytes */
static void allocate(void)
{
	for (int i = 0; i < 1000; i++) {
		block = malloc(1000);
		free(block);
	}
}

static void leave(int signo)
{
	_exit(signo == SIGUSR1 ? 3 : 4);
}

static void await(void)
{
	int status;

	while (wait(&status) < 0)
		;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	allocate();
	putenv("A=3");
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "_Exit"))
		_Exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "execl"))
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
	if (!strcmp(how, "execlp"))
		execlp("sh", "sh", "-c", "exit 3", (char *)NULL);
	if (!strcmp(how, "execle"))
		execle("/bin/sh", "sh", "-c", "exit $A", (char *)NULL, environment);
	if (!strcmp(how, "execv"))
		execv("/bin/sh", list);
	if (!strcmp(how, "execvp"))
		execvp("sh", list);
	if (!strcmp(how, "execve"))
		execve("/bin/sh", list, environment);
	if (!strcmp(how, "execvpe"))
		execvpe("sh", list, environment);
	if (!strcmp(how, "fexecve"))
		fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), list, environment);
	if (!strcmp(how, "exec-that-fails")) {
		execl("/etc/passwd", "passwd", (char *)NULL);
		execlp("nothing-of-this-name", "nothing", (char *)NULL);
	}
	if (!strcmp(how, "handler")) {
		signal(SIGUSR1, leave);
		raise(SIGUSR1);
	}
	if (!strcmp(how, "vfork")) {
		if (!vfork())
			_exit(4);
		await();
		if (!vfork()) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		await();
	}
	if (!strcmp(how, "fork")) {
		if (!fork()) {
			allocate();
			_exit(4);
		}
		await();
		if (!fork())
			_exit(4);
		await();
		return 3;
	}
	if (!strcmp(how, "daemon")) {
		int status, ends[2];
		if (pipe(ends))
			return 1;
		if (!fork()) {
			if (daemon(1, 1))
				return 1;
			allocate();
			_exit(0);
		}
		wait(&status);
		close(ends[1]);
		if (read(ends[0], &status, 1))  /* till the daemon has ended, too */
			return 1;
		return 3;
	}
	allocate();
	return 3;
}
END
quiet "compile" ${CC:-cc} -w -fno-builtin -O1 -o leave leave.c

# leaves HOW BYTES RINGS: it ends as ever, has recorded so many allocations, and so many rings are left
leaves()
{
	local sum

	rm -f run.tlg rings/trace2-*
	TRACE2_PROF=heap=1 TRACE2_RAW=$tmp/run.tlg LD_PRELOAD=$library ./leave "$1"
	check "$1: the exit status" [ $? -eq 3 ]
	check "$1: in shared memory" [ "$(find rings -name 'trace2-*' | wc -l)" -eq "$3" ]
	"$out/t2expand" --format=folded --profile=allocs run.tlg >stacks 2>notes
	[ "$3" -ne 0 ] || none "$1: nothing is wrong with the trace" "$(cat notes)"
	sum=$(awk '$1 ~ /allocate$/ { sum += $NF } END { print sum + 0 }' stacks)
	check "$1: $sum bytes were allocated" [ "$sum" -eq "$2" ]
}
for how in _exit _Exit quick_exit execl execlp execle execv execvp execve execvpe fexecve; do
	leaves $how 1000000 0
done
leaves exec-that-fails 2000000 0
leaves vfork 2000000 0
leaves fork 2000000 0
leaves daemon 2000000 0
leaves handler 1000000 1
total
