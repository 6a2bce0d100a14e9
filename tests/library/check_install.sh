#!/bin/bash
# SPDX-License-Identifier: MIT
# Installation: every directory variable is honoured, DESTDIR is in no file, a program builds through
# pkg-config and through CMake's find_package() against the shared and the static library and runs, with the profiler too,
# which t2 record finds, uninstall leaves nothing.  cmake may be missing here, but not where CI is set.
# Ends with "N passed, N failed".
set -u

cc=${CC:-cc}
. "$(dirname "$0")/../common.sh"
# Settings of the make that runs this check must not reach the ones below.
unset MAKEFLAGS MAKELEVEL MFLAGS

if [[ $out != "$top/build" ]]; then
	echo "only the default variant is installed"
	exit 77
fi

# A real prefix, as a user without root would choose
prefix=$tmp/prefix
quiet "install" make install prefix="$prefix"
for file in bin/t2expand bin/t2 share/bash-completion/completions/t2expand share/bash-completion/completions/t2 \
	share/zsh/site-functions/_t2expand share/fish/vendor_completions.d/t2expand.fish share/fish/vendor_completions.d/t2.fish share/man/man1/t2.1 lib/libtrace2.so.0 lib/libtrace2.so lib/libtrace2.a include/trace2.h include/trace2_scope.h \
	lib/libtrace2-prof.so.0 lib/libtrace2-prof.so lib/libtrace2-prof.a lib/libtrace2-prof-static.a include/trace2_prof.h \
	lib/pkgconfig/libtrace2-prof.pc share/man/man3/trace2-prof.3 \
	lib/cmake/trace2/trace2-config.cmake lib/cmake/trace2/trace2-config-version.cmake \
	lib/pkgconfig/libtrace2.pc share/man/man1/t2expand.1 share/man/man3/trace2.3 share/man/man7/trace2-env.7 \
	share/man/man7/trace2-tutorial.7 share/man/man7/t2-fleet.7 lib/systemd/user/t2-serve.service lib/systemd/user/t2-serve.socket; do
	quiet "installed: $file" test -e "$prefix/$file"
done
quiet "the unit has the program" grep -qx "ExecStart=$prefix/bin/t2 serve" "$prefix/lib/systemd/user/t2-serve.service"
if command -v systemd-analyze >/dev/null; then
	quiet "systemd has nothing to say of the units" sh -c \
		"! systemd-analyze verify --man=no '$prefix/lib/systemd/user/t2-serve.service' 2>&1 | grep t2-serve"
fi


# man trace2_region_enter: a page for each function, by the name of its macro and that of the function behind it
pages=$(grep -oE '\btrace2_[a-z0-9_]+\(' runtime/trace2.h | tr -d '(' | grep -vE '_$|_v1' | sort -u)
pages="$pages TRACE2_SCOPE trace2_scope $(sed -n 's/^.It Fn \(trace2_[a-z0-9_]*\).*/\1/p' runtime/trace2.3)"
quiet "functions are found" test "$(wc -w <<<"$pages")" -gt 100
for page in $pages; do
	quiet "a page for $page()" grep -qx '.so man3/trace2.3' "$prefix/share/man/man3/$page.3"
done
for page in $(grep -oE '\btrace2_pp?rof_[a-z0-9_]+\(' runtime/trace2_prof.h | grep -v _fn | tr -d '(' | sort -u); do
	quiet "a page for $page()" grep -qx '.so man3/trace2-prof.3' "$prefix/share/man/man3/$page.3"
done
need mandoc command -v mandoc
quiet "the page trace2_region_enter(3) is trace2(3)" sh -c "cd '$prefix/share/man' &&
	mandoc -Tascii man3/trace2_region_enter.3 | grep -q libtrace2"

cat >"$tmp/user.c" <<'END'
#include <trace2.h>

int main(int argc, char **argv)
{
	(void)argc;
	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_region_enter("install", "check", 0);
	trace2_region_leave("install", "check", 0);
	trace2_cmd_exit(3);
	return 0;
}
END
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
version=$(sed -n 's/^.define TRACE2_VERSION "\(.*\)"/\1/p' runtime/trace2.h)
quiet "pkg-config knows version $version" test "$(pkg-config --modversion libtrace2)" = "$version"
# shellcheck disable=SC2046
quiet "build, shared" $cc -o "$tmp/shared" "$tmp/user.c" $(pkg-config --cflags --libs libtrace2)
# Only libtrace2 itself is taken from its archive: that is what a static build wants here.
# shellcheck disable=SC2046
quiet "build, static" $cc -o "$tmp/static" "$tmp/user.c" $(pkg-config --cflags libtrace2) \
	$(pkg-config --static --libs libtrace2 | sed 's/-ltrace2/-l:libtrace2.a/')
for kind in shared static; do
	quiet "run, $kind" env LD_LIBRARY_PATH="$prefix/lib" TRACE2_RAW="$tmp/$kind.tlg" "$tmp/$kind"
	quiet "expand, $kind" sh -c "'$prefix/bin/t2expand' '$tmp/$kind.tlg' --format=normal | grep -q 'code:3'"
done

# The profiler: linked, and in front of a program that knows nothing of it
cat >"$tmp/profiled.c" <<'END'
#include <unistd.h>
#include <trace2_prof.h>

int main(void)
{
	return trace2_prof_start_wall(100) || trace2_prof_write_to(trace2_prof_lookup("wall"), STDOUT_FILENO, 1);
}
END
quiet "pkg-config knows version $version of the profiler" \
	test "$(pkg-config --modversion libtrace2-prof)" = "$version"
# shellcheck disable=SC2046
quiet "build with the profiler, shared" $cc -o "$tmp/profiled_shared" "$tmp/profiled.c" \
	$(pkg-config --cflags --libs libtrace2-prof)
# shellcheck disable=SC2046
quiet "build with the profiler, static" $cc -o "$tmp/profiled_static" "$tmp/profiled.c" \
	$(pkg-config --cflags libtrace2-prof) \
	$(pkg-config --static --libs libtrace2-prof | sed -E 's/-l(trace2(-prof)?)( |$)/-l:lib\1.a\3/g')
for kind in shared static; do
	quiet "run with the profiler, $kind" sh -c "LD_LIBRARY_PATH='$prefix/lib' '$tmp/profiled_$kind' | grep -q '^wall profile: total'"
done
quiet "static: the profiler is in the program" sh -c "! ldd '$tmp/profiled_static' | grep trace2"
# env prints its environment, and ends by exit(), which writes the trace
check "t2 record runs a program" env -u LD_PRELOAD -u LD_LIBRARY_PATH \
	"$prefix/bin/t2" record -o "$tmp/env.tlg" --threadcreate --cpu env >"$tmp/environment"
quiet "t2 record finds the installed library" \
	grep -qxF "LD_PRELOAD=/\$LIB/../../../../../../../..$prefix/bin/../lib/libtrace2-prof.so.0" "$tmp/environment"
check "t2 record makes a trace" [ -s "$tmp/env.tlg" ]

# find_package(): each target, by itself; then in a tree that has moved.  cmake_builds PREFIX TARGET SOURCE
if command -v cmake >/dev/null; then
	cmake_builds()
	{
		rm -rf "$tmp/cmake"
		mkdir "$tmp/cmake"
		cat >"$tmp/cmake/CMakeLists.txt" <<-END
			cmake_minimum_required(VERSION 3.16)
			project(user C)
			find_package(trace2 ${wanted:-$version} REQUIRED ${4:-})
			find_package(trace2 REQUIRED)
			add_executable(user $3)
			target_link_libraries(user PRIVATE $2)
		END
		# without pkg-config, and nothing but the prefix says where the library is
		env -u PKG_CONFIG_PATH CC="$cc" cmake -S "$tmp/cmake" -B "$tmp/cmake/build" -DCMAKE_PREFIX_PATH="$1" &&
			cmake --build "$tmp/cmake/build"
	}
	# cmake_records NAME: the trace of what was built, and the program's exit status
	cmake_records()
	{
		rm -f "$tmp/cmake.tlg"
		env -u LD_LIBRARY_PATH TRACE2_RAW="$tmp/cmake.tlg" "$tmp/cmake/build/user" &&
			"$out/t2expand" --format=normal "$tmp/cmake.tlg" | grep -q 'code:3'
	}
	loads()
	{
		ldd "$tmp/cmake/build/user" | grep -F " $1 "
	}
	for where in "$prefix" "$tmp/moved here"; do
		[ -d "$where" ] || cp -a "$prefix" "$where"
		quiet "cmake: trace2::trace2 below $where" cmake_builds "$where" trace2::trace2 "$tmp/user.c"
		quiet "cmake: the shared library below $where records" cmake_records
		quiet "cmake: the library is the one below $where" loads "$where/lib/libtrace2.so.0"
		quiet "cmake: trace2::static below $where" cmake_builds "$where" trace2::static "$tmp/user.c" "COMPONENTS static"
		quiet "cmake: the archive below $where records" cmake_records
		none "cmake: the archive does without the library" "$(ldd "$tmp/cmake/build/user" | grep trace2)"
		quiet "cmake: trace2::prof below $where" cmake_builds "$where" trace2::prof "$tmp/profiled.c" "COMPONENTS prof"
		quiet "cmake: the profiler below $where" sh -c "'$tmp/cmake/build/user' | grep -q '^wall profile: total'"
	done
	rm -r "$tmp/moved here"
	refused()
	{
		! "$@" >"$tmp/refused" 2>&1 && grep -q "$pattern" "$tmp/refused"
	}
	for wanted in "$((${version%%.*} + 1)).0" "${version%.*}.$((${version##*.} + 1))"; do
		pattern="version: $version"
		quiet "cmake: version $wanted is not there" refused cmake_builds "$prefix" trace2::trace2 "$tmp/user.c"
	done
	unset wanted
	pattern='no component "nosuch"'
	quiet "cmake: a component that is not there" refused cmake_builds "$prefix" trace2::trace2 "$tmp/user.c" \
		"COMPONENTS nosuch"
	mv "$prefix/lib/libtrace2-prof.so.0" "$tmp/away"
	pattern='no component "prof"'
	quiet "cmake: a profiler that was not built" refused cmake_builds "$prefix" trace2::prof "$tmp/user.c" "COMPONENTS prof"
	quiet "cmake: the rest without a profiler" cmake_builds "$prefix" trace2::trace2 "$tmp/user.c" \
		"OPTIONAL_COMPONENTS prof"
	mv "$tmp/away" "$prefix/lib/libtrace2-prof.so.0"
else
	[ -z "${CI:-}" ] || fail "no cmake here"
	echo "cmake skipped: not installed"
fi

# A plugin that is unloaded while the library's thread runs: the static library has to stay, too
cat >"$tmp/plugin.c" <<'END'
#include <trace2.h>

void record(void);

void record(void)
{
	trace2_initialize();
	for (int i = 0; i < 100000; i++)
		trace2_data_intmax("install", 0, "value", i);
}
END
cat >"$tmp/host.c" <<'END'
#include <dlfcn.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *plugin = dlopen(argv[argc - 1], RTLD_NOW);
	void (*record)(void) = plugin ? (void (*)(void))dlsym(plugin, "record") : 0;

	if (!record)
		return 1;
	record();
	dlclose(plugin);
	usleep(100000);   /* the thread sleeps less */
	return 0;
}
END
# shellcheck disable=SC2046
quiet "build, plugin" $cc -shared -fPIC -o "$tmp/plugin.so" "$tmp/plugin.c" $(pkg-config --cflags libtrace2) \
	$(pkg-config --static --libs libtrace2 | sed 's/-ltrace2/-l:libtrace2.a/')
quiet "build, host" $cc -o "$tmp/host" "$tmp/host.c"
quiet "run, plugin" env TRACE2_RAW="$tmp/plugin.tlg" "$tmp/host" "$tmp/plugin.so"
quiet "uninstall" make uninstall prefix="$prefix"
quiet "uninstall leaves no file" test -z "$(find "$prefix" ! -type d)"

# Every variable on its own, below a DESTDIR that no file may mention
dest=$tmp/dest
dirs=(prefix=/p bindir=/b libdir=/l includedir=/i mandir=/m pkgconfigdir=/k cmakedir=/f bashcompdir=/c zshcompdir=/z userunitdir=/u)
quiet "install with all variables" make install DESTDIR="$dest" "${dirs[@]}"
for file in b/t2expand b/t2 c/t2expand c/t2 z/_t2expand m/man1/t2.1 l/libtrace2.so.0 l/libtrace2.so l/libtrace2.a i/trace2.h i/trace2_scope.h k/libtrace2.pc \
	f/trace2-config.cmake f/trace2-config-version.cmake \
	l/libtrace2-prof.so.0 l/libtrace2-prof.so l/libtrace2-prof.a l/libtrace2-prof-static.a i/trace2_prof.h k/libtrace2-prof.pc m/man3/trace2-prof.3 \
	m/man1/t2expand.1 m/man3/trace2.3 m/man7/trace2-env.7 m/man7/trace2-tutorial.7 u/t2-serve.service u/t2-serve.socket; do
	quiet "installed: $file" test -e "$dest/$file"
done
quiet "the directories are in the .pc" grep -q '^libdir=/l$' "$dest/k/libtrace2.pc"
quiet "the directories are in the CMake file" grep -q '^set(_trace2_lib "/l")$' "$dest/f/trace2-config.cmake"
quiet "DESTDIR is in no text" sh -c "! grep -rIl '$dest' '$dest'"
quiet "uninstall with all variables" make uninstall DESTDIR="$dest" "${dirs[@]}"
quiet "uninstall leaves no file" test -z "$(find "$dest" ! -type d)"

total
