#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with threads that is compiled with a sanitizer, by gcc or by clang, and linked with the library as it is,
# shared or static, reports nothing while it does all that can be done with the library; nor does it under valgrind.
# And it records what it should.  clang may be missing here, but not where CI is set.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1
need_shared_library
rounds=2 calls=150

# ThreadSanitizer wants addresses where it expects them; not everybody may ask for that.
plain=()
setarch -R true 2>/dev/null && plain=(setarch -R)

# Sanitizers of the process, and of its children, which may start threads of their own.
export ASAN_OPTIONS=detect_leaks=1:exitcode=99 UBSAN_OPTIONS=halt_on_error=1:exitcode=99
export TSAN_OPTIONS=die_after_fork=0:exitcode=99:report_signal_unsafe=1
export LSAN_OPTIONS=exitcode=99

# Settings of the four ways to record
settings()
{
	case $1 in
	raw) ;;
	live) echo "TRACE2=$tmp/$2/normal TRACE2_PERF=$tmp/$2/perf TRACE2_EVENT=$tmp/$2/event" ;;
	flight) echo "TRACE2_RAW_POLICY=overwrite" ;;
	block) echo "TRACE2_RAW_POLICY=block TRACE2_RAW_RING=128k" ;;
	esac
}

# What was said, except what LeakSanitizer says of every program that has a thread and forks
said()
{
	grep -v 'was not suspended. False leaks are possible' "$tmp/$1/said"
}

# run NAME WAY COMMAND...: it ends well and says nothing; where nothing may be lost, all steps are there
run()
{
	local name=$1 way=$2

	mkdir -m 700 -p "$tmp/$name"
	rm -f "$tmp/$name"/*
	# shellcheck disable=SC2046
	env XDG_RUNTIME_DIR="$tmp/$name" TRACE2_RAW="$tmp/$name/raw.tlg" $(settings "$way" "$name") \
		timeout -s KILL 900 "${@:3}" >"$tmp/$name/said" 2>&1 ||
		{ echo "exit status $?"; said "$name" | head -n 40; return 1; }
	said "$name" && return 1
	[[ $way = flight || $way = block ]] || "$out/t2expand" --format=perf "$tmp/$name"/raw*.tlg | grep -c 'worker.*label:step' |
		grep -qx $((rounds * 4 * calls))
}

# sanitize COMPILER SANITIZERS: all ways, with each library
sanitize()
{
	local name=$1-$2 library

	for library in shared static; do
		local link=(-L"$out" -Wl,-rpath,"$out" -ltrace2)
		# shellcheck disable=SC2207
		[ $library = static ] && link=("$out/libtrace2.a" $(pkg-config --libs libmd liblz4))
		quiet "$name, $library: build" "$1" -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize="$2" -Wall -Wextra -Werror -Iruntime \
			-o "$tmp/$name-$library.exe" tests/library/user/threads.c "${link[@]}" -pthread
	done
	for way in raw live flight block; do
		library=shared
		[ $way = raw ] && library=static
		quiet "$name, $library, $way" run "$name" $way "${plain[@]}" "$tmp/$name-$library.exe" $rounds $calls
	done
}

sanitize gcc thread
sanitize gcc address,undefined
if command -v clang >/dev/null; then
	sanitize clang thread
	sanitize clang address,undefined
else
	[ -z "${CI:-}" ] || fail "no clang here"
	echo "clang skipped: not installed"
fi

if command -v valgrind >/dev/null; then
	rounds=1 calls=20
	gcc -std=c11 -D_GNU_SOURCE -O1 -g -Iruntime -o "$tmp/threads" tests/library/user/threads.c -L"$out" -Wl,-rpath,"$out" \
		-ltrace2 -pthread
	for way in raw live; do
		quiet "valgrind, $way" run valgrind $way valgrind -q --error-exitcode=99 --leak-check=full \
			--errors-for-leak-kinds=definite --show-leak-kinds=definite "$tmp/threads" $rounds $calls
	done
else
	[ -z "${CI:-}" ] || fail "no valgrind here"
	echo "valgrind skipped: not installed"
fi

total
