#!/bin/bash
# SPDX-License-Identifier: MIT
# Do the lists in CONTRIBUTING.md hold?  Behind each mark <!-- files: PATTERN --> is a table of files: these exist, and
# exactly these have the pattern, but for conformance cases and the fuzzers' corpus.  Every path that the page names exists.
# One more line in the table of profile kinds compiles wherever the table is read; with a column left empty it does not.
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

# ---- a profile kind: one more form with a value, one more kind with a view -----------------------------
form=(PROF_FORM DRAWN time '"frame"' ONE 0 NULL '"nanoseconds"' '"frames"' '"nanoseconds"' '"one in so many"')
value=(PROF_VALUE DRAWN 0 '"frames"' '"count"' GOES '"Drawn"')
kind=(PROF_KIND GPU gpu DRAWN LASTS hertz '"50"' 1 1000 '"Graphics"' '"what is drawn, so often in a second"')
view=(PROF_VIEW DRAWS draws GPU DRAWN 0)
# What the profiler has to add: what turns the kind on, in which parts of one the form's values are estimated
cat >"$tmp/more.h" <<-'END'
	#include <stdint.h>
	int start_gpu(uint64_t hertz);
	enum { TR2P_PARTS_DRAWN = 1 };
END

# row MACRO COLUMN...
row()
{
	local columns

	columns=$(printf ', %s' "${@:2}")
	echo "$1(${columns#, })"
}
readers=$(grep -rl '^#include "prof_kinds.def"' runtime expand --include='*.c'; echo runtime/prof/tr2p_sample.c)
# with_rows: does all that reads the table compile with these four?
with_rows()
{
	sed '/^#undef PROF_FORM/,$d' format/prof_kinds.def >"$tmp/prof_kinds.def"
	{ row "${form[@]}"; row "${value[@]}"; row "${kind[@]}"; row "${view[@]}"; } >>"$tmp/prof_kinds.def"
	sed -n '/^#undef PROF_FORM/,$p' format/prof_kinds.def >>"$tmp/prof_kinds.def"
	for reader in $readers; do
		${CC:-cc} -std=c11 -fsyntax-only -w -D_GNU_SOURCE -DT2X_VERSION='"0"' -I"$tmp" -Iruntime -Iexpand -Iformat -include "$tmp/more.h" \
			"$reader" || return
	done
}
check "the table of profile kinds has readers" [ "$(wc -w <<<"$readers")" -ge 5 ]
quiet "one more profile kind compiles" with_rows
for name in form value kind view; do
	declare -n columns=$name
	for ((i = 1; i < ${#columns[@]}; i++)); do
		column=${columns[i]}
		columns[i]=
		check "it compiles without a column: $(row "${columns[@]}")" eval '! with_rows 2>/dev/null'
		columns[i]=$column
	done
done
# The tests of the table hold for it.
if with_rows 2>"$tmp/log" && ${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$tmp" -Iexpand -Iformat -o "$tmp/kinds" \
	tests/unit/profile/test_t2x_prof_kinds.c expand/profile/t2x_prof_kinds.c -lcmocka 2>>"$tmp/log"; then
	quiet "the tests of the table with one more profile kind" "$tmp/kinds"
else
	fail "the tests of the table with one more profile kind: $(cat "$tmp/log")"
fi

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
