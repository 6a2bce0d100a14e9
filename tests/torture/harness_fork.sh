#!/bin/bash
# SPDX-License-Identifier: MIT
# P13: children of every kind of fork record at once, beside a parent that goes on; nothing is missing, twice, or in
# the wrong stream (fork.c).  Code that is loaded and unloaded records 10,000 times (plugin.c; also with
# AddressSanitizer).  Whatever runs at the end of a thread, before main() or after it, records or does no harm
# (ends.cc).
set -u
. tests/torture/common.sh
export XDG_RUNTIME_DIR=$work TRACE2_RAW=$work/raw.tlg
compile=("${CC:-cc}" -O2 -Wall -Wextra -Werror -Iruntime)

forks()
{
	local p f

	timeout -s KILL 900 "$out/torture/fork" $((4 * scale)) >"$work/log" 2>&1
	sed '$d' "$work/log"
	read -r p _ f _ < <(tail -n 1 "$work/log")
	add "${p:-0}" "${f:-1}"
}

# expanded FORMAT: what the program recorded; a report on stderr is a failure
expanded()
{
	"$out/t2expand" --format="$1" "$TRACE2_RAW" 2>"$work/said"
	verdict "the trace is whole: $(head -n 1 "$work/said")" "$(test -s "$work/said"; echo $((! $?)))"
}

# plugin NAME TIMES FLAGS...: program and plugin built so, with the library linked in
plugin()
{
	local name=$1 times=$2 which n status
	shift 2

	rm -f "$TRACE2_RAW"
	for which in A B; do
		"${compile[@]}" "$@" -fPIC -shared "-DPLUGIN=\"$which\"" -o "$work/$which.so" tests/torture/plugin.c
		verdict "$name: plugin $which builds" $?
	done
	"${compile[@]}" "$@" -rdynamic -o "$work/plugin" tests/torture/plugin.c -Wl,--whole-archive \
		"${library:-$out/libtrace2.a}" -Wl,--no-whole-archive -lurcu-cds -llz4 -lmd -pthread -ldl
	verdict "$name: builds" $?
	timeout 900 "$work/plugin" "$work/A.so" "$work/B.so" "$times" >"$work/log" 2>&1
	status=$?
	verdict "$name: runs: $(head -n 3 "$work/log")" "$status"
	expanded perf >"$work/text"
	for which in "A called for the [0-9]*[02468]\. time" "B called for the [0-9]*[13579]\. time" \
		"key of A:[0-9]*[02468]$" "key of B:[0-9]*[13579]$" "region_enter .* label:region of A$" \
		"region_leave .* label:region of B$"; do
		n=$(grep -c "$which" "$work/text")
		verdict "$name: $n of $((times / 2)): $which" "$(test "$n" -eq $((times / 2)); echo $?)"
	done
	echo "$name: loaded and unloaded $times times, each event under its own names"
}

# ends NAME LIBRARY...: linked so
ends()
{
	local name=$1 what count stored lost begun returned sum=0
	shift

	rm -f "$TRACE2_RAW"
	g++ -O2 -Wall -Iruntime -o "$work/ends" tests/torture/ends.cc "$@"
	verdict "$name: builds" $?
	timeout 600 "$work/ends"
	verdict "$name: ends well" $?
	expanded event >"$work/text"
	while read -r count what; do
		[ "$(grep -c "\"value\":\"$what\"" "$work/text")" -eq "$count" ]
		verdict "$name: $count of '$what'" $?
	done <<-END
		0 too early
		2 constructed
		1 static object
		2 object of a thread
		2 value of a thread
		1 exit handler from before
		1 exit handler from after
		1 destructor function
		2 signal at the end
	END
	# a thread that records while the process ends: what returned before that is stored, or counted as lost
	for _ in $(seq $((scale / 5 + 5))); do
		rm -f "$TRACE2_RAW"
		timeout 600 "$work/ends" "$work/counts" || { verdict "$name: ends well beside a thread" 1; break; }
		stored=$("$out/t2expand" --format=perf "$TRACE2_RAW" 2>"$work/said" | grep -c 'behind the end:1$')
		lost=$(sed -n 's/^t2expand: \([0-9]*\) checkpoints lost by the program.*/\1/p' "$work/said" |
			awk '{ n += $1 } END { print n + 0 }')
		read -r begun returned < <(od -An -t u8 "$work/counts")
		[ "$returned" -le $((stored + lost)) ] && [ $((stored + lost)) -le "$begun" ]
		verdict "$name: $returned <= $stored stored + $lost lost <= $begun beside the end" $?
		sum=$((sum + begun))
	done
	echo "$name: static objects, thread_local objects, keys, exit handlers, destructors: all that they record;" \
		"$sum calls beside the end, each stored or counted"
}

forks
plugin "plugin" $((100 * scale))
if [ "$scale" -ge 100 ]; then
	${MAKE:-make} -s SAN=address build/address/libtrace2.a >"$work/log" 2>&1
	verdict "with AddressSanitizer: the library" $?
	library=build/address/libtrace2.a plugin "plugin, AddressSanitizer" $((100 * scale)) -fsanitize=address -g
fi
ends "shared library" -L"$out" -Wl,-rpath,"$PWD/$out" -ltrace2
ends "static library" "$out/libtrace2.a" -lurcu-cds -llz4 -lmd -pthread
total
