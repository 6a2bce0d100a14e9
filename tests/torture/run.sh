#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/torture/run.sh [NAME...]          (default: every harness, tests/torture/harness_*.sh)
#
# Run harnesses from the top directory, one after the other, and sum up.  Each prints the counts it reached
# and ends with "N passed, N failed"; so does this script.  Exit status 0 if none failed and one passed.
# In front of the sum each line that says what failed is repeated ("failed: NAME: LINE").
# T2_OUT     the build to test (default build)
# T2_SCALE   per cent of the full length, 1 to 100 (default 100)
# T2_SEED    seed of everything random (default: the time; printed)
# T2_UNTIL   seconds since 1970: a harness, or a mutant, that has not begun by then is skipped (default: none is)
# A harness that prints no sum, or takes longer than T2_TIMEOUT seconds (default 3600), counts as one failure.
# What a harness could not try it says in a line "skipped: WHAT: WHY"; if there are any, "N skipped" stands before the sum.
# With CI=true a tool that is missing is a failure instead.
set -u
. tests/failed.sh

export T2_OUT=${T2_OUT:-build} T2_SCALE=${T2_SCALE:-100} T2_SEED=${T2_SEED:-$(date +%s)}
export T2_UNTIL=${T2_UNTIL:-$((1 << 40))}
passed=0 failed=0 skipped=0 why=
mkdir -p "$T2_OUT/log"

run_harness()
{
	local name=$1 log=$T2_OUT/log/torture_$1.log status last p=0 f=0 s begun=$SECONDS

	printf '== %s\n' "$name"
	timeout -s KILL "${T2_TIMEOUT:-3600}" "tests/torture/harness_$name.sh" </dev/null 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	[ -n "$last" ] && read -r p _ f _ <<<"$last"
	{ [ "$status" -ne 0 ] || [ -z "$last" ]; } && [ "$f" -eq 0 ] && f=1
	s=$(grep -c '^skipped: ' "$log")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	[ "$f" -eq 0 ] || why+=$(failed_lines "$name" "$log")$'\n'
	printf '%s: %s passed, %s failed%s, %s s\n' "$name" "$p" "$f" "$([ "$s" -gt 0 ] && echo ", $s skipped")" \
		$((SECONDS - begun))
}

echo "seed $T2_SEED, scale $T2_SCALE %"
if [ $# -eq 0 ]; then
	for path in tests/torture/harness_*.sh; do
		name=$(basename "${path#*/harness_}" .sh)
		[ "$name" = mutants ] || set -- "$@" "$name"
	done
	set -- "$@" mutants   # they need what the others have built, and can be fewer
fi
for name; do
	if [ "$(date +%s)" -ge "$T2_UNTIL" ]; then
		echo "skipped: $name: no time is left"
		skipped=$((skipped + 1))
	elif [ -x "tests/torture/harness_$name.sh" ]; then
		run_harness "$name"
	else
		echo "torture: no harness '$name' in tests/torture" >&2
		failed=$((failed + 1))
	fi
done
printf '%s' "$why"
[ "$skipped" -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
