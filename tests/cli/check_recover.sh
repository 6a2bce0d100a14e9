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

. "$(dirname "$0")/../common.sh"
need_shared_library
[ "$rings" != "$tmp" ] || exit 1
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

# A process that has recorded $1 numbers is killed; its trace is $2.  It has no thread that could write the last of them
# if it is slow to die.
die()
{
	(TRACE2_RAW_THREAD=off TRACE2_RAW=$tmp/$2 ./dies "$1" >/dev/null; true) 2>/dev/null
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
	local expected=$1 got

	shift
	build/t2expand "$@" >got 2>said
	got=$?
	cat said >>"$tmp/errors"
	[ $got -eq "$expected" ]
}

die 5000 a.tlg
check "the .tlg alone lacks something" bash -c 'build/t2expand a.tlg 2>/dev/null | grep -c number: | grep -vq 5000'
check "--recover" status 0 --recover "$(ring)"
check "--recover gives all" numbers got 5000
check "it says how many" grep -q 'recovered, 0 raw events in flight' said
mv got perf
for form in $("$out/t2expand" --list-formats | awk '{ print $1 }'); do
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
# a kill in a write(2) leaves a part of a frame behind the last whole one; the ring file has all of what it was to be
cp a.tlg whole.tlg
head -c 1000 whole.tlg >>a.tlg
check "a write that the kill has cut short is no damage" status 0 --recover "$(ring)"
check "a write that the kill has cut short is no damage" cmp -s got perf
check "but is one without the ring file" status 3 a.tlg
head -c -100 whole.tlg >a.tlg
check "a frame that was whole is one" status 3 --recover "$(ring)"
check "a frame that was whole is one" grep -q 'cut off by the end of the file' said
cat whole.tlg >a.tlg
check "again as it was" status 0 --recover "$(ring)"
# a FIFO in the place of a trace has no writer: opening it would wait for one
mkfifo fifo.tlg
refuses_fifo()
{
	timeout 20 build/t2expand "$@" >/dev/null 2>said
	[ $? -eq 1 ] && grep -q 'fifo.tlg: not a regular file' said
}
check "a FIFO is not waited for" refuses_fifo fifo.tlg --recover "$(ring)"
mv a.tlg away.tlg
mv fifo.tlg a.tlg
quiet "nor one in the place that the ring file names" timeout 20 build/t2expand --recover "$(ring)" -o less.txt
mv away.tlg a.tlg
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

check "README: removed" test ! -e "$(ring)"
check "nothing is left" status 0 --recover-all
check "nothing is left" grep -q 'no ring files' said

# ---- processes that share a file ------------------------------------------------------------------------
# A parent and three children record a number each in turn.  The parent's are in the file; of the first child nothing is
# there, of the others what they flushed in the middle.  At the end of the input it kills them.
cat >turns.c <<'EOF'
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <trace2.h>
#include <unistd.h>
enum { PROCESSES = 4, TURNS = 120 };
/* 5 us: the times of two processes agree within one, as each has found the rate of the clock by itself. */
static void wait_a_little(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 5000);
}
static void take_turns(volatile int *turn, int self)
{
	for (int i; (i = *turn) < TURNS; sched_yield()) {
		if (i % PROCESSES != self)
			continue;
		wait_a_little();
		trace2_data_intmax("n", NULL, "number", i);
		if (!self || (self > 1 && i / PROCESSES == TURNS / PROCESSES / 2))
			trace2_flush();
		__sync_synchronize();
		*turn = i + 1;
	}
}
int main(int argc, char **argv)
{
	volatile int *turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct trace2_child child[PROCESSES] = { { 0 } };
	pid_t pid[PROCESSES];

	(void)argc;
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	for (int i = 1; i < PROCESSES; i++) {
		child[i].argv = (const char *const[]){ "turns", NULL };
		trace2_child_start(&child[i]);
		pid[i] = child[i].pid = fork();
		if (pid[i])
			continue;
		take_turns(turn, i);
		for (;;)
			pause();
	}
	take_turns(turn, 0);
	for (int i = 1; i < PROCESSES; i++)
		printf("%d\n", (int)pid[i]);
	fflush(stdout);
	getchar();
	for (int i = 1; i < PROCESSES; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		trace2_child_exit(&child[i], 137);
	}
	return 0;
}
EOF
${CC:-cc} -I"$top/runtime" -o turns turns.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

# The numbers in perf text $1 are in order; there are so many
in_turn()
{
	grep -o 'number:[0-9]*' "$1" | sed 's/.*://' >numbers
	sort -nc numbers 2>/dev/null && [ "$(wc -l <numbers)" -eq "$2" ]
}

mkfifo end
: >pids   # the shell opens it later than the loop below may look
TRACE2_RAW_THREAD=off TRACE2_RAW=$tmp/turns.tlg ./turns <end >pids &
exec 3>end
for ((i = 0; i < 1000 && $(wc -l <pids) < 3; i++)); do sleep 0.01; done
# the file has 30 numbers of the parent and 16 of two children each
check "--live of a child that wrote nothing" status 0 --live="$(sed -n 1p pids)"
check "its events are among those of the file" in_turn got 92
check "--live of one that wrote half" status 0 --live="$(sed -n 2p pids)" --format=perf turns.tlg
check "its events are in their places" in_turn got 76
exec 3>&-
wait $!
check "children of a shared file" status 0 --recover-all
check "all are in the order of time" in_turn got 120
check "with --jobs" status 0 --recover-all --jobs=3
check "with --jobs" in_turn got 120
check "from the first event on" status 0 --recover-all --since=+0s
check "from the first event on" in_turn got 120
status 0 --recover-all --format=tree
none "no child is untraced" "$(grep untraced got)"
check "they have been killed" test "$(grep -c 'code:137.* \[fork\]' got)" -eq 3
check "and are gone" status 0 --recover-all --delete -o got

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

# ---- a process in another PID namespace: its id, 1 or so, means nothing here
rm -f ready
if unshare -pf --mount-proc true 2>/dev/null; then
	TRACE2_RAW=$tmp/there.tlg unshare -pf --mount-proc --kill-child ./dies 700 wait <in >ready &
	exec 3>in
	until [ -s ready ]; do :; done
	check "--recover-all leaves those of another PID namespace alone" status 0 --recover-all --delete
	check "and says so" grep -q 'left alone, process 1 \(may be\|is\) running, in another PID namespace: --live=1 reads it' said
	check "and they are there" test -e "$(ring)"
	check "--recover refuses them" status 1 --recover "$(ring)" --delete
	check "--live reads them" status 0 --live=1
	check "--live reads them" numbers got 700
	for proc in --mount-proc ""; do
		check "from a third namespace ${proc:-with our /proc}" unshare -pf $proc build/t2expand --recover-all --delete -o got
		check "they are there" test -e "$(ring)"
	done 2>said
	exec 3>&-
	wait $!
	check "the process ended as ever" bash -c 'build/t2expand there.tlg | grep -q atexit'
	TRACE2_RAW=$tmp/there.tlg unshare -pf --mount-proc sh -c './dies 700; true' 2>/dev/null
	check "the dead ones of another PID namespace" status 0 --recover-all --delete -o there.txt
	check "are recovered" test "$(grep -c number: there.txt)" -eq 1400
	check "and removed" test ! -e "$(ring)"
fi

# ---- in an overlay the kernel gives a lease of what is mapped
mkdir overlay
if mount -t tmpfs none overlay 2>/dev/null && mkdir overlay/{lower,upper,work,all} && mount -t overlay \
	-o lowerdir=overlay/lower,upperdir=overlay/upper,workdir=overlay/work overlay overlay/all 2>/dev/null; then
	rm -f ready
	XDG_RUNTIME_DIR=$tmp/overlay/all TRACE2_RAW=$tmp/overlay.tlg ./dies 700 wait <in >ready &
	exec 3>in
	until [ -s ready ]; do :; done
	check "in an overlay the living are left alone" \
		env XDG_RUNTIME_DIR="$tmp/overlay/all" build/t2expand --recover-all --delete 2>said
	check "in an overlay the living are left alone" grep -q "process $! is running" said
	check "in an overlay the living are read" env XDG_RUNTIME_DIR="$tmp/overlay/all" build/t2expand --live=$! -o got 2>said
	check "in an overlay the living are read" numbers got 700
	exec 3>&-
	wait $!
	umount overlay/all
fi
umount overlay 2>/dev/null

# ---- of another user
if [ "$(id -u)" -eq 0 ] && setpriv --reuid nobody --clear-groups true 2>/dev/null; then
	chmod 755 .
	mkdir -m 777 theirs
	(cd theirs && XDG_RUNTIME_DIR='' TRACE2_RAW=$tmp/theirs/a.tlg setpriv --reuid nobody --clear-groups ../dies 70
		true) 2>/dev/null
	check "what is another user's is his" status 0 --recover-all --delete
	check "what is another user's is his" grep -q 'no ring files' said
	check "--ring-user" status 0 --recover-all --ring-user=nobody --delete -o got.txt
	check "--ring-user" numbers got.txt 70
	check "--ring-user --delete" status 0 --recover-all --ring-user=nobody
	check "--ring-user --delete" grep -q 'no ring files' said
fi

# ---- many, and some of them
ln -s dies other
for i in {1..150}; do
	die $i many.tlg
done
(TRACE2_RAW=$tmp/many.tlg ./other 7; true) 2>/dev/null
# what --recover-all with these options takes, as the command lines of the programs
starts()
{
	build/t2expand --recover-all "$@" 2>said | cut -d'|' -f4,9 | sed -n 's/^ start *| *//p'
}
check "--recover-all takes them all" test "$(starts | grep -c dies)" -eq 150
check "few are told one by one" test "$(wc -l <said)" -le 12
check "the others are summed up" grep -q 'ring files: 141 more processes: [0-9]* checkpoints recovered' said
expect "with few open files some are left out" 3 'ring files left out: --output=DIRECTORY/ reads' \
	bash -c 'ulimit -n 40; build/t2expand --recover-all'
mkdir few
expect "but not in a directory" 0 'more processes' bash -c 'ulimit -n 40; build/t2expand --recover-all --output few'
check "but not in a directory" test "$(find few -name '*.perf' | wc -l)" -eq 151
check "--ring-program" test "$(starts --ring-program='o*r')" = './other 7'
check "--ring-program of a path" test "$(starts --ring-program='./o*')" = './other 7'
check "--ring-program of nobody" status 0 --recover-all --ring-program=oth
check "--ring-program of nobody" grep -q 'no ring files' said
one=$(find "$rings" -name '*.ring' | sort | tail -n 1)
one=${one##*/trace2-}
check "--ring-pid" test "$(starts --ring-pid=$((16#${one%%-*})) | wc -l)" -eq 1
check "--ring-newer" test "$(starts --ring-newer=1h | wc -l)" -eq 151
check "--ring-newer=0" status 0 --recover-all --ring-newer=0
check "--ring-newer=0" grep -q 'no ring files' said
check "--ring-older" status 0 --recover-all --ring-older=1h
check "--ring-older" grep -q 'no ring files' said
check "--ring-older=0" test "$(starts --ring-older=0s | wc -l)" -eq 151
check "--ring-user" test "$(starts --ring-user="$(id -u)" | wc -l)" -eq 151
check "--ring-user of nobody" status 0 --recover-all --ring-user=4000000000
check "--ring-user of nobody" grep -q 'no ring files' said
for option in --ring-pid=1 --ring-program=x --ring-user=0 --ring-older=1 --ring-newer=1; do
	expect "$option alone" 2 "need --recover-all" build/t2expand $option many.tlg
done
for option in --ring-pid=x --ring-user=no-such-user --ring-older=1y --ring-newer=-1 --ring-older=; do
	expect "$option" 2 "t2expand: --ring-[a-z]* is not .*: " build/t2expand --recover-all "$option"
done

# ---- each into a file of its own
mkdir each
check "--output DIR/" status 0 --recover-all --output each/
check "has one file for each" test "$(find each -name '*.perf' | wc -l)" -eq 151
check "named after the session" test "$(find each -regex 'each/[0-9]*T[0-9.]*Z-[^/]*-P[0-9a-f]*\.perf' | wc -l)" -eq 151
check "with one process in each" test "$(grep -c '| start ' each/* | cut -d: -f2 | sort -u)" = 1
check "and all of it" bash -c "cat each/* | grep -c number: | grep -qx $((150 * 151 / 2 + 7))"
cat each/* | sort >sorted
check "again, beside them" status 0 --recover-all --output each
check "again, beside them" test "$(find each -name '*-1.perf' | wc -l)" -eq 151
check "which are as they were" bash -c "find each ! -name '*-1.perf' -type f | xargs cat | sort | cmp -s - sorted"
mkdir raws
check "--format=raw" status 0 --recover-all --format=raw --output raws/
check "whole traces" status 0 raws
check "with all" bash -c "grep -c number: got | grep -qx $((150 * 151 / 2 + 7))"
expect "no such directory" 1 "nowhere/.*: No such file" build/t2expand --recover-all --output nowhere/ --delete
expect "a directory needs ring files" 2 "needs --recover" build/t2expand many.tlg -o each
expect "a directory and a file" 2 "no file goes with" build/t2expand --recover-all many.tlg -o each
check "all are there" test "$(find "$rings" -name '*.ring' | wc -l)" -eq 151
mkdir disk
if mount -t tmpfs -o size=64k none disk 2>/dev/null; then
	expect "a full disk" 1 "No space left" build/t2expand --recover-all --delete --output disk/ --format=xml
	check "leaves nothing that is not whole" bash -c "! grep -L RECOVERED disk/* | grep -q ."
	check "a file, or the ring file" \
		test $(($(find disk -type f | wc -l) + $(find "$rings" -name '*.ring' | wc -l))) -eq 151
	umount disk
fi
left=$(find "$rings" -name '*.ring' | wc -l)
mkdir last
check "--delete" status 0 --recover-all --delete --output last
check "--delete has them" test "$(find last -name '*.perf' | wc -l)" -eq "$left"
check "--delete removes them" test ! -e "$(ring)"

# ---- killed at any moment: a process is in a whole file, or its ring file is there
for i in {1..20}; do
	die 3000 killed.tlg
done
mkdir killed
for i in {1..20}; do
	timeout -s KILL "0.0$((i * 7 % 100))" build/t2expand --recover-all --delete --output killed
done 2>/dev/null
check "killed: the rest" status 0 --recover-all --delete --output killed
check "killed: all processes" test "$(find killed -name '*.perf' | sed 's/.*-P\([0-9a-f]*\).*/\1/' | sort -u | wc -l)" -eq 20
check "killed: each file is whole" bash -c 'for file in killed/*; do grep -c number: "$file"; done | sort -u | grep -qx 3000'
check "killed: and there is no other one" bash -c 'for file in killed/*; do grep -c number: "$file"; done | sort -u | wc -l | grep -qx 1'

# ---- where the rest is
die 0 dead.tlg
expect "of a dead process, nothing written" 1 "dead.tlg: process [0-9]* died .*--recover=$(ring) reads" build/t2expand dead.tlg
check "and nothing else but that it is empty" test "$(grep -vc 'dead.tlg: empty' err)" -eq 1
die 5000 dead.tlg
expect "of two" 0 "dead.tlg: 2 processes died .*--recover-all reads" build/t2expand dead.tlg
expect "also in a directory" 0 "dead.tlg: 2 processes died .*--recover-all reads" build/t2expand "$tmp/dead.tlg" "$tmp/raws"
check "with --recover-all nothing is missing" status 0 dead.tlg --recover-all --delete
check "and nothing said" bash -c '! grep -q died said'
expect "no ring file" 0 "did not end: killed, or still running" build/t2expand --format=normal dead.tlg
check "nothing said" test "$(wc -l <err)" -eq 1
rm -f ready
for n in 0 5000; do
	rm -f living.tlg
	# without a thread that would soon write even the start of the process
	TRACE2_RAW_THREAD=off TRACE2_RAW=$tmp/living.tlg ./dies $n wait <in >ready &
	exec 3>in
	until [ -s ready ]; do :; done
	expect "of a living process" "$([ $n -lt 100 ]; echo $((!$?)))" "living.tlg: process $! is running: --live=$! reads" \
		build/t2expand living.tlg
	check "with --live nothing is missing" status 0 living.tlg --live=$!
	check "with --live nothing is missing" numbers got $n
	exec 3>&-
	wait $!
	rm -f ready
done

check "not a ring file" status 1 --recover a.tlg
check "no ring file" status 1 --recover nowhere
check "--delete alone" status 2 --delete a.tlg
check "--live of no process" status 2 --live=x

# What it had written went into a pipe
(TRACE2_RAW=9 ./dies 100 9> >(cat >/dev/null); true) 2>/dev/null
check "of a process without a file" status 0 --recover "$(ring)" --delete
check "what was written is missing" grep -q 'is missing: its stream did not go to a file' said

# The parent of a daemon ends by _exit(): what it recorded is in its ring file only, and the file has another's end.  Of
# who has written all before that nothing is missing
cat >daemon.c <<'EOF'
#include <trace2.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	if (argc > 1)
		trace2_flush();
	if (fork()) {
		wait(NULL);
		_exit(0);
	}
	trace2_data_intmax("n", NULL, "number", 1);
	return 0;
}
EOF
${CC:-cc} -I"$top/runtime" -o daemon daemon.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1
TRACE2_RAW_THREAD=off TRACE2_RAW=$tmp/daemon.tlg ./daemon
check "the parent of a daemon" status 0 daemon.tlg
check "is said to have more" grep -qE "daemon.tlg: process [0-9]+ died before it had written all: --recover=$(ring) reads" said
check "which is so" status 0 --recover "$(ring)" --delete
check "which is so" grep -q '|[[:space:]]*start ' got
TRACE2_RAW_THREAD=off TRACE2_RAW=$tmp/flushed.tlg ./daemon flushes
check "one that had written all" test -e "$(ring)"
check "one that had written all" status 0 flushed.tlg
none "is not said to have more" "$(grep 'had written all' said)"
rm -f "$(ring)"

# The last of a process, some of which was in its file
die 100 end.tlg
"$out/t2expand" --recover="$(ring)" --delete --last=3 --columns=program end.tlg >text 2>said
check "the last ones, with the program" \
	[ "$(sed -nE 's/^dies +\|.*number:([0-9]+)$/\1/p' text | xargs)" = "97 98 99" ]
check "and no others" [ "$(wc -l <text)" -eq 3 ]
well_said
total
