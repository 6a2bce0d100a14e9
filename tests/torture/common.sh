# SPDX-License-Identifier: MIT
# Harnesses source this in the top directory.  It has their settings, their totals, and commands in parallel.
#   $out, $scale, $seed  T2_OUT, T2_SCALE, T2_SEED (see run.sh)
#   $passed, $failed     so far
#   $skipped             number of skipped parts; run.sh counts the lines that report them
#   $work                a directory of the harness's own, removed when it ends
#   $rings               a directory for XDG_RUNTIME_DIR: in memory, as in production; on a disk each ring costs 5 ms
#   $plain               the command in front of a program with a sanitizer (addresses.sh)
# With T2_FIRST=1 a harness ends with the first failure.
# shellcheck shell=bash disable=SC2034

out=${T2_OUT:-build} scale=${T2_SCALE:-100} seed=${T2_SEED:-1}
passed=0 failed=0 skipped=0 begun=() shown=0
work=$(mktemp -d) || exit 1
rings=$(mktemp -d -p /dev/shm trace2-harness.XXXXXX 2>/dev/null) || rings=$work
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work" "$rings"' EXIT
mkdir -p "$out/log"
. tests/addresses.sh

# total: print the last line of a harness, and exit with its status
total()
{
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
}

# skip WHAT WHY: report that this cannot be tried here
skip()
{
	skipped=$((skipped + 1))
	echo "skipped: $1: $2"
}

# need TOOL WHAT: is the tool there?  If not, WHAT is skipped; in CI (CI=true), which has to install it, that is a failure
need()
{
	command -v "$1" >/dev/null && return
	if [ "${CI:-}" = true ]; then
		verdict "$2: no $1" 1
	else
		skip "$2" "no $1"
	fi
	return 1
}

# add PASSED FAILED
add()
{
	passed=$((passed + $1)) failed=$((failed + $2))
	[ "$failed" -eq 0 ] || [ -z "${T2_FIRST:-}" ] || { total; exit 1; }
}

# verdict WHAT STATUS
verdict()
{
	[ "$2" -eq 0 ] || echo "FAIL $1"
	add $(($2 == 0)) $(($2 != 0))
}

# begin COMMAND...: run it in the background, as soon as a processor is free
begin()
{
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n
	done
	while [ "$shown" -lt "${#begun[@]}" ] && ! jobs -rp | grep -qx "${begun[$shown]}"; do
		finish_first
	done
	(trap 'echo $? >"$work/status.'${#begun[@]}'"' EXIT; passed=0 failed=0; "$@") >"$work/begun.${#begun[@]}" 2>&1 &
	begun+=($!)
}

# finish: wait for all commands that begin has started
finish()
{
	while [ "$shown" -lt "${#begun[@]}" ]; do
		finish_first
	done
}

# What the next of them printed, in order; its last line may be a sum, else its exit status is a verdict
finish_first()
{
	local log=$work/begun.$shown status sum p f

	# The shell forgets some of many children, and their statuses.
	wait "${begun[$shown]}" 2>/dev/null
	status=$(cat "$work/status.$shown" 2>/dev/null || echo 127)
	sum=$(tail -n 1 "$log" | grep -E '^[0-9]+ passed, [0-9]+ failed$')
	if [ -n "$sum" ]; then
		sed '$d' "$log"
		read -r p _ f _ <<<"$sum"
	else
		cat "$log"
		p=$((status == 0)) f=0
	fi
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	shown=$((shown + 1))
	add "$p" "$f"
}
