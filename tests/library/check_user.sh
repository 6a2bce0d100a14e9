#!/bin/bash
# SPDX-License-Identifier: MIT
# A user's program that uses every macro and function of trace2.h, in every place where one may stand, compiles without
# a warning: as C and C++ of every standard, with gcc and clang, at -O0 and -O2, and with trace2.h from -I or from
# -isystem, where a macro still warns, for it is expanded in the user's code.  It then records what the
# file expected_c or expected_cc says.  No compiler lets a jump go past a TRACE2_SCOPE(), which would then leave a region
# that was not entered.  clang may be missing here, but not where CI is set.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1

# Of these compilers do not warn that the user writes a format that is no literal, a comma, or an object that is destroyed.
both="-Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align -Wunused -Wundef"
both="$both -Wformat=2 -Wno-format-nonliteral -Wnull-dereference -Wredundant-decls -pthread"
gcc="-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wformat-signedness"
clang="-Weverything -Wno-padded -Wno-comma -Wno-unknown-warning-option"
c="-Wstrict-prototypes -Wmissing-prototypes"
cxx="-Wold-style-cast -Wzero-as-null-pointer-constant -Woverloaded-virtual"
gcc_c="$both $gcc $c -Wvla -Wjump-misses-init -Wnested-externs -Wbad-function-cast"
clang_c="$both $clang $c -Wno-declaration-after-statement -Wno-pre-c2x-compat"
gcc_cxx="$both $gcc $cxx -Wuseless-cast -Weffc++ -Wextra-semi"
clang_cxx="$both $clang $cxx -Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-exit-time-destructors"

# "NAME COMPILER FLAGS SOURCE" for each way
ways()
{
	local std

	for std in c99 gnu99 c11 c17 c2x; do
		echo "gcc-$std-near gcc $gcc_c -std=$std -O0 -Iruntime tests/library/user/uses.c"
		echo "gcc-$std-system gcc $gcc_c -std=$std -O2 -isystem runtime tests/library/user/uses.c"
		echo "clang-$std-near clang $clang_c -std=$std -O2 -Iruntime tests/library/user/uses.c"
		echo "clang-$std-system clang $clang_c -std=$std -O0 -isystem runtime tests/library/user/uses.c"
	done
	for std in c++11 c++14 c++17 c++2a c++2b; do
		echo "g++-$std-near g++ $gcc_cxx -std=$std -O0 -Iruntime tests/library/user/uses.cc"
		echo "g++-$std-system g++ $gcc_cxx -std=$std -O2 -isystem runtime tests/library/user/uses.cc"
		echo "clang++-$std-near clang++ $clang_cxx -std=$std -O2 -Iruntime tests/library/user/uses.cc"
		echo "clang++-$std-system clang++ $clang_cxx -std=$std -O0 -isystem runtime tests/library/user/uses.cc"
	done
	# what only the optimizer sees, in the header itself
	echo "gcc-near-O2 gcc $gcc_c -std=c11 -O2 -Iruntime tests/library/user/uses.c"
	echo "g++-near-O2 g++ $gcc_cxx -std=c++17 -O2 -Iruntime tests/library/user/uses.cc"
}

# compile NAME COMMAND...: leaves an object, or what the compiler says
compile()
{
	"${@:2}" -c -o "$tmp/$1.o" >"$tmp/$1.log" 2>&1 || touch "$tmp/$1.bad"
}
export -f compile
export tmp

# What was recorded: thread, event, repository, category, text; no times
recorded()
{
	awk -F ' *[|] ?' '{ sub(/total:.*/, "total", $NF); print $2, $3, $4, $7, $NF }' "$1"
}

# run NAME EXPECTED
run()
{
	rm -rf "$tmp/run"
	mkdir -m 700 "$tmp/run"
	"${1%%-*}" -o "$tmp/run/uses" "$tmp/$1.o" -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread &&
		(cd "$tmp/run" && env -i HOME="$tmp" XDG_RUNTIME_DIR="$tmp/run" TRACE2_PERF="$tmp/run/perf" \
			TRACE2_PERF_BRIEF=1 TRACE2_RAW="$tmp/run/raw.tlg" ./uses argument) &&
		recorded "$tmp/run/perf" | diff "$2" -
}

if ! command -v clang++ >/dev/null; then
	[ -z "${CI:-}" ] || fail "no clang++ here"
	echo "clang and clang++ skipped: not installed"
	skipped='^clang'
fi
ways | grep -v "${skipped:-^$}" >"$tmp/ways"
xargs -P "$(nproc)" -L 1 bash -c 'compile "$@"' - <"$tmp/ways"
while read -r name _; do
	check "$name: $(head -n 5 "$tmp/$name.log")" [ ! -e "$tmp/$name.bad" -a -e "$tmp/$name.o" ]
done <"$tmp/ways"

# jumps COMPILER STATEMENT: this statement, with a declaration in it, compiles
jumps()
{
	printf '#include <trace2.h>\nvoid f(int);\nvoid f(int x)\n{\n%s\n}\n' "$2" >"$tmp/jumps.c"
	$1 -Iruntime -fsyntax-only "$tmp/jumps.c"
}
past='switch (x) { case 1: { } TRACE2_SCOPE("a", "b"); f(2); break; case 2: f(3); }'
into='if (x) goto in; TRACE2_SCOPE("a", "b"); in: f(x);'
beside='switch (x) { case 1: { TRACE2_SCOPE("a", "b"); goto out; } case 2: f(3); } out: f(x);'
for compiler in "gcc -O2 -xc" "gcc -O0 -std=c99 -xc" "g++ -xc++" "clang -xc" "clang++ -xc++"; do
	command -v "${compiler%% *}" >/dev/null || continue
	quiet "$compiler: a jump out of a scope" jumps "$compiler" "$beside"
	check "$compiler: a case past a scope is refused" eval '! jumps "$compiler" "$past" 2>/dev/null'
	check "$compiler: a goto past a scope is refused" eval '! jumps "$compiler" "$into" 2>/dev/null'
done

# Static call sites are initialized by the compiler: nothing runs, and nothing guards, at their first pass.
none "call sites with guards" "$(nm "$tmp"/*.o | grep -E '_ZGV.*trace2_site_')"

if [ -e "$out/libtrace2.so" ]; then
	while read -r name _; do
		case $name in
		*-c99-* | *-c++11-* | *-c++17-* | *-O2)
			language=${name%%-*}
			case $language in *++) language=cc ;; *) language=c ;; esac
			quiet "$name records what it should" run "$name" "tests/library/user/expected_$language"
			;;
		esac
	done <"$tmp/ways"
fi

total
