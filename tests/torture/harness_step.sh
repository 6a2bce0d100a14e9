#!/bin/bash
# SPDX-License-Identifier: MIT
# P2: nothing that was recorded is lost, torn or doubled, at whatever instruction the process is killed or
# interrupted: as the build is compiled, and at more than a quarter of the full length also with gcc -O3 and clang -O2,
# each with a library and a harness of its own in $T2_OUT/step.  At full length every instruction is visited, in loops at
# several of its rounds.  x86-64 only: elsewhere there is one call path less, and no breakpoint is to be had.  See step.c.
set -u
. tests/torture/common.sh
[ "$(uname -m)" = x86_64 ] || { skip "every instruction" "not x86-64"; total; exit; }

# run NAME PROGRAM: its last line is its sum
run()
{
	local log=$out/log/step_$1.log p f

	echo "$1:"
	timeout -s KILL 900 "$2" $((100 / scale)) $((20 * scale)) "$seed" >"$log" 2>&1
	sed '$d' "$log"
	read -r p _ f _ < <(tail -n 1 "$log")
	add "${p:-0}" "${f:-1}"
}

# run_with COMPILER OPTIMIZATION
run_with()
{
	local dir=$out/step/$1$2

	mkdir -p "$dir"
	if ! ${MAKE:-make} -s -j2 out="$dir" CC="$1" CFLAGS="$2 -g" "$dir/torture/step" >"$dir/log" 2>&1; then
		echo "$1 $2: does not build"
		tail -n 5 "$dir/log"
		add 0 1
		return
	fi
	run "$1$2" "$dir/torture/step"
}

mkdir -p "$out/log"
run build "$out/torture/step"
run young "$out/torture/step_young"
[ "$scale" -le 25 ] || run_with gcc -O3
if [ "$scale" -gt 25 ] && need clang "clang -O2"; then
	run_with clang -O2
fi
total
