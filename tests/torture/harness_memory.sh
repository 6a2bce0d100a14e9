#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces that want all the memory, or all the time, of who reads them (tests/torture/hostile.c): t2expand reads 100 MiB
# of each in each format with 64 MiB of address space, and does not run out of it; firefox, which has each thread and
# each name until the end (t2expand(1)), has 8 times the trace's size more.  And four times as much takes it about four
# times as many instructions, which a busy machine cannot hide.  Time is that of the processor, likewise.  T2_OUT,
# T2_SCALE: see run.sh.
# And 200,000 processes that do not end, threads, names or stacks of samples take less than 64 MiB in each format but
# firefox; twice as much of each thing takes twice as many instructions (tests/cli/check_growth.sh).
# Ends with "N passed, N failed".
set -u
. tests/torture/common.sh

mebibytes=$((scale > 1 ? scale : 1))

# try WHAT FORMAT MEBIBYTES.  8 MiB less than is promised: of what is tight it is chance whether an allocation fails that
# is said, or one that is done without
try()
{
	local status err=$work/$1.$2 kibibytes=57344

	[ "$2" != firefox ] || kibibytes=$((kibibytes + 8192 * $3))
	"$out/torture/hostile" "$1" "$3" 2>/dev/null |
		(ulimit -v "$kibibytes" && ulimit -t 120 && exec "$out/t2expand" --format="$2" - 2>"$err" >/dev/null)
	status=${PIPESTATUS[1]}
	case $status in
	0 | 1 | 3) ;;
	*) echo "exit status $status" >>"$err" ;;
	esac
	grep -qiE 'memory|exit status' "$err"
	status=$?
	verdict "$1, $2: $(head -n 3 "$err")" $((!status))
}

# try_formats WHAT
try_formats()
{
	local format begun=$SECONDS

	for format in $("$out/t2expand" --list-formats | awk '{ print $1 }'); do
		try "$1" $format "$mebibytes"
	done
	echo "$1: 6 times $mebibytes MiB, $((SECONDS - begun)) s"
	total
}

# Instructions that WHAT takes, MEBIBYTES of it.  In the perf format regions without end are long lines.  From stdin:
# of a file, ring files are looked for, which costs more the more of them others have left.
count()
{
	local trace=$work/$1.tlg

	"$out/torture/hostile" "$1" "$2" >"$trace" 2>/dev/null
	(ulimit -t 240 && exec valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/t2expand" --format=event \
		- <"$trace") 2>&1 >/dev/null | sed -n 's/.*Collected : \([0-9]*\)$/\1/p'
	rm -f "$trace"
}

# try_growth WHAT
try_growth()
{
	local small large

	small=$(count "$1" 1) large=$(count "$1" 4)
	[ -n "$small" ] && [ -n "$large" ] && [ "$large" -lt $((small * 11 / 2)) ]
	verdict "$1: ${small:-no} instructions for 1 MiB, ${large:-none} for 4 MiB" $?
	[ -z "$small" ] || echo "$1: $((100 * ${large:-0} / small)) % of the instructions for 400 % of the input"
	total
}

# try_peak WHAT N: so many of one thing (tests/tools/grow.c), and what was resident at most, in KiB
try_peak()
{
	local trace=$work/peak.tlg format peak worst=0

	"$out/tests/grow" "$1" "$2" "$trace"
	for format in $("$out/t2expand" --list-formats | awk '{ print $1 }'); do
		[ "$format" != firefox ] || continue
		peak=$(python3 -c '
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = status
print(usage.ru_maxrss if os.WEXITSTATUS(status) in (0, 3) else "none")' \
			"$out/t2expand" --format="$format" -o /dev/null "$trace")
		[ "$peak" != none ] && [ "$peak" -lt 65536 ]
		verdict "$2 $1, $format: $peak KiB" $?
		[ "$peak" = none ] || [ "$peak" -le "$worst" ] || worst=$peak
	done
	echo "$2 $1: $worst KiB at most"
	rm -f "$trace"
	total
}

# each thing many times, in all formats: what twice as many cost
try_all_growth()
{
	T2_OUT=$out tests/cli/check_growth.sh $((scale > 20 ? scale / 20 : 1))
}

has_valgrind=1
need valgrind "how instructions grow with the input" || has_valgrind=0
[ "$has_valgrind" -eq 0 ] || begin try_all_growth
for what in processes threads names samples; do
	begin try_peak "$what" $((2000 * scale))
done
for what in $("$out/torture/hostile"); do
	[ "$has_valgrind" -eq 0 ] || begin try_growth "$what"
	begin try_formats "$what"
done
finish
try endless perf $((10 * mebibytes))
total
