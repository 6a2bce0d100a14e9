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
expect "one that is slower" 1 t2 record --compare --runs=6 --cpu=200 -- ./work 60 60 -- ./work 60 180
check "its function is first, by name" \
	awk 'NR == 3 && / sort$/ { sub("%", "", $5); found = $5 + 0 > 120 && $5 + 0 < 300 } END { exit !found }' said
says "how to see it again" '^t2 record: 6 runs of each; t2 diff work.compare/old-\*.tlg -- work.compare/new-\*.tlg$'
check "a trace of each run" [ "$(cd work.compare && echo *)" = "$(echo {new,old}-0{1..6}.tlg)" ]
t2 diff work.compare/old-*.tlg -- work.compare/new-*.tlg >again
check "which shows the same" cmp -s again said

# Each trace by itself has what the comparison has of it
t2 diff --as=json work.compare/old-*.tlg -- work.compare/new-*.tlg >diff.json
for side in old new; do
	for i in 1 2 3 4 5 6; do t2 report --as=json work.compare/$side-0$i.tlg >$side-$i.json; done
done
cat >same.py <<'END'
import json
rows = {r["label"]: r for r in json.load(open("diff.json"))["rows"] if r["kind"] == "function"}
for name in "parse", "sort":
    for side in "old", "new":
        runs = []
        for i in range(1, 7):
            report = json.load(open(f"{side}-{i}.json"))["profiles"][0]
            runs.append(sum(r["self"] for r in report["functions"] if r["function"] == name))
        assert [min(runs), max(runs)] == [rows[name][side + "_min"], rows[name][side + "_max"]], (name, side, runs, rows[name])
END
check "each function has the times that its traces have" python3 same.py

# ---- how they run ---------------------------------------------------------------------------------
cat >note <<'END'
#!/bin/sh
read -r line || line=nothing
echo "$1 $line $TRACE2_DST_DEBUG" >>order
exit "$2"
END
chmod +x note
echo input >input
expect "scripts" 0 t2 record --compare --runs=4 -o pairs/ -- ./note A 0 -- ./note B 3 <input
check "in pairs, each in the other order; the same input" \
	[ "$(cut -d' ' -f1,2 order | tr '\n' ' ')" = "A input B input B input A input A input B input B input A input " ]
check "what is wrong is said once" [ "$(grep -c ' 0$' order)" -eq 6 ]
says "that one fails" '^t2 record: ./note: 4 of 4 runs failed, the last with exit status 3$'
rm order
expect "of a pipe" 0 bash -c 'echo input | t2 record --compare --runs=1 -o pipe -- ./note A 0 -- ./note B 0'
check "nobody reads" [ "$(cut -d' ' -f1,2 order | tr '\n' ' ')" = "A nothing B nothing " ]
expect "into the same directory" 0 t2 record --compare --runs=1 -o pipe -- true -- true

# ---- what ends it ---------------------------------------------------------------------------------
expect "a program that is not there" 127 t2 record --compare -o none -- ./missing -- true
expect "one that is killed" 137 bash -c 't2 record --compare -o killed -- sh -c "kill -9 \$\$" -- true; exit $?'
check "no other has run" [ "$(ls killed)" = old-01.tlg ]
# A program that catches ^C, and goes on to its end
cat >stubborn <<'END'
#!/bin/sh
trap 'echo caught >>caught' INT
echo $$ >>begun
i=0
while [ $i -lt 20 ]; do sleep 0.1; i=$((i + 1)); done
END
chmod +x stubborn
: >begun
setsid env --default-signal=INT t2 record --compare -o stopped -- ./stubborn -- ./stubborn 2>/dev/null &
until [ -s begun ]; do sleep 0.02; done
sleep 0.2
kill -INT -- "-$(ps -o pgid= -p "$(head -n 1 begun)" | tr -d ' ')"
wait $!
check "after ^C, 130" [ $? -eq 130 ]
check "the program had it" [ -s caught ]
check "no other has begun" [ "$(wc -l <begun)" -eq 1 ]
: >begun
t2 record --compare -o left -- ./stubborn -- ./stubborn 2>/dev/null &
until [ -s begun ]; do sleep 0.02; done
{ kill -9 $!; wait $!; } 2>/dev/null
program=$(head -n 1 begun)
for ((i = 0; i < 30; i++)); do kill -0 "$program" 2>/dev/null || break; sleep 0.05; done
check "if it is killed, what it runs gets SIGTERM" [ ! -e "/proc/$program" ]

# ---- what is refused ------------------------------------------------------------------------------
expect "one command" 2 t2 record --compare -- true
says "one command" 'two commands, -- OLD... -- NEW...'
expect "three" 2 t2 record --compare -- true -- true -- true
expect "an empty one" 2 t2 record --compare -- true --
for runs in 0 1001 3x -1 ''; do expect "--runs=$runs" 2 t2 record --compare --runs="$runs" -- true -- true; done
expect "--runs alone" 2 t2 record --runs=3 -- true
expect "--pid" 2 t2 record --compare --pid=1
expect "--dormant" 2 t2 record --compare --dormant -- true -- true
expect "a file in the way" 1 t2 record --compare -o input -- true -- true
says "a file in the way" 'input: exists, and is no directory'
total
