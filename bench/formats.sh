# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# formats.sh - every format of t2expand, for run.sh, which sources this.  Uses its $out, $dir and functions.
#
# It expands one trace in all formats, in turn, round by round, and compares this with babeltrace2, which prints the same
# events from the output of the ctf format.  Rates are per CPU time of one processor, into /dev/null; the benchmark
# expand shows what a disk adds.

# What a command costs, whose output is thrown away, into the file cost: wall-clock time, CPU time, peak memory
format_cost()
{
	taskset -c 0 "$out/bench/bench_cost" "$@" 3>"$dir/cost" >/dev/null 2>"$dir/notes" ||
		{ cat "$dir/notes" >&2; return 1; }
}

# print_as NAME WORDS...: the trace in a format, or as babeltrace2 prints it; WORDS stand before the command
print_as()
{
	if [ "$1" = babeltrace2 ]; then
		"${@:2}" babeltrace2 "$dir/ctf"
	else
		"${@:2}" "$out/t2expand" --format="$1" "$dir/trace.tlg"
	fi
}

run_formats()
{
	local names name i count
	local -A rates=() peaks=()

	command -v babeltrace2 >/dev/null || { echo "not measured: babeltrace2 is not installed"; return 0; }
	TRACE2_RAW_ENCODING=packed TRACE2_RAW_LZ4=1 "$out/bench/bench_fill" "$dir/trace.tlg" $((3 << 20)) >"$dir/output" ||
		return 1
	check_complete "$dir/trace.tlg" "$(sed -n 's/^recorded \([0-9]*\) .*/\1/p' "$dir/output")" || return 1
	count=$("$out/t2expand" --format=perf "$dir/trace.tlg" | wc -l)
	"$out/t2expand" --format=ctf --output="$dir/ctf/" "$dir/trace.tlg" || return 1
	names="$("$out/t2expand" --list-formats | cut -d' ' -f1 | tr '\n' ' ')babeltrace2"
	for ((i = 0; i < 7; i++)); do
		for name in $names; do
			print_as "$name" format_cost || return 1
			rates[$name]+=" $(awk -v n="$count" '{ print n / $2 }' "$dir/cost")"
			peaks[$name]+=" $(awk '{ print $3 / 1024 }' "$dir/cost")"
		done
		names="${names#* } ${names%% *}"      # another one comes first
	done
	report "the trace: size" 1 B "$(wc -c <"$dir/trace.tlg" | awk -v n="$count" '{ print $1 / n }')"
	for name in $(printf '%s\n' $names | sort); do
		report "$name: speed" 1 M/s "${rates[$name]}"
		report "$name: size" 1 B "$(print_as "$name" 2>/dev/null | wc -c | awk -v n="$count" '{ print $1 / n }')"
		report "$name: peak memory" 1 MiB "${peaks[$name]}"
	done
	rm -rf "$dir/ctf"
}
