#!/bin/bash
# SPDX-License-Identifier: MIT
# P1: an event whose call returned survives the death of the process, whatever kills it: 10,000 SIGKILLs at random
# moments, 1,000 deaths each by SIGSEGV, abort(), _exit() and exec; 1,000 more are read before they are killed, and 1,000
# are flight recorders.
# See kill.c.
set -u
. tests/torture/common.sh

# die HOW TIMES MORE: MORE is added to the seed
die()
{
	timeout -s KILL 900 "$out/torture/kill" "$1" "$2" $((seed + $3))
}

for part in 1 2 3 4; do
	begin die kill $((25 * scale)) $part
done
for how in live flight segv abort exit exec; do
	begin die $how $((10 * scale)) 5
done
finish
total
