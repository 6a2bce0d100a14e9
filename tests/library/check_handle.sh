#!/bin/bash
# SPDX-License-Identifier: MIT
# trace2_pprof_handle() in its example, a program with an HTTP server of its own: what it answers, that nothing else of
# the program waits for it, that a client who has gone ends a profile, and that nothing stays on.  Ends with "N passed,
# N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
need "libmicrohttpd-dev, for the example" [ -x "$out/examples/pprof_server" ]
need curl command -v curl
export PATH=$out:$PATH
unset TRACE2_PROF
cd "$tmp" || exit 1

# begin VARIABLE...: the program, whose id is $server, $base where it answers
begin()
{
	rm -f input address
	mkfifo input
	exec 7<>input
	env "$@" timeout 200 "$out/examples/pprof_server" <input 7>&- >address &
	server=$!
	for ((i = 0; i < 500; i++)); do [ -s address ] && break; sleep 0.02; done
	base=$(cat address)
	base=${base%/}
}
# get PATH CURL_ARGUMENT...: $status, the headers in head, the answer in body
get()
{
	status=$(curl -sS --max-time 60 --path-as-is -D head -o body -w '%{http_code}' "${@:2}" "$base/$1" 2>>curled)
}
answers()
{
	get "${@:3}"
	check "$1: $status, not $2: $(head -c 200 body 2>/dev/null | tr -d '\0')" [ "$status" = "$2" ]
}
has()
{
	check "$1: $(head -c 300 "${3:-body}" | tr -d '\0')" grep -aqiE -- "$2" "${3:-body}"
}
unpacked_has()
{
	check "$1: it has $2" grep -q "$2" <(gzip -dc body | strings)
}

begin TRACE2_RAW="$tmp/run.tlg" TRACE2_CTL=1
pid=$(pgrep -P $server)
profiles()
{
	t2 ctl "$pid" status 2>&1 | sed -n 's/^profiles: //p'
}
answers "the list" 200 ""
has "it has heap" 'href="heap"'
answers "a CPU profile" 200 "profile?seconds=1"
has "its type" 'content-type: application/octet-stream' head
has "a browser stores it" 'filename="profile"' head
unpacked_has "a CPU profile" pprof_server
for name in allocs mutex threadcreate goroutine threads heap block wall?seconds=0.2 heap?seconds=0.2; do
	answers "$name" 200 "$name"
	check "$name is gzip" gzip -t <body
done
answers "text of the heap" 200 "heap?debug=1"
has "it is Go's" '^heap profile: '
answers "text of all threads" 200 "goroutine?debug=2"
has "it has threads" '^thread [0-9]+ "'
answers "cmdline" 200 cmdline
has "it is" 'pprof_server'
address=$(python3 - "$pid" "$out/examples/pprof_server" <<'END'
import subprocess, sys
pid, program = sys.argv[1:]
name = next(l.split()[0] for l in subprocess.run(["nm", program], capture_output=True, text=True).stdout.splitlines() if l.endswith(" compute_here"))
base = next(int(l.split("-")[0], 16) for l in open(f"/proc/{pid}/maps") if "/" in l and l.split()[2] == "00000000")
print(f"0x{base + int(name, 16) + 4:x}")
END
)
answers "symbol" 200 "symbol?$address"
has "the function" "$address compute_here"
answers "symbol by POST" 200 symbol --data-binary "$address+0x1"
has "the function" "$address compute_here"
answers "the trace of half a second" 200 "trace?seconds=0.5"
cp body part.tlg
expect "it is a trace" 0 "" sh -c 't2 export --quiet --format=event part.tlg 2>/dev/null | grep -q region_leave'
t2 show part.tlg >shown 2>/dev/null
t2 show run.tlg 2>/dev/null >all
check "it is not the whole: $(wc -l <shown) of $(wc -l <all) lines" [ "$(wc -l <shown)" -lt "$(wc -l <all)" ]
answers "seconds and debug" 400 "heap?seconds=1&debug=1"
has "errors have the header of Go" '^x-go-pprof: 1' head
answers "no such profile" 404 nonsense
answers "too long" 400 "profile?seconds=301"
answers "a damaged path" 404 "%00"
answers "a path that would lead out" 404 ../../../etc/passwd
has "no path is followed" 'unknown profile'
base=${base%/debug/pprof} answers "a page of the program's" 404 index.html
has "it is the program's" 'this program computes'
head -c 100000 /dev/zero | tr '\0' 1 >large
answers "a long body" 413 symbol --data-binary @large

# Others are answered meanwhile, also by profiles of other kinds; the program goes on.
curl -sS --max-time 60 -o first "$base/profile?seconds=4" &
job=$!
for ((i = 0; i < 200; i++)); do [ "$(profiles)" = cpu ] && break; sleep 0.02; done
answers "a second CPU profile at a time" 500 "profile?seconds=1"
has "it says why" 'already in use'
answers "another kind at the same time" 200 "heap?seconds=0.5"
check "the first one goes on" [ "$(profiles)" = cpu ]
wait $job
check "the first one is complete" gzip -t <first
check "nothing runs behind it: $(profiles)" [ "$(profiles)" = none ]
timeout 1 curl -sS -o /dev/null "$base/profile?seconds=60" 2>/dev/null
for ((i = 0; i < 300; i++)); do [ "$(profiles)" = none ] && break; sleep 0.05; done
check "the client has gone: the profile is off" [ "$(profiles)" = none ]
t2 ctl "$pid" profile heap=64k >/dev/null
answers "the user has a profile on" 200 "heap?seconds=0.5"
unpacked_has "a heap of a second" pprof_server
check "it stays on: $(profiles)" [ "$(profiles)" = heap ]

# Many at a time: memory stays bounded, all are answered.
before=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
jobs=
for ((i = 0; i < 12; i++)); do
	for name in heap threads goroutine?debug=2 allocs?debug=1; do curl -sS --max-time 60 -o /dev/null -w '%{http_code}\n' "$base/$name"; done >"many.$i" 2>/dev/null &
	jobs+=" $!"
done
wait $jobs
check "all are answered" [ "$(cat many.* | grep -c '^200$')" -eq 48 ]
after=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
check "memory: $before, then $after KiB" [ "$after" -lt $((before + 32768)) ]
turns=$(t2 show run.tlg 2>/dev/null | grep -c region_leave)
sleep 0.5
t2 ctl "$pid" flush >/dev/null
check "the program goes on" [ "$(t2 show run.tlg 2>/dev/null | grep -c region_leave)" -gt "$turns" ]
exec 7>&-
wait $server
check "it ends as it would: $?" [ $? -eq 0 ]

# Nothing of Trace2 in the environment
begin A=b
answers "without a trace: a profile" 200 "profile?seconds=0.5"
unpacked_has "without a trace" pprof_server
answers "without a trace: none" 409 "trace?seconds=0.1"
has "it says why" 'TRACE2_RAW'
exec 7>&-
wait $server
total
