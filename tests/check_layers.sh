#!/bin/bash
# SPDX-License-Identifier: MIT
# The layers of runtime/ and expand/ are as the tables in their README.md tell: every source file is in one of
# them, includes only headers of its own layer and of those that the table says it uses, which are below it; each
# use is one; nobody includes in a circle.  Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/common.sh"
cd "$top" || exit 1

# The rows of a table
rows()
{
	grep '^| [a-z]' "$1/README.md" | grep -v '^| layer '
}

# From the rows: "layer number", counted from the top; "layer word" for each word of a column
number_layers()
{
	awk -F ' *[|] *' '{ print $2, NR }'
}
list_column()
{
	awk -F ' *[|] *' -v column="$1" '{ n = split($column, word, " "); for (i = 1; i <= n; i++) print $2, word[i] }'
}

# "file file" for each include within a directory
includes()
{
	grep -EHo '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[a-z0-9_]+\.h"' "$1"/*.[ch] |
		sed -E "s|^$1/([a-z0-9_]+)\.[ch]:.*\"([a-z0-9_]+)\.h\"|\1 \2|" |
		while read -r from to; do
			[ "$from" = "$to" ] || [ ! -e "$1/$to.h" ] || echo "$from $to"
		done | sort -u
}

for dir in runtime expand; do
	rows "$dir" | list_column 3 | awk '{ print $2, $1 }' | sort >"$tmp/files"   # "file layer"
	rows "$dir" | list_column 4 | sort >"$tmp/uses"                             # "layer layer"
	rows "$dir" | number_layers >"$tmp/layers"
	includes "$dir" >"$tmp/includes"
	# "layer layer file file" for includes that cross layers
	join "$tmp/includes" "$tmp/files" | awk '{ print $2, $1, $3 }' | sort | join - "$tmp/files" |
		awk '$3 != $4 { print $3, $4, $2, $1 }' | sort >"$tmp/crossing"

	none "$dir/README.md names every file once" \
		"$(diff <(cd "$dir" && printf '%s\n' *.[ch] | sed 's/\.[ch]$//' | sort -u) <(cut -d' ' -f1 "$tmp/files") |
			grep '^[<>]')"
	none "$dir/: a layer uses only those that its row names (layer, layer, file, file)" \
		"$(awk 'NR == FNR { used[$1, $2]; next } !(($1, $2) in used)' "$tmp/uses" "$tmp/crossing")"
	none "$dir/README.md says only uses that there are" \
		"$(awk 'NR == FNR { there[$1, $2]; next } !(($1, $2) in there)' "$tmp/crossing" "$tmp/uses")"
	none "$dir/: what a layer uses is below it" \
		"$(awk 'NR == FNR { at[$1] = $2; next } !($2 in at) || at[$2] <= at[$1]' "$tmp/layers" "$tmp/uses")"
	tsort "$tmp/includes" 2>&1 >/dev/null | sed 's/.*: input/input/' >"$tmp/circle"
	none "$dir/: nobody includes in a circle" "$(cat "$tmp/circle")"
done
tsort <(includes format) >/dev/null 2>"$tmp/circle"
none "format/: nobody includes in a circle" "$(cat "$tmp/circle")"
total
