#!/bin/bash
# SPDX-License-Identifier: MIT
# P21: `t2 import' on a socket gives back the lines that programs sent, makes none of them wait, and counts what it drops.
# Each round (import.py) has six programs that write git's event JSON to it, by a stream or by datagrams, and one thing
# that goes wrong.  Ends with "N passed, N failed".
set -u
. tests/torture/common.sh
need python3 "the socket" || { total; exit; }
top=$PWD
[ "${out#/}" != "$out" ] || out=$top/$out
cd "$work" || exit 1
for ((n = 0; n < (20 * scale + 99) / 100; n++)); do
	for form in stream dgram; do
		for fault in none killed stopped stuck; do
			rm -f socket trace.tlg
			timeout 300 python3 "$top/tests/torture/import.py" "$out/t2" $form $fault $((seed + n))
			verdict "$form $fault $((seed + n))" $?
		done
	done
done
total
