#!/bin/bash
# SPDX-License-Identifier: MIT
# TRACE2_PROF=kernel and t2 record --kernel, where the system allows perf_event_open(): functions of the kernel are in
# front of the program's, where the thread was in the kernel, and nowhere else; their names are the kernel's own.  The
# program keeps its descriptors, threads that end leave no ring, a forked child has its own.  Where it is not allowed, t2
# record says why, and the library goes on without.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
cd "$tmp" || exit 1

cat >kernel.c <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

/* CPU time so far, of all and in the kernel. */
static double used(int in_kernel)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6 +
	       (in_kernel ? 0 : (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6);
}

static APART void read_much(double end)
{
	static char bytes[4 << 20];
	const int zeros = open("/dev/zero", O_RDONLY);

	while (used(0) < end)
		if (read(zeros, bytes, sizeof(bytes)) != sizeof(bytes))
			exit(1);
	close(zeros);
}

static APART void call_often(double end)
{
	while (used(0) < end)
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
}

static APART void touch_pages(double end)
{
	while (used(0) < end) {
		char *bytes = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (long i = 0; i < 8 << 20; i += 4096)
			bytes[i] = 1;
		munmap(bytes, 8 << 20);
	}
}

static APART void count_up(double end)
{
	volatile unsigned n = 0;

	while (used(0) < end)
		for (unsigned i = 0; i < 1000000; i++)
			n = n + i;
}

static unsigned descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

static unsigned rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned n = 0;

	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "perf_event") != NULL;
	fclose(maps);
	return n;
}

static void *begin_and_end(void *data)
{
	return data;
}

static void run_threads(void)
{
	pthread_t threads[8];

	for (int round = 0; round < 25; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, begin_and_end, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
}

int main(int argc, char **argv)
{
	double system;
	FILE *share;

	if (argc > 1 && !strcmp(argv[1], "quiet")) {
		printf("%u descriptors\n", descriptors());
		return 3;
	}
	printf("%u descriptors\n", descriptors());
	read_much(0.4);
	system = used(1);
	call_often(0.8);
	touch_pages(1.2);
	count_up(1.6);
	run_threads();
	printf("%u descriptors, %d\n", descriptors(), open("/dev/null", O_RDONLY));
	fprintf(stderr, "%u rings\n", rings());
	share = fopen("share", "w");
	fprintf(share, "%.3f %.3f\n", used(1), system);
	fclose(share);
	fflush(stdout);
	if (!fork()) {
		read_much(0.3);
		fprintf(stderr, "%u rings in the child\n", rings());
		_exit(0);
	}
	wait(NULL);
	return 3;
}
END
quiet "compile" ${CC:-cc} -O1 -g -w -pthread -o kernel kernel.c

if ! "$out/t2" record --kernel -o try.tlg -- true 2>said; then
	"$out/t2" record --kernel -o try.tlg -- touch ran 2>said
	check "where it is not allowed, exit status $?, 2" [ $? -eq 2 ]
	check "one line says why: $(cat said)" grep -q '^t2 record: --kernel: perf_event_open: ' said
	check "and the program has not run" [ ! -e ran ]
	TRACE2_PROF=cpu,kernel TRACE2_DST_DEBUG=1 TRACE2_RAW=$tmp/without.tlg LD_PRELOAD=$library ./kernel quiet >out 2>said
	check "the program runs without: $?" [ $? -eq 3 ]
	check "the library says why" grep -q "cannot start 'kernel' of 'TRACE2_PROF': " said
	echo "perf_event_open() is not allowed here: functions of the kernel were not seen"
	total
	exit
fi

"$out/t2" record --cpu=250 -o one.tlg -- ./kernel >one 2>/dev/null
check "without: exit status $?" [ $? -eq 3 ]
"$out/t2" record --kernel --cpu=250 -o run.tlg -- ./kernel >two 2>said
check "with: exit status $?" [ $? -eq 3 ]
none "it prints the same: its descriptors are its own" "$(diff one two)"
check "$(head -n 1 said), of its one thread" [ "$(head -n 1 said)" = "1 rings" ]
check "$(tail -n 1 said)" [ "$(tail -n 1 said)" = "1 rings in the child" ]

"$out/t2expand" --format=folded --profile=cpu run.tlg >stacks 2>errors

# share FUNCTION PATTERN: of the time in a function per cent of stacks that match
share()
{
	where="main;$1" pattern=$2 awk 'index($0, ENVIRON["where"]) { all += $NF; of += $0 ~ ENVIRON["pattern"] ? $NF : 0 }
		END { printf "%d\n", all ? 100 * of / all : -1 }' stacks
}

kernel='_\[k\][; ]|\[kernel\] |;0xffff[0-9a-f]* |kallsyms'
for where in read_much:80:100 call_often:30:100 touch_pages:20:100 count_up:0:5; do
	IFS=: read -r function least most <<<"$where"
	of=$(share "$function" "$kernel")
	check "$function: $of % in the kernel, $least to $most" [ "$of" -ge "$least" -a "$of" -le "$most" ]
done
# What the kernel itself counts is a rough measure, too: ticks of a clock, as ours
read -r system _ <share
profiled=$(pattern=$kernel awk '$0 ~ ENVIRON["pattern"] { sum += $NF } END { printf "%.3f\n", sum / 1e9 }' stacks)
check "in the kernel for $profiled s, where it says $system" \
	awk -v a="$profiled" -v b="$system" 'BEGIN { exit !(a > 0.5 * b && a < 1.6 * b + 0.4) }'

if grep -q '^f.* T ' /proc/kallsyms; then
	check "reads are in the kernel's own function" [ "$(share read_much 'vfs_read_\[k\]')" -ge 60 ]
	none "addresses of the kernel have names" "$(grep -oE ';0xffff[0-9a-f]*|kallsyms[^ ;]*' stacks | sort | uniq -c | awk '$1 > 5')"
fi
# Another computer reads the trace: it has no such kernel.  A mount of our own takes the names of this one away.
elsewhere()
{
	unshare -m sh -c 'mount --bind /dev/null /proc/kallsyms && exec "$@"' sh "$@"
}
if grep -q '^f.* T ' /proc/kallsyms && elsewhere true 2>/dev/null; then
	elsewhere "$out/t2expand" --format=folded --profile=cpu run.tlg >stacks2 2>errors2
	none "elsewhere the names are the same" "$(diff stacks stacks2 | head -n 3; diff errors errors2)"
	mkdir traces
	"$out/t2" record --kernel --cpu=250 -o traces -- dd if=/dev/zero of=/dev/null bs=1M count=8000 2>/dev/null
	elsewhere "$out/t2expand" --format=folded --profile=cpu traces >stacks2 2>/dev/null
	check "elsewhere the traces of a directory have names" grep -q '_\[k\]' stacks2
	head -c "$(($(stat -c %s run.tlg) - 1))" run.tlg >cut.tlg
	elsewhere "$out/t2expand" --format=folded --profile=cpu cut.tlg >stacks2 2>errors2
	check "elsewhere a trace without names: one line says so: $(cat errors2)" \
		[ "$(grep -c 'its functions have no names: the trace has none' errors2)" -eq 1 ]
fi
"$out/t2expand" --format=pprof --profile=cpu --debug=1 run.tlg >legacy 2>/dev/null
check "the text has the addresses" grep -q '0xffffffff' legacy

if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] && command -v setpriv >/dev/null; then
	chmod 777 "$tmp" && rm -f ran
	who=(setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all)
	if "${who[@]}" test -x "$out/t2"; then
		"${who[@]}" "$out/t2" record --kernel -o "$tmp/refused.tlg" -- touch ran 2>said
		check "who may not: exit status $?, 2" [ $? -eq 2 ]
		check "one line says why: $(cat said)" grep -qE '^t2 record: --kernel: .*perf_event_paranoid is [0-9]+, 1 is needed' said
		check "and the program has not run" [ ! -e ran ]
		TRACE2_PROF=cpu,kernel TRACE2_DST_DEBUG=1 TRACE2_RAW=$tmp/without.tlg "${who[@]}" \
			env LD_PRELOAD="$library" ./kernel quiet >out 2>said
		check "the library goes on without: exit status $?" [ $? -eq 3 ]
		check "and says why" grep -q "cannot start 'kernel' of 'TRACE2_PROF': Permission denied" said
	fi
fi
total
