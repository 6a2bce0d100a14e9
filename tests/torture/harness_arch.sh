#!/bin/bash
# SPDX-License-Identifier: MIT
# P12: what any machine records, any machine expands.  The library and t2expand are cross-compiled for aarch64,
# armhf (32 bits) and s390x (big-endian), and run under qemu-user.
#   - the conformance cases, recorded there, expanded here: git's own texts
#   - messages with the extremes of each type, threads and a fork: as the producer's own printf has them
#   - every text of these files by t2expand here and by t2expand on s390x: the same bytes
#   - the unit tests of the format, the expander, the parts of the library, on those of 32 bits and of big-endian
#   - the profiler in front of a program there: its stacks, with names from a directory of that machine's programs, have
#     the functions that they should; and the profiler's unit tests
# qemu on this machine says nothing about memory ordering.
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

# profiler_tests: of prof/, not those for which qemu-user lacks robust mutexes, and the last real-time signals; in a
# twentieth of the length only those that depend most on the machine
profiler_tests()
{
	if [ "$scale" -ge 20 ]; then
		find tests/unit/prof -name 'test_*.c' | sed -E 's|.*/(.*)\.c|\1|' | grep -vE 'answers|stacks'
	else
		printf 'test_tr2p_%s\n' bucket create unwind step damaged
	fi
}

# build ARCHITECTURE: library, t2expand, replay, the producer, the profiler and a program for it, the unit tests
build()
{
	local arch=$1 t=${triplet[$1]} root tests
	local flags="-O2 -g -funwind-tables"   # the last for 32-bit ARM, where C code has no tables otherwise
	root=$(sysroot "$arch")/root

	tests/torture/sysroot.sh "$arch" "$(sysroot "$arch")" "${libraries[@]}" || return 1
	tests=$(profiler_tests | sed "s|^|build/$t-gcc/tests/|")
	if [ "$arch" != arm64 ]; then
		# one of them uses 128-bit integers as its second opinion
		tests+=" "$(find tests/unit -name 'test_*.c' ! -path '*/prof/*' | sed -E "s|.*/(.*)\.c|build/$t-gcc/tests/\1|" | grep -v test_t2x_clock)
	fi
	# shellcheck disable=SC2086
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$t/pkgconfig:$root/usr/share/pkgconfig \
		${MAKE:-make} -s -j"$(nproc)" CC="$t-gcc" AR="$t-ar" SAN= WERROR=1 CFLAGS="$flags" \
		CPPFLAGS="-isystem $root/usr/include -isystem $root/usr/include/$t" LDFLAGS="-L$root/usr/lib/$t -Wl,-rpath-link,$root/usr/lib/$t" \
		"build/$t-gcc/libtrace2.so" "build/$t-gcc/libtrace2.a" "build/$t-gcc/libtrace2-prof.so" "build/$t-gcc/t2expand" \
		"build/$t-gcc/tests/replay" $tests >"$work/log" 2>&1 || return 1
	"$t-gcc" -D_GNU_SOURCE -O2 -Wall -Werror -Iruntime -o "build/$t-gcc/producer" tests/torture/arch.c \
		"build/$t-gcc/libtrace2.a" -L"$root/usr/lib/$t" -lurcu-cds -llz4 -lmd -pthread >>"$work/log" 2>&1 &&
		"$t-gcc" -D_GNU_SOURCE $flags -Wall -Werror -o "build/$t-gcc/hot" tests/torture/hot.c -pthread >>"$work/log" 2>&1
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
	TRACE2_RAW=$raw TRACE2_RAW_THREAD=late XDG_RUNTIME_DIR=$work TZ=UTC timeout 900 "$@" >"$said"
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

unit()
{
	local program p=0 f=0

	for program in "$(out_of "$1")"/tests/test_{tlg,t2x,tr2}_*; do
		if timeout 900 "$(launcher "$1" "tests/${program##*/}")" >"$work/log" 2>&1; then
			p=$((p + 1))
		else
			f=$((f + 1))
			echo "FAIL $1: ${program##*/}"
			grep -a '\[  ERROR\|LINE' "$work/log" | head -n 6
		fi
	done
	echo "$1: unit test programs: $p pass, $f fail"
	add $p $f
}

# profile ARCHITECTURE: of a program that is elsewhere when names are looked up, each function that it says
profile()
{
	local dir=$work/$1-programs trace=$work/$1-profile.tlg what function least sum

	mkdir -p "$dir" "$work/gone"
	cp "$(out_of "$1")/hot" "$dir" && cp "$dir/hot" "$work/gone/"
	QEMU_SET_ENV=LD_PRELOAD=$(out_of "$1")/libtrace2-prof.so.0 TRACE2_PROF=cpu=250hz,heap=1k,block=1us,mutex=1 \
		TRACE2_RAW=$trace XDG_RUNTIME_DIR=$work timeout 900 "$(launcher "$1" "$work/gone/hot")" >"$work/said"
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

# profiler_unit ARCHITECTURE PROGRAM
profiler_unit()
{
	timeout 900 "$(launcher "$1" "tests/$2")" >"$work/$1-$2.log" 2>&1
	case $? in
	0 | 77) return ;;   # 77: not for this machine
	esac
	echo "FAIL $1: $2"
	grep -a '\[  ERROR\|LINE' "$work/$1-$2.log" | head -n 6
	return 1
}

for arch in armhf s390x arm64; do
	build "$arch"
	verdict "$arch: it builds" $?
	[ -x "build/${triplet[$arch]}-gcc/producer" ] || { tail -n 20 "$work/log"; continue; }
	conformance "$arch"
	produce "$arch" "$(launcher "$arch" producer)"
	[ "$arch" = arm64 ] || unit "$arch"
	profile "$arch"
	for name in $(profiler_tests); do
		begin profiler_unit "$arch" "$name"
	done
	skip "$arch: tests of prof/ that need robust mutexes or the last real-time signals" "not in qemu-user"
done
finish
produce x86-64 "${T2_OUT:-build}/torture/arch"
there=$(launcher s390x t2expand)
for arch in x86-64 arm64 armhf s390x; do
	compare "$arch"
done
total
