#!/bin/bash
# SPDX-License-Identifier: MIT
# What bench/table.py makes of measurements: ratios round by round, what counts against a goal, what is missing.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"

# measurements BENCH: stdin, with | for tabs
measurements()
{
	tr '|' '\t' >"$tmp/$1.measurements"
}

# row NAME GOAL EXPECTED: the row of that goal has, in its columns from the third, the expected ones
row()
{
	local shown

	shown=$(python3 -B bench/table.py "$tmp" 2>"$tmp/errors" |
		awk -F ' [|] ' -v goal="| $2" '$1 == goal { print $3 "; " $4 "; " $5 "; " $6 "; " $7 }' | head -n 1)
	if [ "${shown% |}" = "$3" ]; then
		pass
	else
		fail "$1: shown ${shown% |}, expected $3"
		cat "$tmp/errors"
	fi
}

# expect NAME WANTED COMMAND...: its exit status
expect()
{
	local name=$1 wanted=$2

	shift 2
	"$@" >/dev/null 2>&1
	if [ $? -eq "$wanted" ]; then
		pass
	else
		fail "$name"
	fi
}

baseline='baseline: clock + 24 bytes stored'
goal='region enter or leave, inline macro'
emit()
{
	printf '%s|1|ns|%s\nregion, inline|1|ns|%s\n' "$baseline" "$1" "$2" | measurements emit
}

# The second round is disturbed, and both measurements with it: the ratio of that round is still 1.05.
emit "10 20 10" "10.5 21 10.5"
row "a ratio is taken within its round" "$goal" "$baseline: 10, 10 ns; 1.05; 1.05; <= 1.08; yes"
emit "10 10 10" "10.5 11 12"
row "the median counts" "$goal" "$baseline: 10, 10 ns; 1.05; 1.1; <= 1.08; at best"
emit "10 10 10" "10.9 11 12"
row "neither reaches it" "$goal" "$baseline: 10, 10 ns; 1.09; 1.1; <= 1.08; **no**"

emit "10 15 15" "10.9 15 15"
row "the median alone is not enough" "$goal" "$baseline: 10, 15 ns; 1.09; 1; <= 1.08; median only"

printf 'babeltrace2, text, redirected to a file|1|M/s|1 1 1\nt2expand, perf text, %s|1|M/s|15 16 14\n' \
	"redirected to a file" | measurements expand
row "of a rate the greatest is best" "perf text redirected to a file, one processor" \
	"babeltrace2, text, redirected to a file: 1, 1 M/s; 16; 15; >= 15; yes"

printf '%s|1|us|%s\n' "linked, no call" "800 900 800" "initialized, tracing off" "805 905 806" \
	"tracing on, ten events" "855 955 856" "git version" "1000 1000 1000" \
	"git version, event target" "1200 1210 1200" | measurements start
row "a difference against a difference" "added to a short process, shared library: on instead of off" \
	"git version, event target less git version: 200, 200 us; 0.25; 0.25; <= 1.1; yes"
row "a difference by itself" "initialized but off, shared library, in us" "; ; ; <= 10; yes"
printf '%s|1|us|%s\n' "linked, no call" "800 800 800 800" "initialized, tracing off" "760 840 801 802" |
	measurements start
row "a difference that is less than its noise" "initialized but off, shared library, in us" "; ; ; <= 10; noise"
printf '%s|1|us|%s\n' "linked, no call" "800 800 800 800" "initialized, tracing off" "780 780 780 780" |
	measurements start
row "a difference far below nothing" "initialized but off, shared library, in us" "; ; ; <= 10; noise"

printf 'paced 20 M/s, packed + LZ4: lost|1|%%|%s\n' "0 0 0.1" | measurements drain
row "of what must not happen every round counts" "paced 20 M/s, the defaults: lost, in %" "; ; ; <= 0; **no**"
rm "$tmp/drain.measurements"
echo "not measured: no such peer" | measurements lttng
expect "a peer that is not there is no error" 1 sh -c "python3 -B bench/table.py --results '$tmp' 2>&1 |
	grep '^table.py: not measured: lttng'"
rm "$tmp/lttng.measurements"

expect "measurements of one benchmark are enough to look at" 0 python3 -B bench/table.py "$tmp"
expect "all goals of a benchmark that ran are to be measured for RESULTS.md" 1 \
	python3 -B bench/table.py --results "$tmp"
rm -f "$tmp"/*.measurements

# The section of a benchmark that has its goals in it is made anew, and nothing else of a file of results.
printf 'xz, %s|1|ms|%s\n' none "100 100 100 100" cpu=100hz "101 99 100 102" cpu=1000hz "101 101 101 101" |
	measurements prof
echo "not measured: all the others" >>"$tmp/prof.measurements"
row "an overhead that is less than its noise" "added to xz: cpu=100hz" \
	"xz, none: 100, 100 ms; -0.01; 1/200; <= 1/200; noise"
row "an overhead that is known" "added to xz: cpu=1000hz" "xz, none: 100, 100 ms; 1/100; 1/100; <= 1/33.3; yes"
printf '# Results\n\n## emit\n\nfirst\n\n## prof\n\nold\n\n| old |\n\n## tail\n\nlast\n' >"$tmp/results"
expect "a section is made anew" 0 python3 -B bench/table.py --renew "$tmp/results" "$tmp"
cp "$tmp/results" "$tmp/once"
printf '# Results\n\n## emit\n\nfirst\n\n\nlast\n' >"$tmp/others"
expect "the other sections stay" 0 sh -c "sed '/^## prof/,/^## tail/d' '$tmp/once' | cmp -s - '$tmp/others'"
expect "the old one is gone" 1 grep -q old "$tmp/once"
expect "the new one is there" 0 grep -q '^| added to xz: cpu=1000hz | 1, 1 ms ' "$tmp/once"
expect "it is made anew again" 0 python3 -B bench/table.py --renew "$tmp/results" "$tmp"
expect "it is there once" 0 [ "$(grep -c '^## prof$' "$tmp/results")" -eq 1 ]
expect "the rest is as it was" 0 sh -c "sed '/^Measured/d' '$tmp/once' >'$tmp/a'; sed '/^Measured/d' '$tmp/results' | cmp -s - '$tmp/a'"
printf '# Results\n' >"$tmp/results"
expect "a section is added" 0 python3 -B bench/table.py --renew "$tmp/results" "$tmp"
expect "it is there" 0 grep -q '^## prof$' "$tmp/results"
rm -f "$tmp"/*.measurements
expect "no measurements at all" 1 python3 -B bench/table.py "$tmp"

total
