#!/bin/bash
# SPDX-License-Identifier: MIT
# P4: every checkpoint that was emitted is stored, or counted as lost under its thread and reason; with every policy,
# with a drain that keeps up and one that does not, with snapshots at random.  Tolerance 0.  See account.c.
set -u
scale=${T2_SCALE:-100} seed=${T2_SEED:-1} out=${T2_OUT:-build}
passed=0 failed=0

mkdir -p "$out/log"
rounds=$((20 * scale / 100 > 1 ? 20 * scale / 100 : 1))
for policy in discard block slow wait overwrite; do
	log=$out/log/account_$policy.log
	timeout -s KILL 300 "$out/torture/account" "$policy" "$rounds" "$seed" "$out/t2expand" >"$log"
	grep FAIL "$log" | head -n 5
	grep "^$policy:" "$log"
	read -r p _ f _ < <(tail -n 1 "$log")
	[[ ${f:-} =~ ^[0-9]+$ ]] || { p=0 f=1; echo "$policy: died"; }
	passed=$((passed + p)) failed=$((failed + f))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
