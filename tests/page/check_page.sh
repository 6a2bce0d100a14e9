#!/bin/bash
# SPDX-License-Identifier: MIT
# The modules of the page, expand/page/src, as node runs them: what they decode, aggregate, find and lay out; and that
# they read from a page what t2expand prints as perf text.  Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"
need "node of version 18 or later" node -e 'process.exitCode = parseInt(process.versions.node) < 18 ? 1 : 0'

TRACE2_RAW=$tmp/trace.tlg "$out/examples/t2index" "$top/expand" >/dev/null || exit 1
"$out/t2expand" --format=html -o "$tmp/page.html" "$tmp/trace.tlg" || exit 1
"$out/t2expand" --format=perf --ns -o "$tmp/perf" "$tmp/trace.tlg" || exit 1
# Samples, where the profiler is built: the folded stacks of a profile are another writer's.
profiles=(--cpu=250 --wall=100 --heap=4k --block=1ns --mutex=1 --threadcreate)
if [ -e "$out/libtrace2-prof.so.0" ] &&
	"$out/t2" record "${profiles[@]}" -o "$tmp/profiled.tlg" -- "$out/examples/t2index" "$top/expand" >/dev/null; then
	export T2_PROFILED=$tmp/profiled
	"$out/t2expand" --format=html -o "$tmp/profiled.html" "$tmp/profiled.tlg" || exit 1
	for profile in cpu wall heap allocs block mutex threadcreate; do
		"$out/t2expand" --format=folded --profile="$profile" -o "$tmp/profiled.$profile" "$tmp/profiled.tlg" 2>/dev/null
	done
fi
T2_PAGE=$tmp/page.html T2_PERF=$tmp/perf node --test --test-reporter=tap "$top"/tests/page/*.test.mjs >"$tmp/log" 2>&1
grep -B 1 -A 30 '^not ok' "$tmp/log" | head -n 60
passed=$(sed -n 's/^# pass //p' "$tmp/log") failed=$(sed -n 's/^# fail //p' "$tmp/log")
[ -n "$failed" ] || { head -n 20 "$tmp/log"; passed=0 failed=1; }
total
