#!/bin/bash
# SPDX-License-Identifier: MIT
# Does README.md say what is so?  Its program, run with its commands, prints what it shows, but for the times;
# its settings exist in the runtime; its make targets exist.
set -u
export LC_ALL=C

top=$(cd "$(dirname "$0")/.." && pwd)
out=$(cd "$top" && cd "${T2_OUT:-build}" && pwd) || exit 1
[ -e "$out/libtrace2.so" ] || { echo "no shared library in $out"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

# Count a check by the exit status of the command behind the name.
check()
{
	local name=$1

	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $name"
	fi
}

# The lines of the code block in README.md that the comment <!-- $1 --> announces
block()
{
	awk -v mark="<!-- $1 -->" '$0 == mark { found = 1; next }
		found && /^```/ { if (inside) exit; inside = 1; next }
		inside' "$top/README.md"
}

mask_times()
{
	sed -E 's/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}/TIME/; s/[0-9]+\.[0-9]{6}/SECONDS/g'
}

# Build with the commands of block $1, run with those of "run", compare with "output".
run_example()
{
	rm -f "$dir/hello" "$dir/hello.tlg"
	block "$1" >"$dir/commands"
	block run >>"$dir/commands"
	[ -s "$dir/commands" ] || return 1
	(cd "$dir" && unset TRACE2_RAW GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME && sh -eu commands) \
		>"$dir/got" 2>"$dir/errors" || { cat "$dir/errors"; return 1; }
	block output | mask_times >"$dir/expected"
	[ -s "$dir/expected" ] && mask_times <"$dir/got" | diff "$dir/expected" -
}

# The commands name these as in a checkout.
ln -s "$top/runtime" "$dir/runtime"
ln -s "$out" "$dir/build"
block hello.c >"$dir/hello.c"

check "the example, with the shared library" run_example shared
check "the example, with the static library" run_example static
for setting in $(sed -n 's/^| `TRACE2_\([A-Z0-9_]*\)[=`].*/\1/p' "$top/README.md"); do
	check "setting TRACE2_$setting" grep -q "\"$setting\"" "$top"/runtime/*.c
done
for target in $(grep -o '`make [a-z]*' "$top/README.md" | sort -u | sed 's/.* //'); do
	check "make $target" grep -q "^$target:" "$top/Makefile"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
