#!/bin/bash
# SPDX-License-Identifier: MIT
# Who may include what:  runtime -> format <- expand;  tests and bench -> everything.
# A third-party header has one user in each directory; memory ordering is named in one file.  Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"

# Lines "file:include" of the sources in a directory and its folders
includes()
{
	find "$1" -name '*.[ch]' -o -name '*.def' | LC_ALL=C sort |
		xargs grep -EHo '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]*' /dev/null |
		sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/:/'
}

# Quoted includes: only of the directories allowed
own_includes()
{
	includes "$1" | grep -vE ":\"($2)"
}
none "format/ includes only format/" "$(own_includes format '(tlg[_a-z0-9]*|prof_kinds)\.(h|def)$' | grep '"')"
none "runtime/ includes only runtime/ and format/; tr2_live.c also expand/, and prof/ what writes profiles" \
	"$(own_includes runtime '([a-z]+/)?(tr2p?_[a-z0-9_]+|trace2|trace2_prof|trace2_scope|tlg[_a-z0-9]*|prof_kinds)\.(h|def)$' | grep '"' |
		grep -vE '^runtime/output/tr2_live\.c:"[a-z]+/t2x_|^runtime/prof/[a-z0-9_]*\.[ch]:"(profile/t2x_|base/t2x_out)|^runtime/examples/')"
none "expand/ includes only expand/ and format/" \
	"$(own_includes expand '([a-z]+/)?(t2x_[a-z0-9_]+|tlg[_a-z0-9]*|prof_kinds)\.(h|def)$' | grep '"')"
none "the example includes only trace2.h and its own" \
	"$(own_includes runtime/examples '(idx_[a-z0-9_]+|trace2)\.h$' | grep '"')"
none "trace2.h includes only stdarg.h, stddef.h, stdint.h and its second half" \
	"$(includes runtime | grep '^runtime/trace2\.h:' | grep -vE '<(stdarg|stddef|stdint)\.h$|"trace2_scope\.h$')"

# Angle includes that are not libc's or the kernel's
third_party='<(lz4|expat|urcu|cmocka|md5|sha|zlib|zstd|elfutils|dwarf|microhttpd|nats)'
none "format/ needs nothing but libc" "$(includes format | grep -E "$third_party")"
for pair in runtime:lz4 runtime:sha runtime:urcu expand:lz4 expand:expat expand:zlib expand:sha expand:elfutils expand:microhttpd expand:nats; do
	# what compresses what t2 writes itself; all that is read goes through the other one
	users=$(includes "${pair%:*}" | grep -vE '^expand/(import/t2x_raw_frame|read/t2x_lz4_pack)\.c:' | grep "<${pair#*:}" | cut -d: -f1 | sort -u | grep -c .)
	[ "$users" -eq 1 ] || wrong="$users files of ${pair%:*}/ include ${pair#*:}, not one"
	none "one user of ${pair#*:} in ${pair%:*}/" "${wrong:-}"
	unset wrong
done
none "no other third-party header" \
	"$(includes runtime | grep -E '<(expat|cmocka)'; includes expand | grep -E '<(urcu|cmocka)')"

none "stdio in format/ only in tlg_show" "$(includes format | grep '<stdio' | grep -v '^format/tlg_show\.')"
none "memory ordering is named only in tr2_atomic.h and the inline path of trace2.h" \
	"$(grep -nE 'memory_order|__ATOMIC_|\b_Atomic\b|stdatomic' runtime/*.h runtime/*/*.[ch] format/*.[ch] |
		grep -vE '^runtime/(base/tr2_atomic|trace2)\.h:')"

# Nothing of the machine that it was written on
none "no path of a particular machine" \
	"$(git grep -nE '/(home|Users)/[a-z]+/|/(root|work)/' -- . ':!tests/lint/check_deps.sh' 2>/dev/null)"

total
