#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of --format=html in Chromium, without network: what is on the screen of traces of real programs, and what
# happens when keys and mouse are used; and the types that its modules declare hold.  Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"
need "Chromium" command -v chromium
need "node of version 18 or later" node -e 'process.exitCode = parseInt(process.versions.node) < 18 ? 1 : 0'
need npm command -v npm

# record NAME SETTING... COMMAND...: its trace, as a page and as text
record()
{
	local name=$1

	shift
	env TRACE2_RAW="$tmp/$name.tlg" "$@" >/dev/null 2>"$tmp/$name.err"
	"$out/t2expand" --format=html -o "$tmp/$name.html" "$tmp/$name.tlg" 2>/dev/null
	"$out/t2expand" --format=perf "$tmp/$name.tlg" >"$tmp/$name.perf" 2>/dev/null
}

. "$top/tests/interop/npm.sh"
fetch page
record index "$out/examples/t2index" /usr/include
record lossy TRACE2_RAW_POLICY=overwrite TRACE2_RAW_RING=64k TRACE2_RAW_SNAPSHOT=exit "$out/examples/t2index" /usr/include
# Samples, and what another format says of them.
"$out/t2" record --cpu=250 --heap=64k --block=1us -o "$tmp/profiled.tlg" -- "$out/examples/t2index" /usr/include \
	>/dev/null 2>&1
"$out/t2expand" --format=html -o "$tmp/profiled.html" "$tmp/profiled.tlg" 2>/dev/null
"$out/t2expand" --format=folded --profile=allocs -o "$tmp/profiled.folded" "$tmp/profiled.tlg"
# Seven processes, of which six are children.
"${CC:-cc}" -I"$top/runtime" -o "$tmp/family" "$top/tests/interop/page/family.c" -L"$out" -Wl,-rpath,"$out" -ltrace2
mkdir "$tmp/family.traces"
TRACE2_RAW=$tmp/family.traces "$tmp/family" 2
"$out/t2expand" --format=html -o "$tmp/family.html" "$tmp/family.traces"
"$out/t2expand" --format=perf -o "$tmp/family.perf" "$tmp/family.traces"
# Killed at work: what was open stays open.
TRACE2_RAW=$tmp/killed.tlg "$out/examples/t2index" /usr >/dev/null 2>&1 &
victim=$!
until ! kill -0 "$victim" 2>/dev/null ||
	"$out/t2expand" --live="$victim" 2>/dev/null | grep region_enter >/dev/null; do sleep 0.1; done
kill -KILL "$victim"
wait "$victim" 2>/dev/null
"$out/t2expand" --recover-all --ring-pid="$victim" --delete --format=html -o "$tmp/killed.html" 2>/dev/null

T2_PAGES=$tmp T2_MODULES=$modules T2_TEMPLATE=$top/build/page/page.html \
	node --test --test-reporter=tap "$top"/tests/interop/page/*.test.mjs >"$tmp/log" 2>&1
grep -B 1 -A 30 '^not ok' "$tmp/log" | head -n 60
grep '^# figure' "$tmp/log"
passed=$(sed -n 's/^# pass //p' "$tmp/log") failed=$(sed -n 's/^# fail //p' "$tmp/log")
[ -n "$failed" ] || { head -n 20 "$tmp/log"; passed=0 failed=1; }
quiet "the types of the modules hold" "$modules/node_modules/.bin/tsc" --allowJs --checkJs --noEmit --strict --target esnext \
	--lib esnext,dom,dom.iterable --module esnext --moduleResolution bundler "$top"/expand/page/src/*.mjs

# README.md has pictures of the page, which a script makes.
T2_MODULES=$modules node "$top/tests/interop/page/picture.mjs" "$tmp/profiled.html" 'view={0.2}-{0.3}&fold=t0' "$tmp/picture.png"
check "a picture of 1280 x 760" [ "$(od -An -tu1 -j16 -N8 "$tmp/picture.png" | xargs)" = "0 0 5 0 0 0 2 248" ]
total
