#!/bin/bash
# SPDX-License-Identifier: MIT
# The makefile: the user's CC, CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS reach every command and come after
# ours, sanitizer builds stay apart, and clean and help need no packages.  Nothing is built.
# Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CC CPPFLAGS CFLAGS LDFLAGS LDLIBS SAN WERROR V

# some NAME LINES: passes if there are lines
some()
{
	none "$1" "$([ -n "$2" ] || echo "nothing found")"
}

# make prints a command over several lines; join them.
commands()
{
	make -nB V=1 "$@" 2>&1 | sed -e ':a' -e '/\\$/N; s/\\\n//; ta'
}

all=$(commands all CC=my-cc CPPFLAGS=-DMYCPP CFLAGS=-DMYC LDFLAGS=-LMYLD LDLIBS=-lMYLIB)
compiles=$(grep -E '^my-cc .* -c ' <<<"$all")
links=$(grep -E '^my-cc ' <<<"$all" | grep -v -e ' -c ' -e ' -r ')
some "CC compiles" "$compiles"
some "CC links" "$links"
none "CPPFLAGS reach every compilation" "$(grep -v -- '-DMYCPP' <<<"$compiles")"
none "CFLAGS reach every compilation" "$(grep -v -- '-DMYC ' <<<"$compiles")"
none "CFLAGS come after ours" "$(grep -- '-DMYC .*-W' <<<"$compiles")"
none "CFLAGS reach every link" "$(grep -v -- '-DMYC ' <<<"$links")"
none "LDFLAGS reach every link" "$(grep -v -- '-LMYLD' <<<"$links")"
none "LDLIBS end every link" "$(grep -v -- '-lMYLIB$' <<<"$links")"
none "another compiler builds elsewhere" "$(grep -oE -- '-o build/[a-z]+' <<<"$all" | grep -v 'build/my')"

san=$(commands all SAN=address,undefined)
none "sanitizers build elsewhere" "$(grep -oE -- '-o build/[^ ]*' <<<"$san" | grep -v '^-o build/address-undefined/')"
some "sanitizers are on" "$(grep -- '-fsanitize=address,undefined' <<<"$san")"
none "WERROR is off" "$(grep -- '-Werror' <<<"$san")"
some "WERROR=1 is on" "$(commands all WERROR=1 | grep -- '-Werror')"

none "clean needs no packages" "$(make -n clean PKG_CONFIG=false 2>&1 | grep 'is missing')"
none "help needs no packages" "$(make help PKG_CONFIG=false 2>&1 | grep 'is missing')"
some "a missing package is named" "$(make -n all PKG_CONFIG=false 2>&1 | grep 'install the Debian package')"

total
