#!/bin/bash
# SPDX-License-Identifier: MIT
# The heap profile, in front of real programs by LD_PRELOAD: they say the same, and the profile of what they allocate is
# right, with libc's malloc(), jemalloc's and tcmalloc's.
#   1. programs in C and C++ that count for themselves: each allocation sampled, the totals are theirs, by 1 %;
#      one in 1024 bytes, the estimates are within 5 %, which are 7 standard deviations
#   2. Python, git, sqlite3: estimates beside what the same program allocates with each allocation sampled
#   3. sqlite3 with each allocation sampled: what valgrind has counted
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_shared_library
need libtrace2-prof.so [ -e "$out/libtrace2-prof.so.0" ]
cd "$top" || exit 1
unset TRACE2 TRACE2_PERF TRACE2_EVENT TRACE2_RAW TRACE2_PROF

# Each says on its last line: bytes allocated, and in use at the end.
cat >"$tmp/c.c" <<'END'
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5000 };
static void *volatile kept[ROUNDS];

int main(void)
{
	size_t all = 0, in_use = 0;
	char *text = NULL;

	for (size_t i = 0; i < ROUNDS; i++) {
		size_t n = 50 + i % 1000;
		void *aligned = NULL;
		kept[i] = calloc(2, n);
		kept[i] = realloc(kept[i], 3 * n);
		free(kept[i]);
		kept[i] = malloc(n);
		free(kept[i]);
		kept[i] = aligned_alloc(64, 640);
		free(kept[i]);
		if (posix_memalign(&aligned, 256, n))
			return 1;
		kept[i] = aligned;
		free(aligned);
		kept[i] = strdup("a string of 32 bytes, as can be"); /* by libc */
		all += 7 * n + 640 + 32;
		in_use += 32;
		if (i % 10 == 0) {
			kept[i] = reallocarray(kept[i], 30, n);
			all += 30 * n;
			in_use += 30 * n - 32;
		}
	}
	if (asprintf(&text, "%d", 1) != 1)
		return 1;
	free(text);
	printf("%zu %zu\n", all, in_use);
	return 0;
}
END
cat >"$tmp/cxx.cc" <<'END'
#include <cstdio>
#include <memory>
#include <new>

struct alignas(128) Aligned {
	char bytes[256];
};
enum { ROUNDS = 5000 };
static void *volatile kept[ROUNDS];

int main()
{
	size_t all = 0, in_use = 0;

	for (size_t i = 0; i < ROUNDS; i++) {
		size_t n = 50 + i % 1000;
		kept[i] = new Aligned;
		delete static_cast<Aligned *>(kept[i]);
		kept[i] = new (std::nothrow) char[2 * n];
		delete[] static_cast<char *>(kept[i]);
		kept[i] = ::operator new(n);
		::operator delete(kept[i]);
		all += 256 + 3 * n;
		if (i % 10 == 0) {
			kept[i] = new char[30 * n];
			all += 30 * n;
			in_use += 30 * n;
		}
	}
	try {
		kept[0] = ::operator new(size_t(-1) / 4);
	} catch (const std::bad_alloc &) {
		printf("%zu %zu\n", all, in_use);
	}
	return 0;
}
END
# -fno-builtin: no compiler does without a call
${CC:-cc} -fno-builtin -o "$tmp/c" "$tmp/c.c" || exit 1
c++ -std=c++17 -fno-builtin -o "$tmp/cxx" "$tmp/cxx.cc" || exit 1

python3=$(python3 -c 'import sys; print(sys.executable)') || exit 1

# plain PROGRAM...: its output without a profile, into $tmp/plain; ALLOCATOR is a library or nothing
plain()
{
	LD_PRELOAD=$allocator "$@" >"$tmp/plain" 2>&1
	echo "status $?" >>"$tmp/plain"
}

# profiled RATE PROGRAM...: the same with one, into $tmp/output; and its sums into $tmp/sums
profiled()
{
	local rate=$1

	shift
	# However slow the machine is, nothing is dropped
	rm -f "$tmp/heap.tlg" "$tmp/sums"
	TRACE2_PROF=heap=$rate TRACE2_RAW=$tmp/heap.tlg TRACE2_RAW_MEMORY=1g \
		LD_PRELOAD="$out/libtrace2-prof.so.0 $allocator" "$@" \
		>"$tmp/output" 2>&1
	echo "status $?" >>"$tmp/output"
	"$out/t2expand" --format=pprof --profile=heap -o "$tmp/heap.pb.gz" "$tmp/heap.tlg" 2>"$tmp/errors" &&
		"$python3" tests/tools/sums.py "$tmp/heap.pb.gz" >"$tmp/sums"
	none "$name, heap=$rate: nothing is wrong with its trace" "$(cat "$tmp/errors")"
	none "$name, heap=$rate: says the same" "$(diff "$tmp/plain" "$tmp/output" 2>&1 | head -5)"
}

# near WHAT VALUE TRUTH PERCENT
near()
{
	if awk -v v="$2" -v t="$3" -v p="$4" 'BEGIN { exit !(t > 0 && v >= t * (1 - p / 100) && v <= t * (1 + p / 100)) }'
	then pass; else fail "$1: $2, in truth $3"; fi
}

# counting PROGRAM: one that counts for itself
counting()
{
	local all in_use sum_all sum_in_use

	plain "$1"
	read -r all in_use <"$tmp/plain"
	for rate in 1 1024; do
		profiled $rate "$1"
		read -r sum_all sum_in_use <"$tmp/sums"
		near "$name, heap=$rate: allocated" "$sum_all" "$all" $((rate == 1 ? 1 : 5))
		near "$name, heap=$rate: in use" "$sum_in_use" "$in_use" $((rate == 1 ? 1 : 5))
	done
}

# real PROGRAM...: one that does not
real()
{
	local all sum_all

	plain "$@"
	profiled 1 "$@"
	read -r all _ <"$tmp/sums"
	profiled 512 "$@"
	read -r sum_all _ <"$tmp/sums"
	near "$name, heap=512: allocated" "$sum_all" "$all" 8
	echo "$name: $all bytes, estimated $sum_all"
}

# Thousands of samples each.  Python allocates 128 KiB more now and then.
query="with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
	select count(*), sum(length(t)) from (select distinct printf('%0400d', i) as t from n order by 1);"
seq 40000 >"$tmp/numbers"
seq 1 3 120000 >"$tmp/others"
words='print(sum(len(w) for w in sorted({str(i) * 20 for i in range(30000)})))'

for library in "" jemalloc.so.2 tcmalloc_minimal.so.4; do
	allocator=
	if [ -n "$library" ]; then
		allocator=$(${CC:-cc} -print-file-name="lib$library")
		if [ ! -e "$allocator" ]; then
			[ "${CI:-}" != true ] || fail "no lib$library"
			echo "no lib$library"
			continue
		fi
	fi
	name="C ${library:-libc}"
	counting "$tmp/c"
	name="C++ ${library:-libc}"
	counting "$tmp/cxx"
	name="sqlite3 ${library:-libc}"
	real sqlite3 -batch :memory: "$query"
	name="python3 ${library:-libc}"
	PYTHONMALLOC=malloc PYTHONHASHSEED=1 real "$python3" -I -S -c "$words"
	name="git ${library:-libc}"
	real git diff --no-index --stat "$tmp/numbers" "$tmp/others"
done

# What valgrind counts begins with the loader.
allocator= name="sqlite3, valgrind"
if valgrind --version >/dev/null 2>&1; then
	plain sqlite3 -batch :memory: "$query"
	profiled 1 sqlite3 -batch :memory: "$query"
	read -r all _ <"$tmp/sums"
	valgrind sqlite3 -batch :memory: "$query" >"$tmp/valgrind" 2>&1
	counted=$(sed -n 's/.*total heap usage: .* frees, \([0-9,]*\) bytes.*/\1/p' "$tmp/valgrind" | tr -d ,)
	near "sqlite3, heap=1: allocated, beside valgrind" "$all" "${counted:-0}" 2
fi
total
