#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/torture/harness_fuzz.sh [TARGET...]
#
# Fuzz what reads files and what writes text (tests/fuzz/fuzz_*.c), from the seeds in tests/fuzz/corpus, two
# targets at a time.  Without clang gcc's own programs change the seeds at random; with clang libFuzzer does it, with
# the address and undefined behaviour sanitizers; with afl++ that joins in.  All seeds also pass, without
# sanitizers, in 64 MiB of address space; and no input may let the expander hold more than 56 MiB, nor take 10 seconds of
# CPU time.  Other limits of time only end what hangs: a busy machine may take long for an input.
# An input that fails stays in $T2_OUT/fuzz; what libFuzzer found new there is where it begins the next time.
# T2_FUZZ  seconds for each target and fuzzer (default 20: two to three minutes on two processors).  The full length is
#          T2_FUZZ=300 T2_TIMEOUT=7200 make torture ONLY=fuzz
# T2_OUT, T2_SCALE, T2_SEED: see run.sh.  Ends with "N passed, N failed".
set -u
. tests/torture/common.sh

top=$PWD corpus=tests/fuzz/corpus found=$out/fuzz
seconds=$((${T2_FUZZ:-20} * scale / 100)) seed=$((seed % 2147483647 + 1))
[ "$seconds" -gt 0 ] || seconds=1
mkdir -p "$found/new"

# build MAKE-ARGUMENTS...: the targets in the directory $built, which is below $top
build()
{
	local target names=""

	for target in $targets; do
		names="$names ${built#"$top"/}/torture/fuzz_$target"
	done
	# shellcheck disable=SC2086
	${MAKE:-make} -s -j"$(nproc)" "$@" $names >"$found/build.log" 2>&1 && return
	tail -n 5 "$found/build.log"
	return 1
}

# small TARGET: the seeds, and changes of them, in 64 MiB
small()
{
	(ulimit -v 65536 && cd "$found" && "$built/torture/fuzz_$1" -runs=$((seconds * 1000)) -seed="$seed" "$top/$corpus/$1")
}

# longest TARGET: bytes of an input.  Most of what there is to find is in short ones, and these are tried more often.
longest()
{
	case $1 in
	layout) echo 16384 ;;
	ring) echo 8192 ;;
	*) echo 4096 ;;
	esac
}

# large TARGET: libFuzzer; new inputs are kept for the next run
large()
{
	local log=$found/$1.log status

	mkdir -p "$found/new/$1"
	ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=8 UBSAN_OPTIONS=print_stacktrace=1 \
		"${plain[@]}" "$built/torture/fuzz_$1" -seed="$seed" -max_total_time="$seconds" -timeout=600 -rss_limit_mb=768 \
		-malloc_limit_mb=64 -max_len="$(longest "$1")" -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$found/$1-" "$found/new/$1" "$corpus/$1" >"$log" 2>&1
	status=$?
	printf 'fuzz_%s: libFuzzer, %s executions\n' "$1" \
		"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
	[ "$status" -eq 0 ] || grep -vE '^(INFO|stat)' "$log" | tail -n 30
	return "$status"
}

# grey TARGET: AFL++
grey()
{
	local log=$found/$1.afl.log to=$found/afl/$1 executions crashes

	rm -rf "$to"
	mkdir -p "$found/afl"
	# It ends if a seed takes longer than -t, 1 s of a busy machine if none is given, or if no processor is its own.
	AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_BENCH_UNTIL_CRASH=1 AFL_NO_AFFINITY=1 \
		timeout -s INT $((seconds + 600)) afl-fuzz -V "$seconds" -t 60000 -s "$seed" -G "$(longest "$1")" \
		-i "$corpus/$1" -o "$to" \
		-- "$built/torture/fuzz_$1" >"$log" 2>&1
	executions=$(sed -n 's/^execs_done *: *//p' "$to/default/fuzzer_stats" 2>/dev/null)
	crashes=$(find "$to/default/crashes" -name 'id:*' 2>/dev/null | grep -c .)
	echo "fuzz_$1: AFL++, ${executions:-0} executions, $crashes crashes"
	[ "${executions:-0}" -gt 0 ] && [ "$crashes" -eq 0 ] && return
	tail -n 5 "$log"
	return 1
}

# each HOW
each()
{
	local target

	for target in $targets; do
		begin "$1" "$target"
	done
	finish
}

targets=$*
[ $# -gt 0 ] || targets=$(basename -a -s .c tests/fuzz/fuzz_*.c | sed 's/^fuzz_//')

built=$top/$out
build
verdict "the targets build" $?
each small
if need clang libFuzzer; then
	built=$built/clang-address-undefined-fuzzer-no-link
	build CC=clang SAN=address,undefined,fuzzer-no-link
	verdict "the targets build for libFuzzer" $?
	each large
fi
if need afl-clang-fast "AFL++" && need afl-fuzz "AFL++"; then
	built=${built%/clang-*}/afl-clang-fast-fuzzer-no-link
	# as in the Makefile: not of what judges
	printf 'src: tests/*\n' >"$work/judges"
	export AFL_LLVM_DENYLIST=$work/judges
	build CC=afl-clang-fast SAN=fuzzer-no-link
	verdict "the targets build for AFL++" $?
	each grey
fi
total
