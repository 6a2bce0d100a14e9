#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/library/check_instructions.sh [--write|--print]
#
# What the hot paths cost, in instructions: a gate that a busy machine cannot fool.  valgrind counts N and 2N
# repetitions of each; the difference leaves out whatever happens once.  A count may rise 5 % above the one
# recorded in tests/data/instructions; if it does, the change that raised it has to pay for that, or to say
# why not and record the new one:
#
#     make check && T2_OUT=build tests/library/check_instructions.sh --write
#
# --print: the counts of now, of whatever compiler, without a verdict.
#
# After a change that made something cheaper do the same, or the gate stays too wide.
#
# Of the ring: drain, an event's way into the file; requests, the same in a server, where every other event has a message
# of three raw events; chunk, what a thread does to go on in another chunk; pass, a flush
# that finds one event.
#
# And that of a call does not rise at all when git's texts are written, too: they are the drain's work.
#
# A TRACE2_SCOPE() costs what the two calls cost that it stands for, in C and in C++, tracing or not.
#
# Of libtrace2-prof: what it adds to malloc() with free(), to locking with unlocking, of which nothing is sampled; such a
# pair of which both are, a tick of CPU time, along frame pointers, of which there are none: all but the unwinding; and
# the tick by unwind tables.
#
# Counts belong to a compiler, its level of optimization, and a processor on which libc and the library choose
# the same code: anywhere else this is skipped (exit status 77), and says why.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

recorded=tests/data/instructions
. "$(dirname "$0")/../common.sh"
texts=()
# nothing: the loop around each of the next four
counts="nothing off enter intmax printf drain requests chunk pass line malloc lock sampled tick unwound"

skip()
{
	echo "skipped: $1"
	exit 77
}

# "gcc (Debian ...) 12.2.0 -O2"; gcc says cc when called so.
compiler="$(${CC:-cc} --version | sed '1s/^cc /gcc /;1q')$(grep -oE -- ' -O[0-9sgz]+' "$out/flags" | tail -n 1)"
recorded_for=$(sed -n 's/^# //p' "$recorded" 2>/dev/null)

[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
command -v valgrind >/dev/null || skip "no valgrind"
grep -q -w avx2 /proc/cpuinfo || skip "a processor without AVX2"
[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = tsc ] ||
	skip "the time stamp counter is not this system's clock: calls take another path"
[ $# -gt 0 ] || [ "$compiler" = "$recorded_for" ] ||
	skip "built by $compiler, counts are for $recorded_for"

# Instructions of a command, all of it or those of the functions $1, into the file $2.
count()
{
	local functions=$1 result=$2

	shift 2
	env -u TRACE2 -u TRACE2_PERF -u TRACE2_EVENT "${texts[@]}" TRACE2_RAW_RING=1536k TRACE2_RAW_LZ4=0 \
		valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		${functions:+--collect-atstart=no "--toggle-collect=$functions"} "$@" >"$result.out" 2>"$result.err" &&
		sed -n 's/.*Collected : \([0-9]*\)$/\1/p' "$result.err" >"$result"
}

# The count of one repetition of $1, counting $2 and twice that many: into $tmp/$1, or $tmp/$3.  $4: in this function
count_call()
{
	local what=$1 n=$2 as=${3:-$1} function=${4:-count_$1}

	count "$function" "$tmp/$as.1" "$out/tests/counted" "$what" "$n" "$tmp/$as.1.tlg"
	count "$function" "$tmp/$as.2" "$out/tests/counted" "$what" $((2 * n)) "$tmp/$as.2.tlg"
	divide "$as" "$n"
}

# The same with all of git's texts on.
count_call_with_texts()
{
	local texts=(TRACE2=/dev/null TRACE2_PERF=/dev/null TRACE2_EVENT=/dev/null)

	count_call "$1" "$2" "$1.texts"
}

# What t2expand does for a line: files of $1 and twice that many region events.  The times in them are those of this
# run, and on a busy machine long ones, which are more bytes and more digits: the least of three files counts.
count_line()
{
	local n=$1 try

	for try in 1 2 3; do
		for k in 1 2; do
			"$out/tests/counted" drain $((k * n)) "$tmp/line.$k.tlg"
			count "" "$tmp/line.$k" "$out/t2expand" --format=perf "$tmp/line.$k.tlg"
		done
		divide line "$n"
		cat "$tmp/line" >>"$tmp/lines"
	done
	sort -g "$tmp/lines" | head -n 1 >"$tmp/line"
}

# count_prof NAME PROGRAM WORK N SETTINGS: of tests/library/counts/prof.c, with the profiler or without
count_prof()
{
	local texts=("TRACE2_RAW=$tmp/$1.tlg" TRACE2_RAW_THREAD=off "TRACE2_PROF=$5") k

	for k in 1 2; do
		count "count_$3" "$tmp/$1.$k" "$2" "$3" $((k * $4))
	done
	divide "$1" "$4"
}

# count_added WORK SETTINGS: what the profiler adds, into $tmp/WORK
count_added()
{
	count_prof "$1.bare" "$tmp/bare" "$1" 1000 ""
	count_prof "$1" "$tmp/profiled" "$1" 1000 "$2"
	awk '{ c[NR] = $1 } END { if (NR == 2) printf "%.1f\n", c[2] - c[1] }' "$tmp/$1.bare" "$tmp/$1" >"$tmp/added"
	mv "$tmp/added" "$tmp/$1"
}

# count_scope LANGUAGE DESTINATION: of a region by its two calls into $tmp/pair.LANGUAGE.DESTINATION, of a scope likewise
count_scope()
{
	local what k texts=("TRACE2_RAW=$2" TRACE2_RAW_THREAD=off)

	for what in pair scope; do
		for k in 1 2; do
			count "count_$what" "$tmp/$what.$1.${2##*/}.$k" \
				"$tmp/scope.$1" "$what" $((k * 200))
		done
		divide "$what.$1.${2##*/}" 200
	done
}

# From $tmp/$1.1 and $tmp/$1.2, of $2 and twice $2 repetitions, to one: into $tmp/$1, empty if there is no count.
divide()
{
	cat "$tmp/$1.1" "$tmp/$1.2" 2>/dev/null |
		awk -v n="$2" '{ c[NR] = $1 } END { if (NR == 2 && c[2] > c[1]) printf "%.1f\n", (c[2] - c[1]) / n }' \
			>"$tmp/$1"
}

# verdict NAME: the count of now beside the recorded one
verdict()
{
	local now was

	now=$(cat "$tmp/$1")
	was=$(awk -v name="$1" '$1 == name { print $2 }' "$recorded")
	if awk -v now="${now:-0}" -v was="${was:-0}" 'BEGIN { exit !(now > 0 && now <= was * 1.05) }'; then
		pass
		printf '%-8s %8s instructions, recorded %s\n' "$1" "$now" "$was"
		awk -v now="$now" -v was="$was" 'BEGIN { exit !(now < was * 0.95) }' &&
			echo "         cheaper than recorded: make it last with --write"
	else
		fail "$1: ${now:-no} instructions, recorded ${was:-nothing}"
		cat "$tmp/$1".[12].err
	fi
}

# verdict_with_texts NAME: texts cost the call nothing
verdict_with_texts()
{
	if [ -s "$tmp/$1" ] && cmp -s "$tmp/$1" "$tmp/$1.texts"; then
		pass
	else
		fail "$1: $(cat "$tmp/$1") instructions, with texts $(cat "$tmp/$1.texts")"
		cat "$tmp/$1.texts".[12].err
	fi
}

# verdict_scope NAME: the scope of it is as cheap as the pair
verdict_scope()
{
	if [ -s "$tmp/pair.$1" ] && cat "$tmp/pair.$1" "$tmp/scope.$1" | awk '{ c[NR] = $1 } END { exit !(NR == 2 && c[2] <= c[1]) }'
	then
		pass
		echo "scope    $(cat "$tmp/scope.$1") instructions, its two calls $(cat "$tmp/pair.$1"): $1"
	else
		fail "scope: $(cat "$tmp/scope.$1") instructions, its two calls $(cat "$tmp/pair.$1"): $1"
	fi
}

# compile_scope LANGUAGE NAME LIBRARY...
compile_scope()
{
	local compile="${CC:-cc} -O2 -fexceptions -x$1 -I$top/runtime $top/tests/library/counts/scope.c -xnone"

	$compile -DCOUNT_INSIDE -c -o "$tmp/inside.o" &&
		$compile -o "$tmp/scope.$2" "$tmp/inside.o" "${@:3}" -L"$out" -ltrace2 -Wl,-rpath,"$out"
}

compile_scope c c && compile_scope c++ cc -lstdc++ || exit 1
${CC:-cc} -O2 -rdynamic -o "$tmp/bare" "$top/tests/library/counts/prof.c" -pthread &&
	${CC:-cc} -O2 -rdynamic -o "$tmp/profiled" "$top/tests/library/counts/prof.c" -pthread -Wl,--no-as-needed -L"$out" \
		-ltrace2-prof -Wl,-rpath,"$out" || exit 1
# In two lots, for two processors.
{
	count_call nothing 200
	count_call off 200
	count_call enter 200
	count_call intmax 200
	count_call printf 200
	count_added malloc heap=1g
	count_added lock block=10us,mutex=10
	count_prof sampled "$tmp/profiled" malloc 100 heap=1,unwind=fp
	count_prof tick "$tmp/profiled" tick 100 cpu,unwind=fp
	count_prof unwound "$tmp/profiled" tick 100 cpu
} &
count_call_with_texts enter 200
count_call_with_texts printf 200
count_call drain 10000
count_call requests 10000 requests count_drain
count_call chunk 8 chunk tr2_hit_slow_v1
count_call pass 100
for language in c cc; do
	count_scope "$language" "$tmp/scopes.tlg"
	count_scope "$language" 0
done
count_line 10000
wait

if [ $# -gt 0 ]; then
	for what in $counts; do
		[ -s "$tmp/$what" ] || { echo "no count of $what:"; cat "$tmp/$what".[12].err; exit 1; } >&2
		echo "$what $(cat "$tmp/$what")"
	done >"$tmp/all"
	[ "$1" != --write ] || { echo "# $compiler"; cat "$tmp/all"; } >"$recorded"
	cat "$tmp/all"
	exit 0
fi
for what in $counts; do
	verdict "$what"
done
verdict_with_texts enter
verdict_with_texts printf
for language in c cc; do
	verdict_scope "$language.scopes.tlg"
	verdict_scope "$language.0"
done
total
