#!/bin/bash
# SPDX-License-Identifier: MIT
# Limits that keep the code readable: files of at most 500 lines, functions of at most 60, blocks at most
# 3 deep within a function, lines of at most 120 columns (a tab is 8), the licence on the first two
# lines, no blanks at line ends; the scripts of the page likewise.  trace2.h, which is one file for its users: at most 570 lines.  The makefile: at
# most 370.  No marks of a merge anywhere.  Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"
sources=$(find format runtime expand tests bench -name '*.[ch]' -o -name '*.def' | LC_ALL=C sort)
others=$(find .ci tests bench -type f \( -name '*.sh' -o -name '*.py' -o -path '.ci/*' \) | LC_ALL=C sort)
scripts=$(find expand/page tests -name '*.mjs' -o -path 'expand/page/*.css' -o -name '*.mk' | LC_ALL=C sort)

# Functions begin with { and end with } in the first column.
check_source()
{
	local limit=500

	[ "$1" = runtime/trace2.h ] && limit=570
	expand -t 8 "$1" | awk -v limit=$limit '
	NR == 1 && !/SPDX-License-Identifier: MIT/ { print "  1: no licence line" }
	length($0) > 120 { print "  " NR ": " length($0) " columns" }
	/^[{]/ { start = NR; deep = 0 }
	# The body is 8 in, the fourth block would begin 32 in.
	start && match($0, /^ +/) && RLENGTH >= 32 && /^ +(if|for|while|switch) \(|^ +do [{]/ { deep = NR }
	/^[}]/ && start {
		if (NR - start - 1 > 60)
			print "  " start ": function of " NR - start - 1 " lines"
		if (deep)
			print "  " deep ": more than 3 blocks deep"
		start = 0
	}
	END { if (NR > limit) print "  " NR " lines" }'
	grep -nE '[[:blank:]]+$' "$1" | sed 's/:.*/: blanks at the end/; s/^/  /'
}

# Of a script of the page, or of its tests: functions begin and end at the same depth, a method's one deeper.
check_script()
{
	expand -t 8 "$1" | awk '
	NR == 1 && !/SPDX-License-Identifier: MIT/ { print "  1: no licence line" }
	length($0) > 120 { print "  " NR ": " length($0) " columns" }
	/^(        )?[^ ].*[{]$/ && !/^(export )?class / { start = NR; depth = match($0, /[^ ]/) }
	start && match($0, /[^ ]/) == depth && /^ *[}]/ {
		if (NR - start - 1 > 60)
			print "  " start ": function of " NR - start - 1 " lines"
		start = 0
	}
	END { if (NR > 500) print "  " NR " lines" }'
	grep -nE '[[:blank:]]+$' "$1" | sed 's/:.*/: blanks at the end/; s/^/  /'
}

# 128-bit integers do not exist on machines of 32 bits
wide=$(grep -l '__u*int128' $(printf '%s\n' $sources | grep -vE '^(format/tlg_math.h|tests/)'))
none "128-bit integers, which only format/tlg_math.h may use" "$wide"

none "left over from a merge" "$(grep -rnE '^(<{7}|>{7}|\|{7}) ' --exclude-dir=build --exclude-dir=.git .)"

for file in $sources; do
	none "$file" "$(check_source "$file")"
done
for file in $scripts; do
	none "$file" "$(check_script "$file")"
done
for file in $others Makefile; do
	limit=500
	[ "$file" = Makefile ] && limit=370
	none "$file" "$(
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || echo '  no licence line'
		[ "$(wc -l <"$file")" -le $limit ] || echo "  more than $limit lines"
	)"
done

total
