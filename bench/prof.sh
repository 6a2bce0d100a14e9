# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# prof.sh - the cost and the accuracy of profiles, for run.sh, which sources this.  Uses its $out, $dir and functions.
#
# There are two kinds of work.  Of xz and sqlite3, it measures the CPU time of the whole process on one processor,
# writing the profile included.  The works of bench_prof print what they measured, or what a profile must show.  Each
# runs without a profiler, with libtrace2-prof and its settings, and with profilers of others, all in turn, round by
# round.  What is not installed is reported and left out.

# The first of these libraries that the dynamic linker knows
find_library()
{
	local name

	for name; do
		ldconfig -p | awk -v name="$name" '$1 == name { print $NF; exit }'
	done | head -n 1
}

# work NAME MODE: the command, in words; of what is slow fewer repetitions
work()
{
	local n=10000000

	case $2 in
	tcmalloc,all | heaptrack | massif | drd | helgrind) n=100000 ;;
	esac
	case $1 in
	xz) words=(xz -k -c -4 -T1 "$dir/input") ;;
	sqlite3) words=(sqlite3 :memory: "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
		select count(distinct substr(hex(i * 7919), 1, 9) || 'text') from n") ;;
	malloc | lock) words=("$out/bench/bench_prof" "$1" "$n") ;;
	tick) words=("$out/bench/bench_prof" tick 30000) ;;
	hogs) words=("$out/bench/bench_prof" hogs 1000) ;;
	sites) words=("$out/bench/bench_prof" sites) ;;
	esac
}

# jemalloc's settings for a sample in so many bytes, on the average
jemalloc_samples()
{
	local log=19

	[ "$1" = 512k ] || log=14
	echo "MALLOC_CONF=prof:true,prof_accum:true,prof_final:true,lg_prof_sample:$log,prof_prefix:$dir/profile"
}

# with MODE: how a program is profiled so: its environment, and the command in front of it, in words
with()
{
	local ours tcmalloc jemalloc

	ours=$(realpath "$out/libtrace2-prof.so.0")
	tcmalloc=LD_PRELOAD=$(find_library libtcmalloc.so.4) jemalloc=LD_PRELOAD=$(find_library libjemalloc.so.2)
	settings=() before=()
	case $1 in
	none) ;;
	off) settings=("LD_PRELOAD=$ours") ;;
	gperftools,*) settings=("LD_PRELOAD=$(find_library libprofiler.so.0)" "CPUPROFILE=$dir/profile.gp"
		"CPUPROFILE_FREQUENCY=${1#*,}") ;;
	tcmalloc) settings=("$tcmalloc") ;;
	tcmalloc,512k) settings=("$tcmalloc" TCMALLOC_SAMPLE_PARAMETER=524288) ;;
	tcmalloc,all) settings=("$tcmalloc" "HEAPPROFILE=$dir/profile" HEAP_PROFILE_ALLOCATION_INTERVAL=0
		HEAP_PROFILE_INUSE_INTERVAL=0) ;;
	jemalloc) settings=("$jemalloc") ;;
	jemalloc,*) settings=("$jemalloc" "$(jemalloc_samples "${1#*,}")") ;;
	heaptrack) before=(heaptrack -o "$dir/profile") ;;
	massif) before=(valgrind -q --tool=massif --massif-out-file="$dir/profile.massif") ;;
	drd | helgrind) before=(valgrind -q "--tool=$1") ;;
	mutrace) before=(mutrace) ;;
	*) settings=("LD_PRELOAD=$ours" "TRACE2_RAW=$dir/profile.tlg" "TRACE2_PROF=$1") ;;
	esac
}

# prof_run NAME MODE: its output into $dir/output, what it cost into $dir/cost
prof_run()
{
	local words settings before tries=1

	case $2 in
	gperftools* | jemalloc* | heaptrack | massif | drd | helgrind | mutrace) tries=3 ;;   # they crash now and then
	esac
	work "$1" "$2"
	with "$2"
	case $1 in
	xz | sqlite3) before=(taskset -c 0 "${before[@]}") ;;
	esac
	while [ $((tries--)) -gt 0 ]; do
		rm -f "$dir"/profile.*
		"$out/bench/bench_cost" env "${settings[@]}" "${before[@]}" "${words[@]}" 3>"$dir/cost" >"$dir/output" \
			2>"$dir/notes" && return
	done
	echo "FAILED: $1, $2" >&2
	cat "$dir/notes" >&2
	return 1
}

# What a run has cost: of a program its CPU time in ms, of a call what it says
cost_of()
{
	case $1 in
	xz | sqlite3) awk '{ print $2 / 1000 }' "$dir/cost" ;;
	*) grep -E '^[0-9]+[.][0-9]+$' "$dir/output" ;;
	esac
}

measure_cost()
{
	prof_run "$1" "$2" && costs["$1, $2"]+=" $(cost_of "$1")"
}

# How right the profile is that a run has left, and how large it is
measure_accuracy()
{
	local kind=${2%%,*} file first second

	prof_run "$1" "$2" || return 1
	case $2 in
	*=*)
		kind=pprof
		costs["$1, $2: size"]+=" $(stat -c %s "$dir/profile.tlg")"
		"$out/t2expand" --format=pprof --profile="${2%%=*}" -o "$dir/profile.pb.gz" "$dir/profile.tlg" 2>"$dir/notes" ||
			return 1
		rm "$dir/profile.tlg"
		costs["$1, $2, as pprof: size"]+=" $(stat -c %s "$dir/profile.pb.gz")"
		;;
	esac
	file=$(find "$dir" -name 'profile.*' | tail -n 1)
	[ $kind = pprof ] || costs["$1, $2: size"]+=" $(stat -c %s "$file")"
	read -r first second < <(python3 -B "$here/prof_read.py" "$kind" "$file" "$out/bench/bench_prof" "$dir/output")
	case $1 in
	hogs) costs["$1, $2: share"]+=" $first" costs["$1, $2: time"]+=" $second" ;;
	sites) costs["$1, $2: allocated"]+=" $first" costs["$1, $2: in use"]+=" $second" ;;
	esac
	[ -n "$second" ]
}

# in_turn ROUNDS END COMMAND WORK:MODE...: each in each round, another one first in each.  On a slow machine there are
# fewer rounds, but five: the last one begins before END, in SECONDS
in_turn()
{
	local rounds=$1 end=$2 command=$3 i name
	local -a names

	shift 3
	names=("$@")
	for ((i = 0; i < rounds && (i < 5 || SECONDS < end); i++)); do
		for name in "${names[@]}"; do
			"$command" "${name%%:*}" "${name#*:}" || return 1
		done
		names=("${names[@]:1}" "${names[0]}")
	done
}

# have WHAT TEST...: else it is named
have()
{
	"${@:2}" >/dev/null 2>&1 && return
	echo "not measured: $1 is not installed"
	return 1
}

# Into programs, calls and profiles: what there is
list_modes()
{
	programs=(xz:none xz:off xz:cpu=100hz xz:cpu=1000hz)
	calls=(malloc:none malloc:off malloc:heap=1g malloc:heap=512k lock:none lock:off lock:block=10us,mutex=10
		tick:none tick:cpu tick:cpu,unwind=fp)
	profiles=(hogs:cpu=100hz hogs:cpu=1000hz sites:heap=512k sites:heap=16k)
	have sqlite3 command -v sqlite3 &&
		programs+=(sqlite3:{none,off,heap=512k} sqlite3:cpu=100hz,heap=512k,block=10us,mutex=10)
	if have "gperftools' libprofiler" [ -n "$(find_library libprofiler.so.0)" ]; then
		programs+=(xz:gperftools,{100,1000})
		calls+=(tick:gperftools,100)
		profiles+=(hogs:gperftools,{100,1000})
	fi
	have "gperftools' libtcmalloc" [ -n "$(find_library libtcmalloc.so.4)" ] &&
		calls+=(malloc:tcmalloc malloc:tcmalloc,{512k,all}) profiles+=(sites:tcmalloc,all)
	if have jemalloc [ -n "$(find_library libjemalloc.so.2)" ]; then
		calls+=(malloc:jemalloc malloc:jemalloc,512k)
		profiles+=(sites:jemalloc,{512k,16k})
	fi
	have heaptrack command -v heaptrack && calls+=(malloc:heaptrack) profiles+=(sites:heaptrack)
	have valgrind command -v valgrind && calls+=(malloc:massif lock:{drd,helgrind}) profiles+=(sites:massif)
	have mutrace command -v mutrace && calls+=(lock:mutrace)
	return 0
}

# report_all: each measurement, and what so many ticks a second are of a processor
report_all()
{
	local name hz unit

	for name in "${!costs[@]}"; do
		case $name in
		*size) unit=B ;;
		*share) unit=points ;;
		*time | *allocated | *"in use") unit=% ;;
		xz* | sqlite3*) unit=ms ;;
		*) unit=ns ;;
		esac
		[[ ${costs[$name]} = *-* ]] || report "$name" 1 "$unit" "${costs[$name]}"
		[[ $name = tick* ]] || continue
		for hz in 100 1000; do
			report "$name, $hz a second" 1 % \
				"$(printf '%s\n' ${costs[$name]} | awk -v hz="$hz" '{ print $1 * hz / 1e7 }' | tr '\n' ' ')"
		done
	done | sort
}

run_prof()
{
	local rounds=${BENCH_PROF_ROUNDS:-15} seconds=${BENCH_PROF_SECONDS:-200} start=$SECONDS programs calls profiles
	local -A costs=()

	cat "$out/libtrace2.so.0" >"$dir/input" && list_modes || return 1
	in_turn "$rounds" $((start + seconds / 2)) measure_cost "${programs[@]}" &&
		in_turn "$rounds" $((start + 3 * seconds / 4)) measure_cost "${calls[@]}" &&
		in_turn $((rounds / 3 + 1)) $((start + seconds)) measure_accuracy "${profiles[@]}" &&
		report_all
}
