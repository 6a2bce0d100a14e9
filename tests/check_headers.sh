#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles alone, as C11 with all warnings; trace2.h also as C++17, with every C++ compiler
# that is there, and a C++ program that uses the macros links and runs.  Ends with "N passed, N failed".
set -u

cc=${CC:-cc}
. "$(dirname "$0")/common.sh"

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror"
for header in format/*.h runtime/*.h runtime/examples/*.h expand/*.h tests/*.h bench/*.h; do
	[ -e "$header" ] || continue
	# Twice: the guard is part of the promise.
	printf '#include "%s"\n#include "%s"\nextern int t2_dummy;\n' "$header" "$header" >"$tmp/alone.c"
	# tlg_pass.h is included by those who define its macros, and has no guard.
	[ "$header" = format/tlg_pass.h ] && continue
	quiet "$header alone" $cc -std=c11 -D_GNU_SOURCE $warnings -Wstrict-prototypes -Wvla \
		-I. -Iformat -Iruntime -Iexpand -Itests -Ibench -fsyntax-only "$tmp/alone.c"
done

# trace2.h asks nothing of its user: no _GNU_SOURCE, any C standard from 99
for std in c99 c11 gnu17; do
	printf '#include "runtime/trace2.h"\nextern int t2_dummy;\n' >"$tmp/alone.c"
	quiet "trace2.h as $std" $cc -std=$std $warnings -I. -fsyntax-only "$tmp/alone.c"
done

cat >"$tmp/user.cc" <<'END'
#include <thread>
#include "trace2.h"

int main(int argc, char **argv)
{
	struct trace2_repository repo = {};

	trace2_initialize();
	trace2_cmd_start(argv);
	repo.worktree = "/";
	trace2_def_repo(&repo);
	trace2_region_enter("cxx", "outer", &repo);
	for (int i = 0; i < 3; i++) {
		trace2_region_enter_printf("cxx", "loop", nullptr, "pass %d", i);
		trace2_data_intmax("cxx", nullptr, "i", i);
		trace2_data_string("cxx", &repo, "name", argv[0]);
		trace2_step("cxx", "step");
		trace2_region_leave("cxx", argc > 1 ? argv[1] : "loop", nullptr);
	}
	std::thread([] {
		trace2_thread_start("worker");
		trace2_printf("from a thread");
		trace2_thread_exit();
	}).join();
	trace2_region_leave("cxx", "outer", &repo);
	trace2_cmd_exit(0);
	return 0;
}
END
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || continue
	quiet "trace2.h with $cxx" $cxx -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror \
		-Iruntime -c -o "$tmp/user.o" "$tmp/user.cc"
	[ -e "$out/libtrace2.so" ] || continue
	quiet "a program of $cxx links" $cxx -o "$tmp/user" "$tmp/user.o" -L"$out" -ltrace2 -pthread
	quiet "and runs" env LD_LIBRARY_PATH="$out" TRACE2_RAW="$tmp/$cxx.tlg" "$tmp/user"
	quiet "and its trace expands" sh -c \
		"'$out/t2expand' '$tmp/$cxx.tlg' --format=perf | grep -c 'label:loop' | grep -qx 6"
done

total
