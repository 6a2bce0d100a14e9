#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 stacks: a process that hangs says where all its threads are, as often as it is asked, also as a profile; one that
# cannot be asked is left alone, with one error.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
export PATH=$out:$PATH
cd "$tmp" || exit 1

# Its main thread waits for a mutex forever, one thread is in a loop, one blocks all signals.  With the argument "theirs"
# it handles SIGUSR2 itself, and says so; with "fork" it is a child that does nothing, whose parent has ended; with
# "fork theirs" both; with "fork before" and "fork after" the child gives up root's privileges, after it has recorded
# something or before
cat >wedged.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long n;

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(1);
}

static void *loop_here(void *data)
{
	while (data)
		n++;
	return NULL;
}

static void *block_here(void *data)
{
	pthread_mutex_lock(&lock);
	return data;
}

static void *block_all(void *data)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	say("ready\n");
	for (;;)
		pause();
	return data;
}

static void on_signal(int signal)
{
	(void)signal;
	say("mine\n");
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char digits[32];

	if (argc > 1 && !strcmp(argv[1], "fork")) {
		if (fork())
			return 0;
		if (argc > 2 && !strcmp(argv[2], "theirs"))
			signal(SIGUSR2, on_signal);
		if (argc > 2 && !strcmp(argv[2], "before"))
			free(malloc(1000));
		if (argc > 2 && argv[2][0] != 't' && (setgid(65534) || setuid(65534)))
			return 1;
		n = (unsigned long)getpid();
		if (write(1, digits, (size_t)snprintf(digits, sizeof(digits), "%lu\n", n)) < 0)
			return 1;
		block_here(NULL);
		return block_here(NULL) != NULL;
	}
	if (argc > 1)
		signal(SIGUSR2, on_signal);
	pthread_mutex_lock(&lock);
	if (pthread_create(&thread, NULL, loop_here, argv) || pthread_create(&thread, NULL, block_all, NULL))
		return 1;
	block_here(NULL);
	return 0;
}
END
quiet "compile" ${CC:-cc} -g -O0 -pthread -o wedged wedged.c

# start PROF COMMAND...: the program, until it is ready; its id is in $pid
start()
{
	rm -f said trace.tlg
	mkfifo said
	exec 7<>said
	env LD_PRELOAD="$library" TRACE2_RAW="$tmp/trace.tlg" TRACE2_PROF="$1" "${@:2}" >said 2>/dev/null &
	pid=$!
	read -r <&7
}
finish()
{
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	exec 7>&-
}
# ask PATTERN...: t2 stacks, until all patterns are in what it prints: threads may be on their way there, or late
ask()
{
	local pattern try

	for try in {1..100}; do
		t2 stacks "${format[@]}" "$pid" >stdout 2>err || continue
		for pattern in "$@"; do
			grep -qE "$pattern" stdout || continue 2
		done
		return 0
	done
	cat err stdout
	return 1
}

format=()
start cpu,wall,threads=USR2 ./wedged
sleep 0.3       # the threads of the wall clock start, and are not counted
check "a process that hangs says where it is" ask '^thread "main" of process '"$pid"':$' \
	'^#[0-9]+ +0x[0-9a-f]{16} in block_here .*wedged\.c:[0-9]+ \(.*/wedged\+0x[0-9a-f]+\)$' ' in loop_here ' ' in main '
check "threads that block signals are counted" grep -q '1 of 3 threads did not answer' err
check "each thread is there once" [ "$(grep -c '^thread' stdout)" -eq 2 ]
check "a second time" ask ' in block_here ' ' in loop_here '
check "each thread is still there once" [ "$(grep -c '^thread' stdout)" -eq 2 ]
format=(--format=folded --profile=threads)
check "in another format" ask 'main;block_here'
format=()
check "who does not answer is said there, too" grep -q 'did not answer' err
t2expand --live="$pid" --format=pprof --profile=threads -o threads.pb.gz 2>/dev/null
gzip -dc threads.pb.gz >profile
check "it is a profile" grep -qa loop_here profile
# Not by t2: whoever has the id may ask
before=$(t2expand --live="$pid" --format=ndjson 2>/dev/null | grep -c '"event":"sample","category":"threads"')
kill -USR2 "$pid"
for _ in {1..1000}; do
	after=$(t2expand --live="$pid" --format=ndjson 2>/dev/null | grep -c '"event":"sample","category":"threads"')
	[ "$after" -ge $((before + 2)) ] && break
done
check "by kill" [ "$after" -ge $((before + 2)) ]
finish
quiet "of the trace of a dead process" t2expand --recover-all --ring-pid="$pid" --delete --format=raw -o whole.tlg
t2expand --format=pprof --profile=threads --debug=2 whole.tlg >stdout 2>err
check "the last stacks" [ "$(grep -c '^thread' stdout)" -eq 2 ]

# start_child ARGUMENT...: $pid is the child, which says who it is
start_child()
{
	start heap=1,threads=USR2 ./wedged fork "$@"
	wait "$pid"
	pid=$REPLY
}

start_child
check "a forked child that has recorded nothing" ask '^thread "main" of process '"$pid"':$' ' in block_here ' ' in main '
check "a second time" ask ' in block_here '
finish
start_child theirs
expect "such a child that handles the signal" 1 "process $pid: records nothing" t2 stacks "$pid"
kill -USR2 "$pid"
read -r answer <&7
check "the child's handler is called" [ "$answer" = mine ]
finish
[ "$(id -u)" -ne 0 ] || for when in before after; do
	start_child $when
	check "a child with a ring file from $when it gave up its privileges" ask ' in block_here '
	quiet "--live finds it, too" t2expand --live="$pid" -o now.txt
	finish
done

# ---- who cannot be asked ------------------------------------------------------------------------
start cpu ./wedged
expect "a process without threads=" 1 "process $pid: cannot be asked: it has not been started with" t2 stacks "$pid"
finish
start threads=USR2 ./wedged theirs
expect "a process that handles the signal" 1 "process $pid: cannot be asked: .* is the program's own" t2 stacks "$pid"
kill -USR2 "$pid"
read -r answer <&7
check "its handler is called" [ "$answer" = mine ]
finish
sleep 100 &
expect "a process that is not profiled" 1 "process $!: records nothing: it has no ring file" t2 stacks $!
check "still lives" kill -KILL $!
wait $! 2>/dev/null
# Programs that handle signals and map what somebody else has made: as it is, or with a name and pages that look like ours
cat >foreign.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void end_here(int signal)
{
	_exit(signal);
}

int main(int argc, char **argv)
{
	char name[64];
	int fd, is_shared = !strcmp(argv[2], "shared");
	char *at;

	snprintf(name, sizeof(name), "trace2-threads-%s", argv[1]);
	fd = memfd_create(name, 0);
	if (argc < 3 || fd < 0 || ftruncate(fd, 4096) || pwrite(fd, "trace2", 6, 0) != 6)
		return 1;
	at = mmap(NULL, 4096, PROT_READ, is_shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED || *(volatile char *)at != 't' || (!is_shared && mprotect(at, 4096, PROT_NONE)))
		return 1;
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		signal(signo, end_here);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
END
quiet "compile foreign" ${CC:-cc} -g -O0 -o foreign foreign.c
for what in "15 shared" "9 shared" "12 shared" "12 private" "64 private" "33 private"; do
	rm -f said
	mkfifo said
	./foreign $what >said &
	pid=$!
	read -r <said
	expect "a process that maps a foreign file: $what" 1 "process $pid: records nothing: it has no ring file" t2 stacks "$pid"
	check "it still lives: $what" kill -0 "$pid"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
done
start threads=USR2 ./wedged
for task in /proc/$pid/task/*; do
	[ "${task##*/}" = "$pid" ] || thread=${task##*/}
done
expect "a thread" 1 "process $thread: is a thread, not a process" t2 stacks "$thread"
finish
sleep 100 &
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	expect "a process of another user" 1 "process $!: cannot be asked: only its user or root may look into it" \
		setpriv --reuid=65534 --clear-groups "$out/t2" stacks $!
fi
check "it still lives, too" kill -KILL $!
wait $! 2>/dev/null
expect "a process that is not there" 1 'process 4194305: there is no such process' t2 stacks 4194305
expect "no process" 2 '^t2 stacks: needs a process id' t2 stacks
expect "two processes" 2 '^t2 stacks: takes one process id: 2' t2 stacks 1 2

# ---- t2 record ----------------------------------------------------------------------------------
t2 record --threads=USR2 -o env.tlg env >stdout 2>err
check "t2 record --threads" grep -qx 'TRACE2_PROF=threads=USR2' stdout
expect "t2 record --threads=x" 2 '--threads needs USR1, .*, not: usr2$' t2 record --threads=usr2 true
expect "a signal that ends the program" 2 '--threads needs USR1, .*, not: KILL$' t2 record --threads=KILL -o env.tlg true
expect "by TRACE2_PROF" 0 "'threads=KILL', ignored" env TRACE2_PROF=threads=KILL t2 record -o env.tlg true
total
