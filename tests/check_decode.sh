#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/check_decode.sh [FILE...]
#
# tests/decode.py, written from FORMAT.md alone, prints the events of each file exactly as t2expand --format=xml
# does.  Without files: of a recorded session of the example, compressed and plain.  Ends with "N passed, N failed".
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
out=$(cd "$top" && cd "${T2_OUT:-build}" && pwd) || exit 1
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# Events are compared in the order of the file, the first difference is shown.
compare()
{
	"$out/t2expand" --format=xml "$1" >"$tmp/expanded" && python3 -B "$top/tests/decode.py" "$1" >"$tmp/decoded"
	if [ $? -eq 0 ] && [ -s "$tmp/decoded" ] && cmp -s "$tmp/expanded" "$tmp/decoded"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1 (left t2expand, right decode.py)"
		diff "$tmp/expanded" "$tmp/decoded" | head -n 6
	fi
}

record()
{
	env -u GIT_TRACE2_PARENT_SID -u GIT_TRACE2_PARENT_NAME TRACE2_RAW="$tmp/$1.tlg" TRACE2_RAW_LZ4="$2" \
		"$out/examples/t2index" "$top/format" >/dev/null 2>&1
	[ -s "$tmp/$1.tlg" ] || { echo "nothing was recorded"; exit 1; }
	compare "$tmp/$1.tlg"
}

if [ $# -eq 0 ]; then
	record compressed 1
	record plain 0
fi
for file; do
	compare "$file"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
