#!/bin/bash
# SPDX-License-Identifier: MIT
# The table of formats (expand/text/t2x_formats.def) is what t2expand does: --list-formats, --help=all and the refusal of
# another name are made of it, each format expands a trace, and the library prints those that are live, no other.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
expand=$out/t2expand
trace=$tmp/trace.tlg
TRACE2_RAW=$trace "$out/examples/t2index" "$top/format" >/dev/null || exit 1

"$expand" --list-formats >"$tmp/list"
"$expand" --help=all >"$tmp/help"
"$expand" --format=none "$trace" 2>"$tmp/refusal"
sed -n 's/^T2X_FORMAT(\([a-z_]*\),.*/\1/p' "$top/expand/text/t2x_formats.def" >"$tmp/table"
check "--list-formats has the table" cmp -s "$tmp/table" <(awk '{ print $1 }' "$tmp/list")
check "the refusal of another name has it" grep -q "of $(paste -sd, "$tmp/table" | sed 's/,/, /g'), not" "$tmp/refusal"

# The page is built by node.
node -e 0 2>/dev/null || sed -i '/^html /d' "$tmp/list"
while read -r name _ traits about; do
	first=$tmp/first
	[ "$name" != ctf ] || first=$tmp/first.tar     # else a directory
	check "$name: --help=all has it" grep -qE "^  $name +$about\$" "$tmp/help"
	check "$name: expands" "$expand" --format="$name" -o "$first" "$trace"
	[ "$name" = report ] ||              # of samples, which are not in it
		check "$name: something comes out" [ -s "$first" ]
	"$expand" --format="$name" "$trace" >"$tmp/again"
	check "$name: the same to a pipe" cmp -s "$first" "$tmp/again"
	nm "$out/libtrace2.a" 2>/dev/null | grep -q " t2x_writer_$name\$"
	in_library=$?
	[[ ,$traits, = *,live,* ]]
	check "$name: in the library if it is live" [ "$in_library" -eq $? ]
done <"$tmp/list"

total
