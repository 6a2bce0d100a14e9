#!/bin/bash
# SPDX-License-Identifier: MIT
# Another C library, other machines: what a compiler does not compile for does not leak into its build.
#   1. without a word where their libraries are, musl-gcc and a cross compiler say that, and use none of this machine's
#   2. with libraries for musl (tests/library/musl/root.sh) the core builds without a warning; the profiler says that it
#      does not build; nothing of glibc is in what was built
#   3. the unit tests pass, and those of a traced program that forks, has threads, dies
#   4. what was installed has no profiler, and a static program with the library in it records what t2expand reads
# Skipped where musl-gcc is missing, or Debian's sources of the libraries cannot be fetched.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1
need musl-gcc command -v musl-gcc
need apt-get command -v apt-get
unset MAKEFLAGS MAKELEVEL MFLAGS CC SAN PKG_CONFIG PKG_CONFIG_LIBDIR PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
built=build/musl-gcc

# What they do belongs to glibc: its printf, a name that it gives to fallocate(), its raise() in single steps.
not_there=(test_t2x_render test_tr2_capture test_t2x_preallocate test_tr2_timer)
lives=(test_runtime_calls test_runtime_fork test_runtime_blocked test_runtime_thread test_runtime_record test_runtime_life)

refused()
{
	! "$@" >"$tmp/refused" 2>&1 && grep -q "$pattern" "$tmp/refused"
}
# flags COMPILER: how it compiles when pkg-config speaks of this machine
flags()
{
	make -n CC="$1" PKG_CONFIG=pkg-config "build/$1/obj/runtime/ring/tr2_registry.o"
}
pattern='is missing for musl-gcc: PKG_CONFIG_LIBDIR'
quiet "musl-gcc without libraries says so" refused make CC=musl-gcc "$built/libtrace2.so"
none "headers of this machine for musl-gcc" "$(flags musl-gcc | grep -o -- "-I/usr/include/$(cc -dumpmachine)")"
cross=aarch64-linux-gnu
if command -v $cross-gcc >/dev/null && [ "$(cc -dumpmachine)" != $cross ]; then
	none "headers of this machine for $cross-gcc" "$(flags $cross-gcc | grep -o -- "-I/usr/include/$(cc -dumpmachine)")"
	check "$cross-gcc has its own ar" grep -q "^$cross-ar" <(make -n -p CC=$cross-gcc clean | sed -n 's/^AR := //p')
	if [ ! -e /usr/lib/$cross/pkgconfig/liblz4.pc ]; then
		pattern="is missing for $cross-gcc: PKG_CONFIG_LIBDIR"
		quiet "$cross-gcc without libraries says so" refused make CC=$cross-gcc "build/$cross-gcc/libtrace2.so"
	fi
else
	echo "$cross-gcc skipped: not installed"
fi

if ! timeout 300 tests/library/musl/root.sh build/sysroot/musl >"$tmp/log" 2>&1; then
	[ -z "${CI:-}" ] || fail "no libraries for musl: $(tail -n 3 "$tmp/log")"
	echo "musl skipped: no libraries for it: $(tail -n 1 "$tmp/log")"
	total
	exit
fi
export PKG_CONFIG_LIBDIR=$top/build/sysroot/musl/made/lib/pkgconfig
tests=$(find tests/unit -name 'test_*.c' ! -path 'tests/unit/prof/*' | sed -E 's|.*/(.*)\.c|\1|' | sort |
	grep -vxF "$(printf '%s\n' "${not_there[@]}")")
tests="$tests ${lives[*]}"
# shellcheck disable=SC2046
quiet "it builds" make -j2 CC=musl-gcc WERROR=1 all $(printf "$built/tests/%s " $tests)
make CC=musl-gcc WERROR=1 all >"$tmp/said" 2>&1
check "it says that the profiler is not built" grep -q '^libtrace2-prof needs glibc' "$tmp/said"
pattern='libtrace2-prof needs glibc'
quiet "the profiler does not build" refused make CC=musl-gcc "$built/libtrace2-prof.so"
check "the library needs musl only" \
	[ "$(readelf -d "$built/libtrace2.so.0" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')" = libc.so ]
none "functions of glibc in it" "$(nm -D "$built/libtrace2.so.0" "$built/t2expand" | grep -E ' U .*(_chk|@GLIBC|__isoc99_)')"

# run NAME: leaves NAME.bad if it fails
run()
{
	timeout -s KILL 600 "$built/tests/$1" >"$tmp/$1.log" 2>&1
	case $? in
	0 | 77) ;;
	*) touch "$tmp/$1.bad" ;;
	esac
}
export -f run
export tmp built
# shellcheck disable=SC2086
printf '%s\n' $tests | xargs -P 2 -I{} bash -c 'run {}'
for name in $tests; do
	check "$name: $(grep -a '\[  ERROR\|LINE' "$tmp/$name.log" 2>/dev/null | head -n 3)" [ ! -e "$tmp/$name.bad" ]
done
echo "skipped: ${not_there[*]}: glibc's own"

prefix=$tmp/prefix
quiet "install" make CC=musl-gcc install prefix="$prefix"
none "the profiler in what was installed" "$(find "$prefix" -name '*prof*')"
cat >"$tmp/user.c" <<'END_OF_USER'
#include <trace2.h>

int main(int argc, char **argv)
{
	(void)argc;
	trace2_initialize();
	trace2_cmd_start(argv);
	{
		TRACE2_SCOPE("musl", "check");
		trace2_printf("%s %d", "of musl", 7);
	}
	trace2_cmd_exit(3);
	return 0;
}
END_OF_USER
made=$top/build/sysroot/musl/made
quiet "a static program" musl-gcc -static -O2 -o "$tmp/user" -I"$prefix/include" "$tmp/user.c" "$prefix/lib/libtrace2.a" \
	-L"$made/lib" -llz4 -lmd -pthread
quiet "it runs" env TRACE2_RAW="$tmp/user.tlg" "$tmp/user"
for expand in "$prefix/bin/t2expand" "$out/t2expand"; do
	quiet "its trace by $expand" sh -c "'$expand' --format=normal '$tmp/user.tlg' | grep -q 'of musl 7'"
done
quiet "uninstall" make CC=musl-gcc uninstall prefix="$prefix"
quiet "uninstall leaves no file" test -z "$(find "$prefix" ! -type d)"

total
