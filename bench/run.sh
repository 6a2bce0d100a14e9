#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: bench/run.sh [NAME...]          (default: all, and write bench/RESULTS.md)
#
# Run the benchmarks of $T2_OUT (default build), check what they recorded, print their figures and the goals.
# Exit status 0: all ran and all was recorded, whether goals are reached or not.
#   emit          what each call costs, tracing on and off, one and two threads; BENCH_ROUNDS (default 60)
#   emit_static   the same, linked with the static library
#   tail          how long single calls take at worst
#   memory        what an event costs inside work that misses the cache
#   start         what tracing adds to a short process, beside git
#   start_static  the same, linked with the static library
#   fill          expand a trace of BENCH_BYTES (default 1 GiB, in $TMPDIR): lines a second, peak memory
#   instructions  what tests/check_instructions.sh counts
set -u
export LC_ALL=C

out=${T2_OUT:-build}
here=$(dirname "$0")
rounds=${BENCH_ROUNDS:-60}
all="emit emit_static tail memory start start_static fill instructions"
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
unset TRACE2 TRACE2_RAW TRACE2_PERF TRACE2_EVENT GIT_TRACE2 GIT_TRACE2_PERF GIT_TRACE2_EVENT
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

# figure NAME THREADS UNIT VALUES
figure()
{
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"
}

# The $2 checkpoints that were recorded are what the trace $1 shows of category "bench", and what it says is lost.
check_complete()
{
	local shown lost

	shown=$("$out/t2expand" --format=perf "$1" 2>"$dir/notes" | grep -c '| bench  ')
	lost=$(sed -n 's/^t2expand: \([0-9]*\) checkpoints lost .*/\1/p' "$dir/notes" | awk '{ n += $1 } END { print n + 0 }')
	echo "recorded $2 = shown $shown + lost $lost"
	[ $((shown + lost)) -eq "$2" ] && return
	echo "FAILED: the trace is not complete:" >&2
	cat "$dir/notes" >&2
	return 1
}

# Run the program bench_$1, which traces into trace.tlg and says at the end what it recorded.
run_checked()
{
	local recorded

	rm -f "$dir/trace.tlg"
	"$out/bench/bench_$1" "$dir" "$rounds" >"$dir/output" || return 1
	grep -v '^recorded ' "$dir/output"
	recorded=$(sed -n 's/^recorded //p' "$dir/output")
	check_complete "$dir/trace.tlg" "$recorded"
}

# Expand the trace $1, which shows $3 checkpoints, as $2: M/s, and peak memory.
expand_once()
{
	local wall_us peak_kib

	"$out/bench/bench_cost" "$out/t2expand" --format="$2" "$1" 3>"$dir/cost" >/dev/null 2>&1 || return 1
	read -r wall_us _ peak_kib <"$dir/cost"
	figure "$2 text to /dev/null" 1 M/s "$(awk -v n="$3" -v us="$wall_us" 'BEGIN { print n / us }')"
	figure "$2 text, peak memory" 1 MiB "$(awk -v kib="$peak_kib" 'BEGIN { print kib / 1024 }')"
}

run_fill()
{
	local bytes=${BENCH_BYTES:-1073741824} recorded status=0

	"$out/bench/bench_fill" "$dir/fill.tlg" "$bytes" >"$dir/output" || return 1
	cat "$dir/output"
	recorded=$(sed -n 's/^recorded \([0-9]*\) .*/\1/p' "$dir/output")
	figure "size of the trace" 1 MiB "$(($(stat -c %s "$dir/fill.tlg") / 1048576))"
	check_complete "$dir/fill.tlg" "$recorded" || status=1
	for format in normal perf event; do
		expand_once "$dir/fill.tlg" "$format" "$recorded" || status=1
	done
	rm -f "$dir/fill.tlg"
	return "$status"
}

# What the gate has recorded; `make check` holds it.
run_instructions()
{
	sed -n '/^#/d; s/^\([a-z]*\) \(.*\)$/\1\t1\tinstructions\t\2/p' tests/data/instructions
}

run_one()
{
	case $1 in
	emit | emit_static | tail | memory | start | start_static) run_checked "$1" ;;
	fill) run_fill ;;
	instructions) run_instructions ;;
	*)
		echo "run.sh: no benchmark $1; there are: $all" >&2
		return 1
		;;
	esac
}

failed=0
for name in ${*:-$all}; do
	echo "== $name" >&2
	run_one "$name" >"$dir/$name.figures" || { echo "FAILED: $name" >&2; failed=1; }
	rm -f "$dir/trace.tlg"
done
if [ $# -gt 0 ]; then
	python3 -B "$here/table.py" "$dir" || failed=1
elif [ "$failed" -eq 0 ]; then
	python3 -B "$here/table.py" --results "$dir" >"$dir/RESULTS.md" || failed=1
	cat "$dir/RESULTS.md"
	[ "$failed" -eq 0 ] && cp "$dir/RESULTS.md" "$here/RESULTS.md"
fi
exit "$failed"
