#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/cli/check_decode.sh [FILE...]
#
# tests/cli/decode.py, written from FORMAT.md alone, prints the events of each file exactly as t2expand --format=xml
# does.  Without files: of recorded sessions of the example, packed and plain, with and without LZ4, and of what
# --format=raw makes of a packed one.  Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"

# Events are compared in the order of the file, the first difference is shown.
compare()
{
	"$out/t2expand" --format=xml "$1" >"$tmp/expanded" && python3 -B "$top/tests/cli/decode.py" "$1" >"$tmp/decoded"
	if [ $? -eq 0 ] && [ -s "$tmp/decoded" ] && cmp -s "$tmp/expanded" "$tmp/decoded"; then
		pass
	else
		fail "$1 (left t2expand, right decode.py)"
		diff "$tmp/expanded" "$tmp/decoded" | head -n 6
	fi
}

record()
{
	env -u GIT_TRACE2_PARENT_SID -u GIT_TRACE2_PARENT_NAME TRACE2_RAW="$tmp/$1.tlg" TRACE2_RAW_LZ4="$2" \
		TRACE2_RAW_ENCODING="$3" "$out/examples/t2index" "$top/format" >/dev/null 2>&1
	[ -s "$tmp/$1.tlg" ] || { echo "nothing was recorded"; exit 1; }
	compare "$tmp/$1.tlg"
}

if [ $# -eq 0 ]; then
	record plain 0 plain
	record plain_lz4 1 plain
	record packed 0 packed
	record packed_lz4 1 packed
	# Whatever the settings say now, a file goes on as it began.
	record packed_lz4 0 packed
	record plain 1 plain
	[ "$("$out/t2expand" "$tmp/packed_lz4.tlg" "$tmp/plain.tlg" | grep -c version)" -eq 4 ] && pass ||
		fail "a process for each version"
	"$out/t2expand" --format=raw "$tmp/packed.tlg" >"$tmp/unpacked.tlg"
	compare "$tmp/unpacked.tlg"
	# A document that describes our own layout makes no difference.
	"$out/t2expand" --show_format >"$tmp/layout"
	if [ "$(stat -c %s "$tmp/packed.tlg")" -lt "$(($(stat -c %s "$tmp/unpacked.tlg") / 2))" ] &&
		"$out/t2expand" --layout="$tmp/layout" --format=raw "$tmp/packed.tlg" | cmp - "$tmp/unpacked.tlg"; then
		pass
	else
		fail "packed.tlg with --layout, or it is not packed"
	fi
fi
for file; do
	compare "$file"
done
total
