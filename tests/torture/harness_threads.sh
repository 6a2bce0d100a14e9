#!/bin/bash
# SPDX-License-Identifier: MIT
# P5: 100,000 short threads, which end in every way there is: nothing unaccounted, memory flat.  The promise is 10 s
# for them on two idle processors; the time is printed, not judged.  See threads.c.
set -u
scale=${T2_SCALE:-100} seed=${T2_SEED:-1} out=${T2_OUT:-build}
passed=0 failed=0

# run POLICY THREADS
run()
{
	local p f log=$out/log/threads_$1.log

	timeout -s KILL 300 "$out/torture/threads" "$1" "$2" "$seed" >"$log"
	sed '$d' "$log"
	read -r p _ f _ < <(tail -n 1 "$log")
	[[ ${f:-} =~ ^[0-9]+$ ]] || { p=0 f=1; echo "$1: died"; }
	passed=$((passed + p)) failed=$((failed + f))
}

mkdir -p "$out/log"
run discard $((1000 * scale))
run overwrite $((200 * scale))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
