#!/bin/bash
# SPDX-License-Identifier: MIT
# P12: what any machine records, any machine expands.  The library and t2expand are cross-compiled for aarch64,
# armhf (32 bits) and s390x (big-endian), and run under qemu-user.
#   - the conformance cases, recorded there, expanded here: git's own texts
#   - messages with the extremes of each type, threads and a fork: as the producer's own printf has them
#   - every text of these files by t2expand here and by t2expand on s390x: the same bytes
#   - the profiler in front of a program there: its stacks, with names from a directory of that machine's programs, have
#     the functions that they should
#   - all test programs link; the unit tests pass, but for those that qemu-user cannot run
# T2_SCALE changes nothing here: each run of CI does all of this.  qemu on this machine says nothing about memory
# ordering.
set -u
. tests/torture/common.sh
top=$PWD here=$PWD/$out/t2expand
libraries=(liburcu-dev liburcu8 liblz4-dev liblz4-1 libmd-dev libmd0 libexpat1-dev libexpat1 zlib1g-dev zlib1g
	libdw-dev libelf-dev liblzma-dev libcmocka-dev libcmocka0)
declare -A triplet=([arm64]=aarch64-linux-gnu [armhf]=arm-linux-gnueabihf [s390x]=s390x-linux-gnu)
declare -A emulator=([arm64]=qemu-aarch64 [armhf]=qemu-arm [s390x]=qemu-s390x)
declare -A hits=()

sysroot() { echo "$top/build/sysroot/$1"; }
out_of() { echo "$top/build/${triplet[$1]}-gcc"; }

# The first needs robust mutexes, which qemu-user has not.  The second asks a thread in sem_wait() again and again where
# it is: under qemu-user it stops answering.  The third shares its memory with a process, where qemu-user makes a copy,
# or ends by an assertion of its own.  The others look at threads and processes in /proc, which tells of qemu-user's own.
not_there=(test_tr2p_answers test_tr2p_stacks test_tr2p_vfork test_tr2p_look test_tr2p_before test_t2x_target)
# It compares with integers of 128 bits
declare -A not_built=([armhf]=test_t2x_clock)

# tests_in DIRECTORY ARCHITECTURE: the names of its test programs
tests_in()
{
	find "$1" -name 'test_*.c' | sed -E 's|.*/(.*)\.c|\1|' | sort | grep -vx "${not_built[$2]:-}"
}

# build ARCHITECTURE: library, t2expand, replay, the producer, the profiler and a program for it, all test programs.
# What does not link fails alone: the rest is built, and run
build()
{
	local arch=$1 t=${triplet[$1]} root tests status
	local flags="-O2 -g -funwind-tables"   # the last for 32-bit ARM, where C code has no tables otherwise
	root=$(sysroot "$arch")/root

	tests/torture/sysroot.sh "$arch" "$(sysroot "$arch")" "${libraries[@]}" || return 1
	tests=$({ tests_in tests/unit "$arch"; tests_in tests/library "$arch"; } | sed "s|^|build/$t-gcc/tests/|")
	# shellcheck disable=SC2086
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$t/pkgconfig:$root/usr/share/pkgconfig \
		${MAKE:-make} -s -k -j"$(nproc)" CC="$t-gcc" AR="$t-ar" SAN= WERROR=1 CFLAGS="$flags" \
		CPPFLAGS="-isystem $root/usr/include -isystem $root/usr/include/$t" LDFLAGS="-L$root/usr/lib/$t -Wl,-rpath-link,$root/usr/lib/$t" \
		"build/$t-gcc/libtrace2.so" "build/$t-gcc/libtrace2.a" "build/$t-gcc/libtrace2-prof.so" "build/$t-gcc/t2expand" \
		"build/$t-gcc/tests/replay" $tests >"$work/log" 2>&1
	status=$?
	"$t-gcc" -D_GNU_SOURCE -O2 -Wall -Werror -Iruntime -o "build/$t-gcc/producer" tests/torture/arch.c \
		"build/$t-gcc/libtrace2.a" -L"$root/usr/lib/$t" -lurcu-cds -llz4 -lmd -pthread >>"$work/log" 2>&1 &&
		"$t-gcc" -D_GNU_SOURCE $flags -Wall -Werror -o "build/$t-gcc/hot" tests/torture/hot.c -pthread >>"$work/log" 2>&1 &&
		return $status
}

# launcher ARCHITECTURE PROGRAM: a script that runs it; the program's path may begin with that of the build
launcher()
{
	local arch=$1 t=${triplet[$1]} root script=$work/$1-${2##*/} program=$2
	root=$(sysroot "$arch")/root
	[[ $program = /* ]] || program=$(out_of "$arch")/$program

	printf '#!/bin/sh\nT2_EMULATED=1 exec %s -L /usr/%s -E LD_LIBRARY_PATH=%s %s "$@"\n' "${emulator[$arch]}" \
		"$t" "$root/usr/lib/$t:$root/lib/$t:$(out_of "$arch")" "$program" >"$script"
	chmod +x "$script"
	echo "$script"
}

conformance()
{
	local p f

	python3 -B tests/conformance/run.py --replay "$(launcher "$1" tests/replay)" --expand "$here" \
		tests/conformance/git tests/conformance/own >"$work/log" 2>&1
	read -r p _ f _ < <(tail -n 1 "$work/log")
	[ "${f:-1}" -eq 0 ] || head -n 20 "$work/log"
	echo "$1: conformance cases recorded there: ${p:-0} texts as git's, ${f:-?} not"
	add "${p:-0}" "${f:-1}"
}

# produce ARCHITECTURE COMMAND...: $work/ARCHITECTURE.tlg
produce()
{
	local arch=$1 said=$work/$1.said raw=$work/$1.tlg count
	shift

	# qemu 7.2 asserts when a child that was forked from a process with threads starts one
	TRACE2_RAW=$raw TRACE2_RAW_THREAD=late XDG_RUNTIME_DIR=$work TZ=UTC timeout -s KILL 900 "$@" >"$said"
	verdict "$arch: exit status" $?
	"$here" --format=normal --brief "$raw" | grep '^arch: ' | cmp - "$said"
	verdict "$arch: messages are those of its printf" $?
	"$here" --format=perf "$raw" | grep -c '| data ' >"$work/count"
	count=$(cat "$work/count")
	[ "$count" -eq 20001 ]
	verdict "$arch: 4 threads of 5,000 and the child's: $count" $?
	hits[$arch]=$("$here" --format=perf "$raw" | wc -l)
}

# Every text of one file, expanded here and on the machine of big-endian
compare()
{
	local form

	[ -n "${hits[$1]:-}" ] || return
	for form in normal perf event xml raw; do
		"$here" --format=$form "$work/$1.tlg" | cksum >"$work/here"
		"$there" --format=$form "$work/$1.tlg" | cksum >"$work/there"
		cmp -s "$work/here" "$work/there"
		verdict "$1: $form is the same on s390x" $?
	done
	echo "$1: ${hits[$1]} lines, 5 formats the same on x86-64 and s390x"
}

# unit ARCHITECTURE PROGRAM.  A program that blocks all signals ends by SIGKILL only
unit()
{
	local log=$work/$1-$2.log

	XDG_RUNTIME_DIR=$rings timeout -s KILL 300 "$(launcher "$1" "tests/$2")" >"$log" 2>&1
	case $? in
	0 | 77) return 0 ;;   # 77: not for this machine
	esac
	echo "FAIL $1: $2"
	grep -a '\[  ERROR\|LINE' "$log" | head -n 6
	return 1
}

# profile ARCHITECTURE: of a program that is elsewhere when names are looked up, each function that it says
profile()
{
	local dir=$work/$1-programs trace=$work/$1-profile.tlg what function least sum

	mkdir -p "$dir" "$work/gone"
	cp "$(out_of "$1")/hot" "$dir" && cp "$dir/hot" "$work/gone/"
	QEMU_SET_ENV=LD_PRELOAD=$(out_of "$1")/libtrace2-prof.so.0 TRACE2_PROF=cpu=250hz,heap=1k,block=1us,mutex=1 \
		TRACE2_RAW=$trace XDG_RUNTIME_DIR=$work timeout -s KILL 900 "$(launcher "$1" "$work/gone/hot")" >"$work/said"
	verdict "$1: the exit status of a program with the profiler in front" $?
	rm "$work/gone/hot"
	while read -r what function least; do
		sum=$("$here" --format=folded --profile="$what" --binaries="$dir" "$trace" 2>"$work/log" |
			awk -v name=";${function}[ ;]" '$0 ~ name { sum += $NF } END { printf "%d", sum }')
		[ "$sum" -ge "$least" ]
		verdict "$1: $what has $sum of $function, not $least" $?
	done <"$work/said"
	echo "$1: $(wc -l <"$work/said") profiles have the functions that they should"
}

for arch in armhf s390x arm64; do
	build "$arch"
	status=$?
	verdict "$arch: it builds" $status
	[ $status -eq 0 ] || grep -aE 'error|undefined reference|\*\*\*' "$work/log" | head -n 20
	[ -x "build/${triplet[$arch]}-gcc/producer" ] || continue
	conformance "$arch"
	produce "$arch" "$(launcher "$arch" producer)"
	profile "$arch"
	for name in $(tests_in tests/unit "$arch" | grep -vxF "$(printf '%s\n' "${not_there[@]}")"); do
		begin unit "$arch" "$name"
	done
	skip "$arch: ${not_there[*]}" "what they need is not in qemu-user"
done
finish
produce x86-64 "${T2_OUT:-build}/torture/arch"
there=$(launcher s390x t2expand)
for arch in x86-64 arm64 armhf s390x; do
	compare "$arch"
done
total
