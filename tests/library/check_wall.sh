#!/bin/bash
# SPDX-License-Identifier: MIT
# The wall clock of libtrace2-prof, 1000 looks a second, at threads that are blocked: nothing that they call returns
# anything else, for no signal comes, and none while a call runs; and each is counted, with its stack, for as long as it is there, also if it blocks
# as soon as it begins, never runs again, or is killed.  The process ends as it would.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
cd "$tmp" || exit 1

cat >blocked.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, WRITES = 16, BYTES = 1 << 20 };

static int ends[2];

static void sleep_ms(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * MS };

	nanosleep(&time, NULL);
}

/* ---- writes of more than a pipe takes ---- */

static void *read_slowly(void *data)
{
	static char buffer[4096];
	int *fd = data;

	for (long sum = 0; sum < (long)WRITES * BYTES;) {
		const ssize_t n = read(*fd, buffer, sizeof(buffer));
		if (n <= 0)
			return NULL;
		sum += n;
		if (sum % (1 << 15) < n)
			sleep_ms(1);
	}
	return NULL;
}

static void write_whole(const char *name, int in, int out)
{
	static char buffer[BYTES];
	pthread_t thread;
	int whole = 0;

	pthread_create(&thread, NULL, read_slowly, &in);
	for (int i = 0; i < WRITES; i++)
		whole += write(out, buffer, BYTES) == BYTES;
	pthread_join(thread, NULL);
	printf("%s: %d of %d writes were whole\n", name, whole, WRITES);
}

static void writes(void)
{
	int pair[2];

	write_whole("pipe", ends[0], ends[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	write_whole("socket", pair[0], pair[1]);
}

/* ---- a long call that runs in the kernel all the time, and returns early if a signal comes ---- */

static void reads(void)
{
	static char buffer[32 << 20];
	const int zeros = open("/dev/zero", O_RDONLY);
	int whole = 0;

	for (int i = 0; i < 200; i++)
		whole += read(zeros, buffer, sizeof(buffer)) == sizeof(buffer);
	printf("%d of 200 reads were whole\n", whole);
}

/* ---- calls that fail by a signal, whatever its handler's flags; by the system's own number, as some call them ---- */

#define SAY(name, call) do { errno = 0; printf("%s: ", name); printf("%ld %s\n", (long)(call), strerror(errno)); } while (0)

static void calls(void)
{
	const struct timespec time = { 0, 120 * MS };
	const struct timeval tv = { 0, 120000 };
	struct timeval left = tv;
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };
	struct epoll_event event;
	int pair[2], word = 0, epoll = epoll_create1(0), inotify = inotify_init1(0);
	char buffer[4096];

	inotify_add_watch(inotify, ".", IN_DELETE_SELF);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	SAY("recv with a timeout", recv(pair[0], buffer, 1, 0));
	while (send(pair[0], buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
	SAY("send with a timeout", send(pair[0], buffer, sizeof(buffer), 0));
	SAY("nanosleep", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL));
	SAY("ppoll", syscall(SYS_ppoll, &fd, 1, &(struct timespec){ 0, 120 * MS }, NULL, 8));
	SAY("pselect", syscall(SYS_pselect6, 0, NULL, NULL, NULL, &(struct timespec){ 0, 120 * MS }, NULL));
	SAY("select", select(0, NULL, NULL, NULL, &left));
	SAY("epoll_pwait", syscall(SYS_epoll_pwait, epoll, &event, 1, 120, NULL, 8));
	SAY("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0));
	SAY("rt_sigtimedwait", syscall(SYS_rt_sigtimedwait, &(unsigned long){ 1 << (SIGUSR2 - 1) }, NULL, &time, 8));
	fd.fd = inotify;
	SAY("poll of inotify", poll(&fd, 1, 120));
}

/* ---- threads that are blocked ---- */

__attribute__((noinline)) static void *blocked_from_the_start(void *data)
{
	char byte;

	(void)!read(ends[0], &byte, 1);
	return data;
}

__attribute__((noinline)) static void wait_in_calls(int depth)
{
	volatile char room[3000];

	room[depth] = 1;
	if (depth)
		wait_in_calls(depth - 1);
	else
		pause();
	room[depth] = 2;
}

__attribute__((noinline)) static void *blocked_deep(void *data)
{
	wait_in_calls(3);
	return data;
}

/* What the compiler gives room for while it runs has a frame pointer. */
__attribute__((noinline)) static void *blocked_with_frame_pointer(void *data)
{
	volatile char *room = __builtin_alloca((size_t)getpid() % 64 + 1000);

	room[0] = 1;
	pause();
	room[0] = 2;
	return data;
}

/* Its CPU time is in the profile, too. */
__attribute__((noinline)) static void *runs_and_sleeps(void *data)
{
	volatile unsigned n = 0;

	for (;;) {
		for (unsigned i = 0; i < 3000000; i++)
			n = n + i;
		sleep_ms(5);
	}
	return data;
}

static pthread_t start(void *(*function)(void *), const char *name)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		exit(1);
	pthread_setname_np(thread, name);
	return thread;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* For how long they are there is said in the file "lived". */
static void blocked(long ms)
{
	const double begin = now();
	pthread_t first;
	FILE *lived;

	first = start(blocked_from_the_start, "unnamed");
	start(blocked_deep, "deep");
	start(blocked_with_frame_pointer, "pointer");
	start(runs_and_sleeps, "runs");
	sleep_ms(50);
	pthread_setname_np(first, "first");     /* it is blocked, and was looked at under the other name */
	sleep_ms(ms - 50);
	lived = fopen("lived", "w");
	fprintf(lived, "%.2f\n", now() - begin);
	fclose(lived);
}

/* ---- one thread only ---- */

static void alone(void)
{
	if (!fork()) {
		SAY("unshare", unshare(CLONE_NEWUSER) && errno != EPERM);
		sleep_ms(300);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

/* ---- the process ends with its last thread, wherever that comes from ---- */

static void *end_last(void *data)
{
	sleep_ms(50);
	printf("the last one\n");      /* written as libc ends the process */
	return data;
}

static void *fork_here(void *data)
{
	int status = 1;
	const pid_t child = fork();

	if (!child)
		return end_last(data);  /* the one thread of the child, which main() never returns to */
	waitpid(child, &status, 0);
	printf("child: %d\n", status);
	return data;
}

static void last(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fork_here, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	pthread_create(&thread, NULL, end_last, NULL);
	pthread_detach(thread);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	if (pipe(ends))
		return 1;
	if (!strcmp(argv[1], "writes"))
		writes();
	else if (!strcmp(argv[1], "reads"))
		reads();
	else if (!strcmp(argv[1], "calls"))
		calls();
	else if (!strcmp(argv[1], "alone"))
		alone();
	else if (!strcmp(argv[1], "last"))
		last();
	else
		blocked(atol(argv[2]));
	fflush(stdout);
	if (!strcmp(argv[1], "killed"))
		kill(getpid(), SIGKILL);
	return argc < 2;
}
END

# wall OPTION...: the program with the clock; the trace is run.tlg
wall()
{
	rm -rf run.tlg rings
	mkdir rings
	XDG_RUNTIME_DIR=$tmp/rings TRACE2_PROF=wall=1khz TRACE2_RAW=$tmp/run.tlg LD_PRELOAD=$library "$@"
}

# seconds PATTERN FILE: of all stacks that match
seconds()
{
	awk -v pattern="$1" '$0 ~ pattern { sum += $NF } END { printf "%.2f\n", sum / 1e9 }' "$2"
}

# all NAME SECONDS LOST: as long as the threads were there, but for what a kill loses and the ends
all()
{
	check "$1: $2 s of $(cat lived)" awk -v s="$2" -v lived="$(cat lived)" -v lost="$3" \
		'BEGIN { exit !(s >= lived - lost && s <= lived + 0.1) }'
}

for optimized in -O0 -O2; do
	quiet "compile $optimized" ${CC:-cc} -w -g $optimized -pthread -o blocked blocked.c
	for what in writes reads calls alone last; do
		./blocked $what >one 2>&1
		wall timeout -s KILL 60 "$tmp/blocked" $what >two 2>&1
		none "$what, $optimized: the same as without" "$(diff one two)"
	done
	check "writes, $optimized: all are whole" [ "$(wall ./blocked writes | grep -c ': 16 of 16 writes')" -eq 2 ]
	check "reads, $optimized: all are whole" [ "$(wall ./blocked reads)" = "200 of 200 reads were whole" ]

	for how in ends killed; do
		{ wall ./blocked $how 1500; } >/dev/null 2>&1
		status=$?
		# of who is killed the last part of a wait is not there, 100 ms, nor what a late look had not seen
		[ $how = killed ] && expected=137 lost=0.5 || expected=0 lost=0.3
		check "$how, $optimized: exit status $status" [ $status -eq $expected ]
		input=()
		[ -s run.tlg ] && input=(run.tlg)
		for ring in rings/trace2-*.ring; do
			[ -e "$ring" ] && input+=("--recover=$ring")
		done
		"$out/t2expand" --format=folded --profile=wall "${input[@]}" >stacks 2>/dev/null
		for function in blocked_from_the_start wait_in_calls blocked_with_frame_pointer runs_and_sleeps; do
			all "$how, $optimized: $function" "$(seconds "$function" stacks)" $lost
		done
		check "$how, $optimized: calls are in the stack" grep -q \
			'blocked_deep;wait_in_calls;wait_in_calls;wait_in_calls;wait_in_calls;' stacks
		for where in blocked_from_the_start:read wait_in_calls:pause runs_and_sleeps:clock_nanosleep; do
			check "$how, $optimized: ${where%:*} is off the CPU in ${where#*:}" grep -q \
				";${where%:*};.*;\[off-CPU: ${where#*:}\] [0-9]*\$" stacks
		done
		none "$how, $optimized: who is blocked is off the CPU" \
			"$(grep -e wait_in_calls -e blocked_with stacks | grep -v '\[off-CPU: pause\] ')"
		check "$how, $optimized: who runs is not" grep -q 'runs_and_sleeps [0-9]*$' stacks
		check "$how, $optimized: stacks begin where threads do" grep -q \
			'start_thread;blocked_with_frame_pointer;' stacks
		for thread in first deep pointer; do
			"$out/t2expand" --format=folded --profile=wall --thread="*:$thread" "${input[@]}" >stacks 2>/dev/null
			all "$how, $optimized: thread $thread" "$(seconds . stacks)" $lost
		done
	done
done
total
