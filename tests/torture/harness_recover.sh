#!/bin/bash
# SPDX-License-Identifier: MIT
# P14: t2expand --recover can be killed at any moment, 1,000 times here, and run again with the same result; it
# removes a ring file only when the output is complete.  See recover.c.
set -u
. tests/torture/common.sh

for half in 1 2; do
	begin timeout -s KILL 900 "$out/torture/recover" $(((10 * scale + 1) / 2)) $((seed + half))
done
finish
total
