#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 follow prints what processes record while they record it: each event once, in the order of its thread, from the file
# and from the rings, through rotation, fork, exec, SIGKILL, and programs that begin and end meanwhile.  The program counts
# its calls itself (tests/torture/follow.c).  No time is judged here; that is for the harness.  Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../common.sh"
need_shared_library
cd "$tmp" || exit 1
${CC:-cc} -pthread -I"$top/runtime" -o follow "$top/tests/torture/follow.c" -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1
unset LD_PRELOAD TRACE2_PROF GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

# begin_follow WHAT...: until it looks
begin_follow()
{
	"$out/t2" follow --format=ndjson "$@" >lines 2>errors &
	follower=$!
	until [ -n "$(ls -l "/proc/$follower/fd" 2>/dev/null | grep inotify)" ] || ! kill -0 $follower 2>/dev/null; do
		sleep 0.01
	done
	sleep 0.1
}
# ends_itself: the follower does, with status 0
ends_itself()
{
	wait "$follower"
}
# is_exact: each event that was counted was printed
is_exact()
{
	./follow judge counts <lines >verdict || { cat verdict errors; false; }
}
# clean: for the next try
clean()
{
	rm -rf traces counts "$rings"/*
	mkdir traces
}

# What another process wrote into its file before does not matter
clean
TRACE2_RAW=$tmp/traces/one.tlg ./follow run others p 400 100 2>/dev/null
TRACE2_RAW=$tmp/traces/one.tlg ./follow run counts p 400 300 2>/dev/null &
program=$!
until [ -n "$(find "$rings" -name '*.ring')" ]; do sleep 0.01; done
begin_follow $program
wait $program 2>/dev/null
check "a process that appends to another one's trace: it ends with the process" ends_itself
check "a process that appends to another one's trace: each event once, in order" is_exact
rm -f others

for work in p prp tb pf s pep prtfsepk bb; do
	clean
	begin_follow traces
	TRACE2_RAW=$tmp/traces/ ./follow run counts $work 400 100 2>/dev/null
	sleep 0.5
	kill -INT $follower
	check "a directory, $work: SIGINT ends it with status 0" ends_itself
	check "a directory, $work: each event once, in order" is_exact

	clean
	TRACE2_RAW=$tmp/traces/one.tlg ./follow run counts $work 400 300 2>/dev/null &
	program=$!
	until [ -e traces/one.tlg ]; do sleep 0.01; done
	begin_follow traces/one.tlg
	wait $program 2>/dev/null
	check "a file, $work: it ends with the process" ends_itself
	check "a file, $work: each event once, in order" is_exact

	clean
	TRACE2_RAW=$tmp/traces/one.tlg ./follow run counts $work 400 300 2>/dev/null &
	program=$!
	until [ -e traces/one.tlg ]; do sleep 0.01; done
	begin_follow $program
	wait $program 2>/dev/null
	# Of these two the program may be over before anybody follows it.
	[ $work != s ] && [ $work != bb ] || continue
	check "a process, $work: it ends with the process" ends_itself
	check "a process, $work: each event once, in order" is_exact
done

# A flight recorder writes no file: what is printed comes from its rings alone.
clean
begin_follow all --seconds=2
TRACE2_RAW=$tmp/traces/none.tlg TRACE2_RAW_POLICY=overwrite ./follow run counts pfk 400 1000 2>/dev/null
check "a flight recorder: --seconds ends it" ends_itself
check "a flight recorder: each event once, in order" is_exact

# Where the ring is small and nobody writes a file, the reader misses events.  It says so, and repeats none.
clean
begin_follow all --seconds=2
TRACE2_RAW=$tmp/traces/none.tlg TRACE2_RAW_POLICY=overwrite TRACE2_RAW_MEMORY=1m ./follow run counts bp 200000 10 2>/dev/null
check "a small flight recorder: --seconds ends it" ends_itself
check "a small flight recorder: none twice, none late" ./follow judge counts loses <lines >verdict
check "a small flight recorder: what is missing is reported" grep -q 'raw events missing' errors

# Every format that streams prints what t2 show prints of the whole file.
clean
TRACE2_RAW=$tmp/traces/one.tlg ./follow run counts prf 200 100
for format in normal perf event csv ndjson; do
	"$out/t2" export --format=$format traces/one.tlg* 2>/dev/null | sort >shown
	"$out/t2" follow --format=$format traces/one.tlg 2>/dev/null | sort >followed
	"$out/t2" export --format=$format traces/one.tlg 2>/dev/null | sort >first
	check "$format: there is something to compare" [ -s first ]
	check "$format: the same lines" cmp -s first followed
done
"$out/t2" follow --label=n --thread=main traces/one.tlg 2>/dev/null >lines
check "filters choose" [ "$(grep -c 'n:' lines)" -eq "$("$out/t2" show --label=n --thread=main traces/one.tlg | grep -c 'n:')" ]

# Damage is reported under the name of the file that was given.
cp traces/one.tlg damaged.tlg
printf '%064d' 0 | dd of=damaged.tlg bs=1 seek=100 conv=notrunc 2>/dev/null
"$out/t2" follow --seconds=1 damaged.tlg >lines 2>errors
check "damage has the file's name" grep -q '^t2 follow: damaged.tlg: byte [0-9]*: LZ4' errors

# refuses WHAT TEXT ARGUMENT...: t2 follow exits with status 2 or 1 and says so
refuses()
{
	"$out/t2" follow "${@:3}" >lines 2>errors
	[ $? -ne 0 ] || fail "$1: exit status"
	check "$1" grep -q -- "$2" errors
}
refuses "nothing to follow" "needs a process id" 
refuses "two things to follow" "takes one operand" traces traces
refuses "a format with an end" "cannot be printed while" --format=summary traces
refuses "a file that is not there" "No such file" traces/nowhere.tlg
refuses "a time that is none" "--seconds is not a time" --seconds=soon traces
refuses "a process that records nothing" "records nothing" $$
total
