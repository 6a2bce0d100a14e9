#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/cli/check_growth.sh [SCALE]
#
# What t2expand takes for twice as much of one thing (tests/tools/grow.c), in each format: twice the instructions, which a
# busy machine cannot hide.  What it takes for next to nothing is subtracted.  More than 2.2 times as many fail.
# Each thing is tried with a third of the formats, each format with a third of the things.  With SCALE, as
# harness_memory.sh has it, with all of them, and there is so many times as much of each.
# perf shows regions by as many dots as they are deep, as git does: of deep ones its lines are long, and so it is not
# tried.
# The same for `t2 import', with lines of git's event target.
# Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../common.sh"
export LC_ALL=C tmp out

command -v valgrind >/dev/null || { echo "no valgrind"; exit 77; }
need "grow in $out/tests" [ -x "$out/tests/grow" ]

# make WHAT N NAME: what the reader is given, $tmp/NAME
make()
{
	[ "$1" != files ] || mkdir "$tmp/$3"
	"$out/tests/grow" "$1" "$2" "$tmp/$3"
}

# count NAME FORMAT: instructions, into $tmp/NAME-FORMAT; of one thread, for others wait for each other by chance
count()
{
	local status

	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/t2expand" --jobs=1 --format="$2" -o /dev/null \
		"$tmp/$1" >"$tmp/$1-$2.said" 2>&1
	status=$?
	case $status in
	0 | 3) sed -n 's/.*Collected : \([0-9]*\)$/\1/p' "$tmp/$1-$2.said" >"$tmp/$1-$2" ;;
	*) echo "$1, $2: exit status $status: $(grep -v '^==' "$tmp/$1-$2.said")" >>"$tmp/failed" ;;
	esac
}
export -f count

# judge WHAT FORMAT NOTHING: the verdict, and a line for the sum
judge()
{
	local line

	line=$(cat "$tmp/$3-$2" "$tmp/$1.1-$2" "$tmp/$1.2-$2" 2>/dev/null | awk -v what="$1 $2" '{ n[NR] = $1 } END {
		ratio = n[2] > n[1] ? (n[3] - n[1]) / (n[2] - n[1]) : 99
		printf "%-20s %12d %12d instructions: %.2f\n", what, n[2], n[3], ratio
	}')
	awk -v ratio="${line##* }" 'BEGIN { exit !(ratio <= 2.2) }'
	check "$line" [ $? -eq 0 ]
	echo "$line" >>"$tmp/all"
}

# ---- import ------------------------------------------------------------------------------------------

# lines WHAT N: of git's event target
lines()
{
	awk -v what="$1" -v n="$2" '
	function sid(i) { return sprintf("20261123T233203.%06dZ-H0a7c9cdf-P%08x", i % 1000000, i) }
	function line(i, thread, event, rest, at) {
		at = ++lines
		printf "{\"event\":\"%s\",\"sid\":\"%s\",\"thread\":\"%s\",\"time\":\"2026-11-23T23:32:%02d.%06dZ\",", event,
			sid(i), thread, int(at / 1000000), at % 1000000
		printf "\"file\":\"a.c\",\"line\":1%s}\n", rest
	}
	BEGIN {
		start = ",\"t_abs\":0.000001,\"argv\":[\"git\"]"
		names = ",\"category\":\"c\",\"label\":\"l\""
		child = ",\"child_class\":\"?\",\"use_shell\":false,\"argv\":[\"x\"]"
		if (what != "processes" && what != "ended")
			line(1, "main", "start", start)
		for (i = 0; i < n; i++) {
			if (what == "processes" || what == "ended")
				line(i, "main", "start", start)
			if (what == "ended")
				line(i, "main", "atexit", ",\"t_abs\":0.5,\"code\":0")
			if (what == "threads")
				line(1, "th" i ":x", "region_enter", names)
			if (what == "names")
				line(1, "main", "data", ",\"t_abs\":0.5,\"t_rel\":0.4,\"category\":\"c\",\"key\":\"k" i "\",\"value\":\"1\"")
			if (what == "regions" || what == "open")
				line(1, "main", "region_enter", names)
			if (what == "regions")
				line(1, "main", "region_leave", ",\"t_rel\":0.000001" names)
			if (what == "children")
				line(1, "main", "child_start", ",\"child_id\":" i child)
		}
		for (i = 0; what == "children" && i < n; i++)
			line(1, "main", "child_exit", ",\"child_id\":" i ",\"pid\":5,\"code\":0,\"t_rel\":0.00001")
	}'
}

# A directory has one file for each process.
make_import()
{
	if [ "$1" = files ]; then
		mkdir "$tmp/$3"
		lines processes "$2" | split -l 1 -a 4 - "$tmp/$3/"
	else
		lines "$1" "$2" >"$tmp/$3"
	fi
}

count_import()
{
	local status

	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/t2" import -o /dev/null "$tmp/$1" \
		>"$tmp/$1-import.said" 2>&1
	status=$?
	[ "$status" -eq 0 ] || echo "import of $1: exit status $status: $(grep -v '^==' "$tmp/$1-import.said")" >>"$tmp/failed"
	sed -n 's/.*Collected : \([0-9]*\)$/\1/p' "$tmp/$1-import.said" >"$tmp/$1-import"
}
export -f count_import

imports=(processes ended files threads names regions open children)
make_import ended 1 i-nothing
make_import files 1 i-no-files
for what in "${imports[@]}"; do
	make_import "$what" $((1000 * ${1:-1})) "i-$what.1"
	make_import "$what" $((2000 * ${1:-1})) "i-$what.2"
done
printf 'i-%s\n' nothing no-files "${imports[@]/%/.1}" "${imports[@]/%/.2}" |
	xargs -P "$(nproc)" -L 1 bash -c 'count_import "$@"' -
for what in "${imports[@]}"; do
	if [ "$what" = files ]; then
		judge "i-$what" import i-no-files
	else
		judge "i-$what" import i-nothing
	fi
done

# ---- the formats -------------------------------------------------------------------------------------

mapfile -t formats < <("$out/t2expand" --list-formats | awk '{ print $1 }')
mapfile -t whats < <("$out/tests/grow")
tried=()
turn=0
make nested 1 nothing
make files 1 no-files
for what in "${whats[@]}"; do
	case $what in
	files) n=350 ;;
	processes) n=400 ;;
	*) n=1000 ;;
	esac
	n=$((n * ${1:-1}))
	make "$what" $n "$what.1"
	make "$what" $((2 * n)) "$what.2"
	turn=$((turn + 1))
	for i in "${!formats[@]}"; do
		format=${formats[i]}
		case $what-$format in
		depth-perf | nested-perf | colliding-perf) ;;
		*) [ $# -eq 0 ] && [ $(((i + turn) % 3)) -ne 0 ] || tried+=("$what $format") ;;
		esac
	done
done
{
	for format in "${formats[@]}"; do
		echo "nothing $format"
		echo "no-files $format"
	done
	for pair in "${tried[@]}"; do
		echo "${pair/ /.1 }"
		echo "${pair/ /.2 }"
	done
} | xargs -P "$(nproc)" -L 1 bash -c 'count "$@"' -
for pair in "${tried[@]}"; do
	case $pair in
	files*) judge "${pair% *}" "${pair#* }" no-files ;;
	*) judge "${pair% *}" "${pair#* }" nothing ;;
	esac
done
none "what did not run" "$(cat "$tmp/failed" 2>/dev/null)"
echo "$((${#tried[@]} + ${#imports[@]})) counts for twice as much; the most:"
sort -t: -k2,2g "$tmp/all" | tail -n 3
total
