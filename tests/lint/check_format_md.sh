#!/bin/bash
# SPDX-License-Identifier: MIT
# The tables in FORMAT.md are those of the event table, and its section 12 shows a file that both readers understand: t2expand,
# and decode.py, which was written from the page; its members and its text are as shown.  Ends with "N passed, N failed".
# With the argument --write, put the tables there.
set -u

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1

# The lines from marker $1 to its end in file $2
table()
{
	sed -n "/^<!-- $1 -->\$/,/^<!-- \/$1 -->\$/p" "$2"
}

"$out/t2expand" --show_format=md >"$tmp/md" || exit 1
for name in styles types profiles; do
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
# Lines "OFFSET | BYTES | NAME member=value ..." or "... | INFO "text"", and what --format=xml says of the same bytes
table file FORMAT.md | grep '^[0-9a-f]' >"$tmp/lines"
python3 - "$tmp" <<'END'
import sys
data = b""
for line in open(sys.argv[1] + "/lines"):
    offset, code, _ = line.split(" | ", 2)
    if int(offset, 16) != len(data):
        print("offset", offset)
    data += bytes.fromhex(code)
open(sys.argv[1] + "/file.tlg", "wb").write(data)
END
"$out/t2expand" --format=xml "$tmp/file.tlg" >"$tmp/xml" 2>"$tmp/errors"
none "the file in FORMAT.md is damaged" "$(cat "$tmp/errors"; python3 -B tests/cli/decode.py "$tmp/file.tlg" 2>&1 | diff - "$tmp/xml")"
none "members of the file in FORMAT.md" "$(paste -d '\n' "$tmp/lines" "$tmp/xml" | python3 -c '
import sys
lines = sys.stdin.read().splitlines()
for shown, xml in zip(lines[::2], lines[1::2]):
    name, _, members = shown.split(" | ")[2].partition(" ")
    if name == "INFO":
        members = "text=" + members.strip("\"")
    wrong = [member for member in members.split() if " %s=\"%s\"" % tuple(member.split("=")) not in xml]
    if wrong or not xml.startswith("<%s " % name):
        print(shown, wrong, xml)
')"
table file-text FORMAT.md | grep '^[0-9]' >"$tmp/text"
none "the text of the file in FORMAT.md" "$("$out/t2expand" "$tmp/file.tlg" 2>&1 | diff "$tmp/text" -)"
check "the file in FORMAT.md is whole" [ "$(wc -l <"$tmp/xml")" -ge 30 ]
total
