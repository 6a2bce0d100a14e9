#!/bin/bash
# SPDX-License-Identifier: MIT
# P16: a pre-forking server, as nginx, postgres and apache are, under everything that a service manager does to it: new
# generations of workers (HUP), logs opened again (USR1), another master by exec (USR2), workers that are stopped, killed,
# crash, become another program, start helpers, and give up their user when run as root; a graceful stop, a fast one, a
# master that is killed.  Settings change; none may make a process hang, or change how it ends.  Every call that the
# processes have counted themselves is in the trace, or counted as dropped, and none is there twice.  What living workers
# record is in the file in time.  Of the ring files none stays but those with something unwritten, and these go with
# recovery.  See server/server.h.
set -u
. tests/torture/common.sh

T2EXPAND=$(realpath "$out/t2expand")
export T2EXPAND
# The workers are nobody: they have to get at the program and its files
chmod 755 "$work" "$rings"
cp -L "$out/libtrace2.so.0" "$out/libtrace2-prof.so.0" "$work/"
ln -s libtrace2.so.0 "$work/libtrace2.so"
"${CC:-cc}" -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Iruntime -o "$work/server" tests/torture/server/*.c -L"$work" \
	-Wl,-rpath,"$work" -ltrace2 -pthread
verdict "the server compiles" $?
[ "$(id -u)" -eq 0 ] || skip "workers that give up their user" "not run as root"
ulimit -n "$(ulimit -H -n)"
rounds=$(((2 * scale + 4) / 5))

# serve NAME WORD... SETTING...: servers with these settings; TRACE2_RAW is relative to a directory of their own
serve()
{
	local name=$1 dir=$rings/${1// /-} arguments=()
	shift

	mkdir -m 1777 "$dir"
	cd "$dir" || exit 1
	for argument; do
		case $argument in
		TRACE2_RAW=* | TRACE2_PERF=*) arguments+=("${argument%%=*}=$dir/${argument#*=}") ;;
		*) arguments+=("$argument") ;;
		esac
	done
	timeout -s KILL 1800 "$work/server" "$name" "$rounds" "$seed" "${arguments[@]}" TRACE2_RAW_FLUSH=250ms \
		XDG_RUNTIME_DIR="$dir/rings"
}

begin serve "untraced"
begin serve "one file" flushes TRACE2_RAW=trace.tlg TRACE2_RAW_MEMORY=1g
begin serve "a directory" flushes TRACE2_RAW=traces/ TRACE2_RAW_MEMORY=1g
begin serve "block" flushes drops waits TRACE2_RAW=trace.tlg TRACE2_RAW_POLICY=block TRACE2_RAW_WAIT=60s TRACE2_RAW_RING=128k
begin serve "discard" flushes drops TRACE2_RAW=trace.tlg TRACE2_RAW_RING=128k TRACE2_RAW_MEMORY=256k
begin serve "overwrite" drops TRACE2_RAW=trace.tlg TRACE2_RAW_POLICY=overwrite TRACE2_RAW_SNAPSHOT=exit TRACE2_RAW_RING=128k
begin serve "late thread" TRACE2_RAW=trace.tlg TRACE2_RAW_MEMORY=1g TRACE2_RAW_THREAD=late
begin serve "no thread" TRACE2_RAW=trace.tlg TRACE2_RAW_MEMORY=1g TRACE2_RAW_THREAD=off
begin serve "live texts" flushes TRACE2_RAW=trace.tlg TRACE2_PERF=text TRACE2_RAW_MEMORY=1g
begin serve "profiler" flushes TRACE2_RAW=trace.tlg TRACE2_RAW_MEMORY=1g TRACE2_RAW_THREAD=init \
	LD_PRELOAD="$work/libtrace2-prof.so.0" TRACE2_PROF=cpu=1khz,heap=16k,block
finish
# of the last of these servers, which took little of any
"$T2EXPAND" --summary "$rings/profiler/trace.tlg" 2>/dev/null | grep -q '^profiles'
verdict "profiler: there are no samples" $((PIPESTATUS[1]))
total
