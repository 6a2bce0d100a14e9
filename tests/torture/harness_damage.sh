#!/bin/bash
# SPDX-License-Identifier: MIT
# Damage a trace in every way at every place (tests/torture/damage.c), hide traces in it (forge.c), and see what the
# expander makes of it: 64 KB plain, 32 KB packed, 32 KB in LZ4 frames.  Two at a time.  T2_OUT, T2_SCALE, T2_SEED: see run.sh.
# Ends with "N passed, N failed".
set -u

dir=${T2_OUT:-build}/torture
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# try COMMAND...: both halves of the places at once
try()
{
	local half pids="" status=0 pid

	for half in 0/2 1/2; do
		"$dir/$1" "${@:2}" $half >"$tmp/${half%/2}" 2>&1 &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || status=$?
	done
	cat "$tmp"/[01]
	if [ "$status" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

for encoding in plain packed lz4; do
	for way in flips holes shifts cuts; do
		try damage $way $encoding
	done
done
for way in noise planted; do
	try forge $way
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
