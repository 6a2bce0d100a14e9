# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# programs.sh - real work with events in it, for run.sh, which sources this.  Uses its $out, $dir and functions.
#
# Every program runs in every mode, several times, each time in another process, in an order that changes (program.h).

programs_modes="off on block overwrite live"

# The lines of category "bench" in the perf text $1, into shown; what it says at its end is lost, into lost.
count_live()
{
	shown=$(grep -c '| bench  ' "$1")
	lost=$(sed -n 's/.*| counter .*| trace2 .*name:lost-[a-z-]* value:\([0-9]*\)$/\1/p' "$1" |
		awk '{ n += $1 } END { print n + 0 }')
}

# Set shown, lost and bytes of what a program left behind in mode $2, which has recorded $3.
count_left()
{
	local file=$dir/trace.tlg

	shown=0 lost=0 bytes=0
	case $2 in
	off | lttng) return ;;
	live) file=$dir/perf && count_live "$file" ;;
	*) count_shown "$file" ;;
	esac
	bytes=$(stat -c %s "$file")
	rm -f "$file"
	# A flight recorder may have lost the library's own version and start as well.
	[ $((shown + lost)) -eq "$3" ] || { [ "$2" = overwrite ] && [ $((lost - $3)) -le 2 ] && [ "$lost" -ge "$3" ]; } &&
		return
	echo "FAILED: $1, $2: recorded $3, shown $shown, lost $lost" >&2
	return 1
}

# run_program NAME MODE ROUNDS: its measurements, and those of the drain
run_program()
{
	local recorded drain shown lost bytes

	rm -f "$dir/trace.tlg" "$dir/perf"
	"$out/bench/bench_$1" "$dir" "$3" "$2" >"$dir/output" || return 1
	grep -v '^recorded\|^drain' "$dir/output"
	recorded=$(sed -n 's/^recorded //p' "$dir/output")
	drain=$(sed -n 's/^drain //p' "$dir/output")
	sed -n 's/^recorded_lttng //p' "$dir/output" >>"$dir/$1.lttng"
	[ "$2" != off ] && [ "$2" != lttng ] || return 0
	count_left "$1" "$2" "$recorded" || return 1
	report "$1, $2: lost" 1 % "$(awk -v n="$recorded" -v lost="$lost" 'BEGIN { print 100 * lost / n }')"
	[ "$shown" -gt 0 ] || return 0
	report "$1, $2: drain" 1 ns "$(awk -v ns="$drain" -v n="$shown" 'BEGIN { print ns / n }')"
	report "$1, $2: size" 1 B "$(awk -v bytes="$bytes" -v n="$shown" 'BEGIN { print bytes / n }')"
}

# run_program in a session of LTTng's; what that lost
run_program_lttng()
{
	local recorded shown lost

	in_lttng_session program run_program "$1" lttng "$2" || return 1
	recorded=$(tail -n 1 "$dir/$1.lttng")
	count_lttng "$dir/program"
	report "$1, lttng: lost" 1 % "$(awk -v n="$recorded" -v lost="$lost" 'BEGIN { print 100 * lost / n }')"
	report "$1, lttng: size" 1 B "$(awk -v bytes="$(du -sb "$dir/program" | cut -f 1)" -v n="$shown" \
		'BEGIN { print bytes / n }')"
	rm -rf "$dir/program"
	[ $((shown + lost)) -eq "$recorded" ] && return
	echo "FAILED: $1: LTTng-UST: recorded $recorded, shown $shown, lost $lost" >&2
	return 1
}

run_programs()
{
	local pass program mode names="" modes=$programs_modes rounds=40 status=0

	for program in sqlite zstd server; do
		if [ -x "$out/bench/bench_$program" ]; then
			names+=" $program"
		else
			echo "not measured: $program: its library is not installed"
		fi
	done
	have_lttng && start_lttng_daemon && modes+=" lttng"
	for ((pass = 0; pass < ${BENCH_PASSES:-3}; pass++)); do
		for program in $names; do
			for mode in $(printf '%s\n' $modes | shuf); do
				if [ "$mode" = lttng ]; then
					run_program_lttng "$program" $rounds || status=1
				else
					run_program "$program" "$mode" $rounds || status=1
				fi
			done
		done
	done
	stop_lttng_daemon
	echo "in each mode recorded = shown + lost"
	return "$status"
}
