#!/bin/bash
# SPDX-License-Identifier: MIT
# A folder of runtime/ or expand/ is a layer; the Makefile lists the layers in their order.  Includes go from left to
# right in that list, never back, name the folder of another layer and not their own; nobody includes in a circle.
# Each folder has a README.md of at most 25 lines.  Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1

# "layer number" from the Makefile
number_layers()
{
	sed -n "s/^$1_layers *:= *//p" Makefile | tr ' ' '\n' | awk '{ print $1, NR }'
}

# "layer/file included" for each quoted include within a directory
includes()
{
	(cd "$1" && grep -EHo '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[a-z0-9_/]+\.h"' -- */*.[ch] | grep -vE '^(examples|prof)/') |
		sed -E 's/\.[ch]:.*"([a-z0-9_/]+)\.h"/ \1/'
}

for dir in runtime expand; do
	number_layers "$dir" >"$tmp/layers"
	none "$dir/: its folders are the layers of the Makefile" \
		"$(diff <(cut -d' ' -f1 "$tmp/layers" | sort) <(cd "$dir" && printf '%s\n' */ | tr -d / | grep -vx -e examples -e page -e completion -e prof -e cmake | sort))"
	includes "$dir" >"$tmp/includes"
	check "$dir/ has includes" [ -s "$tmp/includes" ]
	while read -r from to; do
		layer=${from%%/*}
		case $to in
		*/*) [ -e "$dir/$to.h" ] && echo "$layer ${to%%/*} $from $to" ;;
		*) [ -e "$dir/$layer/$to.h" ] || [ -e "format/$to.h" ] || [ -e "$dir/$to.h" ] || echo "$from $to" >>"$tmp/elsewhere" ;;
		esac
	done <"$tmp/includes" >"$tmp/crossing"
	none "$dir/: what lies in another folder is included with its name" "$(cat "$tmp/elsewhere" 2>/dev/null)"
	none "$dir/: an include goes to a layer behind its own (layer, layer, file, file)" \
		"$(awk 'NR == FNR { at[$1] = $2; next } at[$2] <= at[$1]' "$tmp/layers" "$tmp/crossing")"
	sed -E 's|^([a-z]+)/([^ ]*) ([a-z0-9_]+)$|\1/\2 \1/\3|' "$tmp/includes" | awk '$1 != $2' |
		tsort 2>&1 >/dev/null | sed 's/.*: input/input/' >"$tmp/circle"
	none "$dir/: nobody includes in a circle" "$(cat "$tmp/circle")"
	while read -r layer _; do
		check "$dir/$layer/README.md is there" [ -s "$dir/$layer/README.md" ]
		check "$dir/$layer/README.md has at most 25 lines" [ "$(wc -l <"$dir/$layer/README.md")" -le 25 ]
	done <"$tmp/layers"
done
# The profiler is a library of its own: of libtrace2 it knows what both have agreed on.
none "runtime/prof/: includes of runtime/ are base/tr2_atomic.h and record/tr2_sample.h" \
	"$(cd runtime/prof && grep -EHo '^#include "[a-z]+/[a-z0-9_]+\.h"' -- *.[ch] | grep -E '"(api|record|drain|output|ring|settings|base/tr2)' |
		grep -vE '"(base/tr2_atomic|record/tr2_sample)\.h"')"
check "runtime/prof/README.md has at most 25 lines" [ "$(wc -l <runtime/prof/README.md)" -le 25 ]
(cd format && grep -EHo '^#include "[a-z0-9_]+\.h"' -- *.[ch] | sed -E 's/\.[ch]:.*"([a-z0-9_]+)\.h"/ \1/' | awk '$1 != $2') |
	tsort >/dev/null 2>"$tmp/circle"
none "format/: nobody includes in a circle" "$(cat "$tmp/circle")"
total
