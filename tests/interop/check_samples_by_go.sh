#!/bin/bash
# SPDX-License-Identifier: MIT
# What `go tool pprof` says of a trace's samples: stacks with what was inlined (-raw, -traces), functions (-top), labels
# and regions (-tags, -tagfocus), nothing of a profile less itself (-diff_base), the page that it serves.  The same of
# the text.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME DEBUGINFOD_URLS

. "$(dirname "$0")/../common.sh"
need_shared_library
need go command -v go
need g++ command -v g++
need python3 command -v python3
export HOME=$tmp PPROF_TMPDIR=$tmp XDG_RUNTIME_DIR=$tmp
expand=$out/t2expand

cd "$tmp" || exit 1
g++ -Wall -g -O1 -rdynamic -Wl,--build-id -I"$top/runtime" -o sampler "$top/tests/cli/sampler.cc" -L"$out" \
	-Wl,-rpath,"$out" -ltrace2 -pthread || exit 1
TRACE2_RAW=$tmp/samples.tlg ./sampler 10 || exit 1
for profile in cpu heap block files; do
	"$expand" --format=pprof --profile=$profile -o $profile.pb.gz samples.tlg || exit 1
	"$expand" --format=pprof --profile=$profile --debug=1 -o $profile.text samples.tlg || exit 1
done

# pprof OPTIONS... FILE
pprof()
{
	go tool pprof -nodefraction=0 -edgefraction=0 -nodecount=1000 -symbolize=none "$@" 2>errors
}

# rows: "flat function" of -top
rows()
{
	awk '/^ +flat/ { on = 1; next } on { flat = $1; for (i = 1; i <= 5; i++) $i = ""; sub(/^ +/, ""); print flat, $0 }'
}

# same NAME EXPECTED TEXT
same()
{
	none "$1" "$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3"))"
}

same "-top: functions with their own time" "100ms leaf (inline)
50ms app::Engine::wait(int)" "$(pprof -top cpu.pb.gz | rows | grep -v '^0 ')"
same "-top -sample_index=samples" "10 leaf (inline)
5 app::Engine::wait(int)" "$(pprof -top -sample_index=samples cpu.pb.gz | rows | grep -v '^0 ')"
same "-traces: an inlined function in its caller" 2 \
	"$(pprof -traces cpu.pb.gz | grep -A2 -E '50ms +leaf \(inline\)' | tr -d '\n' | grep -oE 'spin +main' | wc -l)"
same "-tags" "path: /a 50
path: /b 100
region: app/even 50
region: app/odd 50
regions: app/main;app/even 50
regions: app/main;app/odd 50
thread: main 100
thread: th01:worker 50" "$(pprof -tags cpu.pb.gz | tr -d '\r' |
	awk '/^ *[a-z]+: Total/ { key = $1; next } $1 ~ /ms$/ && key != "pid:" { print key, $NF, $1 + 0 }' | sort)"
same "-tagfocus of a region" "50ms leaf (inline)" "$(pprof -tagfocus=region=app/odd -top cpu.pb.gz | rows | grep -v '^0 ')"
for profile in cpu heap block files; do
	none "$profile: nothing is left of it less itself" \
		"$(pprof -diff_base $profile.pb.gz -top $profile.pb.gz | rows | grep -v '^0 ')"
	check "$profile: -raw reads it" grep -q '^Mappings' <(pprof -raw $profile.pb.gz)
done
check "heap: what is in use comes first" \
	grep -q 'alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes\[dflt\]' <(pprof -raw heap.pb.gz)
addresses()
{
	pprof -raw "$1" | grep -cE '^ +[0-9]+: 0x'
}
for profile in cpu heap block files; do
	same "$profile: the text has as many addresses" "$(addresses $profile.pb.gz)" "$(addresses $profile.text)"
done
# sums FILE: of the first two values; go scales the objects of the text down to whole ones, sample by sample
sums()
{
	pprof -raw "$1" | awk '/^Locations/ { exit } / [0-9]+: [0-9]/ { count += $1; sum += $2 } END { print count, sum }'
}
same "block: the text has the same numbers" "$(sums block.pb.gz)" "$(sums block.text)"
same "heap: the text is scaled to the same bytes" "$(sums heap.pb.gz | cut -d' ' -f2)" "$(sums heap.text | cut -d' ' -f2)"

# The page: pprof itself is asked for, which is another process than go's
pprof=$(go tool -n pprof) || exit 1
check "-http: the page has the functions" python3 - "$pprof" <<'END'
import socket, subprocess, sys, time, urllib.request

ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def has_functions():
    """Another program may take the port before pprof does, which then ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = "127.0.0.1:%d" % free.getsockname()[1]
    command = [sys.argv[1], "-http=" + at, "-no_browser", "-symbolize=none", "cpu.pb.gz"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page = ""
    while not page and server.poll() is None:
        try:
            page = ask("http://%s/ui/top" % at, timeout=60).read().decode()
        except OSError:
            time.sleep(0.1)
    server.kill()
    server.wait()
    return "leaf" in page and "app::Engine::wait" in page


sys.exit(not any(has_functions() for attempt in range(5)))
END
total
