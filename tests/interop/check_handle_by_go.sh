#!/bin/bash
# SPDX-License-Identifier: MIT
# `go tool pprof http://...' fetches each profile from a program that answers by trace2_pprof_handle(), and reads the
# texts of debug=1.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
need go command -v go
need curl command -v curl
need "libmicrohttpd-dev, for the example" [ -x "$out/examples/pprof_server" ]
export HOME=$tmp PPROF_TMPDIR=$tmp
unset TRACE2_RAW TRACE2_PROF
here=$(cd "$(dirname "$0")" && pwd)
cd "$tmp" || exit 1

mkfifo input
exec 7<>input
timeout 300 "$out/examples/pprof_server" <&7 7>&- >address &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$tmp" "$rings"' EXIT
for ((i = 0; i < 500; i++)); do [ -s address ] && break; sleep 0.02; done
base=$(cat address)
base=${base%/}
. "$here/profiles_by_go.sh"
fetch_all
fetch profile -seconds 1
check "go says how long" [ $? -eq 0 ]
check "go finds the function: $(head -c 600 raw)" grep -q compute_here raw
timeout 100 go tool pprof -top -symbolize=remote "$base/profile?seconds=1" >raw 2>err
check "go asks for symbols" [ $? -eq 0 ]
fetch nonsense
check "an error is one" [ $? -ne 0 ]
check "go shows what the program says of it: $(tail -n 2 err)" grep -q 'Unknown profile' err

# As Go's own texts, without a message
for text in heap goroutine block mutex threadcreate; do
	curl -sS "$base/$text?debug=1" >"$text.txt"
	timeout 100 go tool pprof -raw "$text.txt" >raw 2>err
	status=$?
	check "go reads the text of $text: $(tail -n 2 err)" [ $status -eq 0 ]
done
check "the text of all threads has their functions" grep -q main goroutine.txt
kill $server
total
