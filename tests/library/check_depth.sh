#!/bin/bash
# SPDX-License-Identifier: MIT
# How much stack a handler needs: no path of the profiler's is deeper than runtime/prof/tr2p_room.h says, nor a call that
# records in a handler; and beside a signal stack that is smaller a program runs as it does without: with twice that there
# are stacks, with less only where it was, and with too little nothing, which is counted.
# See depth/depths.c.  Ends with "N passed, N failed".
set -u
export LC_ALL=C
unset LD_PRELOAD TRACE2_RAW TRACE2_PROF TRACE2_DST_DEBUG GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need "libtrace2-prof in $out" [ -e "$out/libtrace2-prof.so.0" ]
bound=$(sed -n 's/^enum { TR2P_DEEPEST = \([0-9]*\) };/\1/p' runtime/prof/tr2p_room.h | tail -n 1)
export LD_LIBRARY_PATH=$out${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
${CC:-cc} -O2 -g0 -Wall -Werror -Iruntime -pthread -o "$tmp/depths" tests/library/depth/depths.c -L"$out" -ltrace2-prof \
	-ltrace2 -Wl,-z,now -Wl,-rpath-link,"$out" || exit 1

is_within() { [ "${1:-0}" -gt "$2" ] && [ "$1" -le "$3" ]; }

for path in cpu calls assembler wall threads record; do
	depth=$(TRACE2_PROF=threads=USR2 TRACE2_RAW=$tmp/$path.tlg timeout 120 "$tmp/depths" $path)
	check "$path: a handler needs $depth bytes, of $bound" is_within "${depth:-0}" 200 "$bound"
done

# With functions of the kernel in front, where the system shows them
if LD_PRELOAD=$(readlink -f "$out/libtrace2-prof.so.0") TRACE2_PROF=kernel TRACE2_DST_DEBUG=1 TRACE2_RAW=$tmp/try.tlg \
	/bin/true 2>&1 | grep -q "cannot start 'kernel'"; then
	echo "perf_event_open() is not allowed: how deep samples with functions of the kernel go is not measured"
else
	depth=$(TRACE2_PROF=kernel,threads=USR2 TRACE2_RAW=$tmp/kernel.tlg timeout 120 "$tmp/depths" calls)
	check "kernel: a handler needs $depth bytes, of $bound" is_within "${depth:-0}" 200 "$bound"
fi

# stacks BYTES: of a program with so many on its signal stack, how many samples there are, and how many of them know more
# than where it was: that main() has called
stacks()
{
	local trace=$tmp/small-$1.tlg

	TRACE2_PROF=cpu=100hz,wall=100hz TRACE2_RAW=$trace timeout 120 "$tmp/depths" small "$1" || { echo "died"; return; }
	"$out/t2expand" --format=folded --profile=cpu "$trace" 2>"$tmp/log" |
		awk '/(^|;)main;/ { deep++ } { all++ } END { printf "%d %d", all, deep }'
}

for bytes in 256 1024 $((bound - 64)); do
	check "$bytes bytes: nothing is sampled" [ "$(stacks "$bytes")" = "0 0" ]
done
for bytes in $((bound + 64)) $((bound * 2 - 64)); do
	read -r all deep < <(stacks "$bytes")
	check "$bytes bytes: of ${all:-no} samples ${deep:-some} have a stack" [ "$((all > 0))-$deep" = 1-0 ]
done
read -r all deep < <(stacks $((bound * 2 + 64)))
check "$((bound * 2 + 64)) bytes: of $all samples $deep have a stack" [ "${deep:-0}" -gt 0 ]
total
