#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that are linked with the archives: with libc dynamically they have all profiles, fully statically those for
# which nothing has to stand in front of libc.  Ends with "N passed, N failed".
set -u
export LC_ALL=C
unset LD_PRELOAD TRACE2_RAW TRACE2_PROF TRACE2_DST_DEBUG GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need "libtrace2-prof in $out" [ -e "$out/libtrace2-prof-static.a" ]
export PATH=$out:$PATH
cd "$tmp" || exit 1

cat >program.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <trace2.h>
#include <trace2_prof.h>

static struct trace2_profile *files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long n;
void *volatile kept;

/* A second of CPU time. */
static __attribute__((noinline)) void work_here(void)
{
	for (struct timespec now = { 0, 0 }; now.tv_sec < 1; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
		for (unsigned i = 0; i < 1000; i++)
			n = n + i;
}

static void *wait_here(void *data)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return data;
}

static void run(void *data)
{
	pthread_t thread;

	(void)data;
	kept = malloc(1000);
	trace2_prof_add(files, &lock, 0);
	pthread_mutex_lock(&lock);
	if (pthread_create(&thread, NULL, wait_here, NULL))
		exit(2);
	work_here();
	trace2_prof_write_to(trace2_prof_lookup("threads"), STDOUT_FILENO, 2);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *const pairs[] = { "request", "17", NULL };
	const struct trace2_labels *labels;

	(void)argc;
	trace2_initialize();
	trace2_cmd_start(argv);
	if (trace2_prof_new("files", &files) || trace2_prof_labels_with(NULL, pairs, &labels) ||
	    trace2_prof_start_cpu(100))
		return 3;
	trace2_prof_do(labels, run, NULL);
	trace2_prof_stop_cpu();
	return 0;
}
END

# built NAME ARCHIVE FLAG...: 1 if it can be linked
built()
{
	${CC:-cc} -g -O1 -I"$top/runtime" "${@:3}" -o "$1" program.c "$out/$2" "$out/libtrace2.a" -llz4 -lmd -lz -pthread 2>log
}
# has NAME PROFILE: samples of it are in its trace, on the stack of main()
has()
{
	t2 export --format=folded --profile="$2" --label=request=17 "$1.tlg" 2>/dev/null | grep -q '\<main;'
}
# works NAME PROFILE...: it runs, and has these
works()
{
	TRACE2_RAW="$tmp/$1.tlg" TRACE2_PROF=heap=1,block=1,threadcreate "./$1" >"$1.out"
	check "$1 runs" [ $? -eq 0 ]
	check "$1: where its threads are" [ "$(grep -c '^thread' "$1.out")" -eq 2 ]
	for profile in "${@:2}"; do
		check "$1: $profile, with stacks and labels" has "$1" "$profile"
	done
	check "$1: CPU time is where it was spent" \
		grep -q 'main;.*work_here' <(t2 export --format=folded --profile=cpu "$1.tlg" 2>/dev/null)
}

quiet "the archives" built archives libtrace2-prof.a
works archives cpu files threads heap threadcreate
if built alone libtrace2-prof-static.a -static; then
	works alone cpu files threads
	check "alone: nothing of the heap" [ -z "$(t2 export --format=folded --profile=heap alone.tlg 2>/dev/null)" ]
else
	check "without -static it is the same" built alone libtrace2-prof-static.a
	cat log
fi
total
