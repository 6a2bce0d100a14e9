#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs from npm read our exports: OpenTelemetry's generated code both forms of OTLP, the Firefox profiler's command
# line the chrome format: they find the regions, nanoseconds and losses that git's event format has; and the firefox
# format: it finds the threads, markers, losses and times that sqlite3 makes of csv, and what the folded format has of samples.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need "node of version 18 or later" node -e 'process.exitCode = parseInt(process.versions.node) < 18 ? 1 : 0'
need npm command -v npm
need python3 command -v python3
need sqlite3 command -v sqlite3
need g++ command -v g++
expand=$out/t2expand
export XDG_RUNTIME_DIR=$tmp PROFILER_CLI_SESSION_DIR=$tmp/sessions   # to which each *.json there is one
mkdir -p "$PROFILER_CLI_SESSION_DIR"
. "$top/tests/interop/npm.sh"
fetch exports
. "$top/tests/cli/exports.sh"
make_traces || exit 1
cli=$modules/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js

# What git's event format has: "category label count nanoseconds" of regions whose duration is known, losses, and the exit
# codes of processes that failed, whose status is 2
oracle()
{
	"$expand" --format=event --nesting=0 --ns "$1" 2>/dev/null | python3 -c '
import collections, json, sys
counts, totals, lost, gaps, failures = collections.Counter(), collections.Counter(), 0, 0, []
for line in sys.stdin:
    event = json.loads(line, parse_float=str)
    if event["event"] == "region_leave" and "t_rel" in event:
        counts[event["category"], event["label"]] += 1
        totals[event["category"], event["label"]] += int(event["t_rel"].replace(".", ""))
    elif event.get("key") == "lost-events":
        lost, gaps = lost + int(event["value"]), gaps + 1
    elif event["event"] == "atexit" and event["code"]:
        failures.append("status 2 %d" % event["code"])
for names in sorted(counts):
    print(*names, counts[names], totals[names])
print("lost", lost, gaps)
print(*sorted(failures), sep="\n", end="\n" if failures else "")'
}

# ask COMMAND...: what the Firefox profiler's command line answers.  It gives up when it has no processor for a second at
# the wrong moment; then it is asked again
ask()
{
	for _ in {1..10}; do
		node "$cli" "$@" >answer 2>/dev/null && cat answer && return
	done
	return 1
}

# load PROFILE: a session of this name has it.  `profiler-cli load` would not wait for longer than half a second; and who
# asks before it listens takes it for dead and removes its files: so it is asked when its log says that it is ready.
load()
{
	local session=$PROFILER_CLI_SESSION_DIR/$1

	for _ in {1..5}; do
		rm -f "$session"*
		node "$cli" --daemon "$1" --session "$1" >/dev/null 2>&1 &
		daemon=$!
		for _ in {1..600}; do
			grep -qs 'loaded successfully' "$session.log" && break
			kill -0 "$daemon" 2>/dev/null || break
			sleep 0.1
		done
		ask thread list --session "$1" >/dev/null && return
		unload
	done
	return 1
}

unload()
{
	kill -KILL "$daemon" 2>/dev/null
	wait "$daemon" 2>/dev/null
}

# "name count nanoseconds" of the markers of all threads that the Firefox profiler has; its times are doubles
markers()
{
	local thread

	for thread in $(ask thread list --session "$1" --json | grep -o '"t-[0-9]*"' | sort -u | tr -d '"'); do
		ask thread markers --session "$1" --thread "$thread" --json
	done | python3 -c '
import collections, json, sys
sums, text, decoder = collections.defaultdict(lambda: [0, 0.0]), sys.stdin.read().strip(), json.JSONDecoder()
while text:
    thread, end = decoder.raw_decode(text)
    text = text[end:].strip()
    for kind in thread["byType"]:
        if kind["isInterval"]:
            sums[kind["markerName"]][0] += kind["count"]
            sums[kind["markerName"]][1] += kind["count"] * kind["durationStats"]["avg"] * 1e6
for name in sorted(sums):
    print(name, sums[name][0], round(sums[name][1]))'
}

# is_near: lines "name count nanoseconds" of two files are the same, but for a nanosecond for each count
is_near()
{
	join "$1" "$2" | awk -v want="$(wc -l <"$1")" '
		$2 != $4 || $3 - $5 > $2 + 10 || $5 - $3 > $2 + 10 { bad = 1 }
		END { exit bad || NR != want }'
}

for trace in $traces; do
	"$expand" --format=otlp -o spans.json "$trace" 2>/dev/null
	"$expand" --format=otlp_proto -o spans.pb "$trace" 2>/dev/null
	oracle "$trace" >oracle
	check "$trace: both forms of OTLP are the same" eval \
		"(cd '$modules' && node '$top/tests/interop/exports/otlp.js' '$tmp/spans.json' '$tmp/spans.pb') >otlp"
	check "$trace: OTLP has git's regions, times and losses" cmp -s oracle otlp
done
for trace in index.tlg tree; do
	"$expand" --format=chrome -o chrome.json "$trace" 2>/dev/null
	# the timer "read" is a marker of that name, too
	oracle "$trace" | awk '$1 != "lost" && $1 != "status" && $2 != "read" { count[$2] += $3; ns[$2] += $4 }
		END { for (name in count) printf "%s %d %.0f\n", name, count[name], ns[name] }' | sort >oracle
	load chrome.json
	markers chrome.json | sort >markers
	unload
	check "$trace: the Firefox profiler has the slices of the chrome format" is_near oracle markers
done
for trace in index.tlg tree lossy.tlg; do
	"$expand" --format=firefox -o firefox.json "$trace" 2>/dev/null
	"$expand" --format=csv -o rows.csv "$trace" 2>/dev/null
	sqlite3 -cmd '.import --csv rows.csv e' :memory: <"$top/tests/interop/exports/expected.sql" >expected
	kinds="threads data lost"
	[ "$trace" = lossy.tlg ] || kinds="$kinds region alone"   # else nobody knows the time of each
	load firefox.json
	# shellcheck disable=SC2086
	quiet "$trace: the Firefox profiler has what csv has" \
		python3 "$top/tests/interop/exports/firefox.py" "$cli" firefox.json $kinds <expected
	unload
done

# Samples: of a program that takes them of itself, of one that t2 records
g++ -Wall -g -O1 -rdynamic -Wl,--build-id -I"$top/runtime" -o sampler "$top/tests/cli/sampler.cc" -L"$out" \
	-Wl,-rpath,"$out" -ltrace2 -pthread
TRACE2_RAW=$tmp/own.tlg ./sampler 10
"$out/t2" record --cpu --wall --heap=4k --block=1us -o profiled.tlg "$out/examples/t2index" "$top/expand" >/dev/null 2>record.err
for expected in "own allocs block cpu files" "profiled allocs cpu wall"; do
	trace=${expected%% *}
	"$expand" --format=firefox -o samples.json "$trace.tlg" 2>/dev/null
	load samples.json
	python3 "$top/tests/interop/exports/firefox_samples.py" "$cli" samples.json "$expand" "$trace.tlg" >said 2>&1
	check "$trace: the Firefox profiler has the samples that the folded format has" [ $? -eq 0 ]
	for profile in ${expected#* }; do
		check "$trace: of $profile" grep -q "^[1-9].* numbers of .*$profile" said
	done
	unload
	[ "$failed" -eq 0 ] || cat said
done
total
