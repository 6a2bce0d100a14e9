#!/bin/bash
# SPDX-License-Identifier: MIT
# Damage a trace in every way at every place (tests/torture/damage.c), hide traces in it or tear a block in front of some
# (forge.c), and see what the expander makes of it: bits of 64 KB plain, all else of 230 KB plain, everything of 32 KB
# packed and in LZ4 frames.  Two at a time.  T2_OUT, T2_SCALE, T2_SEED: see run.sh.  Ends with "N passed, N failed".
set -u
. tests/torture/common.sh

# try COMMAND...: both halves of the places
try()
{
	local half

	for half in 0/2 1/2; do
		begin "$out/torture/$1" "${@:2}" $half
	done
}

for encoding in lz4 packed; do
	for way in flips holes shifts cuts; do
		try damage $way $encoding
	done
done
try damage flips plain
for way in holes shifts cuts; do
	try damage $way large
done
for way in noise planted torn; do
	try forge $way
done
finish
total
