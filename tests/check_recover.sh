#!/bin/bash
# SPDX-License-Identifier: MIT
# t2expand --recover, --recover-all, --delete, --live: what processes left that were killed, joined with their
# files, in every format; what is refused; the command in README.md.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

# --recover-all finds what has died anywhere, and --delete deletes it: so /dev/shm must be our own, or hold nothing
if [ -z "${T2_OWN_SHM:-}" ]; then
	for namespace in -m -rm; do
		unshare $namespace mount -t tmpfs none /dev/shm 2>/dev/null && T2_OWN_SHM=1 exec unshare $namespace "$0" "$@"
	done
	! compgen -G '/dev/shm/trace2-*.ring' >/dev/null || { echo "no /dev/shm without rings"; exit 77; }
else
	mount -t tmpfs none /dev/shm || exit 1
fi
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/common.sh"
need_shared_library
rings=$(mktemp -d /dev/shm/trace2-check.XXXXXX) || exit 1
trap 'rm -rf "$tmp" "$rings"' EXIT
export XDG_RUNTIME_DIR=$rings
cd "$tmp" || exit 1
ln -s "$out" build

# Records $1 numbers, the last of them unwritten, then dies; or, with a second argument, waits for its end.
cat >dies.c <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace2.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);

	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	for (int i = 0; i < n; i++) {
		if (i == n / 2)
			trace2_flush();
		trace2_data_intmax("n", NULL, "number", i);
	}
	if (argc > 2)
		return puts("ready") < 0 || fflush(stdout) || getchar();
	raise(SIGKILL);
	return 1;
}
EOF
${CC:-cc} -I"$top/runtime" -o dies dies.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

# A process that has recorded $1 numbers is killed; its trace is $2.
die()
{
	(TRACE2_RAW=$tmp/$2 ./dies "$1" >/dev/null; true) 2>/dev/null
}

# The numbers in perf text $1 are 0 to $2 - 1, each once
numbers()
{
	grep -o 'number:[0-9]*' "$1" | sed 's/.*://' | cmp -s - <(seq 0 $(($2 - 1)))
}

ring()
{
	echo "$rings"/*.ring
}

# t2expand with these arguments exits with status $1
status()
{
	local expected=$1

	shift
	build/t2expand "$@" >got 2>said
	[ $? -eq "$expected" ]
}

die 5000 a.tlg
check "the .tlg alone lacks something" bash -c 'build/t2expand a.tlg 2>/dev/null | grep -c number: | grep -vq 5000'
check "--recover" status 0 --recover "$(ring)"
check "--recover gives all" numbers got 5000
check "it says how many" grep -q 'recovered, 0 events in flight' said
mv got perf
for form in normal perf event tree xml raw; do
	status 0 --format=$form --recover "$(ring)"
	mv got first.$form
	check "--format=$form again gives the same" status 0 --format=$form --recover "$(ring)"
	check "--format=$form again gives the same" cmp -s got first.$form
done
check "raw is a whole trace" status 0 first.raw
check "raw gives the same text" cmp -s got perf
check "raw says so" bash -c 'build/t2expand --format=xml first.raw | grep -q RECOVERED'
check "the .tlg, named too, counts once" status 0 a.tlg --recover "$(ring)"
check "the .tlg, named too, counts once" cmp -s got perf
check "the ring file, named twice, counts once" status 0 --recover "$(ring)" --recover "$(ring)"
check "the ring file, named twice, counts once" cmp -s got perf
check "the output is not the ring file" status 1 --recover "$(ring)" -o "$(ring)"
check "it is still there" status 0 --recover "$(ring)"
check "a full disk keeps the ring file" status 1 --recover "$(ring)" --delete -o /dev/full
check "a full disk keeps the ring file" test -e "$(ring)"
check "--delete" status 0 --recover "$(ring)" --delete -o all.txt
check "--delete removes it" test ! -e "$(ring)"
check "--delete after the output" cmp -s all.txt perf

for i in 1 2 3; do
	die $((i * 1000)) "several.tlg"
done
sh -c "$(sed -n '/^<!-- recover -->$/,/^<!-- /p' "$top/README.md" | grep '^build/t2expand')" 2>said
check "README: all numbers" bash -c 'grep -c number: killed.txt | grep -qx 6000'
check "README: in one file, several" bash -c 'cut -d"|" -f4 killed.txt | grep -c start | grep -qx 3'
check "README: removed" bash -c 'ls "$XDG_RUNTIME_DIR" | (! grep -q .)'
check "nothing is left" status 0 --recover-all
check "nothing is left" grep -q 'no ring files' said

mkfifo in
TRACE2_RAW=$tmp/live.tlg ./dies 700 wait <in >ready &
exec 3>in
until [ -s ready ]; do :; done
check "--live" status 0 --live=$!
check "--live gives all" numbers got 700
check "--live in 64 MiB" bash -c "ulimit -v 65536 && build/t2expand --live=$! >small 2>said"
check "--live in 64 MiB gives all" numbers small 700
check "--recover refuses the living" status 1 --recover "$(ring)" --delete
check "--recover-all leaves the living alone" status 0 --recover-all --delete
exec 3>&-
wait $!
check "the process ended as ever" bash -c 'build/t2expand live.tlg | grep -q atexit'
check "a dead one has nothing live" status 1 --live=$!
check "a dead one has nothing live" grep -q "process $!: no ring file" said

check "not a ring file" status 1 --recover a.tlg
check "no ring file" status 1 --recover nowhere
check "--delete alone" status 2 --delete a.tlg
check "--live of no process" status 2 --live=x
total
