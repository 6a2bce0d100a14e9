# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# prof.sh - what profiles cost a program, for run.sh, which sources this.  Uses its $out, $dir and functions.
#
# Programs of others with work of their own, in turn with and without libtrace2-prof in front of them and beside
# gperftools, round by round: CPU time of the whole process, writing the profile included, on one processor.

profiler_library=
gperftools=

# The first of these libraries that the dynamic linker knows
find_library()
{
	local name

	for name; do
		ldconfig -p | awk -v name="$name" '$1 == name { print $NF; exit }'
	done | head -n 1
}

# work NAME: the command of a program, in words
work()
{
	case $1 in
	xz) words=(xz -k -c -4 -T1 "$dir/input") ;;
	sqlite3) words=(sqlite3 :memory: "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
		select count(distinct substr(hex(i * 7919), 1, 9) || 'text') from n") ;;
	esac
}

# with MODE: the environment of a program that is profiled so, in words
with()
{
	settings=("TRACE2_RAW=$dir/profile.tlg" "LD_PRELOAD=$profiler_library")
	case $1 in
	none) settings=() ;;
	off) settings=("LD_PRELOAD=$profiler_library") ;;
	gperftools,*) settings=("LD_PRELOAD=$gperftools" "CPUPROFILE=$dir/profile.gp" "CPUPROFILE_FREQUENCY=${1#*,}") ;;
	*) settings+=("TRACE2_PROF=$1") ;;
	esac
}

run_prof()
{
	local names name mode i words settings
	local -A costs=()

	profiler_library=$(realpath "$out/libtrace2-prof.so.0") gperftools=$(find_library libprofiler.so.0)
	cat "$out/libtrace2.so.0" >"$dir/input" || return 1
	names="xz:none xz:off xz:cpu=100hz xz:cpu=1000hz sqlite3:none sqlite3:off sqlite3:heap=512k"
	names+=" sqlite3:cpu=100hz,heap=512k,block=10us,mutex=10"
	[ -z "$gperftools" ] || names+=" xz:gperftools,100 xz:gperftools,1000"
	for ((i = 0; i < ${BENCH_PROF_ROUNDS:-15}; i++)); do
		for name in $names; do
			rm -f "$dir"/profile.*
			work "${name%%:*}"
			with "${name#*:}"
			taskset -c 0 "$out/bench/bench_cost" env "${settings[@]}" "${words[@]}" 3>"$dir/cost" \
				>/dev/null 2>"$dir/notes" || { cat "$dir/notes" >&2; return 1; }
			costs[$name]+=" $(awk '{ print $2 / 1000 }' "$dir/cost")"
		done
		names="${names#* } ${names%% *}"      # another one comes first
	done
	for name in $(printf '%s\n' $names | sort); do
		report "${name/:/, }" 1 ms "${costs[$name]}"
	done
}
