#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs from npm read our exports: OpenTelemetry's generated code both forms of OTLP, the Firefox profiler's command
# line the chrome format.  They find the regions, nanoseconds and losses that git's event format has.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need "node of version 18 or later" node -e 'process.exitCode = parseInt(process.versions.node) < 18 ? 1 : 0'
need npm command -v npm
need python3 command -v python3
expand=$out/t2expand
modules=$top/build/interop/exports
export XDG_RUNTIME_DIR=$tmp PROFILER_CLI_SESSION_DIR=$tmp
mkdir -p "$modules"
cp "$top/tests/interop/exports"/package*.json "$modules/"
(cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || { echo "no modules: npm cannot fetch them"; exit 77; }
. "$top/tests/cli/exports.sh"
make_traces || exit 1
cli=$modules/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js

# What git's event format has: "category label count nanoseconds" of regions whose duration is known, and losses
oracle()
{
	"$expand" --format=event --nesting=0 --ns "$1" 2>/dev/null | python3 -c '
import collections, json, sys
counts, totals, lost, gaps = collections.Counter(), collections.Counter(), 0, 0
for line in sys.stdin:
    event = json.loads(line, parse_float=str)
    if event["event"] == "region_leave" and "t_rel" in event:
        counts[event["category"], event["label"]] += 1
        totals[event["category"], event["label"]] += int(event["t_rel"].replace(".", ""))
    elif event.get("key") == "lost-events":
        lost, gaps = lost + int(event["value"]), gaps + 1
for names in sorted(counts):
    print(*names, counts[names], totals[names])
print("lost", lost, gaps)'
}

# "name count nanoseconds" of the markers of all threads that the Firefox profiler has; its times are doubles
markers()
{
	local thread

	node "$cli" load "$1" >/dev/null 2>&1 || return
	for thread in $(node "$cli" thread list --json | grep -o '"t-[0-9]*"' | sort -u | tr -d '"'); do
		node "$cli" thread markers --thread "$thread" --json
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
	node "$cli" stop --all >/dev/null 2>&1
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
	oracle "$trace" | awk '$1 != "lost" && $2 != "read" { count[$2] += $3; ns[$2] += $4 }
		END { for (name in count) printf "%s %d %.0f\n", name, count[name], ns[name] }' | sort >oracle
	markers chrome.json | sort >markers
	check "$trace: the Firefox profiler has the slices of the chrome format" is_near oracle markers
done
total
