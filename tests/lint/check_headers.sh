#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles alone, as C11 with all warnings.  What becomes of trace2.h in a user's code is check_user.sh's.
# Ends with "N passed, N failed".
set -u

cc=${CC:-cc}
. "$(dirname "$0")/../common.sh"

export cc tmp
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror -Wstrict-prototypes -Wvla"
export options="-std=c11 -D_GNU_SOURCE $warnings -I. -Iformat -Iruntime -Iexpand -Itests/tools -Itests/fuzz -Ibench"

# compile HEADER: what the compiler says goes to a file named after it
compile()
{
	local at=$tmp/${1//\//.}

	# Twice: the guard is part of the promise.
	printf '#include "%s"\n#include "%s"\nextern int t2_dummy;\n' "$1" "$1" >"$at.c"
	# shellcheck disable=SC2086
	$cc $options -fsyntax-only "$at.c" >"$at.said" 2>&1 || echo "exit status $?" >>"$at.said"
}
export -f compile

# tlg_pass.h is included by those who define its macros, and has no guard.
mapfile -t headers < <(find format runtime expand tests bench -name "*.h" ! -path "*/user/*" ! -path format/tlg_pass.h |
	LC_ALL=C sort)
printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -n 1 bash -c 'compile "$1"' -
for header in "${headers[@]}"; do
	none "$header alone" "$(cat "$tmp/${header//\//.}.said" 2>&1)"
done

total
