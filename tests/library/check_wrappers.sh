#!/bin/bash
# SPDX-License-Identifier: MIT
# A library in LD_PRELOAD that stands in front of write(), close(), mmap(), clock_gettime(), pthread_create() and more,
# and records each call: the library's own work is none of the events, in files and live texts; forked children begin
# their sessions at once; and the program's calls are counted, each once.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_shared_library
case $(${CC:-cc} -dumpmachine) in
x86_64-* | aarch64-*) ;;
*) need "direct system calls on this machine" false ;;
esac
cd "$tmp" || exit 1

${CC:-cc} -O2 -Wall -fPIC -shared -I"$top/runtime" -o wrappers.so "$top/tests/library/wrappers/wrappers.c" -L"$out" \
	-Wl,-rpath,"$out" -ltrace2 -ldl || fail "wrappers.c does not compile"

# usage: program FORKS THREADS: known calls, in forked children and in threads as well
cat >program.c <<'END2'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *data)
{
	char bytes[16];
	int fd = open("/dev/zero", O_RDWR);

	for (int i = 0; i < 1000; i++)
		if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes) || write(fd, bytes, 1) != 1)
			exit(1);
	close(fd);
	return data;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int forks = argc > 1 ? atoi(argv[1]) : 0, threads = argc > 2 ? atoi(argv[2]) : 0, status;

	work(NULL);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
			return 1;
	for (int i = 0; i < forks; i++) {
		pid_t child = fork();
		if (!child) {
			work(NULL);
			exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			return 1;
	}
	return 0;
}
END2
${CC:-cc} -O2 -Wall -o program program.c -pthread || fail "program.c does not compile"

# count TEXT LABEL: regions of this name that were entered
count()
{
	grep -c "\"region_enter\".*\"label\":\"$2\"" "$1"
}

# counted NAME FORKS THREADS EVENTS: of each call so many
counted()
{
	local n=$((1 + $2 + $3))

	for label in read write; do
		check "$1: $((n * 1000)) of $label, $(count "$4" $label)" [ "$(count "$4" $label)" -eq $((n * 1000)) ]
	done
	check "$1: $n of close, $(count "$4" close)" [ "$(count "$4" close)" -eq $n ]
	for label in send poll mmap munmap madvise mprotect nanosleep clock_gettime getpid; do
		check "$1: none of $label, $(count "$4" $label)" [ "$(count "$4" $label)" -eq 0 ]
	done
	check "$1: $3 threads with a name" [ "$(grep -c '"thread_start"' "$4")" -eq "$3" ]
}

# run VARIABLE...: what the program does with the library in front of it, within bounded time
run()
{
	timeout -s KILL 120 env LD_PRELOAD="$tmp/wrappers.so" "$@" ./program "$forks" "$threads"
}

for settings in TRACE2_RAW_LZ4=1 TRACE2_RAW_LZ4=0 TRACE2_RAW_THREAD=late TRACE2_RAW_THREAD=off; do
	rm -f raw events
	forks=20 threads=5
	check "files, $settings: the program ends" run "$settings" TRACE2_RAW="$tmp/raw"
	"$out/t2expand" --format=event -o events raw 2>errors
	counted "files, $settings" $forks $threads events
done

forks=20 threads=2
check "live text: the program ends" run TRACE2_EVENT="$tmp/text" TRACE2_PERF="$tmp/perf"
counted "live text" $forks $threads text

total
