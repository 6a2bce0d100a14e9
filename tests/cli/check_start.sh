#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/cli/check_start.sh [--write|--print]
#
# What `t2 summary` of a small file costs, and each further small file of a directory: a gate that a busy machine cannot
# fool.  It counts
#   instructions  by valgrind
#   calls         system calls, by strace
#   faults        new pages, which cost more than all the rest when each file has its own
# of one file, of 100 and of 200: the difference of these two is that of a file.  (Faults of one file are not judged, for
# most are the kernel's way of reading a program in.)  A count may rise 5 % above the one recorded in tests/data/start,
# faults by 0.1 a file more; if it does, the change that raised it has to pay for that, or to say why not and record the
# new one with --write.  --print: the counts of now, of whatever compiler, without a verdict.
#
# Instructions belong to a compiler, its level of optimization, and a processor on which libc chooses the same code:
# anywhere else they are left out.  So is the start where that compiler is not, or where t2expand loads more than libc (see
# BUNDLE in the Makefile), or others' ring files cannot be hidden; faults where pages are not of 4 KiB; and calls where
# strace may not trace.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

recorded=tests/data/start
. "$(dirname "$0")/../common.sh"
need "$out/tests/grow" [ -x "$out/tests/grow" ]
need python3 command -v python3
compiler="$(${CC:-cc} --version | sed '1s/^cc /gcc /;1q')$(grep -oE -- ' -O[0-9sgz]+' "$out/flags" | tail -n 1)"
recorded_for=$(sed -n 's/^# //p' "$recorded" 2>/dev/null)
names='' option=${1:-}

is_comparable()
{
	[ "$(uname -m)" = x86_64 ] && { [ -n "$option" ] || [ "$compiler" = "$recorded_for" ]; }
}

has_valgrind()
{
	is_comparable && command -v valgrind >/dev/null && grep -q -w avx2 /proc/cpuinfo
}

needs_only_libc()
{
	is_comparable && ! readelf -dW "$out/t2expand" | grep NEEDED | grep -qv 'libc\.so'
}

# A start looks into the ring files of who is running here: so it is measured where there are none.
alone=(unshare -m sh -c 'mount -t tmpfs none /dev/shm && exec "$@"' -)
"${alone[@]}" true 2>/dev/null || alone=()

is_alone()
{
	[ ${#alone[@]} -gt 0 ] || [ -z "$(find /dev/shm -maxdepth 1 -name 'trace2-*.ring' 2>/dev/null)" ]
}

# summary COMMAND...: run by COMMAND with nothing in the environment, whose size counts, too
summary()
{
	(cd "$tmp" && env -i LC_ALL=C TZ=UTC PATH="$PATH" "${alone[@]}" "${@:2}" "$out/t2expand" --format=summary "$1" \
		2>&1 >/dev/null)
}

# count_WHAT FILES: the count
count_instructions()
{
	summary "$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null | sed -n 's/.*Collected : \([0-9]*\)$/\1/p'
}

count_calls()
{
	summary "$1" strace -f -qq -o "$tmp/calls"
	wc -l <"$tmp/calls"
}

count_faults()
{
	summary "$1" python3 -c 'import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
print(os.wait4(pid, 0)[2].ru_minflt, file=sys.stderr)'
}

# measure_start WHAT, measure_file WHAT: into $tmp/NAME
measure_start()
{
	is_alone || return
	names="$names start.$1"
	"count_$1" 1 >"$tmp/start.$1"
}

measure_file()
{
	names="$names file.$1"
	echo "$("count_$1" 200) $("count_$1" 100)" | awk 'NF == 2 { printf "%.2f\n", ($1 - $2) / 100 }' >"$tmp/file.$1"
}

# verdict NAME: the count of now beside the recorded one
verdict()
{
	local now was more=0

	now=$(cat "$tmp/$1")
	was=$(awk -v name="$1" '$1 == name { print $2 }' "$recorded")
	[ "$1" != file.faults ] || more=0.1
	if awk -v now="${now:-0}" -v was="${was:-0}" -v more="$more" \
		'BEGIN { exit !(now > 0 && now <= was * 1.05 + more) }'; then
		pass
		printf '%-18s %9s, recorded %s\n' "$1" "$now" "$was"
		awk -v now="$now" -v was="$was" 'BEGIN { exit !(now < was * 0.95) }' &&
			echo "                   cheaper than recorded: make it last with --write"
	else
		fail "$1: ${now:-no count}, recorded ${was:-nothing}"
	fi
}

for n in 1 100 200; do
	mkdir "$tmp/$n"
	"$out/tests/grow" programs "$n" "$tmp/$n" || exit 1
done
check "all events of 200 files are there" \
	[ "$("$out/t2expand" --format=summary "$tmp/200" 2>"$tmp/err" | head -n 1 | cut -d' ' -f1)" = 6000 ]
check "without a word" [ ! -s "$tmp/err" ]
if has_valgrind; then
	! needs_only_libc || measure_start instructions
	measure_file instructions
fi
if strace -o /dev/null true 2>/dev/null; then
	! needs_only_libc || measure_start calls
	measure_file calls
fi
[ "$(getconf PAGESIZE)" != 4096 ] || measure_file faults

if [ -n "$option" ]; then
	for name in $names; do
		echo "$name $(cat "$tmp/$name")"
	done >"$tmp/all"
	[ "$option" != --write ] || { echo "# $compiler"; cat "$tmp/all"; } >"$recorded"
	cat "$tmp/all"
	exit 0
fi
for name in $names; do
	verdict "$name"
done
total
