#!/bin/bash
# SPDX-License-Identifier: MIT
# Do the lists in CONTRIBUTING.md hold?  Behind each mark <!-- files: PATTERN --> is a table of files: these exist, and
# exactly these have the pattern, but for conformance cases and the fuzzers' corpus.  Every path that the page names exists.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1
page=CONTRIBUTING.md

# Files of the table behind mark $1
listed()
{
	# not -v: of a backslash in that some awks leave two, others one or none
	mark="<!-- files: $1 -->" awk '$0 == ENVIRON["mark"] { found = 1; next }
		found && /^\|/ { print; next }
		found { exit }' $page | sed -n 's/^| `\([^`]*\)`.*/\1/p' | sort
}

while read -r pattern; do
	listed "$pattern" >"$tmp/listed"
	grep -rlE --exclude-dir=build --exclude-dir=.git --exclude-dir=conformance --exclude-dir=corpus --exclude-dir=__pycache__ \
		-e "$pattern" . | sed 's|^\./||' | grep -vx $page | sort >"$tmp/found"
	none "$pattern: files that $page does not list, or that do not have it" "$(
		[ -s "$tmp/listed" ] || echo "no table"
		comm -13 "$tmp/listed" "$tmp/found" | sed 's/$/: list it/'
		comm -23 "$tmp/listed" "$tmp/found" | sed 's/$/: take it off the list/'
	)"
done < <(sed -n 's/^<!-- files: \(.*\) -->$/\1/p' $page)
check "there are at least 3 lists" [ "$passed" -ge 3 ]

for path in $(grep -oE '[`( ](\.ci|bench|expand|format|runtime|tests)/[A-Za-z0-9_./-]*[A-Za-z0-9]' $page |
	sed 's/^.//' | sort -u); do
	check "$page names $path" [ -e "$path" ]
done
for name in $(grep -oE '\bcheck_[a-z_]+\.sh' $page | sort -u); do
	check "$page names $name" [ -n "$(find tests -name "$name")" ]
done
for target in $(grep -oE '^    make [a-z]+' $page | sed 's/.* //' | sort -u); do
	case $target in
	build) continue ;;   # a file of build/
	esac
	check "make $target" grep -qE "^$target:|^\.PHONY:.* $target( |$)" Makefile
done
total
