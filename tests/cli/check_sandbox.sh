#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 record and programs that forbid themselves system calls, seccomp(2): they print and end as without, whatever is
# sampled.  The profile has what was before, and all of it where our calls are let or refused.  Ends with "N passed, N
# failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
export PATH=$out:$PATH
cd "$tmp" || exit 1

# sandbox HOW ANSWER [THEN]: works, enters a sandbox, works, does something else, ends.  "child", "child-_exit": all of
# that in a forked child, which does not work before the sandbox begins, as servers confine those that parse requests
cat >sandbox.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sock_filter filter[64];
static struct sock_fprog program = { 0, filter };

static void put(uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	filter[program.len++] = (struct sock_filter){ code, jt, jf, k };
}

static void on(long number, uint32_t answer)
{
	put(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
	put(BPF_RET | BPF_K, answer, 0, 0);
}

/* "only": what a worker needs that has its files open; else what the C library does not call by itself is answered */
static void make_filter(uint32_t answer, int is_only)
{
	static const long others[] = {
		SYS_timer_create, SYS_timer_settime, SYS_timer_delete, SYS_getpid, SYS_gettid, SYS_sigaltstack,
		SYS_rt_sigpending, SYS_process_vm_readv, SYS_sched_yield, SYS_memfd_create
	};
	static const long needed[] = { SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn };

	put(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (size_t i = 0; is_only && i < sizeof(needed) / sizeof(needed[0]); i++)
		on(needed[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; !is_only && i < sizeof(others) / sizeof(others[0]); i++)
		on(others[i], answer);
	put(BPF_RET | BPF_K, is_only ? answer : SECCOMP_RET_ALLOW, 0, 0);
}

static __attribute__((noinline)) void work(void)
{
	for (int k = 0; k < 20; k++) {
		for (volatile long i = 0; i < 5000000; i++)
			continue;
		for (int i = 0; i < 500; i++) {
			char *block = malloc(3000);
			*(volatile char *)block = 1;
			free(block);
		}
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static int enter(const char *how)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!strcmp(how, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (!strcmp(how, "prctl"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (!strcmp(how, "prctl-syscall"))
		return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	if (!strcmp(how, "tsync"))
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	if (!strcmp(how, "probe"))   /* as libseccomp asks what there is */
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) < 0 &&
		       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) < 0 &&
		       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) < 0 ? 0 : 1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static void *work_in_thread(void *nothing)
{
	work();
	return nothing;
}

static void say(const char *what)
{
	if (write(1, what, strlen(what)) < 0)
		syscall(SYS_exit, 9);
}

static void go_on(const char *what, char **argv)
{
	pthread_t thread;
	pid_t pid;

	if (!strcmp(what, "thread") && !pthread_create(&thread, NULL, work_in_thread, NULL))
		pthread_join(thread, NULL);
	if (!strcmp(what, "exec"))
		execl(argv[0], argv[0], "end", NULL);
	if (!strcmp(what, "execve"))
		execve(argv[0], (char *[]){ argv[0], "end", NULL }, environ);
	if (strcmp(what, "fork") != 0)
		return;
	pid = fork();
	if (!pid) {
		work();
		say("child\n");
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Return  1: in the child.  The parent ends as the child has ended. */
static int fork_first(void)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		return 1;
	if (waitpid(pid, &status, 0) != pid)
		exit(4);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(int argc, char **argv)
{
	const char *answer = argc > 2 ? argv[2] : "";
	const char *then = argc > 3 ? argv[3] : "";
	int is_child = !strncmp(then, "child", 5) && fork_first();
	uint32_t value = strstr(answer, "kill") ? SECCOMP_RET_KILL_PROCESS :
			 strstr(answer, "trap") ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | 1;

	if (argc > 1 && strcmp(argv[1], "end") != 0) {
		make_filter(value, strstr(answer, "only") != NULL);
		if (!is_child)
			work();
		if (enter(argv[1]))
			return 3;
	}
	work();
	go_on(then, argv);
	say("end\n");
	if (argc > 1 && !strcmp(argv[1], "strict"))
		syscall(SYS_exit, 7);
	if (strstr(then, "_exit"))
		_exit(7);
	exit(7);
}
END
quiet "compile" ${CC:-cc} -O1 -g -o sandbox sandbox.c -pthread
./sandbox kill kill-only >/dev/null 2>&1
need "filters of system calls here" [ $? -eq 7 ]

ends="warning: trace2: the profile ends here: the program enters a sandbox that forbids system calls"
all=(--cpu=250 --wall=250 --heap=1k --block=1 --mutex=1 --threadcreate --threads=USR2)
# same LINE ARGUMENT...: with all profiles, and each alone, the program prints and ends as without; LINE is on stderr
same()
{
	local line=$1 status options

	shift
	timeout -s KILL 60 ./sandbox "$@" >plain.out 2>plain.err
	status=$?
	{ [ -z "$line" ] || echo "$line"; cat plain.err; } >wanted.err
	for options in "${all[*]}" "${all[@]}"; do
		# shellcheck disable=SC2086
		timeout -s KILL 60 t2 record $options -o same.tlg -- ./sandbox "$@" >with.out 2>with.err
		check "$* $options: exit status" [ $? -eq "$status" ]
		check "$* $options: output" cmp plain.out with.out
		check "$* $options: stderr" diff wanted.err with.err
	done
	[ "$status" -eq 7 ] || fail "$*: it ends with $status by itself"
	# shellcheck disable=SC2086
	timeout -s KILL 60 t2 record ${all[*]} -o same.tlg -- env bash -c './sandbox "$@"; exit $?' bash "$@" >with.out 2>with.err
	check "$*, a child: exit status" [ $? -eq "$status" ]
	check "$*, a child: output" cmp plain.out with.out
	check "$*, a child: stderr" diff plain.err with.err
}
# places FILE: samples of work() by the functions that called it
places()
{
	t2 show --samples "$1" | grep -c 'stack:.*work'
}

same "$ends" strict
check "what was before is in the profile" [ "$(places same.tlg)" -gt 0 ]
for how in prctl prctl-syscall seccomp tsync; do
	same "$ends" $how kill-only
done
check "of a filter, too" [ "$(places same.tlg)" -gt 0 ]
same "$ends" seccomp kill-only _exit
same "$ends" seccomp trap
for then in thread fork exec execve; do
	same "$ends" seccomp kill $then
done
for then in child child-_exit; do
	same "" seccomp kill $then
	same "" prctl trap $then
done
# The first tick may come while the profile is being ended.  Then there is a trace to end, too.
for i in 1 2 3 4 5 6 7 8 9 10; do
	timeout -s KILL 60 t2 record --cpu=1000 --wall=1000 -o same.tlg -- ./sandbox prctl trap child >with.out 2>&1
	check "a tick in between: exit status ($i)" [ $? -eq 7 ]
done
same "" seccomp errno thread
same "" seccomp errno fork
same "" probe kill thread
t2 record --cpu=250 -o whole.tlg -- ./sandbox probe kill
t2 record --cpu=250 -o cut.tlg -- ./sandbox seccomp kill 2>/dev/null
check "after a question there is more than after a filter" [ "$(places whole.tlg)" -gt "$(places cut.tlg)" ]
total
