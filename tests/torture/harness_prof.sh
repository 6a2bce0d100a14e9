#!/bin/bash
# SPDX-License-Identifier: MIT
# P15: a program with all profiles on, in front of it by LD_PRELOAD: 60 s of threads that come and go, throw, load and
# unload code, fork, contend for locks, free each other's memory, and of handlers that allocate, with 1,000 samples a
# second of each thread: it ends, as it would without, each profile has samples, and that of the heap is what it has
# allocated, and what it keeps.
# And 200 programs killed at random moments: each allocation and each free that returned is in the profile of what is
# recovered.  With gcc, and with clang.  See prof.cc.
set -u
. tests/torture/common.sh

case $out in
/*) built=$out ;;
*) built=$PWD/$out ;;
esac
export XDG_RUNTIME_DIR=$rings
preload=$built/libtrace2-prof.so.0
all=cpu=1khz,wall=1khz,heap=64k,block=1us,mutex=1,threadcreate

# storm COMPILER SECONDS
storm()
{
	local dir=$work/$1 said kept sum_all sum_kept status profile

	TRACE2_DST_DEBUG=1 TRACE2_RAW=$dir/storm.tlg TRACE2_RAW_MEMORY=1g TRACE2_PROF=$all LD_PRELOAD=$preload \
		timeout -s KILL $((10 * $2 + 120)) "$dir/prof" storm "$2" "$dir/plugin.so" >"$dir/said" 2>"$dir/errors"
	status=$?
	verdict "storm, $1: exit status $status: $(head -n 3 "$dir/errors")" $status
	! grep "TRACE2_PROF" "$dir/errors"
	verdict "storm, $1: not all profiles are on" $?
	for profile in cpu wall block mutex threadcreate; do
		"$built/t2expand" --format=pprof --profile="$profile" -o "$dir/$profile.pb.gz" "$dir/storm.tlg" 2>&1 |
			grep "no samples"
		verdict "storm, $1: $profile has no samples" $((!PIPESTATUS[1]))
	done
	read -r said kept <"$dir/said"
	"$built/t2expand" --format=pprof --profile=heap -o "$dir/heap.pb.gz" "$dir/storm.tlg" 2>"$dir/errors"
	verdict "storm, $1: the trace cannot be read" $?
	# Children end by _exit(), perhaps before what they have recorded is written
	! grep -vE "^t2expand: .*(still running|died before they had written all|died before it had)" "$dir/errors"
	verdict "storm, $1: something is wrong with the trace" $?
	read -r sum_all sum_kept < <(python3 tests/tools/sums.py "$dir/heap.pb.gz")
	awk -v said="$said" -v sum="$sum_all" 'BEGIN { exit !(sum > 0.95 * said) }'
	verdict "storm, $1: allocated $said, sampled $sum_all" $?
	awk -v kept="$kept" -v sum="$sum_kept" 'BEGIN { exit !(sum >= kept && sum < 1.1 * kept) }'
	verdict "storm, $1: in use $kept, sampled $sum_kept" $?
	echo "storm, $1: $2 s, $said bytes allocated, $sum_all estimated; $kept in use, $sum_kept estimated"
}

# die COMPILER TIMES: how many samples are missing, or too many
die()
{
	local dir=$work/$1 ring got freed sum_all sum_kept wrong=0 all_got=0 all_freed=0

	for _ in $(seq "$2"); do
		rm -rf "$dir/victim"
		mkdir -p "$dir/victim/rings"
		XDG_RUNTIME_DIR=$dir/victim/rings TRACE2_RAW=$dir/victim/trace.tlg TRACE2_PROF=heap=1 LD_PRELOAD=$preload \
			"$dir/prof" victim "$dir/victim/counts" &
		sleep "0.$((RANDOM % 300 + 100))"
		kill -KILL $!
		wait $! 2>/dev/null
		# got, freed of each of three threads
		read -r got freed < <(od -An -v -tu8 -w16 "$dir/victim/counts" | awk '{ g += $1; f += $2 } END { print g + 0, f + 0 }')
		ring=$(echo "$dir"/victim/rings/trace2-*.ring)
		"$built/t2expand" --format=pprof --profile=heap -o "$dir/heap.pb.gz" ${ring:+"--recover=$ring"} \
			"$dir/victim/trace.tlg" 2>"$dir/errors"
		read -r sum_all sum_kept < <(python3 tests/tools/sums.py "$dir/heap.pb.gz")
		# The few small blocks do not make up one of 1 MiB
		awk -v got="$got" -v freed="$freed" -v all="$sum_all" -v kept="$sum_kept" 'BEGIN {
			mib = 1048576; frees = int((all - kept) / mib); all = int(all / mib)
			exit !(all >= got && all <= got + 3 && frees >= freed && frees <= got) }' || {
			wrong=$((wrong + 1))
			echo "killed, $1: got $got, freed $freed, but sampled $sum_all, in use $sum_kept: $(head -n 2 "$dir/errors")"
		}
		all_got=$((all_got + got)) all_freed=$((all_freed + freed))
	done
	verdict "killed, $1: $wrong of $2 lack samples, or have too many" $wrong
	[ "$all_freed" -gt 0 ]
	verdict "killed, $1: some have allocated" $?
	echo "killed, $1: $2 times, $all_got allocations, $all_freed frees"
}

RANDOM=$seed
for compiler in g++ clang++; do
	need "$compiler" "programs of $compiler" || continue
	mkdir -p "$work/$compiler"
	"$compiler" -O2 -Wall -pthread -o "$work/$compiler/prof" tests/torture/prof.cc &&
		"$compiler" -O2 -Wall -fPIC -shared -DPLUGIN -o "$work/$compiler/plugin.so" tests/torture/prof.cc
	verdict "$compiler compiles" $?
	storm "$compiler" $((60 * scale / 100))
	die "$compiler" $((scale))
done
total
