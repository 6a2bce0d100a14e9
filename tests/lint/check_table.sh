#!/bin/bash
# SPDX-License-Identifier: MIT
# What bench/table.py makes of measurements: ratios round by round, what counts against a goal, what is missing; when
# bench/run.sh runs a benchmark again, and which of its passes decides.  Ends with "N passed, N failed".
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
row "the median alone is not enough" "$goal" "$baseline: 10, 15 ns; 1.09; 1; <= 1.08; median only, 8 % apart"

# undecided NAME BENCHMARKS: another pass of these may decide
undecided()
{
	check_equal "$1" "$(python3 -B bench/table.py --undecided "$tmp" | tr '\n' ' ')" "$2"
}
check_equal()
{
	if [ "${2% }" = "$3" ]; then pass; else fail "$1: ${2% }, expected $3"; fi
}
# pass_again PASS VALUES VALUES: another pass of emit
pass_again()
{
	printf '%s|1|ns|%s\nregion, inline|1|ns|%s\n' "$baseline" "$2" "$3" | measurements "emit.$1"
}
undecided "the best says no, the median yes, and they are apart" emit
emit "10 10 10 10 10 10" "10.5 11.5 11.5 11.5 11.5 11.5"
row "in no pass do they agree: it says how far they are apart" "$goal" \
	"$baseline: 10, 10 ns; 1.05; 1.15; <= 1.08; at best, 10 % apart"
undecided "the best says yes, the median no, and they are apart" emit
pass_again 2 "10 10 10 10" "10.2 10.3 10.3 10.4"
row "a pass that agrees decides" "$goal" "$baseline: 10, 10 ns; 1.02; 1.03; <= 1.08; yes (pass 2)"
undecided "a pass that agrees is the last" ""
pass_again 3 "10 10 10 10" "10.9 10.9 10.9 11"
row "the steadiest pass decides, whatever it says" "$goal" "$baseline: 10, 10 ns; 1.09; 1.09; <= 1.08; **no** (pass 3)"
pass_again 2 "10 10 10 10" "10.2 12 12 12"
pass_again 3 "10 10 10 10" "10.3 12 12 13"
row "no pass agrees, however many there are" "$goal" "$baseline: 10, 10 ns; 1.02; 1.15; <= 1.08; at best, 13 % apart"
undecided "as long as none agrees another one may" emit
rm "$tmp"/emit.[23].measurements
emit "10 10 10 10" "10.7 10.9 10.9 10.9"
row "they agree, and the goal lies between them" "$goal" "$baseline: 10, 10 ns; 1.07; 1.09; <= 1.08; at best"
undecided "what agrees is known" ""
emit "10 10 10 10" "9 10.5 10.5 10.5"
row "both reach it, however far apart" "$goal" "$baseline: 10, 10 ns; 0.9; 1.05; <= 1.08; yes"
undecided "both reach it: no question" ""
emit "10 10 10 10" "11 13 13 13"
undecided "neither reaches it: no question" ""
emit "10 10" "10.5 11.5"
printf '%s|1|ns|%s\nregion, inline|1|ns|%s\n' "$baseline" "10 10" "11.5 11.5" | tr '|' '\t' >>"$tmp/emit.measurements"
row "what goes on further down is the same pass" "$goal" "$baseline: 10, 10 ns; 1.05; 1.15; <= 1.08; at best, 10 % apart"

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
undecided "noise may become less" "emit start"
printf '%s|1|us|%s\n' "linked, no call" "800 800 800 800" "initialized, tracing off" "801 801 801 801" |
	measurements start.2
row "more rounds are less noise" "initialized but off, shared library, in us" "; ; ; <= 10; yes"
undecided "it has become less" emit
rm "$tmp/start.2.measurements"
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

# run.sh, with a benchmark that is steady from its third pass on
mkdir -p "$tmp/out/bench"
printf '#!/bin/sh\nexit 0\n' >"$tmp/out/t2expand"
cat >"$tmp/out/bench/bench_emit" <<'END'
#!/bin/bash
echo >>"$PASSES"
values="10.5 11.5 11.5 11.5"
[ "$(wc -l <"$PASSES")" -lt 3 ] || values="10.5 10.5 10.5 10.5"
printf '%s\t1\tns\t%s\n' "baseline: clock + 24 bytes stored" "10 10 10 10" "region, inline" "$values"
echo recorded 0
END
chmod +x "$tmp/out/t2expand" "$tmp/out/bench/bench_emit"
# passes NAME WANTED VERDICT SETTING...: so often run.sh runs it, and so the table judges
passes()
{
	rm -f "$tmp/passes"
	env "${@:4}" T2_OUT="$tmp/out" PASSES="$tmp/passes" TMPDIR="$tmp" bench/run.sh emit >"$tmp/table" 2>"$tmp/errors"
	check_equal "$1: passes" "$(wc -l <"$tmp/passes")" "$2"
	check_equal "$1" "$(sed -n "s/^| $goal .* | \(.*\) |\$/\1/p" "$tmp/table")" "$3"
}
passes "again until it agrees" 3 "yes (pass 3)" BENCH_SECONDS=600
passes "no more often than allowed" 2 "at best, 10 % apart" BENCH_SECONDS=600 BENCH_AGAIN=1
passes "no longer than allowed" 1 "at best, 10 % apart" BENCH_SECONDS=0

total
