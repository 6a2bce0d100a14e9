#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces that want all the memory, or all the time, of who reads them (tests/torture/hostile.c): t2expand reads 100 MiB
# of each in each format with 64 MiB of address space, and does not run out of it.  T2_OUT, T2_SCALE: see run.sh.
# Ends with "N passed, N failed".
set -u

out=${T2_OUT:-build}
passed=0 failed=0
mebibytes=$(((100 * ${T2_SCALE:-100} + 99) / 100))
err=$(mktemp) || exit 1
trap 'rm -f "$err"' EXIT

# try WHAT FORMAT MEBIBYTES
try()
{
	local status

	"$out/torture/hostile" "$1" "$3" 2>/dev/null |
		(ulimit -v 65536 && exec timeout 120 "$out/t2expand" --format="$2" - 2>"$err" >/dev/null)
	status=${PIPESTATUS[1]}
	case $status in
	0 | 1 | 3) ;;
	*) echo "exit status $status" >>"$err" ;;
	esac
	if grep -qiE 'memory|exit status' "$err"; then
		failed=$((failed + 1))
		echo "FAIL $1, $2:"
		head -n 5 "$err"
	else
		passed=$((passed + 1))
	fi
}

for what in $("$out/torture/hostile"); do
	begun=$SECONDS
	for format in normal perf event tree xml raw; do
		try "$what" $format "$mebibytes"
	done
	echo "$what: 6 times $mebibytes MiB, $((SECONDS - begun)) s"
done
try endless perf $((10 * mebibytes))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
