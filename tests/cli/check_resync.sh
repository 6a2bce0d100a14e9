#!/bin/bash
# SPDX-License-Identifier: MIT
# Record a real program with several threads in short cycles, plain and packed; join its file at every cycle, and at
# every event, or packed entry, of one of them.
set -u
out=${T2_OUT:-build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C XDG_RUNTIME_DIR=$tmp

mkdir "$tmp/tree"
cp -r expand format runtime tests "$tmp/tree"
failed=0
for encoding in plain packed; do
	TRACE2_RAW=$tmp/$encoding.tlg TRACE2_RAW_LZ4=0 TRACE2_RAW_ENCODING=$encoding TRACE2_RAW_CYCLE=10k \
		"$out/examples/t2index" "$tmp/tree" >/dev/null || exit 1
	python3 tests/cli/resync.py "$out/t2expand" "$tmp/$encoding.tlg" || failed=1
done
exit "$failed"
