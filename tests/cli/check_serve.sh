#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 serve: what it answers, whom it answers, and that the traced processes are afterwards as they were.  Each line of the
# threat model in SECURITY.md ("The server") has its test here.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
need curl command -v curl
need python3 command -v python3
export PATH=$out:$PATH HOME=$tmp/home
unset XDG_STATE_HOME STATE_DIRECTORY LISTEN_PID LISTEN_FDS
cd "$tmp" || exit 1
chmod 711 "$tmp"
mkdir home traces
t2 serve --listen=nowhere >stdout 2>err </dev/null
if grep -qE 'was built without|is not here' err; then
	cat err
	exit 77
fi
${CC:-cc} -O1 -g -I"$top/runtime" -o served "$top/tests/cli/serve/served.c" -L"$out" -Wl,-rpath,"$out" -ltrace2-prof -ltrace2 \
	-pthread || fail "served.c does not compile"
socket=$rings/trace2-serve.sock

# begin VARIABLE...: a traced program, whose id is $pid, until `finish'
begin()
{
	mkfifo "input.$#$RANDOM" 2>/dev/null
	exec 7<>"$(printf '%s\n' input.* | head -n 1)"
	env "$@" ./served <&7 7>&- 2>>said &
	pid=$!
	for ((i = 0; i < 200; i++)); do [ -n "$(ls "$rings" | grep "$(printf %016x "$pid")")" ] && break; sleep 0.02; done
}
finish()
{
	kill -9 "$pid" 2>/dev/null
	{ wait "$pid"; } 2>/dev/null
	exec 7>&-
	rm -f input.* "$rings"/*"$(printf %016x "$pid")"*
}
# serve ARGUMENT...: the server, whose id is $server; $port if it has one
serve()
{
	t2 serve "$@" 2>announced </dev/null &
	server=$!
	for ((i = 0; i < 500; i++)); do grep -q listens announced 2>/dev/null && break; kill -0 $server 2>/dev/null || break; sleep 0.02; done
	port=$(sed -n 's/.*listens on port \([0-9]*\):.*/\1/p' announced)
}
# leave: it ends when it is told to, with status 0
leave()
{
	kill -TERM "$server"
	wait "$server"
	check "the server ends with status 0" [ $? -eq 0 ]
}
# get PATH CURL_ARGUMENT...: $status, the headers in head, the answer in body
get()
{
	status=$(curl -sS --max-time 60 --path-as-is --unix-socket "$socket" -D head -o body -w '%{http_code}' "${@:2}" "http://localhost$1" 2>>curled)
}
# answers NAME STATUS PATH ...: the status that it has
answers()
{
	get "${@:3}"
	check "$1: $status, not $2: $(head -c 200 body 2>/dev/null | tr -d "\0")" [ "$status" = "$2" ]
}
has()
{
	check "$1: $(head -c 300 "${3:-body}" | tr -d "\0")" grep -aqiE -- "$2" "${3:-body}"
}
# profiles: those that run in the program
profiles()
{
	t2 ctl "$pid" status 2>&1 | sed -n 's/^profiles: //p'
}
state()
{
	t2 ctl "$pid" status 2>&1 | sed -n 's/^state: //p'
}

# ---- lists
cp served '<i>"&x'
begin TRACE2_CTL=1 TRACE2_RAW="$tmp/traces/run.tlg" TRACE2_RAW_THREAD=init
mv served kept && mv '<i>"&x' served && cp kept '<i>"&x'
serve traces
check "the socket is this user's alone: $(stat -c %a "$socket")" [ "$(stat -c %a "$socket")" = 600 ]
answers "healthz" 200 /healthz
answers "the list" 200 /
has "it has the process" "href=\"pid/$pid/\""
has "it has the file" 'href="file/run.tlg"'
has "its policy allows nothing" "content-security-policy: default-src 'none'" head
has "nosniff" "x-content-type-options: nosniff" head
answers "the list as JSON" 200 /processes.json
check "it is JSON, and has process and file" python3 -c '
import json, sys
got = json.load(open("body"))
sys.exit(not (int(sys.argv[1]) in [p["pid"] for p in got["processes"]] and [f["name"] for f in got["files"]] == ["run.tlg"]))' "$pid"
t2 ctl "$pid" flush >/dev/null
answers "metrics" 200 /metrics
has "processes" '^trace2_processes\{state="running"\} [1-9]'
has "events" "^trace2_raw_events_total\\{pid=\"$pid\",program=\"[^\"]*\"\\} [1-9]"
has "the type of the text" 'content-type: text/plain; version=0.0.4' head
none "metrics: each has its HELP and TYPE once, each sample once" "$(python3 - <<'END'
import re
helped, typed, seen = set(), set(), set()
for line in open("body"):
    if line.startswith("# HELP "):
        name = line.split()[2]
        if name in helped: print("HELP twice", name)
        helped.add(name)
    elif line.startswith("# TYPE "):
        typed.add(line.split()[2])
        if line.split()[3] not in ("gauge", "counter"): print(line)
    else:
        match = re.fullmatch(r'([a-z0-9_]+)(\{[a-z]+="(?:[^"\\\n]|\\["\\])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\])*")*\})? [0-9]+\n', line)
        if not match or match[1] not in helped & typed or line.split(" ")[0] in seen: print("wrong:", line)
        else: seen.add(line.rsplit(" ", 1)[0])
END
)"
answers "the page of a process" 200 "/pid/$pid/"
has "it is a page" '<html'
answers "the page of a file" 200 /file/run.tlg
has "it is a page" '<html'
answers "without the slash" 301 "/pid/$pid"
has "it says where" "location: /pid/$pid/" head
answers "only headers" 200 "/pid/$pid/" -I
has "and no answer" '^content-length: 0' head

# ---- profiles
pprof=/pid/$pid/debug/pprof
answers "the list of profiles" 200 "$pprof/"
has "it has heap" 'href="heap"'
answers "cmdline" 200 "$pprof/cmdline"
has "it is" 'served|<i>'
answers "a CPU profile" 200 "$pprof/profile?seconds=1"
has "its type" 'content-type: application/octet-stream' head
check "it is gzip" [ "$(head -c 2 body | od -An -tx1 | tr -d ' ')" = 1f8b ]
check "it has the function" grep -q compute_here <(gzip -dc body | strings)
check "none runs behind it" [ "$(profiles)" = none ]
check "the trace goes on" [ "$(state)" = on ]
answers "a heap profile of a second" 200 "$pprof/heap?seconds=1"
check "it has the function" grep -q allocate_here <(gzip -dc body | strings)
answers "waits" 200 "$pprof/block?seconds=1"
check "it has the function" grep -q wait_here <(gzip -dc body | strings)
for name in allocs mutex threadcreate goroutine threads heap block wall?seconds=0.1; do
	answers "$name" 200 "$pprof/$name"
	check "$name is gzip" gzip -t <body
done
answers "text" 200 "$pprof/heap?debug=1"
has "it is Go's" '^heap profile: '
answers "a trace of a second" 200 "$pprof/trace?seconds=0.5"
cp body part.tlg
expect "it is a trace" 0 "" sh -c 't2 export --quiet --format=event part.tlg 2>/dev/null | grep -q "region_leave"'
answers "the same for Chrome" 200 "$pprof/trace?seconds=0.5&format=chrome"
check "it is JSON" python3 -c 'import json; assert json.load(open("body"))["traceEvents"]'
answers "symbol" 200 "$pprof/symbol"
has "it can" '^num_symbols: [1-9]'
address=0x$(python3 - "$pid" <<'END'
import subprocess, sys
pid = sys.argv[1]
name = next(l.split()[0] for l in subprocess.run(["nm", "served"], capture_output=True, text=True).stdout.splitlines() if l.endswith(" compute_here"))
base = next(int(l.split("-")[0], 16) for l in open(f"/proc/{pid}/maps") if "/" in l and l.split()[2] == "00000000")
print(f"{base + int(name, 16) + 4:x}")
END
)
answers "symbol of an address" 200 "$pprof/symbol?$address"
has "the function" "$address compute_here"
answers "the same by POST" 200 "$pprof/symbol" --data-binary "$address+0x1"
has "the function" "$address compute_here"
answers "seconds and debug" 400 "$pprof/heap?seconds=1&debug=1"
has "errors have the header of Go" '^x-go-pprof: 1' head
has "their type" '^content-type: text/plain' head
answers "no such profile" 404 "$pprof/nonsense"
has "errors have the header of Go" '^x-go-pprof: 1' head
answers "too long" 400 "$pprof/profile?seconds=301"
curl -sS --max-time 60 --unix-socket "$socket" -o first "http://localhost$pprof/profile?seconds=15" &
for ((i = 0; i < 100; i++)); do [ "$(profiles)" = cpu ] && break; sleep 0.05; done
answers "a second CPU profile at a time" 500 "$pprof/profile?seconds=1"
has "it says why" 'already in use'
answers "another kind at the same time" 200 "$pprof/heap?seconds=1"
check "the first one goes on" [ "$(profiles)" = cpu ]
wait $!
check "the first one is complete" gzip -t <first
check "none runs behind it" [ "$(profiles)" = none ]

# ---- the client goes, the server goes
timeout 1.5 curl -sS --unix-socket "$socket" -o /dev/null "http://localhost$pprof/profile?seconds=60" 2>/dev/null
for ((i = 0; i < 200; i++)); do [ "$(profiles)" = none ] && break; sleep 0.05; done
check "the client has gone: the profile is off" [ "$(profiles)" = none ]
curl -sS --unix-socket "$socket" -o /dev/null "http://localhost$pprof/profile?seconds=60" 2>/dev/null &
for ((i = 0; i < 100; i++)); do [ "$(profiles)" = cpu ] && break; sleep 0.05; done
leave
check "the server has ended: the profile is off" [ "$(profiles)" = none ]
check "the socket is gone" [ ! -e "$socket" ]
serve
t2 ctl "$pid" off >/dev/null
answers "the user has switched the trace off" 409 "$pprof/profile?seconds=1"
check "it stays off" [ "$(state)" = off ]
t2 ctl "$pid" on >/dev/null
t2 ctl "$pid" profile heap=64k >/dev/null
answers "the user has a profile on" 200 "$pprof/heap?seconds=0.5"
check "it stays on" [ "$(profiles)" = heap ]
kill -STOP "$pid"
answers "a stopped process delays nobody: metrics" 200 /metrics
answers "it cannot be profiled" 503 "$pprof/profile?seconds=1"
has "it says why" 'did not answer'
kill -CONT "$pid"
finish

# ---- a dormant process
begin TRACE2_CTL=1
pprof=/pid/$pid/debug/pprof
check "it is dormant" [ "$(state)" = dormant ]
answers "a page of it" 409 "/pid/$pid/"
answers "a CPU profile" 200 "$pprof/profile?seconds=1"
check "it has the function" grep -q compute_here <(gzip -dc body | strings)
check "it is off" [ "$(state)" = off ]
check "its trace is this user's alone" [ "$(stat -c %a home/.local/state/trace2)" = 700 ]
answers "another one" 200 "$pprof/profile?seconds=0.5"
check "it has the function" grep -q compute_here <(gzip -dc body | strings)
curl -sS --unix-socket "$socket" -o /dev/null "http://localhost$pprof/profile?seconds=1" 2>/dev/null &
for ((i = 0; i < 100; i++)); do [ "$(profiles)" = cpu ] && break; sleep 0.05; done
kill -9 $server
wait 2>/dev/null $server
for ((i = 0; i < 400; i++)); do [ "$(profiles)" = none ] && break; sleep 0.05; done
check "kill -9 of the server: the profile stops by itself" [ "$(profiles)" = none ]
check "the trace goes on" [ "$(state)" = on ]
serve
for ((i = 0; i < 100; i++)); do [ "$(state)" = off ] && break; sleep 0.05; done
check "the next server switches it off, and takes the socket" [ "$(state)" = off ]
expect "a second server" 1 "another server has this socket" t2 serve
kill -9 "$pid"
answers "what it has left" 200 /processes.json
finish
answers "it has gone" 404 "$pprof/heap"
answers "none without the library" 404 "/pid/$$/debug/pprof/heap"
leave

# ---- hostile clients
head -c 5000 /dev/urandom >traces/noise.tlg
ln -s /etc/passwd traces/link.tlg
echo secret >traces/secret
echo secret >outside.tlg
serve traces
answers "a file that is none" 503 /file/noise.tlg
answers "a link" 404 /file/link.tlg
answers "no trace" 404 /file/secret
for path in /file/../outside.tlg /file/%2e%2e%2foutside.tlg /file/..%2Foutside.tlg /file//etc/passwd /../../etc/passwd \
	/file/%2Fetc%2Fpasswd /ring/..%2f..%2fetc%2fpasswd /pid/../file/run.tlg; do
	answers "$path" 404 "$path"
	none "$path" "$(grep -a -e secret -e root: body)"
done
answers "a damaged path" 400 '/file/%00'
answers "a long path" 414 "/file/$(head -c 4000 /dev/zero | tr '\0' a)"
head -c 100000 /dev/zero | tr '\0' 1 >large
begin TRACE2_CTL=1
answers "a long body" 413 "/pid/$pid/debug/pprof/symbol" --data-binary @large
answers "another method" 405 / -X DELETE
answers "a profile is not posted" 405 "/pid/$pid/debug/pprof/heap" -X POST -d x
answers "a page of another site" 403 / -H 'Sec-Fetch-Site: cross-site'
answers "many headers" 431 / -H "X-Large: $(head -c 60000 /dev/zero | tr '\0' a)"
finish
name='<i>"&x'
TRACE2_CTL=1 "./$name" < <(sleep 30) &
job=$!
for ((i = 0; i < 100; i++)); do get /processes.json; grep -q '<i>' body && break; sleep 0.05; done
check "its name is JSON" python3 -c 'import json; assert "<i>\"&x" in [p["program"] for p in json.load(open("body"))["processes"]]'
answers "a name with tags" 200 /
has "they are text" '&lt;i&gt;&quot;&amp;x'
none "no tag of it" "$(grep -a '<i>' body)"
answers "metrics with it" 200 /metrics
has "it is in quotes" 'program="<i>\\"&x"'
kill -9 $job
{ wait $job; } 2>/dev/null

# Clients that say nothing take all connections, until they are cut off.
python3 - "$socket" >holding <<'END' &
import socket, sys, time
open_ones = []
for i in range(48):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(None)
    try:
        client.connect(sys.argv[1])
        client.send(b"GET / HTTP/1.1\r\nX-")
    except OSError:
        pass
    open_ones.append(client)
print("open", flush=True)
for i in range(60):
    time.sleep(1)
    for client in open_ones:
        try:
            client.send(b"a")
        except OSError:
            pass
END
job=$!
for ((i = 0; i < 100; i++)); do [ -s holding ] && break; sleep 0.05; done
get /healthz
check "they hold all connections" [ "$status" != 200 ]
for ((i = 0; i < 600; i++)); do get /healthz; [ "$status" = 200 ] && break; sleep 0.1; done
check "slow clients are cut off" [ "$status" = 200 ]
answers "they are counted" 200 /metrics
has "how many" '^trace2_serve_refused_connections_total [1-9]'
check "the server is small: $(grep VmRSS "/proc/$server/status")" \
	[ "$(awk '/VmRSS/ { print $2 }' "/proc/$server/status")" -lt 100000 ]
kill $job
wait $job 2>/dev/null
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	chmod 755 "$rings"
	check "another user cannot connect" [ "$(other curl -sS --unix-socket "$socket" -o /dev/null -w '%{http_code}' http://localhost/ 2>/dev/null)" = 000 ]
	chmod 666 "$socket"
	check "nor ask, if the socket lets it" [ "$(other curl -sS --unix-socket "$socket" -o /dev/null -w '%{http_code}' http://localhost/ 2>/dev/null)" = 403 ]
	chmod 1777 "$rings"
	cp traces/run.tlg traces/theirs.tlg && chown 65534 traces/theirs.tlg
	answers "another user's file" 404 /file/theirs.tlg
	answers "the list" 200 /
	none "has no file of another user" "$(grep theirs body)"
	cp kept theirs && chmod 755 theirs
	other env TRACE2_CTL=1 TRACE2_RAW="$rings" ./theirs < <(sleep 30) 2>/dev/null &
	job=$!
	for ((i = 0; i < 100; i++)); do ls "$rings" | grep -q '\.ctl$' && break; sleep 0.05; done
	pid=$(pgrep -n -u 65534 -x theirs)
	answers "another user's process" 404 "/pid/${pid:-1}/debug/pprof/cmdline"
	kill -9 "${pid:-$job}" $job 2>/dev/null
	wait $job 2>/dev/null
fi
leave

# ---- TCP
head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >token
chmod 600 token
expect "TCP without a token" 1 "--token-file=FILE is needed" t2 serve --listen=127.0.0.1:0
expect "another address without TLS" 1 "--tls-cert and --tls-key are needed" t2 serve --listen=0.0.0.0:0 --token-file=token
echo short >bad && chmod 600 bad
expect "a short token" 1 "is no token" t2 serve --listen=127.0.0.1:0 --token-file=bad
cp token open && chmod 644 open
expect "a token that others can read" 1 "nobody else may read it" t2 serve --listen=127.0.0.1:0 --token-file=open
expect "a name for an address" 1 "is no ADDRESS:PORT" t2 serve --listen=localhost:0 --token-file=token
serve --listen=127.0.0.1:0 --token-file=token
tcp()
{
	status=$(curl -sS --max-time 60 -D head -o body -w '%{http_code}' "${@:2}" "http://127.0.0.1:$port$1")
	echo "$status"
}
bearer="Authorization: Bearer $(cat token)"
check "no token" [ "$(tcp /)" = 401 ]
has "it asks for one" '^www-authenticate: basic' head
check "a wrong token" [ "$(tcp / -H "${bearer}0")" = 401 ]
check "half of it" [ "$(tcp / -H "${bearer%????}")" = 401 ]
check "Bearer" [ "$(tcp / -H "$bearer")" = 200 ]
check "Basic" [ "$(tcp / -u "t2:$(cat token)")" = 200 ]
check "another Host" [ "$(tcp / -H "$bearer" -H 'Host: evil.example')" = 403 ]
check "another Host with this port" [ "$(tcp / -H "$bearer" -H "Host: evil.example:$port")" = 403 ]
check "localhost" [ "$(tcp / -H "$bearer" -H "Host: localhost:$port")" = 200 ]
check "healthz needs no token" [ "$(tcp /healthz)" = 200 ]
check "metrics does" [ "$(tcp /metrics)" = 401 ]
none "the token is on no command line" "$(tr '\0' ' ' <"/proc/$server/cmdline" | grep -f token)"
leave
if command -v openssl >/dev/null; then
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost >/dev/null 2>&1
	serve --listen=127.0.0.1:0 --token-file=token --tls-cert=cert --tls-key=key
	check "TLS" [ "$(curl -sS --max-time 60 --cacert cert -o body -w '%{http_code}' -H "$bearer" "https://localhost:$port/")" = 200 ]
	check "TLS needs the token, too" [ "$(curl -sS --max-time 60 --cacert cert -o body -w '%{http_code}' "https://localhost:$port/")" = 401 ]
	leave
fi

# ---- a socket of systemd's
python3 - "$socket" <<'END' 2>announced &
import os, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o600)
listening.listen(8)
os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execvp("t2", ["t2", "serve"])
END
server=$!
for ((i = 0; i < 200; i++)); do grep -q listens announced 2>/dev/null && break; sleep 0.02; done
answers "a socket that was handed over" 200 /healthz
leave
check "it is not ours to remove" [ -S "$socket" ]

# ---- command lines
expect "two places" 2 "exclude each other" t2 serve --socket=a --listen=127.0.0.1:0
expect "half of TLS" 2 "need each other" t2 serve --tls-cert=x
expect "no such option" 2 "did you mean --socket" t2 serve --sokcet=x
expect "a file that is not there" 1 "nothing.tlg: No such file" t2 serve nothing.tlg
expect "help" 0 "" t2 serve --help
check "it names the options" grep -q -- --token-file stdout
mkdir open_to_all && chmod 777 open_to_all
expect "a directory of all" 1 "only this user can write" t2 serve --directory="$tmp/open_to_all"
none "programs said something" "$(cat said)"
total
