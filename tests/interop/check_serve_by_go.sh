#!/bin/bash
# SPDX-License-Identifier: MIT
# `go tool pprof http://...' fetches each profile from `t2 serve', with the token in the address, and promtool of
# Prometheus, if it is here, has nothing to say of the metrics.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
need go command -v go
need curl command -v curl
export PATH=$out:$PATH HOME=$tmp PPROF_TMPDIR=$tmp
unset XDG_STATE_HOME STATE_DIRECTORY LISTEN_PID LISTEN_FDS
here=$(cd "$(dirname "$0")" && pwd)
cd "$tmp" || exit 1
${CC:-cc} -O1 -g -rdynamic -I"$top/runtime" -o served "$top/tests/cli/serve/served.c" -L"$out" -Wl,-rpath,"$out" \
	-ltrace2-prof -ltrace2 -pthread || fail "served.c does not compile"

mkfifo input
exec 7<>input
TRACE2_CTL=1 TRACE2_RAW=$tmp/run.tlg TRACE2_RAW_THREAD=init TRACE2_PROF=threads=USR2 ./served <&7 7>&- &
pid=$!
head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >token
chmod 600 token
t2 serve --listen=127.0.0.1:0 --token-file=token 2>announced </dev/null &
server=$!
trap 'kill -9 $pid $server 2>/dev/null; rm -rf "$tmp" "$rings"' EXIT
for ((i = 0; i < 500; i++)); do grep -q listens announced 2>/dev/null && break; kill -0 $server 2>/dev/null || break; sleep 0.02; done
if grep -qE 'was built without|is not here' announced; then
	cat announced
	exit 77
fi
port=$(sed -n 's/.*listens on port \([0-9]*\):.*/\1/p' announced)
address=http://t2:$(cat token)@127.0.0.1:$port

base=$address/pid/$pid/debug/pprof
. "$here/profiles_by_go.sh"
fetch_all
# Its own way to say it, with the duration of its own
fetch profile -seconds 1
status=$?
check "go says how long: $(tail -n 2 err)" [ $status -eq 0 ]
check "go finds the function: $(head -c 600 raw)" grep -q compute_here raw
timeout 100 go tool pprof -timeout 60 -top -symbolize=remote "$address/pid/$pid/debug/pprof/profile?seconds=1" >raw 2>err
check "go asks for symbols" [ $? -eq 0 ]
fetch nonsense
check "an error is one" [ $? -ne 0 ]
check "go shows what the server says of it" grep -q 'Unknown profile' err
timeout 100 go tool pprof -raw "http://127.0.0.1:$port/pid/$pid/debug/pprof/heap" >raw 2>err
check "no token" [ $? -ne 0 ]

# promtool is in Debian's package prometheus, which starts a server when it is installed: so it is not among .ci/packages
curl -sS -u "t2:$(cat token)" -o metrics "http://127.0.0.1:$port/metrics"
if command -v promtool >/dev/null; then
	quiet "promtool" promtool check metrics <metrics
fi
kill $server
wait $server
check "the server ends with status 0" [ $? -eq 0 ]
total
