#!/bin/bash
# SPDX-License-Identifier: MIT
# The tables in FORMAT.md are those of the event table.  Ends with "N passed, N failed".
# With the argument --write, put them there.
set -u

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1

# The lines from marker $1 to its end in file $2
table()
{
	sed -n "/^<!-- $1 -->\$/,/^<!-- \/$1 -->\$/p" "$2"
}

"$out/t2expand" --show_format=md >"$tmp/md" || exit 1
for name in styles types; do
	table $name "$tmp/md" >"$tmp/$name"
	if [ "${1:-}" = --write ]; then
		sed -e "/^<!-- $name -->\$/,/^<!-- \/$name -->\$/{/^<!-- \/$name -->\$/r $tmp/$name" -e 'd;}' FORMAT.md >"$tmp/new"
		cat "$tmp/new" >FORMAT.md
	fi
	table $name FORMAT.md >"$tmp/is"
	if [ -s "$tmp/is" ] && diff "$tmp/$name" "$tmp/is"; then
		pass
	else
		fail "the table \"$name\" in FORMAT.md (left: what it should be; $0 --write puts it there)"
	fi
done
total
