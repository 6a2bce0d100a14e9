#!/bin/bash
# SPDX-License-Identifier: MIT
# Viewers that others wrote read our exports in Chromium: speedscope chrome, folded and pprof, Catapult's importer (that of
# chrome://tracing; Debian has it in Go's sources) chrome.  They find what sqlite3 makes of --format=csv.  Neither npm
# nor Debian has Perfetto's trace processor.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need Chromium command -v chromium
need "node of version 18 or later" node -e 'process.exitCode = parseInt(process.versions.node) < 18 ? 1 : 0'
need npm command -v npm
need sqlite3 command -v sqlite3
need go command -v go
catapult=$(find -L "$(go env GOROOT)/src" -name trace_viewer_full.html -printf '%h\n' | head -n 1)
need "trace viewer in Go's sources" [ -n "$catapult" ]
expand=$out/t2expand
export XDG_RUNTIME_DIR=$tmp
. "$top/tests/interop/npm.sh"
fetch viewers
. "$top/tests/cli/exports.sh"
make_traces || exit 1

for trace in index.tlg tree lossy.tlg; do
	name=${trace%.tlg}
	"$expand" --format=chrome -o "$name.json" "$trace" 2>/dev/null
	"$expand" --format=folded -o "$name.folded" "$trace" 2>/dev/null
	"$expand" --format=pprof -o "$name.pb.gz" "$trace" 2>/dev/null
	"$expand" --format=csv -o "$name.csv" "$trace" 2>/dev/null
	sqlite3 -cmd ".import --csv $name.csv e" :memory: <"$top/tests/interop/exports/expected.sql" >"$name.expected"
done
T2_TRACES=$tmp T2_MODULES=$modules T2_CATAPULT=$catapult \
	node --test --test-reporter=tap "$top"/tests/interop/viewers/*.test.mjs >"$tmp/log" 2>&1
grep -B 1 -A 30 '^not ok' "$tmp/log" | head -n 60
passed=$(sed -n 's/^# pass //p' "$tmp/log") failed=$(sed -n 's/^# fail //p' "$tmp/log")
[ -n "$failed" ] || { head -n 20 "$tmp/log"; passed=0 failed=1; }
total
