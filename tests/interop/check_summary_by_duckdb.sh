#!/bin/bash
# SPDX-License-Identifier: MIT
# DuckDB takes the rows of --format=csv and ndjson, which are the same, and finds each number of --summary=json again: of a
# program that works, of processes and their children, of one that was killed and one that lost events.  Only percentiles of
# more than 64 durations may be off, by 1/256.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need "node of version 18 or later" node -e 'process.exitCode = parseInt(process.versions.node) < 18 ? 1 : 0'
need npm command -v npm
expand=$out/t2expand
export XDG_RUNTIME_DIR=$tmp
. "$top/tests/interop/npm.sh"
fetch database
. "$top/tests/cli/exports.sh"
make_traces || exit 1

# recompute BY: of the rows and the summary that are here
recompute()
{
	(cd "$modules" && node "$top/tests/interop/database/recompute.js" "$tmp/events.csv" "$tmp/events.ndjson" "$tmp/summary.json" "$@")
}

for trace in $traces; do
	"$expand" --format=csv -o events.csv "$trace" 2>/dev/null
	"$expand" --format=ndjson -o events.ndjson "$trace" 2>/dev/null
	for by in "" process thread; do
		[ "$trace" != lossy.tlg ] || [ -n "$by" ] || continue       # the largest: twice is enough
		"$expand" --summary=json ${by:+--by=$by} -o summary.json "$trace" 2>/dev/null
		quiet "$trace: the summary is what DuckDB finds${by:+, by $by}" recompute $by
	done
done
recompute thread "update said set total = total + 1 where kind = 'data' and label = 'round'" >wrong
check "a number that is off by one is found, and only that" \
	[ "$(grep -vc '^data .* round total ' wrong) $(grep -c '^data .* round total ' wrong)" = "1 2" ]
total
