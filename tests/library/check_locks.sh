#!/bin/bash
# SPDX-License-Identifier: MIT
# The profiles of locks.  Programs with threads that know nothing of the profiler print the same with it in front of
# them; a program's contended lock is found, in the function that waits and in the one that unlocks, with about the time
# that it has measured itself.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need "libtrace2-prof in $out" [ -e "$out/libtrace2-prof.so.0" ]
cd "$tmp" || exit 1

# profiled COMMAND...: with waits of every length sampled
profiled()
{
	TRACE2_PROF=block=1ns,mutex=1 LD_PRELOAD="$out/libtrace2-prof.so.0" "$@"
}

# same NAME COMMAND...: on stdout, and the exit status
same()
{
	local name=$1 status

	shift
	"$@" >plain
	status=$?
	profiled "$@" >with 2>err
	[ $? -eq $status ] && cmp -s plain with && [ ! -s err ]
	check "$name prints the same" [ $? -eq 0 ]
}

head -c 3000000 "$out/libtrace2.a" >data
same zstd zstd -q -T2 -B256K -c data
same xz xz -T2 --block-size=500000 -0 -c data
same sqlite3 sqlite3 :memory: 'PRAGMA threads=2; CREATE TABLE t(a);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO t SELECT i * 7919 % 50021 FROM n;
	CREATE INDEX i ON t(a); SELECT count(*), sum(a), max(a) FROM t; SELECT a FROM t ORDER BY a LIMIT 10;'

${CC:-cc} -O2 -rdynamic -I"$top/runtime" -o waits "$top/tests/library/locks/waits.c" -L"$out" -Wl,-rpath,"$out" \
	-ltrace2-prof -pthread || fail "waits.c does not compile"
waited=$(./waits ./of)
check "waits runs" [ $? -eq 0 ]

# found TEXT FUNCTION: nanoseconds of the stacks that begin in the function
found()
{
	awk -v name="$2" '$3 == "@" { ns = $1; innermost = 1; next }
		/^#/ { if (innermost && index($3, name "+") == 1) sum += ns; innermost = 0 }
		END { printf "%.0f\n", sum }' "$1"
}

# The program's own measurement is around the wait, so it is no less; what lies between is a sample's time.
for where in block:wait_here mutex:unlock_here; do
	ns=$(found "of.${where%:*}.1" "${where#*:}")
	check "${where%:*}: $ns ns in ${where#*:}, of $waited" [ "$ns" -le "$waited" ] && [ "$ns" -ge $((waited / 2)) ]
done
total
