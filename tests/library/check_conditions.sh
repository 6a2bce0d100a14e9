#!/bin/bash
# SPDX-License-Identifier: MIT
# A program in front of which libtrace2-prof is, with all profiles on, does what it does without: prints the same and has
# the same exit status where little is left, or allowed, of what a profiler needs.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
cd "$tmp" || exit 1
mkdir rings
export XDG_RUNTIME_DIR=$tmp/rings
all=cpu=1khz,wall=1khz,heap=64k,block=1us,mutex=1,threadcreate,threads=USR2

# It does what its arguments say, in their order, then its work.
cat >work.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;

/* 20 ms of CPU time, and 150 rounds, on however busy a machine */
static void *work(void *data)
{
	struct timespec now;
	int rounds = 0;

	do {
		void *volatile block = malloc(10000);
		pthread_mutex_lock(&lock);
		sum += block != NULL;
		pthread_mutex_unlock(&lock);
		free(block);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (rounds++ < 150 || (!now.tv_sec && now.tv_nsec < 20000000));
	return data;
}

static void fork_one(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		work(NULL);
		_exit(3);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	printf("child: %d\n", child > 0 ? WEXITSTATUS(status) : -1);
}

/* ---- sandboxes ---- */

static void refuse(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal;
	(void)info;
#ifdef __x86_64__
	at->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	(void)at;
	_exit(9);
#endif
}

static void filter(unsigned action, unsigned n, const unsigned *calls)
{
	struct sock_filter code[32];
	struct sigaction handler = { .sa_sigaction = refuse, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sock_fprog program = { .filter = code };

	sigaction(SIGSYS, &handler, NULL);
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < n; i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("filter: %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* What the library calls while the program runs, but not the program */
static const unsigned calls[] = {
	SYS_timer_create, SYS_timer_settime, SYS_timer_delete, SYS_openat, SYS_fallocate, SYS_memfd_create, SYS_fcntl,
	SYS_unlinkat, SYS_ftruncate
};
/* What it never calls */
static const unsigned none[] = { SYS_perf_event_open, SYS_ptrace, SYS_process_vm_readv, SYS_bpf };

/* ---- a child without variables of threads, as Chromium has one ---- */

static int leave(void *data)
{
	(void)data;
	_exit(7);
}

static void clone_without_tls(void)
{
	static _Alignas(64) char stack[1 << 16], tls[1 << 13];
	int status = 0;
	pid_t child = clone(leave, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD, NULL, NULL,
			    tls + sizeof(tls) / 2);

	if (child > 0)
		waitpid(child, &status, 0);
	printf("status: %x\n", (unsigned)status);
}

static int is(const char *text, const char *what)
{
	return !strcmp(text, what);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		if (is(argv[i], "clearenv"))
			clearenv();
		if (is(argv[i], "closefrom"))
			closefrom(3);
		if (is(argv[i], "fork"))
			fork_one();
		if (is(argv[i], "trap"))
			filter(SECCOMP_RET_TRAP, sizeof(calls) / sizeof(calls[0]), calls);
		if (is(argv[i], "deny"))
			filter(SECCOMP_RET_ERRNO | EPERM, sizeof(calls) / sizeof(calls[0]), calls);
		if (is(argv[i], "kill"))
			filter(SECCOMP_RET_KILL_PROCESS, sizeof(none) / sizeof(none[0]), none);
		if (is(argv[i], "clone"))
			clone_without_tls();
		if (is(argv[i], "pids"))
			printf("unshare: %d\n", unshare(CLONE_NEWPID));
		if (is(argv[i], "exec")) {
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			execl(argv[0], argv[0], "fork", (char *)NULL);
		}
	}
	for (int i = 0; i < 3; i++)
		printf("thread: %d\n", pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL));
	work(NULL);
	puts(sum > 100 ? "worked" : "did not work");
	return 5;
}
END
quiet "compile" ${CC:-cc} -O1 -g -pthread -o work work.c

# same NAME COMMAND...: with the profiler as without.  What it says of itself is allowed, what others do not say is not
same()
{
	local name=$1 without with

	shift
	"$@" >out.without 2>err.without </dev/null
	without=$?
	PROFILED=1 "$@" >out.with 2>err.with </dev/null
	with=$?
	check "$name: exit status $with, not $without: $(tail -n 1 err.with)" [ "$with" -eq "$without" ]
	check "$name: it worked" [ "$without" -eq 5 ]
	check "$name: $(diff out.without out.with | head -n 3)" cmp -s out.without out.with
	check "$name: it said: $(head -n 1 err.with)" cmp -s err.without err.with
}

# work ARGUMENT...: the program, in front of it the profiler if PROFILED is set
work()
{
	if [ -n "${PROFILED:-}" ]; then
		LD_PRELOAD=$library TRACE2_RAW=$tmp/trace.tlg TRACE2_PROF=$all exec "$program" "$@"
	else
		exec "$program" "$@"
	fi
}
# limited LIMIT VALUE ARGUMENT...
limited()
(
	ulimit "$1" "$2"
	work "${@:3}"
)
plainly()
(
	work "$@"
)
program=./work

same "as a rule" plainly fork
check "as a rule it is profiled" [ -s trace.tlg ]
same "no pending signals" limited -i 0 fork
same "four descriptors" limited -n 4 fork
same "a sandbox that traps" plainly trap fork
same "a sandbox that denies" plainly deny fork
same "a sandbox that kills" plainly kill fork
same "no new privileges" plainly exec
same "all descriptors closed" plainly closefrom fork
same "no environment" plainly clearenv fork
same "all of it" limited -n 4 clearenv closefrom fork
same "a child without thread variables" plainly clone fork
same "another namespace of processes" plainly pids fork

# ---- where it is not loaded --------------------------------------------------------------------
if ${CC:-cc} -static -O1 -pthread -o work-static work.c >/dev/null 2>&1; then
	program=./work-static
	rm -f trace.tlg
	same "a static program" plainly fork
	check "it is not profiled" [ ! -e trace.tlg ]
fi
if [ "$(id -u)" -eq 0 ] && install -o nobody -m 4755 work work-setuid && chmod 755 "$tmp" rings; then
	program=$tmp/work-setuid
	rm -f trace.tlg
	same "a program of another user's rights" plainly fork
	program=./work
fi

# ---- memory that cannot be had -----------------------------------------------------------------
# in_shm OPTIONS ARGUMENT...: with another file system in /dev/shm, only for it
in_shm()
{
	export -f work
	export program library tmp all
	# shellcheck disable=SC2016
	XDG_RUNTIME_DIR='' unshare -m bash -c 'mount -t tmpfs -o "$0" none /dev/shm || exit 99
		[ "${0#ro}" != "$0" ] || dd if=/dev/zero of=/dev/shm/full bs=64k 2>/dev/null
		work "$@"' "$@"
}
if unshare -m mount -t tmpfs none /dev/shm 2>/dev/null; then
	same "a full /dev/shm" in_shm size=64k fork
	same "a /dev/shm to read only" in_shm ro fork
else
	echo "no mounts here: /dev/shm is as it is"
fi
total
