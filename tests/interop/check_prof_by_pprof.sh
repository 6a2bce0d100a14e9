#!/bin/bash
# SPDX-License-Identifier: MIT
# `go tool pprof` reads what libtrace2-prof writes, message and text, and gperftools' pprof reads the text: all stacks,
# by their functions, with the same totals.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need "libtrace2-prof in $out" [ -e "$out/libtrace2-prof.so.0" ]
need go command -v go
need google-pprof command -v google-pprof
cd "$tmp" || exit 1
export HOME=$tmp PPROF_TMPDIR=$tmp

${CC:-cc} -g -O2 -rdynamic -I"$top/runtime" -o waits "$top/tests/library/locks/waits.c" -L"$out" -Wl,-rpath,"$out" \
	-ltrace2-prof -pthread || fail "waits.c does not compile"
check "waits runs" env TRACE2_PROF=heap=1,threadcreate ./waits ./of >waited

# by_go FILE: total of the last type; names of its functions
by_go()
{
	go tool pprof -unit=ns -nodefraction=0 -edgefraction=0 -nodecount=1000 -top waits "$1" 2>err
}

# The function in which stacks begin, which each reader has to show
for pair in block:wait_here mutex:unlock_here heap:work threadcreate:create_here; do
	name=${pair%:*} function=${pair#*:}
	by_go "of.$name.0" >message
	check "$name: go reads the message" [ $? -eq 0 ]
	by_go "of.$name.1" >text
	check "$name: go reads the text" [ $? -eq 0 ]
	[ "$name" = heap ] || check "$name: both have the same total" cmp -s <(grep -o 'of .* total' message) <(grep -o 'of .* total' text)
	[ "$name" = heap ] || check "$name: go finds $function" grep -qE " $function( |\$)" message
	[ "$name" != threadcreate ] || continue   # of which gperftools knows nothing
	google-pprof --text waits "of.$name.1" >gperftools 2>err
	check "$name: gperftools reads the text" [ $? -eq 0 ]
	[ "$name" = heap ] || check "$name: gperftools finds $function" grep -qE " $function( |\$)" gperftools
done
total
