#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: bench/run.sh [emit] [tail] [start] [fill]          (default: all)
#
# Run the benchmarks of $T2_OUT (default build) and check what they recorded.  Exit status 0: all right.
#   emit   what each call costs, beside the cost of reading the clock; BENCH_ROUNDS (default 50)
#   tail   how long single calls take at worst; BENCH_ROUNDS
#   start  what tracing adds to a short process; BENCH_ROUNDS
#   fill   expand a plain trace of BENCH_BYTES (default 2 GiB, in $TMPDIR): lines a second, peak memory
set -u
export LC_ALL=C

out=${T2_OUT:-build}
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# Is what the trace $1 shows of category "bench" exactly the $2 checkpoints that were recorded?  Sets shown.
check_complete()
{
	shown=$("$out/t2expand" --format=perf "$1" 2>"$dir/notes" | grep -c '| bench  ')
	echo "shown $shown of $2 recorded"
	[ "$shown" -eq "$2" ] && return
	echo "FAILED: the trace is not complete:" >&2
	cat "$dir/notes" >&2
	return 1
}

# Run the program bench_$1, which traces into $1.tlg and says at the end what it recorded.
run_checked()
{
	"$out/bench/bench_$1" "$dir" "${BENCH_ROUNDS:-50}" >"$dir/$1.txt" || return 1
	grep -v '^recorded ' "$dir/$1.txt"
	check_complete "$dir/$1.tlg" "$(sed -n 's/^recorded //p' "$dir/$1.txt")"
}

# Expand the large trace, of which $shown checkpoints can be shown, as $1.
expand_once()
{
	local wall_us peak_kib

	"$out/bench/bench_cost" "$out/t2expand" --format="$1" "$dir/fill.tlg" 3>"$dir/cost" >/dev/null 2>&1 || return 1
	read -r wall_us _ peak_kib <"$dir/cost"
	awk -v format="$1" -v us="$wall_us" -v kib="$peak_kib" -v shown="$shown" 'BEGIN {
		printf "%-6s to /dev/null: %.1f s, %.2f M checkpoints/s, peak memory %.1f MiB\n",
			format, us / 1e6, shown / us, kib / 1024 }'
	[ "$peak_kib" -le 65536 ] && return
	echo "FAILED: more than 64 MiB" >&2
	return 1
}

fill_and_expand()
{
	local bytes=${BENCH_BYTES:-2147483648} recorded status=0

	"$out/bench/bench_fill" "$dir/fill.tlg" "$bytes" >"$dir/fill.txt" || return 1
	cat "$dir/fill.txt"
	recorded=$(sed -n 's/^recorded \([0-9]*\) .*/\1/p' "$dir/fill.txt")
	echo "file: $(stat -c %s "$dir/fill.tlg") bytes"
	check_complete "$dir/fill.tlg" "$recorded" || status=1
	for format in normal perf event; do
		expand_once "$format" || status=1
	done
	rm -f "$dir/fill.tlg"
	return "$status"
}

failed=0
[ $# -gt 0 ] || set -- emit tail start fill
for name; do
	echo "== $name"
	case $name in
	emit | tail | start) run_checked "$name" || failed=1 ;;
	fill) fill_and_expand || failed=1 ;;
	*)
		echo "usage: bench/run.sh [emit] [tail] [start] [fill]" >&2
		exit 2
		;;
	esac
done
exit "$failed"
