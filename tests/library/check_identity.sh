#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that change who they are: setuid(), setgid(), setgroups() and their like come back, called from main, from a
# thread, from a handler, around the cancellation of a thread; in a forked child that has recorded, behind exec, on the
# way from root to nobody; with a consumer thread, early or late or none, live texts, a flight recorder, a control page
# while nothing is traced and while something is, and all profiles.  No thread of the library blocks the C library's own
# signals.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
cd "$tmp" || exit 1
chmod 1777 "$tmp"   # nobody writes there, too

${CC:-cc} -O2 -Wall -I"$top/runtime" -o changes "$top/tests/library/identity/changes.c" -L"$out" -Wl,-rpath,"$out" \
	-ltrace2 -pthread || fail "changes.c does not compile"

# changed NAME VARIABLE...: in each place, in each kind of process
changed()
{
	local name=$1 where how status

	shift
	for where in main thread handler cancel; do
		for how in same fork exec drop; do
			rm -f trace text
			env "$@" ./changes "$where" "$how" 3 >said 2>&1
			status=$?
			check "$name: from $where, $how: $status $(head -n 3 said)" [ $status -eq 0 -a ! -s said ]
		done
	done
	check "$name: something was recorded" test -s trace -o -s text -o "$name" = "flight recorder" -o "$name" = "dormant"
}
changed "consumer thread" TRACE2_RAW="$tmp/trace"
changed "late thread" TRACE2_RAW="$tmp/trace" TRACE2_RAW_THREAD=late
changed "no thread" TRACE2_RAW="$tmp/trace" TRACE2_RAW_THREAD=off
changed "live texts" TRACE2_PERF="$tmp/text" TRACE2_EVENT="$tmp/trace"
changed "flight recorder" TRACE2_RAW="$tmp/trace" TRACE2_RAW_POLICY=overwrite
changed "dormant" TRACE2_CTL=1
changed "control page" TRACE2_CTL=1 TRACE2_RAW="$tmp/trace"
changed "profiles" TRACE2_CTL=1 TRACE2_RAW="$tmp/trace" LD_PRELOAD="$library" \
	TRACE2_PROF=cpu=1000hz,wall=1000hz,heap=64k,block=1us,mutex=1,threadcreate,threads=USR2

# Daemons keep some capabilities while they become another user; each thread has its own.
if [ "$(id -u)" -eq 0 ]; then
	${CC:-cc} -O2 -Wall -o capabilities "$top/tests/library/identity/capabilities.c" || fail "capabilities.c does not compile"
	for by in libc syscall; do
		check "capabilities by $by without a profile" [ "$(./capabilities $by)" = done ]
		for list in wall=1000hz cpu=1000hz,wall=1000hz,heap=64k,block=1us,mutex=1,threads=USR2; do
			rm -f trace
			env TRACE2_RAW="$tmp/trace" LD_PRELOAD="$library" TRACE2_PROF=$list ./capabilities $by >said 2>&1
			check "capabilities by $by with $list: $? $(head -n 3 said)" [ "$(cat said)" = done ]
			check "capabilities by $by with $list: the clock runs to the end" \
				[ "$("$out/t2" export --format=folded --profile=wall trace | awk '{ n += $NF } END { printf "%d", n / 1e6 }')" -gt 80 ]
		done
		# the consumer thread, by itself and beside the clock
		for list in cpu=1000hz wall=1000hz; do
			rm -f trace
			env TRACE2_RAW="$tmp/trace" TRACE2_RAW_THREAD=init LD_PRELOAD="$library" TRACE2_PROF=$list ./capabilities $by >said 2>&1
			check "capabilities by $by with a consumer thread and $list: $? $(head -n 3 said)" [ "$(cat said)" = done ]
		done
		# the thread that a control page has, while nothing is traced
		env TRACE2_CTL=1 LD_PRELOAD="$library" ./capabilities $by >said 2>&1
		check "capabilities by $by, dormant: $? $(head -n 3 said)" [ "$(cat said)" = done ]
	done
	# A process of two threads is refused a namespace of users.
	if unshare -Ur true 2>/dev/null; then
		TRACE2_RAW="$tmp/trace" TRACE2_RAW_THREAD=init LD_PRELOAD="$library" TRACE2_PROF=cpu=100hz unshare -Ur true 2>said
		check "unshare with a consumer thread: $? $(head -n 3 said)" [ ! -s said ]
		TRACE2_CTL=1 LD_PRELOAD="$library" unshare -Ur true 2>said
		check "unshare, dormant: $? $(head -n 3 said)" [ ! -s said ]
	fi
fi

# What the threads of a process block, as the kernel says: none has 32 or 33 of it, nor SIGSYS.  While glibc starts or
# ends a thread that thread blocks everything: so a look counts that finds all of them started.
cat >blocked.c <<'END2'
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <trace2.h>

/* Threads of the process, and how many of them block one of these signals. */
static unsigned look(unsigned *wrong)
{
	const unsigned long long never = 3ull << 31 | 1ull << 30;
	char path[300], line[200];
	unsigned threads = 0;
	DIR *tasks = opendir("/proc/self/task");

	*wrong = 0;
	for (struct dirent *task; tasks && (task = readdir(tasks));) {
		FILE *status;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
		status = task->d_name[0] == '.' ? NULL : fopen(path, "r");
		threads += status != NULL;
		while (status && fgets(line, sizeof(line), status))
			*wrong += !strncmp(line, "SigBlk:", 7) && strtoull(line + 7, NULL, 16) & never;
		if (status)
			fclose(status);
	}
	closedir(tasks);
	return threads;
}

int main(void)
{
	unsigned wrong = 0, threads = 0;

	trace2_initialize();
	trace2_region_enter("a", "b", NULL);
	for (int i = 0; i < 100 && (threads < 2 || wrong); i++, usleep(20000))
		threads = look(&wrong);
	return threads < 2 || wrong;
}
END2
${CC:-cc} -O2 -Wall -I"$top/runtime" -o blocked blocked.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || fail "blocked.c does not compile"
check "no thread blocks a signal of the C library" env TRACE2_RAW_THREAD=init TRACE2_RAW="$tmp/trace" ./blocked
check "nor with live texts" env TRACE2_RAW_THREAD=init TRACE2_PERF="$tmp/text" ./blocked

total
