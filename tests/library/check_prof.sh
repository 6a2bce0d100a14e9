#!/bin/bash
# SPDX-License-Identifier: MIT
# libtrace2-prof in front of programs that know nothing of it, with all profiles on: they print the same, end the same,
# and are sampled; without TRACE2_PROF nothing happens at all.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
cd "$tmp" || exit 1

# profiled COMMAND...: at rates that are far too high
profiled()
{
	env LD_PRELOAD="$library" TRACE2_RAW="$tmp/run.tlg" \
		TRACE2_PROF="${clocks:-cpu=1khz,wall=200hz},heap=4k,threadcreate,frames=32" "$@"
}
# same NAME COMMAND...: output, messages and exit status with the profiler and without
same()
{
	"${@:2}" >one 2>&1 </dev/null
	echo "exit status $?" >>one
	rm -f run.tlg
	profiled "${@:2}" >two 2>&1 </dev/null
	echo "exit status $?" >>two
	none "$1" "$(diff one two)"
	check "$1: there is a trace" [ -s run.tlg ]
}
same "ls" ls -l "$top/runtime/prof"
same "ls that fails" ls /nothing-of-this-name
same "sort" sort "$top/README.md" "$top/FORMAT.md"
same "a shell with children" sh -c 'for i in 1 2 3; do echo $i | cat | wc -l; done; exit 3'
same "a child that is killed" sh -c 'sh -c "kill -KILL \$\$"; echo $? | cat'
same "git" git --version
# The wall clock has threads, as trace2-prof(3) says; the others have none as long as there is little to write
clocks=cpu=1khz same "a shell that counts its threads" sh -c 'ls /proc/$$/task | wc -l'
unshare -Ur true 2>/dev/null && same "unshare, for which there may be no thread" unshare -Ur true
command -v python3 >/dev/null && same "python3 with threads and a child" python3 -c '
import subprocess, threading
done = []
threads = [threading.Thread(target=lambda i=i: done.append(sum(range(20000 * i)))) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(done), subprocess.run(["sh", "-c", "echo child; exit 4"]).returncode)'

# ---- a program of ours: threads that end in every way, signals, fork, a handler for SIGPROF too late --------
cat >program.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t started;

static void *work(void *data)
{
	volatile unsigned n = 0;
	char *text = strcpy(malloc(1 << 20), "text");

	for (unsigned i = 0; i < 20000000; i++)
		n = n + i;
	free(text);
	if (data)
		pthread_exit(data);
	return NULL;
}

static void *wait_here(void *data)
{
	sem_post(&started);
	for (;;)
		pause();
	return data;
}

static void ignore(int signo)
{
	(void)signo;
}

int main(void)
{
	pthread_t threads[8], waiting;
	struct sigaction action = { .sa_handler = ignore };
	int status = 0;
	void *result;

	sem_init(&started, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	if (pthread_create(&waiting, NULL, wait_here, NULL))
		return 1;
	while (sem_wait(&started) && errno == EINTR)
		;
	pthread_kill(waiting, SIGUSR1);
	pthread_cancel(waiting);
	pthread_join(waiting, &result);
	printf("%d\n", result == PTHREAD_CANCELED);
	for (long i = 0; i < 8; i++) {
		pthread_join(threads[i], &result);
		printf("%ld\n", (long)result);
	}
	fflush(stdout);
	if (!fork()) {
		work(NULL);
		_exit(5);
	}
	while (wait4(-1, &status, 0, NULL) < 0 && errno == EINTR)
		;
	printf("%d\n", WEXITSTATUS(status));
	return 6;
}
END
quiet "compile" ${CC:-cc} -O1 -pthread -o program program.c
same "threads, signals, a forked child" ./program
"$out/t2expand" --format=ndjson run.tlg >events
for profile in cpu wall heap threadcreate; do
	check "samples of $profile" grep -q "\"event\":\"sample\",\"category\":\"$profile\"" events
done

# ---- a program with gaps between its segments: where its code is in its file ----------------------
cat >gaps.c <<'END'
__attribute__((noinline)) static unsigned burn(volatile unsigned n)
{
	for (unsigned i = 0; i < 200000000; i++)
		n = n + i;
	return n;
}

int main(void)
{
	return burn(1) == 0;
}
END
quiet "compile" ${CC:-cc} -O1 -no-pie -Wl,-z,max-page-size=0x200000,-z,separate-code -o gaps gaps.c
same "gaps between segments" ./gaps
"$out/t2expand" --format=folded --profile=cpu run.tlg >stacks
check "gaps between segments: names are found" grep -q 'main;burn ' stacks

# ---- without TRACE2_PROF ------------------------------------------------------------------------
env LD_PRELOAD="$library" TRACE2_RAW="$tmp/none.tlg" ./program >two
check "without TRACE2_PROF there is no trace" [ ! -e none.tlg ]
env LD_PRELOAD="$library" TRACE2_PROF=cpu ./program >two
check "without a destination it runs" [ $? -eq 6 ]
env LD_PRELOAD="$library" TRACE2_PROF=cpu,nothing TRACE2_DST_DEBUG=1 true 2>err
check "what is wrong is said" grep -qx "warning: trace2: unknown value for 'TRACE2_PROF': 'nothing', ignored" err

# ---- code made at run time, stacks of coroutines ---------------------------------------------------
# made MODE: copies burn() to memory of its own, on a coroutine's stack calls it there, and says what it is called:
# in perf-PID.map, or in jit-PID.dump of this directory.  -fno-omit-frame-pointer: as compilers at run time have it
cat >made.c <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { BYTES = 256, STACK = 1 << 16 };
typedef unsigned burn_fn(unsigned n);

static ucontext_t outside, inside;
static burn_fn *made;
static volatile unsigned sink;

__attribute__((noinline, aligned(64))) static unsigned burn(unsigned n)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = sum + i;
	return sum;
}

__attribute__((noinline)) static void call_made(void)
{
	sink = made(150000000);
	sink++;
}

static void in_coroutine(void)
{
	call_made();
	sink++;
}

static void say_map(void)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	fprintf(file, "%lx 8 code_of_before\n%lx %x made;here\n", (long)made, (long)made, BYTES);
	fclose(file);
}

static void say_dump(void)
{
	static const char name[] = "made;here";
	struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } head = {
		0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 1, 0
	};
	struct { uint32_t id, size; uint64_t time; uint32_t pid, tid; uint64_t at, code, bytes, index; } load = {
		0, 56 + sizeof(name) + BYTES, 1, head.pid, head.pid, (uintptr_t)made, (uintptr_t)made, BYTES, 1
	};
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	file = fopen(path, "w");
	fwrite(&head, sizeof(head), 1, file);
	fwrite(&load, sizeof(load), 1, file);
	fwrite(name, sizeof(name), 1, file);
	fwrite((void *)made, BYTES, 1, file);
	fclose(file);
}

int main(int argc, char **argv)
{
	void *code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc != 2 || code == MAP_FAILED || stack == MAP_FAILED)
		return 1;
	memcpy(code, (void *)burn, BYTES);
	__builtin___clear_cache(code, (char *)code + BYTES);
	memcpy(&made, &code, sizeof(code));
	if (!strcmp(argv[1], "map"))
		say_map();
	else if (!strcmp(argv[1], "dump"))
		say_dump();
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = STACK;
	inside.uc_link = &outside;
	makecontext(&inside, in_coroutine, 0);
	return swapcontext(&outside, &inside);
}
END
quiet "compile" ${CC:-cc} -g -O1 -fno-omit-frame-pointer -o made made.c
# stacks_of TRACE: to the file stacks, those that are whole
stacks_of()
{
	"$out/t2expand" --format=folded --profile=cpu "$1" >stacks
	[ "$(grep -c 'in_coroutine;call_made' stacks)" -ge "$(($(wc -l <stacks) / 2))" ]
}
for way in auto fp; do
	for form in map dump; do
		rm -f made.tlg
		quiet "$way, $form: recorded" "$out/t2" record --cpu=200 --unwind=$way -o made.tlg -- ./made $form
		rm -f jit-*.dump
		for map in /tmp/perf-*.map; do
			grep -qs 'code_of_before$' "$map" && rm -f "$map"
		done
		check "$way, $form: callers of made code on a coroutine's stack are there" stacks_of made.tlg
		check "$way, $form: it has its name though the file is gone" grep -q 'call_made;made.here ' stacks
		check "$way, $form: the later name counts" eval '! grep -q code_of_before stacks'
		check "$way, $form: samples one by one have it" eval '"$out/t2" show --samples made.tlg | grep -q "made.here"'
		cp made.tlg before.tlg
		"$out/t2" diff --as=csv before.tlg made.tlg >differs
		check "$way, $form: in both traces of a comparison" \
			awk -F, '/made.here/ { found = $6 > 0 && $6 == $9 } /,"0x/ { other = 1 } END { exit !found || other }' differs
		if command -v lz4 >/dev/null; then
			quiet "$way, $form: the trace is one of LZ4 frames" lz4 -t made.tlg
		fi
	done
done
quiet "tables alone: recorded" "$out/t2" record --cpu=200 --unwind=tables -o made.tlg -- ./made none
stacks_of made.tlg
check "tables alone end at made code" eval '! grep -q call_made stacks'
check "without a file it is an address" grep -qE '^0x[0-9a-f]+ ' stacks
env LD_PRELOAD="$library" TRACE2_RAW="$tmp/alone.tlg" TRACE2_PROF=cpu=200 ./made dump
check "without t2 record the file itself is read" eval 'stacks_of alone.tlg && grep -q "call_made;made.here " stacks'

# Where a sandbox refuses process_vm_readv(), as some containers do
cat >refuse.c <<'END'
#include <sys/syscall.h>
#include <unistd.h>

#include "refusing.h"

int main(int argc, char **argv)
{
	if (argc < 2 || !refuse_call(SYS_process_vm_readv))
		return 1;
	execvp(argv[1], argv + 1);
	return 1;
}
END
quiet "compile" ${CC:-cc} -I"$top/tests/tools" -o refuse refuse.c "$top/tests/tools/refusing.c"
quiet "in a sandbox: recorded" ./refuse "$out/t2" record --cpu=200 -o made.tlg -- ./made dump
rm -f jit-*.dump
check "in a sandbox: callers of made code on a coroutine's stack are there" stacks_of made.tlg
check "in a sandbox: it has its name" grep -q 'call_made;made.here ' stacks

# node says what it makes; each stack of it begins where threads begin
if command -v node >/dev/null; then
	cat >made.js <<'END'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let sum = 0;
for (let i = 0; i < 25; i++)
	sum += fib(27) + JSON.stringify({ a: 'x'.repeat(i) }).length;
console.log(sum);
END
	quiet "node" "$out/t2" record --cpu=250 --frames=128 -o node.tlg -- node --perf-basic-prof made.js
	pid=$("$out/t2" tree node.tlg | sed -n 's/.*pid:\([0-9]*\).*/\1/p' | head -n 1)
	rm -f "/tmp/perf-$pid.map"
	"$out/t2expand" --format=folded --profile=cpu node.tlg >stacks
	check "node: functions have names" grep -q 'fib .*made.js' stacks
	none "node: stacks of made code that are not whole" "$(grep 'fib ' stacks | grep -v '^_start;' | head -n 3)"
	rm -f isolate-*.log
fi

# ---- how deep ------------------------------------------------------------------------------------
cat >deep.c <<'END'
static volatile unsigned sink;

__attribute__((noinline)) static unsigned burn(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink + i;
	return sink;
}

__attribute__((noinline)) static unsigned go_down(unsigned n)
{
	unsigned below = n ? go_down(n - 1) : burn(200000000);

	sink++;
	return below;
}

int main(void)
{
	return go_down(40) == 1;
}
END
quiet "compile" ${CC:-cc} -g -O1 -fno-optimize-sibling-calls -o deep deep.c
quiet "a deep stack" "$out/t2" record --cpu=200 --frames=20 -o deep.tlg -- ./deep
"$out/t2expand" --format=folded --profile=cpu deep.tlg | grep burn >stacks
check "a stack that is cut says so" grep -qE '^\[truncated\](;go_down){19};burn ' stacks
none "each of them" "$(grep -v '^\[truncated\];' stacks)"
check "its samples do" eval '"$out/t2" show --samples deep.tlg | grep -q "truncated"'
"$out/t2expand" --format=pprof --profile=cpu -o deep.pb.gz deep.tlg
check "so does pprof" eval 'gzip -dc deep.pb.gz | grep -aq "\[truncated\]"'
quiet "a stack with room" "$out/t2" record --cpu=200 --frames=64 -o deep.tlg -- ./deep
"$out/t2expand" --format=folded --profile=cpu deep.tlg | grep burn >stacks
check "it is whole" grep -qE '^_start;.*;main;go_down' stacks
none "and does not say that it is cut" "$(grep truncated stacks)"

# ---- libraries of relative paths -----------------------------------------------------------------
mkdir -p relative/lib relative/other
cat >relative/burn.c <<'END'
unsigned NAME(unsigned n);

__attribute__((noinline)) static unsigned INNER(unsigned n)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = sum + i;
	return sum;
}

unsigned NAME(unsigned n)
{
	return INNER(n) + 1;
}
END
cat >relative/main.c <<'END'
#include <dlfcn.h>
#include <unistd.h>

unsigned at_start(unsigned n);

int main(void)
{
	unsigned (*later)(unsigned n);
	void *handle = chdir("other") ? NULL : dlopen("./later.so", RTLD_NOW);

	if (!handle)
		return 1;
	*(void **)&later = dlsym(handle, "later");
	return !later || later(150000000) + at_start(150000000) == 1;
}
END
for name in at_start later; do
	quiet "compile" ${CC:-cc} -g -O1 -fPIC -shared -DNAME=$name -DINNER=in_$name -o relative/$name.so relative/burn.c
done
mv relative/at_start.so relative/lib/libat.so && mv relative/later.so relative/other
quiet "compile" ${CC:-cc} -g -O1 -o relative/main relative/main.c -Lrelative/lib -lat
quiet "relative paths" env -C relative LD_LIBRARY_PATH=lib "$out/t2" record --cpu=200 -o ../relative.tlg -- ./main
"$out/t2expand" --format=folded --profile=cpu relative.tlg >stacks
check "a library found when the program began has names" grep -q 'main;at_start;in_at_start ' stacks
check "so has one loaded where the program has gone to" grep -q 'main;later;in_later ' stacks

# ---- the profiler itself -------------------------------------------------------------------------
if command -v python3 >/dev/null; then
	cat >waits.py <<'END'
import select, signal, socket, threading, time
lock = threading.Lock()
def wait_for_lock():
    for i in range(100):
        with lock:
            time.sleep(0.001)
def wait_for_socket():
    poll = select.epoll()
    one, two = socket.socketpair()
    poll.register(one.fileno(), select.EPOLLIN)
    for i in range(10):
        poll.poll(0.02)
threads = [threading.Thread(target=f) for f in (wait_for_lock, wait_for_lock, wait_for_socket)]
for thread in threads: thread.start()
for thread in threads: thread.join()
select.select([], [], [], 0.1)
signal.sigtimedwait([], 0.1)
print(sum(len(str(i)) for i in range(200000)))
END
	# python3 may be a script of bash, which has a wait_for() as the profiler has: that one takes no part
	python=$(python3 -c 'import sys; print(sys.executable)')
	for way in auto fp; do
		rm -f own.tlg
		env LD_PRELOAD="$library" TRACE2_RAW="$tmp/own.tlg" \
			TRACE2_PROF=cpu=500,wall=200,heap=16k,block=1us,mutex=1,threadcreate,unwind=$way \
			"$python" waits.py >/dev/null
		"$out/t2expand" --format=ndjson own.tlg | grep '"event":"sample"' >events
		check "$way: there are samples" [ "$(wc -l <events)" -gt 100 ]
		# Two functions of it stand for what has no stack, see trace2-prof(3)
		none "$way: stacks with functions of the profiler" "$(nm "$library" |
			awk '$2 ~ /^[tT]$/ && $3 !~ /^(in_the_profiler|running_without_ticks|_init|_fini)$/ && length($3) > 6 { print $3 }' |
			sort -u >own; grep -owFf <(grep -vxFf <(nm -D "$library" | awk '{ print $3 }') own) events | sort | uniq -c | head -n 5)"
	done
fi
total
