#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of threads under t2 record: the last that the system knows a thread by, whoever gave it and when; what the program
# says by trace2_thread_start() stays.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
export PATH=$out:$PATH
cd "$tmp" || exit 1

# names MODE: two threads allocate under one name, "early", and then get others
cat >names.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"

static const char *mode;
static pthread_barrier_t barrier;
static void *volatile kept;

static void allocate(int n)
{
	while (n--) {
		kept = malloc(100);
		free(kept);
	}
}

static int is(const char *what)
{
	return !strcmp(mode, what);
}

static void *run(void *late)
{
	pthread_setname_np(pthread_self(), "early");
	if (is("trace2"))
		trace2_thread_start(late);
	trace2_region_enter("names", "around", NULL);
	allocate(1000);
	if (is("setname") || is("trace2") || is("kill") || is("silent") || is("region") || is("often"))
		pthread_setname_np(pthread_self(), late);
	if (is("prctl"))
		prctl(PR_SET_NAME, late);
	if (is("system"))   /* nobody notices */
		syscall(SYS_prctl, PR_SET_NAME, late, 0, 0, 0);
	for (int i = 0; is("often") && i < 2000; i++) {
		pthread_setname_np(pthread_self(), i % 2 ? "odd" : "even");
		allocate(10);
	}
	if (is("often"))
		pthread_setname_np(pthread_self(), late);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);   /* main has given names */
	if (!is("silent") && !is("system"))
		allocate(1000);
	pthread_barrier_wait(&barrier);
	if (is("kill")) {
		allocate(1000);
		pthread_barrier_wait(&barrier);
		pause();
	}
	trace2_region_leave("names", "around", NULL);
	return late;
}

static int run_threads(void)
{
	static char late[2][16] = { "late-one", "late-two" };
	pthread_t threads[2];

	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, late[i]);
	pthread_barrier_wait(&barrier);
	if (is("other")) {
		pthread_setname_np(threads[0], late[0]);
		pthread_setname_np(threads[1], late[1]);
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	if (is("kill")) {
		pthread_barrier_wait(&barrier);
		kill(getpid(), SIGKILL);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "";
	if (is("trace2") || is("region"))
		trace2_initialize();
	prctl(PR_SET_NAME, "not-main");
	allocate(10);
	if (is("fork")) {
		mode = "setname";
		if (fork())
			return wait(NULL) < 0;
	}
	return run_threads();
}
END
quiet "compile" ${CC:-cc} -O1 -I"$top/runtime" -o names names.c -pthread -L"$out" -ltrace2 "-Wl,-rpath,$out"

# threads MODE [VARIABLE=VALUE...]: the names in the summary of such a run
threads()
{
	rm -f names.tlg
	env "${@:2}" timeout -s KILL 60 t2 record --heap=1 -o names.tlg -- ./names "$1" 2>err
	t2 summary names.tlg | sed -n '/^threads/,$p' | grep -oE '(th[0-9]+:|main).*' | sort | tr '\n' ' '
}
# are NAME WANTED MODE...: in either order of the threads
are()
{
	local got

	got=$(threads "${@:3}" | sed -E 's/th[0-9]+:/th:/g' | tr ' ' '\n' | sort | xargs)
	[ "$got" = "$2" ] && pass || fail "$1: \"$got\", not \"$2\""
}
for mode in setname prctl other system silent often; do
	are "$mode" "main th:late-one th:late-two" $mode
done
are "killed" "main th:late-one th:late-two" kill
are "in a forked child" "main main th:late-one th:late-two" fork
are "with live texts" "main th:late-one th:late-two" setname TRACE2_PERF="$tmp/perf"
are "without another name" "main th:early th:early" none
are "names that the program gives stay" "main th:late-one th:late-two" trace2
threads region >/dev/null
check "numbers and regions go on behind a new name" \
	[ "$(t2 export --format=ndjson names.tlg | grep -c '"event":"region_\(enter\|leave\)"')" -eq 4 ]
check "nothing is missing, or wrong" [ ! -s err ]
quiet "the trace is whole" t2expand -o /dev/null names.tlg
threads often >/dev/null
t2 show --samples names.tlg >one
t2 show --samples --jobs=4 names.tlg >four
check "with --jobs the same" cmp one four
check "samples" [ "$(grep -c 'sample ' one)" -gt 1000 ]
total
