#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: bench/run.sh [NAME...]          (default: all, and write bench/RESULTS.md; of "prof" its section there)
#
# Run the benchmarks of $T2_OUT (default build), check what they recorded, print their measurements and the goals.
# Exit status 0: all ran and all was recorded, whether goals are reached or not.
#   emit          what each call costs, tracing on and off, one and two threads; BENCH_ROUNDS (default 60)
#   emit_static   the same, linked with the static library
#   tail          how long single calls take at worst
#   memory        what an event costs inside work that misses the cache
#   start         what tracing adds to a short process, beside git
#   start_static  the same, linked with the static library
#   git           what an event costs in git's perf and event targets
#   text          what an event costs its thread while texts are written, beside git, whose threads write them
#   lttng         an event beside one of LTTng-UST
#   expand        the same events as text, beside babeltrace2 (one processor)
#   pipe          perf text into a pipe, beside a bare formatter of such lines (one processor)
#   drain         what the drain takes away, its cost and the size of it, packed and plain, with and without LZ4
#   formats       the same events in every format, beside babeltrace2 (one processor)
#   programs      what events cost in real work, on its threads and in the drain, beside LTTng-UST
#   prof          what profiles cost, and how right they are, beside those of others; BENCH_PROF_ROUNDS (default 15),
#                 BENCH_PROF_SECONDS (default 200) if five rounds fit into these
#   footprint     sizes, memory, libraries
#   fill          expand a trace of BENCH_BYTES (default 256 MiB, in $TMPDIR): lines a second, peak memory
#   instructions  what tests/library/check_instructions.sh counts, counted now
#
# If the minimum and the median of a benchmark give different verdicts, it runs again, up to BENCH_AGAIN times (default
# 4), as long as that fits into the BENCH_SECONDS (default 690) of the whole run.
set -u
export LC_ALL=C

out=${T2_OUT:-build}
here=$(dirname "$0")
rounds=${BENCH_ROUNDS:-60}
all="emit emit_static git text lttng tail memory start start_static expand pipe formats drain fill programs prof footprint"
all+=" instructions"
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. "$here/peers.sh"
. "$here/programs.sh"
. "$here/formats.sh"
. "$here/prof.sh"
unset TRACE2 TRACE2_RAW TRACE2_PERF TRACE2_EVENT GIT_TRACE2 GIT_TRACE2_PERF GIT_TRACE2_EVENT
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

# report NAME THREADS UNIT VALUES
report()
{
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"
}

# Set shown and lost: what the trace $1 shows of category "bench", and what it says is lost.
count_shown()
{
	shown=$("$out/t2expand" --format=perf "$1" 2>"$dir/notes" | grep -c '| bench  ')
	lost=$(sed -n 's/^t2expand: \([0-9]*\) checkpoints lost .*/\1/p' "$dir/notes" | awk '{ n += $1 } END { print n + 0 }')
}

# The $2 checkpoints that were recorded are what the trace $1 shows of category "bench", and what it says is lost.
check_complete()
{
	local shown lost

	count_shown "$1"
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

# Expand the trace $1, which shows $3 checkpoints, as $2: M/s of CPU time, and peak memory.
expand_fill()
{
	local i processor_us peak_kib rate="" peak=""

	for ((i = 0; i < 3; i++)); do
		"$out/bench/bench_cost" "$out/t2expand" --format="$2" "$1" 3>"$dir/cost" >/dev/null 2>&1 || return 1
		read -r _ processor_us peak_kib <"$dir/cost"
		rate+=" $(awk -v n="$3" -v us="$processor_us" 'BEGIN { print n / us }')"
		peak+=" $(awk -v kib="$peak_kib" 'BEGIN { print kib / 1024 }')"
	done
	report "$2 text to /dev/null" 1 M/s "$rate"
	report "$2 text, peak memory" 1 MiB "$peak"
}

run_fill()
{
	local bytes=${BENCH_BYTES:-268435456} recorded status=0

	"$out/bench/bench_fill" "$dir/fill.tlg" "$bytes" >"$dir/output" || return 1
	cat "$dir/output"
	recorded=$(sed -n 's/^recorded \([0-9]*\) .*/\1/p' "$dir/output")
	report "size of the trace" 1 MiB "$(($(stat -c %s "$dir/fill.tlg") / 1048576))"
	check_complete "$dir/fill.tlg" "$recorded" || status=1
	for format in normal perf event; do
		expand_fill "$dir/fill.tlg" "$format" "$recorded" || status=1
	done
	rm -f "$dir/fill.tlg"
	return "$status"
}

# Million lines a second of CPU time that a command makes on one processor: $2 lines into a pipe, read and thrown
# away on another one, and on the same one; then into /dev/null.  Adds to the lists $1_pipe, $1_near and $1_null.
rate_to_pipe()
{
	local -n pipe=$1_pipe near=$1_near null=$1_null
	local lines=$2

	shift 2
	taskset -c 0 "$out/bench/bench_cost" "$@" 3>"$dir/cost" 2>/dev/null | taskset -c 1 cat >/dev/null
	pipe+=" $(awk -v n="$lines" '{ print n / $2 }' "$dir/cost")"
	taskset -c 0 "$out/bench/bench_cost" "$@" 3>"$dir/cost" 2>/dev/null | taskset -c 0 cat >/dev/null
	near+=" $(awk -v n="$lines" '{ print n / $2 }' "$dir/cost")"
	taskset -c 0 "$out/bench/bench_cost" "$@" 3>"$dir/cost" >/dev/null 2>&1
	null+=" $(awk -v n="$lines" '{ print n / $2 }' "$dir/cost")"
}

# Million of $1 lines a second of wall-clock time that a command writes to /dev/null
rate_by_wall_clock()
{
	local lines=$1

	shift
	"$out/bench/bench_cost" "$@" 3>"$dir/cost" >/dev/null 2>&1 || return 1
	awk -v n="$lines" '{ print n / $1 }' "$dir/cost"
}

run_pipe()
{
	local i lines one="" two=""
	local t2expand_pipe="" t2expand_near="" t2expand_null="" template_pipe="" template_near="" template_null=""

	TRACE2_RAW_ENCODING=packed TRACE2_RAW_LZ4=1 "$out/bench/bench_fill" "$dir/trace.tlg" $((12 << 20)) >"$dir/output" ||
		return 1
	check_complete "$dir/trace.tlg" "$(sed -n 's/^recorded \([0-9]*\) .*/\1/p' "$dir/output")" || return 1
	"$out/t2expand" --format=perf "$dir/trace.tlg" 2>/dev/null | head -n 10000 >"$dir/perf"
	lines=$("$out/t2expand" --format=perf "$dir/trace.tlg" | wc -l)
	for ((i = 0; i < 7; i++)); do
		rate_to_pipe t2expand "$lines" "$out/t2expand" --format=perf "$dir/trace.tlg"
		rate_to_pipe template "$lines" "$out/bench/bench_template" "$dir/perf" "$lines"
		one+=" $(rate_by_wall_clock "$lines" "$out/t2expand" --format=perf "$dir/trace.tlg")" || return 1
		two+=" $(rate_by_wall_clock "$lines" "$out/t2expand" --format=perf --jobs=2 "$dir/trace.tlg")" || return 1
	done
	report "t2expand, perf text to a pipe" 1 "M/s" "$t2expand_pipe"
	report "bare formatter, to a pipe" 1 "M/s" "$template_pipe"
	report "t2expand, perf text to a pipe that is read on the same processor" 1 "M/s" "$t2expand_near"
	report "bare formatter, to a pipe that is read on the same processor" 1 "M/s" "$template_near"
	report "t2expand, perf text to /dev/null" 1 "M/s" "$t2expand_null"
	report "bare formatter, to /dev/null" 1 "M/s" "$template_null"
	report "t2expand to /dev/null, wall-clock" 1 "M/s" "$one"
	report "t2expand to /dev/null, wall-clock" 2 "M/s" "$two"
}

# What one event costs in git itself: `git version` lists each setting that a pattern selects as an event def_param.
# ns of CPU time for one, written into a file by the target $1: with all selected, less with none.
git_event_cost()
{
	local settings=20000 all none

	[ -s "$dir/gitconfig" ] ||
		{ echo "[bench]"; seq -f "	k%.0f = value" "$settings"; } >"$dir/gitconfig"
	for pattern in 'none.*' 'bench.*'; do
		rm -f "$dir/git.text"
		env GIT_CONFIG_GLOBAL="$dir/gitconfig" GIT_TRACE2_CONFIG_PARAMS="$pattern" "$1=$dir/git.text" \
			"$out/bench/bench_cost" git version 3>>"$dir/cost.$pattern" >/dev/null 2>&1 || return 1
	done
	[ "$(grep -c def_param "$dir/git.text")" -eq "$settings" ] || return 1
	all=$(tail -n 1 "$dir/cost.bench.*" | cut -d' ' -f2)
	none=$(tail -n 1 "$dir/cost.none.*" | cut -d' ' -f2)
	awk -v us=$((all - none)) -v n="$settings" 'BEGIN { print us * 1000 / n }'
}

run_git()
{
	local i perf="" event=""

	command -v git >/dev/null || { echo "not measured: git is not installed"; return 0; }
	for ((i = 0; i < 9; i++)); do
		perf+=" $(git_event_cost GIT_TRACE2_PERF)" && event+=" $(git_event_cost GIT_TRACE2_EVENT)" || return 1
	done
	report "git, perf target, an event" 1 ns "$perf"
	report "git, event target, an event" 1 ns "$event"
	git version
}

# The texts that were written meanwhile are those that are expanded later, line for line.
run_text()
{
	local format

	run_checked text || return 1
	for format in perf event; do
		"$out/t2expand" --format=$format "$dir/trace.tlg" 2>/dev/null | cmp - "$dir/$format" || return 1
	done
	rm -f "$dir/perf" "$dir/event"
	run_git
}

# Why a library is loaded
library_reason()
{
	case $1 in
	liburcu-cds.so.* | liburcu-common.so.*) echo "the set of rings: a lock-free stack" ;;
	liblz4.so.*) echo "compression of the file" ;;
	libmd.so.*) echo "SHA-1 of the host name in the session id" ;;
	libexpat.so.*) echo "layouts of other machines' files" ;;
	libz.so.*) echo "data of the page, and profiles, are compressed" ;;
	libc.so.* | ld-linux*) echo "the system's own" ;;
	*) return 1 ;;
	esac
}

# Size of the file $1 without its debug information, and the libraries that are loaded with it
print_file()
{
	local library file=$1 name

	name=$(basename "$file")
	strip -o "$dir/stripped" "$file" || return 1
	report "$name, stripped" 1 KiB "$(($(stat -c %s "$dir/stripped") / 1024))"
	for library in $(ldd "$file" | awk '/=>/ { print $1 }'); do
		library_reason "$library" >"$dir/reason" || { echo "FAILED: $name loads $library: why?" >&2; return 1; }
		echo "$name loads $library: $(cat "$dir/reason")"
	done
}

# Bytes on disk: see drain.
run_footprint()
{
	run_checked foot && print_file "$out/libtrace2.so.0" && print_file "$out/t2expand"
}

# What the gate counts, counted now
run_instructions()
{
	local status

	tests/library/check_instructions.sh --print >"$dir/output" 2>&1
	status=$?
	case $status in
	0) sed 's/^\([a-z]*\) \(.*\)$/\1\t1\tinstructions\t\2/' "$dir/output" ;;
	77) sed 's/^skipped: /not measured: /' "$dir/output" ;;
	*) cat "$dir/output" >&2 && return 1 ;;
	esac
}

# Each of its cases is a trace of its own: checked one by one.
run_drain()
{
	local file recorded status=0

	"$out/bench/bench_drain" "$dir" "$rounds" >"$dir/output" || return 1
	grep -v '^trace ' "$dir/output"
	while read -r _ file recorded; do
		check_complete "$file" "$recorded" >"$dir/check" || { cat "$dir/check"; status=1; }
		rm -f "$file"
	done < <(grep '^trace ' "$dir/output")
	return "$status"
}

run_one()
{
	case $1 in
	emit | emit_static | tail | memory | start | start_static) run_checked "$1" ;;
	drain | fill | formats | git | text | lttng | expand | footprint | instructions | pipe | prof | programs) "run_$1" ;;
	*)
		echo "run.sh: no benchmark $1; there are: $all" >&2
		return 1
		;;
	esac
}

# Run the benchmark $1 into $dir/$2.measurements, and remember in took how long that was.
run_into()
{
	local start=$SECONDS

	echo "== $2" >&2
	run_one "$1" >"$dir/$2.measurements" || { echo "FAILED: $1" >&2; failed=1; }
	rm -f "$dir/trace.tlg"
	took[$1]=$((SECONDS - start))
}

# Run those again that leave a verdict open, each once in a pass, as long as the time lasts.
run_again()
{
	local pass name

	for ((pass = 2; pass <= 1 + ${BENCH_AGAIN:-4}; pass++)); do
		for name in $(python3 -B "$here/table.py" --undecided "$dir"); do
			[ $((SECONDS + took[$name])) -lt "${BENCH_SECONDS:-690}" ] && run_into "$name" "$name.$pass"
		done
	done
}

failed=0
declare -A took=()
for name in ${*:-$all}; do
	run_into "$name" "$name"
done
[ "$failed" -ne 0 ] || run_again
if [ $# -gt 0 ]; then
	renew=()
	[ "$failed" -ne 0 ] || renew=(--renew "$here/RESULTS.md")
	python3 -B "$here/table.py" "${renew[@]}" "$dir" || failed=1
elif [ "$failed" -eq 0 ]; then
	python3 -B "$here/table.py" --results "$dir" >"$dir/RESULTS.md" || failed=1
	cat "$dir/RESULTS.md"
	[ "$failed" -eq 0 ] && cp "$dir/RESULTS.md" "$here/RESULTS.md"
fi
exit "$failed"
