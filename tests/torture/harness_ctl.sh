#!/bin/bash
# SPDX-License-Identifier: MIT
# P18: the control page.  Programs of ctl.c are steered by several controllers at the same time, t2 ctl each of them, while
# they call, fork, execute others, get signals, and are killed.  In some rounds rubbish is written into the pages.  The
# program prints and ends as without; each command has an answer or an error in bounded time; what was recorded before a
# command that writes has been answered is in the file, also behind kill -9; each call for which tracing was on is in the
# file or in the ring file, once.
set -u
. tests/torture/common.sh
export XDG_RUNTIME_DIR=$rings
unset LD_PRELOAD TRACE2_RAW TRACE2_PROF TRACE2_CTL GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
programs=$PWD/$out
[ "${out#/}" = "$out" ] || programs=$out
t2=$programs/t2 ctl=$programs/torture/ctl ask=$programs/torture/ctlask
profiler=$(readlink -f "$programs/libtrace2-prof.so.0")
RANDOM=$seed

# works: some things to do
works()
{
	local letters=pppttffsseg n=$((RANDOM % 5 + 2)) text=p
	((RANDOM % 2)) || text=gp
	for ((; n > 0; n--)); do text+=${letters:RANDOM % 11:1}; done
	((RANDOM % 4)) || text+=k
	echo "$text"
}

# verify DIRECTORY WHAT: events of the files alone; with the ring files, unless WHAT is acked
verify()
{
	local all=(--recover-all)

	[ "$2" != acked ] || all=(--quiet)
	"$programs/t2expand" "${all[@]}" --format=ndjson "$1/traces" 2>"$1/errors" | "$ask" judge "$1/counts" "$2"
}

# steer NUMBER MODE KINDS WORK N PAUSE CONTROLLERS
steer()
{
	local dir=$work/$1 name="$2 $3, $4 $5 $6" settings=(TRACE2_CTL=1 TRACE2_RAW_FLUSH=60s) asks=() program scribbler= status expected=7 i
	local short lines run=$ctl traced=(TRACE2_RAW="$dir/traces/" TRACE2_RAW_THREAD=init)
	mkdir -p "$dir/traces"
	case $2 in
	traced) settings+=("${traced[@]}") ;;
	profiled) settings+=("${traced[@]}" LD_PRELOAD="$profiler") run=$work/shared ;;
	flight) settings+=("${traced[@]}" TRACE2_RAW_POLICY=overwrite) ;;
	esac
	env "${settings[@]}" timeout -s KILL 120 "$run" "$dir/counts" "$4" "$5" "$6" >"$dir/stdout" 2>"$dir/stderr" &
	program=$!
	until [ -s "$dir/counts" ]; do sleep 0.01; done
	for ((i = 0; i < $7; i++)); do
		"$ask" ask "$dir/counts" "$t2" "$dir/traces/" $((seed * 1000 + $1 * 10 + i)) "-${3/h/}" &
		asks+=($!)
	done
	if [[ $3 = *h* ]]; then
		"$ask" ask "$dir/counts" "$t2" "$dir/traces/" $((seed * 1000 + $1 * 10 + 9)) h &
		scribbler=$!
	fi
	wait $program
	status=$?
	"$ask" over "$dir/counts"
	wait "${asks[@]}" $scribbler
	[[ $4 != *k ]] || expected=137
	[[ $3 != *k* || $status -ne 137 ]] || expected=137
	verdict "$name: exit status $status, not $expected" $((status != expected))
	# each short program prints a line, too, unless it is killed
	short=${4//[^s]/}
	lines=$((1 + 5 * ${#short}))
	[[ $3 != *k* ]] || lines=$(wc -l <"$dir/stdout")
	[ "$expected" -eq 137 ] ||
		verdict "$name: its output" "$(($(grep -vxc done "$dir/stdout") != 0 || $(wc -l <"$dir/stdout") != lines))"
	verdict "$name: nothing on stderr: $(head -n 1 "$dir/stderr")" "$(grep -vc Killed "$dir/stderr")"
	"$ask" total "$dir/counts"
	verdict "$name: a command had neither an answer nor an error" $?
	case $2$3 in
	flight* | *h*) verify "$dir" known ;;
	*) verify "$dir" acked && verify "$dir" all ;;
	esac
	status=$?
	verdict "$name: what is in the trace" $status
	[ $status -eq 0 ] || head -n 5 "$dir/errors"
	rm -rf "$dir" "$rings"/*
}

modes=(traced traced dormant dormant profiled flight)
# the profiler steers only the shared library
if [ ! -e "$profiler" ] || ! ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -I runtime -o "$work/shared" tests/torture/ctl.c \
	-L "$out" -Wl,-rpath,"$programs" -ltrace2 -pthread; then
	skip "with the profiler" "no shared library"
	modes=(traced traced dormant dormant traced flight)
fi
kinds=(- k h k hk -)
for ((i = 0; i < (60 * scale + 99) / 100; i++)); do
	steer $i "${modes[RANDOM % 6]}" "${kinds[RANDOM % 6]}" "$(works)" $((RANDOM % 600 + 200)) $((RANDOM % 800 + 200)) \
		$((RANDOM % 3 + 1))
done 2>"$work/said"
grep -v Killed "$work/said" >&2
total
