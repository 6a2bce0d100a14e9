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
total
