#!/bin/bash
# SPDX-License-Identifier: MIT
# P1: an event whose call returned survives the death of the process, whatever kills it: 10,000 SIGKILLs at random
# moments, 1,000 deaths each by SIGSEGV, abort(), _exit() and exec; 1,000 more are read before they are killed.
# See kill.c.
set -u
scale=${T2_SCALE:-100} seed=${T2_SEED:-1} out=${T2_OUT:-build}
passed=0 failed=0

# run HOW TIMES: the program's last line is its sum
run()
{
	local p f

	timeout -s KILL 900 "$out/torture/kill" "$1" "$2" "$seed" >"$out/log/kill_$1.log" 2>&1
	sed '$d' "$out/log/kill_$1.log"
	read -r p _ f _ < <(tail -n 1 "$out/log/kill_$1.log")
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
}

mkdir -p "$out/log"
run kill $((100 * scale))
for how in live segv abort exit exec; do
	run $how $((10 * scale))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
