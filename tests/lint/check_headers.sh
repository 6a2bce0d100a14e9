#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles alone, as C11 with all warnings.  What becomes of trace2.h in a user's code is check_user.sh's.
# Ends with "N passed, N failed".
set -u

cc=${CC:-cc}
. "$(dirname "$0")/../common.sh"

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror"
for header in $(find format runtime expand tests bench -name "*.h" ! -path "*/user/*" | LC_ALL=C sort); do
	[ -e "$header" ] || continue
	# Twice: the guard is part of the promise.
	printf '#include "%s"\n#include "%s"\nextern int t2_dummy;\n' "$header" "$header" >"$tmp/alone.c"
	# tlg_pass.h is included by those who define its macros, and has no guard.
	[ "$header" = format/tlg_pass.h ] && continue
	quiet "$header alone" $cc -std=c11 -D_GNU_SOURCE $warnings -Wstrict-prototypes -Wvla \
		-I. -Iformat -Iruntime -Iexpand -Itests/tools -Itests/fuzz -Ibench -fsyntax-only "$tmp/alone.c"
done

total
