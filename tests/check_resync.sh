#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/test_resync.c with a recorded file of several threads and cycles, instead of its made-up one.
# Ends with "N passed, N failed".
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
out=$(cd "$top" && cd "${T2_OUT:-build}" && pwd) || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

[ -x "$out/tests/test_resync" ] || { echo "tests/test_resync is not built"; exit 77; }
mkdir "$tmp/tree"
for i in $(seq 400); do
	cp "$top/FORMAT.md" "$tmp/tree/file-$i.txt"
done
TRACE2_RAW=$tmp/cycles.tlg TRACE2_RAW_LZ4=0 TRACE2_RAW_CYCLE=20000 "$out/examples/t2index" "$tmp/tree" >/dev/null 2>&1
cd "$top" || exit 1
if "$out/tests/test_resync" "$tmp/cycles.tlg" >"$tmp/log" 2>&1; then
	echo "1 passed, 0 failed"
else
	head -c 2000 "$tmp/log"
	echo "0 passed, 1 failed"
	exit 1
fi
