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

# found TEXT FUNCTION: nanoseconds of the stacks that begin in the function
found()
{
	awk -v name="$2" '$3 == "@" { ns = $1; innermost = 1; next }
		/^#/ { if (innermost && index($3, name "+") == 1) sum += ns; innermost = 0 }
		END { printf "%.0f\n", sum }' "$1"
}

# run_waits: sets $waited, and $blocked and $charged as the profiles have it
run_waits()
{
	waited=$(./waits ./of) || return
	blocked=$(found of.block.1 wait_here) charged=$(found of.mutex.1 unlock_here)
}
# The program's own measurement is around the wait, so it is no less; what lies between is a sample's time, and that for
# which a thread was without a processor just there: then the next run says what is true
for _ in 1 2 3 4 5; do
	run_waits || break
	[ "$blocked" -lt $((waited / 2)) ] || [ "$charged" -lt $((waited / 2)) ] || break
done
check "waits runs" [ -n "$waited" ]
for where in "block: $blocked" "mutex: $charged"; do
	check "$where ns, of $waited" [ "${where#*: }" -le "$waited" -a "${where#*: }" -ge $((waited / 2)) ]
done

# An allocator that locks, and begins to before the profiler does, as jemalloc: the next pthread_mutex_lock() is looked
# for then, which must not allocate; nor does it leave an error that the program would find.
cat >allocator.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(ALIGN) char memory[16 << 20];
static size_t used;

void *malloc(size_t size)
{
	char *block;

	pthread_mutex_lock(&lock);
	block = size < sizeof(memory) / 2 && used < sizeof(memory) / 2 ? memory + used : NULL;
	used += (block ? size + 2 * ALIGN - 1 : 0) / ALIGN * ALIGN;
	pthread_mutex_unlock(&lock);
	return block ? memcpy(block, &size, sizeof(size)) + ALIGN : NULL;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t n, size_t size)
{
	return n && size > sizeof(memory) / n ? NULL : malloc(n * size);
}

void *realloc(void *old, size_t size)
{
	char *block = malloc(size);
	size_t old_size = 0;

	if (old)
		memcpy(&old_size, (char *)old - ALIGN, sizeof(old_size));
	return block && old ? memcpy(block, old, old_size < size ? old_size : size) : block;
}

__attribute__((constructor)) static void begin(void)
{
	free(malloc(1));
}
END
cat >program.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	const char *error = dlerror();
	char *block = malloc(100);

	printf("%s, %d\n", error ? error : "no error", block != NULL);
	return 0;
}
END
${CC:-cc} -O2 -fno-builtin -fPIC -shared -o allocator.so allocator.c -pthread || fail "allocator.c does not compile"
${CC:-cc} -O2 -fno-builtin -o program program.c || fail "program.c does not compile"
for profiles in "" heap=1 heap=1,block=1ns,mutex=1; do
	said=$(TRACE2_PROF=$profiles LD_PRELOAD="$out/libtrace2-prof.so.0 ./allocator.so" ./program)
	check "an allocator that locks, '$profiles': $said" [ "$said" = "no error, 1" ]
done
total
