#!/bin/bash
# SPDX-License-Identifier: MIT
# What young processes have recorded and not written: t2expand shows it without being asked, once, as long as they are
# idle.  The program records so many numbers, writes them if it is told to, records as many again, and waits for the end
# of its input.  Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../common.sh"
need_shared_library
cd "$tmp" || exit 1

cat >young.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <trace2.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, writes = argc > 2;

	trace2_initialize();
	for (int i = 0; i < n; i++)
		trace2_data_intmax("young", NULL, "number", i);
	if (writes)
		trace2_flush();
	for (int i = 0; writes && i < n; i++)
		trace2_data_intmax("young", NULL, "number", n + i);
	puts("ready");
	fflush(stdout);
	return getchar() != EOF;
}
END
${CC:-cc} -I"$top/runtime" -o young young.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

# start COMMAND...: until it is ready, and young.  A machine that is busy may take 5 ms for what a program does in
# one: then the process has its thread, and there is nothing to be seen.  The next one finds the trace as this one did.
start()
{
	local tries

	cat "$raw" >before 2>/dev/null || : >before
	for ((tries = 0; tries < 50; tries++)); do
		rm -f in
		mkfifo in
		: >said
		TRACE2_RAW=$raw "$@" <in >said &
		pid=$!
		exec 3>in
		until [ -s said ]; do sleep 0.01; done
		[ "$(grep -l trace2-drain "/proc/$pid"/task/*/comm 2>/dev/null)" ] || return 0
		finish
		cat before >"$raw"
	done
	echo "too busy for a young process"
	exit 77
}
finish()
{
	exec 3>&-
	wait "$pid"
}
# numbers FILE...: each number that is shown, sorted
numbers()
{
	"$out/t2expand" --format=event "$@" 2>err | sed -n 's/.*"key":"number","value":"\([0-9]*\)".*/\1/p' | sort -n
}
are()
{
	[ "$(numbers "${@:2}" | tr '\n' ' ')" = "$(seq -s ' ' 0 "$(($1 - 1))") " ]
}

raw=$tmp/alone.tlg
start ./young 10
check "nothing is in the file" [ ! -s alone.tlg ]
check "an idle process is shown" are 10 alone.tlg
check "with a note that says where it is" grep -q "process $pid: 1[0-9] checkpoints in its rings" err
check "and it is a success" bash -c "'$out/t2expand' alone.tlg -o /dev/null 2>/dev/null"
check "also by t2 summary" bash -c "'$out/t2' summary alone.tlg 2>/dev/null | grep -q 'number'"
check "in a directory" are 10 "$tmp"
check "also with --live" are 10 --live="$pid"
finish
check "when it has ended" are 10 alone.tlg
check "there is nothing to note" [ ! -s err ]

raw=$tmp/both.tlg
start ./young 10 flush
check "something is in the file" [ -s both.tlg ]
check "what was written and what was not is shown once" are 20 both.tlg
finish
check "when it has ended, too" are 20 both.tlg

# Behind others in the same file, and beside one that was killed
raw=$tmp/others.tlg
TRACE2_RAW=$raw ./young 5 </dev/null >said
start ./young 5 flush
kill -9 "$pid"
{ finish; } 2>/dev/null
start ./young 10
numbers others.tlg >got
check "a killed one has its hint all the same" grep -q 'others.tlg: process [0-9]* died .*--recover=' err
check "and its events are not read unasked" [ "$(wc -l <got)" -eq 20 ]
finish
check "another file is not touched" are 20 both.tlg
rm -f "$rings"/*.ring others.tlg

# Processes that come and go while the file is read: none of their events is shown twice, those of whole ones are there
raw=$tmp/busy.tlg
for ((i = 0; i < 60; i++)); do TRACE2_RAW=$raw ./young 10 flush </dev/null; done >/dev/null &
writer=$!
twice=0
while kill -0 $writer 2>/dev/null; do
	"$out/t2expand" --format=event busy.tlg 2>/dev/null |
		sed -n 's/.*"sid":"\([^"]*\)".*"key":"number","value":"\([0-9]*\)".*/\1 \2/p' | sort | uniq -d >doubles
	[ -s doubles ] && twice=$((twice + 1))
done
wait $writer
check "nothing is shown twice while processes write" [ $twice -eq 0 ]
check "all is there in the end" [ "$(numbers busy.tlg | wc -l)" -eq 1200 ]
total
