#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/library/musl/root.sh DIRECTORY
#
# Make DIRECTORY/made: what `make CC=musl-gcc` needs besides musl itself, as headers, archives and .pc files.  Debian has no
# packages for musl, so the libraries are made from Debian's sources, which apt's own client fetches with lists and a cache
# of its own: nothing of the system changes, and no root is needed.  liburcu and libdw are headers only, as everywhere.
# What is there already is not made again.
set -eu

dir=$(realpath -m "$1")
wanted="lz4 libmd expat zlib cmocka: $(cksum <"$0")"
[ "$(cat "$dir/done" 2>/dev/null)" != "$wanted" ] || exit 0

rm -rf "$dir"
mkdir -p "$dir"/{made/include,made/lib/pkgconfig,sources,state/lists/partial,cache/archives/partial}
include=$dir/made/include pc=$dir/made/lib/pkgconfig

# The kernel's own headers are those of any C library
machine=/usr/include/$(gcc -print-multiarch)
ln -s /usr/include/linux /usr/include/asm-generic "$machine/asm" "$include"
ln -s "$machine"/urcu* "$include"
ln -s /usr/include/elfutils /usr/include/{dwarf,libelf,gelf}.h "$include"

release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep /debian/ | head -n 1)
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
	"${mirror:-http://deb.debian.org/debian/} $release main" >"$dir/sources.list"
apt=(-qq -o APT::Sandbox::User= -o "Dir::State=$dir/state" -o Dir::State::status=/dev/null -o "Dir::Cache=$dir/cache"
	-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/nonexistent)
apt-get "${apt[@]}" update
(cd "$dir/sources" && apt-get "${apt[@]}" source --download-only lz4 libmd expat zlib cmocka)

# library NAME FOLDER FLAGS -- FILE...: an archive of these sources
library()
{
	local name=$1 folder file flags=() objects=()

	folder=$(echo "$dir"/sources/$2)
	shift 2
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	shift
	for file in "$@"; do
		musl-gcc -O2 -g -fPIC -w -I"$include" -I"$dir/empty" -I"$folder" "${flags[@]}" -c -o "$folder/$file.o" "$folder/$file"
		objects+=("$folder/$file.o")
	done
	ar rcs "$dir/made/lib/lib$name.a" "${objects[@]}"
}

# describe NAME LIBS: a file for pkg-config
describe()
{
	printf '%s\n' "Name: $1" "Description: $1 for musl" "Version: 1" "Cflags: -isystem $include" "Libs: $2" >"$pc/$1.pc"
}

mkdir "$dir/empty"
touch "$dir/empty/config.h" "$dir/empty/expat_config.h"   # what a macro has to say is said below
for archive in "$dir"/sources/*.orig.tar.[gbx]z*; do
	[[ $archive = *.asc ]] || tar -C "$dir/sources" -xf "$archive"
done
cd "$dir/sources"
cp lz4-*/lib/lz4*.h libmd-*/include/sha[12].h libexpat-*/expat/lib/expat*.h zlib-*/z{lib,conf}.h cmocka-*/include/cmocka.h "$include"
library lz4 'lz4-*/lib' -DXXH_NAMESPACE=LZ4_ -- lz4.c lz4hc.c lz4frame.c xxhash.c
library md 'libmd-*/src' -include sys/types.h -- sha1.c sha2.c
library expat 'libexpat-*/expat/lib' -DXML_CONTEXT_BYTES=1024 -DXML_DTD -DXML_NS -DHAVE_GETRANDOM -- xmlparse.c xmlrole.c xmltok.c
library z 'zlib-*' -DHAVE_UNISTD_H -- adler32.c compress.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c
library cmocka 'cmocka-*/src' "-I$(echo "$dir"/sources/cmocka-*/include)" -D_GNU_SOURCE -DHAVE_SIGNAL_H \
	-DHAVE_STRINGS_H -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_GETTIME -DHAVE_CLOCK_REALTIME -DHAVE_GCC_THREAD_LOCAL_STORAGE -- cmocka.c
describe liblz4 "-L$dir/made/lib -llz4"
describe libmd "-L$dir/made/lib -lmd"
describe expat "-L$dir/made/lib -lexpat"
describe zlib "-L$dir/made/lib -lz"
describe cmocka "-L$dir/made/lib -lcmocka"
describe liburcu-cds ""
describe libdw ""
echo "$wanted" >"$dir/done"
