#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 record: programs that the profiler cannot be in front of run as without it.  One line on stderr says so of the
# program itself; of its children nothing does.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
export PATH=$out:$PATH
cd "$tmp" || exit 1
unset ASAN_OPTIONS LSAN_OPTIONS

# same NAME LINE COMMAND...: it prints and ends as without, and LINE is on stderr ("": nothing); of a child nothing is
same()
{
	local name=$1 line=$2 status

	shift 2
	timeout -s KILL 60 "$@" >plain.out 2>plain.err </dev/null
	status=$?
	timeout -s KILL 60 t2 record --cpu --wall --heap=1k --block --mutex --threadcreate -o same.tlg -- "$@" \
		>with.out 2>with.err </dev/null
	check "$name: exit status" [ $? -eq "$status" ]
	check "$name: output" cmp plain.out with.out
	{ if [ -n "$line" ]; then echo "$line"; fi; cat plain.err; } >wanted.err
	check "$name: stderr" diff wanted.err with.err
	timeout -s KILL 60 t2 record --cpu --wall --heap=1k --block --mutex --threadcreate -o child.tlg -- \
		env sh -c '"$@"; exit $?' sh "$@" >with.out 2>with.err </dev/null
	check "$name, a child: exit status" [ $? -eq "$status" ]
	check "$name, a child: output" cmp plain.out with.out
	check "$name, a child: stderr" diff plain.err with.err
}
# samples FILE: how many are in a trace
samples()
{
	t2 export --format=ndjson "$1" 2>/dev/null | grep -c '"event":"sample"'
}

# Four threads that take turns, by each kind of lock, and allocate; then a forked child
cat >turns.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static long turn, rounds;

static void *take_turns(void *me)
{
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&mutex);
		while (turn % 4 != (long)me)
			pthread_cond_wait(&changed, &mutex);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_wrlock(&rwlock);
		rounds++;
		pthread_rwlock_unlock(&rwlock);
		free(malloc(100));
		usleep(1);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	pid_t child;

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	for (long i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld\n", turn, rounds);
	fflush(stdout);
	child = fork();
	if (!child) {
		free(malloc(100));
		exit(0);
	}
	waitpid(child, NULL, 0);
	return 7;
}
END

# ---- how it is linked ---------------------------------------------------------------------------
static="not profiled: statically linked"
quiet "compile" "${CC:-cc}" -o turns turns.c -pthread
same "a program like others" "" ./turns
for how in static static-pie; do
	"${CC:-cc}" "-$how" -o "turns-$how" turns.c -pthread 2>/dev/null && same "-$how" "t2 record: ./turns-$how: $static" "./turns-$how"
done
mkdir bin
cp turns-static bin/in-the-path
export PATH=$PATH:$tmp/bin
same "found in PATH" "t2 record: in-the-path: $static" in-the-path
printf '#!%s -x\n' "$tmp/turns-static" >script
printf '#! %s\n' "$tmp/script" >script-of-script
chmod +x script script-of-script
same "a script of such an interpreter" "t2 record: ./script: $static" ./script
same "a script of a script" "t2 record: ./script-of-script: $static" ./script-of-script
linker=$(LC_ALL=C readelf -l turns | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
same "the dynamic linker as a program" "" "$linker" ./turns
check "it is profiled" [ "$(samples same.tlg)" -gt 0 ]
rm -f same.tlg
t2 record -o same.tlg -- ./turns-static >/dev/null 2>&1
check "no trace of what is not profiled" [ ! -e same.tlg ]
if command -v musl-gcc >/dev/null && musl-gcc -o turns-musl turns.c -pthread; then
	musl=$(LC_ALL=C readelf -l turns-musl | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
	same "musl" "t2 record: ./turns-musl: not profiled: of another C library ($musl)" ./turns-musl
	printf '#!%s\n' "$tmp/turns-musl" >script
	same "a script for musl" "t2 record: ./script: not profiled: of another C library ($musl)" ./script
	t2 record --heap=1 -o mixed.tlg -- sh -c './turns-musl; ./turns' >/dev/null
	check "another child is profiled" [ "$(samples mixed.tlg)" -gt 100 ]
fi
if command -v busybox >/dev/null; then
	same "busybox" "$(readelf -l "$(command -v busybox)" | grep -q INTERP || echo "t2 record: busybox: $static")" busybox echo hello
fi
if command -v go >/dev/null; then
	printf 'package main\nfunc main() { println("go") }\n' >hello.go
	GO111MODULE=off GOCACHE=$tmp/go CGO_ENABLED=0 go build -o hello-go hello.go &&
		same "Go" "t2 record: ./hello-go: $static" ./hello-go
fi

# ---- privileges -----------------------------------------------------------------------------------
if [ "$(id -u)" -eq 0 ]; then
	cp turns privileged && chown 65534 privileged && chmod 4755 privileged
	same "set-user-ID" "t2 record: ./privileged: not profiled: set-user-ID" ./privileged
	chown 0:65534 privileged && chmod 2755 privileged
	same "set-group-ID" "t2 record: ./privileged: not profiled: set-group-ID" ./privileged
	chown 0:0 privileged && chmod 4755 privileged
	same "privileges that we have" "" ./privileged
elif [ -u /bin/su ]; then
	same "set-user-ID" "t2 record: /bin/su: not profiled: set-user-ID" /bin/su --version
fi

# ---- sanitizers -----------------------------------------------------------------------------------
leaks='its sanitizer looks for leaks, which ASAN_OPTIONS=detect_leaks=0 prevents'
memory='built with a sanitizer of threads or memory'
# sanitized REASON COMPILER FLAG...
sanitized()
{
	local reason=$1

	shift
	command -v "$1" >/dev/null && "$@" -g -o sanitized turns.c -pthread 2>/dev/null && ./sanitized >/dev/null 2>&1
	[ $? -eq 7 ] || return   # that compiler has none, or it does not run here
	same "$*" "warning: trace2: not profiled: $reason" ./sanitized
	tried=$((tried + 1))
}
tried=0
sanitized "$leaks" gcc -fsanitize=address
sanitized "$leaks" gcc -fsanitize=address -static-libasan
sanitized "$leaks" gcc -fsanitize=leak
sanitized "$memory" gcc -fsanitize=thread
sanitized "$memory" gcc -fsanitize=thread -static-libtsan
sanitized "$leaks" clang -fsanitize=address
sanitized "$leaks" clang -fsanitize=leak
sanitized "$memory" clang -fsanitize=thread
sanitized "$memory" clang -fsanitize=memory
[ "$tried" -gt 0 ] || echo "skipped: no compiler with a sanitizer"
for compiler in gcc clang; do
	command -v $compiler >/dev/null && $compiler -fsanitize=address -o sanitized turns.c -pthread 2>/dev/null || continue
	export ASAN_OPTIONS=detect_leaks=0
	same "$compiler, without the search for leaks" "" ./sanitized
	check "$compiler: it is profiled" [ "$(samples same.tlg)" -gt 0 ]
	unset ASAN_OPTIONS
	$compiler -fsanitize=undefined -o sanitized turns.c -pthread
	same "$compiler, undefined behaviour" "" ./sanitized
	check "$compiler: that is profiled" [ "$(samples same.tlg)" -gt 0 ]
done
total
