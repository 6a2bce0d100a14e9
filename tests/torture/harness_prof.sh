#!/bin/bash
# SPDX-License-Identifier: MIT
# P15: the profiler is preloaded into programs, with all profiles on.
#   facts    profiles of events that the program counts itself: ticks that waited, ticks of a forked child, small
#            allocations; and errno does not change
#   storm    for 60 s, threads begin and end, throw, load and unload code, fork, contend for locks, and free each
#            other's memory; handlers allocate; each thread is sampled 1,000 times a second.  The program must end as it
#            would without the profiler.  Each profile must have samples, and that of the heap must show what the program
#            has allocated, and what it keeps.  This runs with gcc and with clang; with AddressSanitizer in the program,
#            whose malloc() is behind the profiler's or in front of it; and with AddressSanitizer in the profiler itself,
#            at full length also by clang
#   killed   1,000 programs for each compiler are killed at random moments.  The recovered profiles must have all
#            samples that the programs have counted themselves
# See prof.cc, killed.cc.
set -u
. tests/torture/common.sh

case $out in
/*) built=$out ;;
*) built=$PWD/$out ;;
esac
export XDG_RUNTIME_DIR=$rings
preload=$built/libtrace2-prof.so.0
all=cpu=1khz,wall=1khz,heap=64k,block=1us,mutex=1,threadcreate

# compile NAME COMPILER FLAGS... -- WHAT...: $work/NAME/prof, and its plugin; WHAT is linked with it
compile()
{
	local dir=$work/$1 compiler=$2 flags=()
	shift 2

	mkdir -p "$dir"
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	"$compiler" "${flags[@]}" -Wall -fPIC -shared -DPLUGIN -o "$dir/plugin.so" tests/torture/prof.cc &&
		"$compiler" "${flags[@]}" -Wall -Iruntime -Iformat -pthread -o "$dir/prof" tests/torture/prof.cc "${@:2}"
	verdict "${dir##*/} compiles" $?
}

# facts NAME: compare each count that the program prints with the total of the profile of that name
facts()
{
	local dir=$work/$1 what low high sum status

	TRACE2_RAW=$dir/facts.tlg TRACE2_PROF=threadcreate LD_PRELOAD=$preload timeout -s KILL 900 \
		"$dir/prof" facts "$dir" >"$dir/facts.said" 2>"$dir/facts.errors"
	status=$?
	verdict "facts, $1: exit status $status: $(head -n 3 "$dir/facts.errors")" $status
	while read -r what low high; do
		read -r sum _ < <(python3 tests/tools/sums.py "$dir/$what.pb.gz")
		awk -v sum="$sum" -v low="$low" -v high="$high" 'BEGIN { exit !(sum >= low && sum <= high) }'
		verdict "facts, $1: $what: $sum, not $low to $high" $?
	done <"$dir/facts.said"
	echo "facts, $1: $(tr '\n' ';' <"$dir/facts.said")"
	[ "$(wc -l <"$dir/facts.said")" -eq 3 ]
	verdict "facts, $1: not all were told" $?
	total
}

# storm NAME SECONDS PRELOAD PROFILES...: these have samples
storm()
{
	local name=$1 seconds=$2 preload=$3 dir=$work/$1 profile status
	shift 3

	TRACE2_DST_DEBUG=1 TRACE2_RAW=$dir/storm.tlg TRACE2_RAW_MEMORY=1g TRACE2_PROF=$all LD_PRELOAD=$preload \
		timeout -s KILL $((10 * seconds + 900)) "${plain[@]}" "$dir/prof" storm "$seconds" "$dir/plugin.so" \
		>"$dir/said" 2>"$dir/errors"
	status=$?
	verdict "storm, $name: exit status $status: $(head -n 3 "$dir/errors")" $status
	! grep "TRACE2_PROF" "$dir/errors"
	verdict "storm, $name: not all profiles are on" $?
	for profile; do
		"$built/t2expand" --format=pprof --profile="$profile" -o "$dir/$profile.pb.gz" "$dir/storm.tlg" 2>&1 |
			grep "no samples"
		verdict "storm, $name: $profile has no samples" $((!PIPESTATUS[1]))
	done
	"$built/t2expand" --format=pprof --profile=heap -o "$dir/heap.pb.gz" "$dir/storm.tlg" 2>"$dir/errors"
	verdict "storm, $name: the trace cannot be read" $?
	# Children end by _exit(), perhaps before what they have recorded is written
	! grep -vE "^t2expand: .*(still running|died before they had written all|died before it had|heap: there are no samples of this profile)" \
		"$dir/errors"
	verdict "storm, $name: something is wrong with the trace" $?
	if [[ " $* " = *" heap "* ]]; then
		weigh "$name" "$dir"
	else
		echo "storm, $name: $seconds s"
	fi
	rm -f "$dir/storm.tlg"
	total
}

# weigh NAME DIRECTORY: compare what the program says that it has allocated, and keeps, with the profile of its heap.
# Samples of 64 KiB only estimate small blocks that are freed, so six standard deviations are allowed
weigh()
{
	local said kept sum_all sum_kept

	read -r said kept <"$2/said"
	read -r sum_all sum_kept < <(python3 tests/tools/sums.py "$2/heap.pb.gz")
	awk -v said="$said" -v kept="$kept" -v sum="$sum_all" 'BEGIN {
		exit !(sum > said - 6 * sqrt(65536 * (said - kept))) }'
	verdict "storm, $1: allocated $said, sampled $sum_all" $?
	awk -v kept="$kept" -v sum="$sum_kept" 'BEGIN { exit !(sum >= kept && sum < 1.1 * kept) }'
	verdict "storm, $1: in use $kept, sampled $sum_kept" $?
	echo "storm, $1: $said bytes allocated, $sum_all estimated; $kept in use, $sum_kept estimated"
}

# await_all PID FILE: wait until the program has counted something of each kind
await_all()
{
	while kill -0 "$1" 2>/dev/null && ! od -An -v -tu8 -w16 "$2" 2>/dev/null |
		awk '$2 { n++ } END { exit n != 9 }'; do
		sleep 0.01
	done
}

# kill_one DIRECTORY: kill a program, recover its profiles, and compare them with its counts (bounds.py).  One program in
# four may die before it has done anything, or made files; for the others the harness waits, however long they take
kill_one()
{
	local victim=$1/victim ring from=() profile

	rm -rf "$victim"
	mkdir -p "$victim/rings"
	XDG_RUNTIME_DIR=$victim/rings TRACE2_RAW=$victim/trace.tlg TRACE2_PROF=cpu=1khz,wall=1khz,heap=1,block=1,mutex=1,threadcreate \
		LD_PRELOAD="$preload $1/counter.so" TRACE2_RAW_MEMORY=1g KILLED_COUNTS=$victim/counts "$1/killed" &
	[ $((RANDOM % 4)) -eq 0 ] || await_all $! "$victim/counts"
	sleep "0.$((RANDOM % 200 + 100))"
	kill -KILL $!
	wait $! 2>/dev/null
	for ring in "$victim"/rings/trace2-*.ring; do
		[ ! -e "$ring" ] || from+=("--recover=$ring")
	done
	[ ! -e "$victim/trace.tlg" ] || from+=("$victim/trace.tlg")
	for profile in cpu wall heap block mutex threadcreate things; do
		[ ${#from[@]} -eq 0 ] || "$built/t2expand" --format=pprof --profile=$profile -o "$victim/$profile.pb.gz" \
			"${from[@]}" 2>"$1/killed.errors"
	done
	python3 tests/tools/bounds.py "$victim/counts" "$victim"
}

# die NAME TIMES SEED: count the programs whose profiles have less than they counted, or more
die()
{
	local dir=$work/$1 wrong=0 lines said

	RANDOM=$3
	for _ in $(seq "$2"); do
		lines=$(kill_one "$dir")
		said+=$(tail -n 1 <<<"$lines")$'\n'
		lines=$(grep -v '^TOTAL: ' <<<"$lines") || continue
		wrong=$((wrong + 1))
		echo "killed, $1: $lines: $(head -n 2 "$dir/killed.errors")"
	done
	verdict "killed, $1: $wrong of $2 lack samples, or have too many" $wrong
	echo "killed, $1: $2 times, $(add_up <<<"$said")"
	add_up <<<"$said" | grep -vqE ' 0(,|$)'
	verdict "killed, $1: there are none of some kind" $?
	total
}

# add_up: of lines "TOTAL: KIND N, ..." the sums, as one such line
add_up()
{
	awk -F'[:,] ' '/^TOTAL/ {
		for (i = 2; i <= NF; i++) {
			split($i, pair, " ")
			if (!(pair[1] in sum))
				order[++n] = pair[1]
			sum[pair[1]] += pair[2]
		}
	} END {
		for (i = 1; i <= n; i++)
			printf("%s%s %d", (i > 1 ? ", " : ""), order[i], sum[order[i]])
		print ""
	}'
}

# The profiler itself with AddressSanitizer and UndefinedBehaviorSanitizer: a variant of its own, below the other one.  It
# stands in front of no locks then, and does not see who creates threads.
# storm_checked NAME CC CXX OBJECTS SECONDS: OBJECTS is where that variant has its objects
storm_checked()
{
	local name=$1 checked=$4 status

	${MAKE:-make} -s CC="$2" SAN=address,undefined "$checked"/lib{tr2p,tr2,t2x,tlg}.a >"$out/log/prof_$name.log" 2>&1
	status=$?
	verdict "$name: a build with AddressSanitizer: $(tail -n 3 "$out/log/prof_$name.log")" $status
	# shellcheck disable=SC2046
	compile "$name" "$3" -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -DTR2_IS_SANITIZED \
		-DLINKED -- "$checked"/runtime/prof/*.o -Wl,--start-group "$checked"/lib{tr2,t2x,tlg}.a -Wl,--end-group \
		$(pkg-config --libs liblz4 libmd liburcu-cds zlib)
	storm "$name" "$5" "" heap cpu wall
}

seconds=$((60 * scale / 100))
if need g++ "programs of g++"; then
	compile g++ g++ -O2 --
	begin facts g++
	begin storm g++ $seconds "$preload" heap cpu wall block mutex threadcreate
fi
if need clang++ "programs of clang++"; then
	compile clang++ clang++ -O2 --
	begin storm clang++ $seconds "$preload" heap cpu wall block mutex threadcreate
fi
for compiler in g++ clang++; do
	[ -d "$work/$compiler" ] || continue
	"$compiler" -O2 -Wall -Iruntime -pthread -o "$work/$compiler/killed" tests/torture/killed.cc &&
		"$compiler" -O2 -Wall -Iruntime -fPIC -shared -DCOUNTER -o "$work/$compiler/counter.so" tests/torture/killed.cc
	verdict "the victim of $compiler compiles" $?
	begin die "$compiler" $((10 * scale)) "$seed"
done
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
if [ -d "$work/g++" ]; then
	compile g++-asan g++ -O1 -g -fsanitize=address --
	cp -a "$work/g++-asan" "$work/g++-asan-first"
	begin storm g++-asan $seconds "$preload" heap cpu wall block mutex threadcreate
	begin storm g++-asan-first $seconds "$(g++ -print-file-name=libasan.so):$preload" cpu wall block mutex threadcreate
	begin storm_checked checked gcc g++ build/address-undefined/obj $seconds
fi
if [ -d "$work/clang++" ]; then
	compile clang++-asan clang++ -O1 -g -fsanitize=address --
	begin storm clang++-asan $seconds "$preload" cpu wall block mutex threadcreate
	[ "$scale" -lt 100 ] || begin storm_checked checked-clang clang clang++ build/clang-address-undefined/obj $seconds
fi
finish
total
