# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# peers.sh - LTTng-UST and babeltrace2, for run.sh, which sources this.  Uses its $out, $dir, $rounds and functions.
#
# It starts and ends the session daemon.  If one already runs, it uses this one and leaves it running.

lttng_daemon=""

# Succeeds if the peers are installed; else it reports what is missing.
have_lttng()
{
	if [ ! -x "$out/bench/bench_lttng" ] || ! command -v lttng-sessiond babeltrace2 >/dev/null; then
		echo "not measured: LTTng-UST, its session daemon or babeltrace2 is not installed"
		return 1
	fi
}

lttng_silently()
{
	lttng --no-sessiond "$@" >"$dir/lttng.out" 2>&1 || { cat "$dir/lttng.out" >&2; return 1; }
}

start_lttng_daemon()
{
	export LTTNG_HOME=$dir
	lttng --no-sessiond list >/dev/null 2>&1 && return
	lttng-sessiond --no-kernel >"$dir/sessiond.out" 2>&1 &
	lttng_daemon=$!
	for ((i = 0; i < 100; i++)); do
		lttng --no-sessiond list >/dev/null 2>&1 && return
		sleep 0.1
	done
	cat "$dir/sessiond.out" >&2
	return 1
}

stop_lttng_daemon()
{
	[ -z "$lttng_daemon" ] || { kill "$lttng_daemon" && wait "$lttng_daemon"; } 2>/dev/null
	lttng_daemon=""
}

# Run a command in a session of its own, named bench-$1, that records into $dir/$1.
in_lttng_session()
{
	local name=$1 event status

	shift
	lttng_silently create "bench-$name" --output="$dir/$name" &&
		lttng_silently enable-channel -u --discard --subbuf-size=1M --num-subbuf=8 bench || return 1
	for event in integer message region_enter region_leave data; do
		lttng_silently enable-event -u -c bench "bench:$event" || return 1
	done
	lttng_silently start || return 1
	"$@"
	status=$?
	lttng_silently stop
	lttng_silently destroy "bench-$name"
	return "$status"
}

# Set shown and lost: what babeltrace2 shows of LTTng's trace $1, and what it says the tracer discarded.
count_lttng()
{
	shown=$(babeltrace2 "$1" 2>"$dir/notes" | wc -l)
	lost=$(sed -n 's/.*Tracer discarded \([0-9]*\) event.*/\1/p' "$dir/notes" | awk '{ n += $1 } END { print n + 0 }')
}

# The $2 events that LTTng recorded are all there, or reported lost, in its trace $1.
check_lttng_complete()
{
	local shown lost

	count_lttng "$1"
	echo "LTTng-UST: recorded $2 = shown $shown + lost $lost"
	[ $((shown + lost)) -eq "$2" ] && return
	echo "FAILED: LTTng's trace is not complete" >&2
	return 1
}

# Run bench_lttng with the arguments in a session $1; what it prints but for the totals.  Checks both traces.
run_both()
{
	local name=$1 status=0

	shift
	in_lttng_session "$name" "$out/bench/bench_lttng" "$dir" "$@" >"$dir/output" || return 1
	grep -v '^recorded' "$dir/output"
	check_complete "$dir/trace.tlg" "$(sed -n 's/^recorded //p' "$dir/output")" || status=1
	check_lttng_complete "$dir/$name" "$(sed -n 's/^recorded_lttng //p' "$dir/output")" || status=1
	return "$status"
}

run_lttng()
{
	local status=0

	have_lttng || return 0
	start_lttng_daemon && run_both cost "$rounds" || status=1
	stop_lttng_daemon
	rm -rf "$dir/cost"
	return "$status"
}

# Million of $2 a second of CPU time that a command makes on one processor, its output in the file $1.
# It runs twice, and the second time counts: then the file gets the pages that the first file has just freed.  A virtual
# machine returns unused memory to its host within seconds, and takes longer to get it again than any of these programs
# takes to write it (NOTES.md).
rate_to_file()
{
	local to=$1 count=$2 i

	shift 2
	for i in 1 2; do
		rm -f "$to"
		taskset -c 0 "$out/bench/bench_cost" "$@" 3>"$dir/cost" >"$to" 2>"$dir/notes" ||
			{ cat "$dir/notes" >&2; return 1; }
	done
	awk -v n="$count" '{ print n / $2 }' "$dir/cost"
}

# The same events, recorded by both, as text in a file: babeltrace2 and t2expand in turn
run_expand()
{
	local times=300000 lines i ours="" theirs="" event="" redirected="" bare="" status=0

	have_lttng || return 0
	start_lttng_daemon && run_both both record "$times" || status=1
	stop_lttng_daemon
	[ "$status" -eq 0 ] || return 1
	lines=$((3 * times))
	"$out/t2expand" --format=perf "$dir/trace.tlg" 2>/dev/null | head -n 10000 >"$dir/perf"
	for ((i = 0; i < 5; i++)); do
		theirs+=" $(rate_to_file "$dir/text" "$lines" babeltrace2 "$dir/both")" &&
			ours+=" $(rate_to_file "$dir/text" "$lines" "$out/t2expand" --format=perf --output="$dir/text" \
				"$dir/trace.tlg")" &&
			event+=" $(rate_to_file "$dir/text" "$lines" "$out/t2expand" --format=event --output="$dir/text" \
				"$dir/trace.tlg")" &&
			redirected+=" $(rate_to_file "$dir/text" "$lines" "$out/t2expand" --format=perf "$dir/trace.tlg")" &&
			bare+=" $(rate_to_file "$dir/text" "$lines" "$out/bench/bench_template" "$dir/perf" "$lines")" ||
			return 1
	done
	report "babeltrace2, text, redirected to a file" 1 M/s "$theirs"
	report "t2expand, perf text, redirected to a file" 1 M/s "$redirected"
	report "bare formatter of perf lines, redirected to a file" 1 M/s "$bare"
	report "t2expand, perf text, --output" 1 M/s "$ours"
	report "t2expand, event text, --output" 1 M/s "$event"
	rm -rf "$dir/both"
}
