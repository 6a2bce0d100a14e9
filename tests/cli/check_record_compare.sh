#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 record --compare: two commands run in turn, each with the same input, and what differs is found by name.  A program
# that spends three times as long in one of two functions is compared with the quick one.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC NO_COLOR=1 T2_PAGER=

. "$(dirname "$0")/../common.sh"
need_profiler
need python3 command -v python3
export PATH=$out:$PATH
cd "$tmp" || exit 1

# expect NAME STATUS COMMAND...: its exit status; what it prints is in said and err
expect()
{
	"${@:3}" >said 2>err
	local status=$?
	check "$1: exit status $2, not $status" [ $status -eq "$2" ]
}
says()
{
	check "$1" grep -qE -- "$2" err
}

cat >work.c <<'END'
#include <stdlib.h>
#include <time.h>

volatile unsigned long sum;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
#define TURN(ms) \
	for (double end = cpu() + ms; cpu() < end; ) \
		for (int i = 0; i < 100000; i++) \
			sum++
__attribute__((noinline)) void parse(double ms) { TURN(ms); }
__attribute__((noinline)) void sort(double ms) { TURN(ms); }

int main(int argc, char **argv)
{
	parse(argc > 1 ? atof(argv[1]) : 0);
	sort(argc > 2 ? atof(argv[2]) : 0);
	return 0;
}
END
${CC:-cc} -O1 -g -o work work.c || exit 1

# ---- what differs ---------------------------------------------------------------------------------
expect "one that is slower" 1 t2 record --compare --runs=8 --cpu=200 -- ./work 60 60 -- ./work 60 180
[ -s said ] || t2 diff --as=csv work.compare/old-*.tlg -- work.compare/new-*.tlg
check "its function is first, by name" \
	awk 'NR == 3 && / sort$/ { sub("%", "", $5); found = $5 + 0 > 120 && $5 + 0 < 300 } END { exit !found }' said
says "how to see it again" '^t2 record: 8 runs of each; t2 diff work.compare/old-\*.tlg -- work.compare/new-\*.tlg$'
check "a trace of each run" [ "$(cd work.compare && echo *)" = "$(echo {new,old}-0{1..8}.tlg)" ]
t2 diff work.compare/old-*.tlg -- work.compare/new-*.tlg >again
check "which shows the same" cmp -s again said

# Each trace by itself has what the comparison has of it
t2 diff --as=json work.compare/old-*.tlg -- work.compare/new-*.tlg >diff.json
for side in old new; do
	for i in 1 2 3 4 5 6 7 8; do t2 report --as=json work.compare/$side-0$i.tlg >$side-$i.json; done
done
cat >same.py <<'END'
import json
rows = {r["label"]: r for r in json.load(open("diff.json"))["rows"] if r["kind"] == "function"}
for name in "parse", "sort":
    for side in "old", "new":
        runs = []
        for i in range(1, 9):
            report = json.load(open(f"{side}-{i}.json"))["profiles"][0]
            runs.append(sum(r["self"] for r in report["functions"] if r["function"] == name))
        assert [min(runs), max(runs)] == [rows[name][side + "_min"], rows[name][side + "_max"]], (name, side, runs, rows[name])
END
check "each function has the times that its traces have" python3 same.py

# ---- how they run ---------------------------------------------------------------------------------
cat >note <<'END'
#!/bin/sh
read -r line || line=nothing
echo "$1 $line" >>order
exit "$2"
END
chmod +x note
echo input >input
expect "scripts" 0 t2 record --compare --runs=4 -o pairs/ -- ./note A 0 -- ./note B 3 <input
check "in turn; the same input" \
	[ "$(tr '\n' ' ' <order)" = "A input B input B input A input A input B input B input A input " ]
says "that one fails" '^t2 record: ./note: 4 of 4 runs failed, the last with exit status 3$'
rm order
expect "of a pipe" 0 bash -c 'echo input | t2 record --compare --runs=1 -o pairs -- ./note A 0 -- ./note B 0'
check "nobody reads" [ "$(tr '\n' ' ' <order)" = "A nothing B nothing " ]
check "the traces of an earlier comparison are gone" [ "$(cd pairs && echo *)" = "new-01.tlg old-01.tlg" ]
expect "without a standard input" 0 bash -c 't2 record --compare --runs=1 -o closed -- ./note A 0 -- ./note B 0 <&-'
expect "into a directory that looks like an option" 0 t2 record --compare --runs=1 -o '-a b' -- true -- true
says "how to see it" "t2 diff './-a b'/old-\*.tlg -- './-a b'/new-\*.tlg\$"
mkdir alone && cp "$(readlink -f "$out/t2expand")" alone/t2
expect "without the library" 2 env -u LD_LIBRARY_PATH alone/t2 record --compare --runs=1 -o pairs -- true -- true
check "no earlier trace is taken for a new one" [ -z "$(ls pairs)" ]

# ---- what ends it ---------------------------------------------------------------------------------
expect "a program that is not there" 127 t2 record --compare -o none -- ./missing -- true
expect "one that fails as if it were not there" 0 t2 record --compare --runs=1 -o none -- sh -c 'exit 127' -- true
expect "one that is killed" 137 bash -c 't2 record --compare -o killed -- sh -c "kill -9 \$\$" -- true; exit $?'
says "which" '^t2 record: sh: ended by signal 9, in the run of killed/old-01.tlg$'
check "no other has run" [ "$(ls killed)" = old-01.tlg ]

# A program that notes what it gets, and ends by it in its own way
cat >noting <<'END'
#!/bin/bash
for name in INT TERM USR1; do trap "echo $name >>got" $name; done
echo $$ >>begun
for ((i = 0; i < 1200; i++)); do
	sleep 0.05
	grep -qs 'INT\|TERM' got && sleep 0.5 && exit 0
done
END
chmod +x noting
# begin COMMAND...: in the background, in a group of its own, until the program has begun
begin()
{
	rm -f begun got
	setsid env --default-signal=INT "$@" 2>err &
	starter=$!
	for ((i = 0; i < 1200; i++)); do
		[ ! -s begun ] || break
		sleep 0.05
	done
	program=$(head -n 1 begun)
}
# ends STATUS NAME: the comparison has ended so, and no other program has begun
ends()
{
	wait "$starter" 2>/dev/null
	local status=$?
	check "$2: exit status $1, not $status" [ $status -eq "$1" ]
	check "$2: no other has begun" [ "$(wc -l <begun)" -eq 1 ]
}
begin t2 record --compare -o stopped -- ./noting -- ./noting
kill -INT -- "-$starter"
ends 130 "^C"
check "^C: the program had it once" [ "$(cat got)" = INT ]
begin t2 record --compare -o stopped -- ./noting -- ./noting
kill -USR1 "$starter"
for ((i = 0; i < 600; i++)); do
	[ ! -s got ] || break
	sleep 0.05
done
kill -TERM "$starter"
ends 143 "SIGTERM for t2"
check "SIGTERM for t2: the program had what t2 was sent" [ "$(tr '\n' ' ' <got)" = "USR1 TERM " ]
begin t2 record --compare -o stopped -- ./noting -- ./noting
kill -KILL "$starter"
ends 137 "SIGKILL for t2"
for ((i = 0; i < 600; i++)); do
	[ -e "/proc/$program" ] || break
	sleep 0.05
done
check "SIGKILL for t2: the program had SIGTERM" [ "$(cat got)" = TERM ]

# ---- what is refused ------------------------------------------------------------------------------
expect "one command" 2 t2 record --compare -- true
says "one command" 'two commands, -- OLD... -- NEW...'
expect "three" 2 t2 record --compare -- true -- true -- true
expect "an empty one" 2 t2 record --compare -- true --
for runs in 0 1001 3x -1 ''; do expect "--runs=$runs" 2 t2 record --compare --runs="$runs" -- true -- true; done
expect "--runs alone" 2 t2 record --runs=3 -- true
expect "--pid" 2 t2 record --compare --pid=1
expect "--dormant" 2 t2 record --compare --dormant -- true -- true
expect "a file in the way" 2 t2 record --compare -o input -- true -- true
says "a file in the way" 'input: exists, and is no directory'
total
