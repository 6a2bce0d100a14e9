#!/bin/bash
# SPDX-License-Identifier: MIT
# Does README.md say what is so?  Its program, run with its commands, prints what it shows, but for the times;
# its settings exist in the runtime; its make targets exist.  What the first screen shows, but for its numbers, too.
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_shared_library

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
	rm -f "$tmp/hello" "$tmp/hello.tlg"
	block "$1" >"$tmp/commands"
	block run >>"$tmp/commands"
	[ -s "$tmp/commands" ] || return 1
	(cd "$tmp" && unset TRACE2_RAW GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME && sh -eu commands) \
		>"$tmp/got" 2>"$tmp/errors" || { cat "$tmp/errors"; return 1; }
	block output | mask_times >"$tmp/expected"
	[ -s "$tmp/expected" ] && mask_times <"$tmp/got" | diff "$tmp/expected" -
}

# The commands name these as in a checkout.
ln -s "$top/runtime" "$tmp/runtime"
ln -s "$out" "$tmp/build"
block hello.c >"$tmp/hello.c"

# Lines without what differs from run to run: numbers, units, the order by time, how many threads had time to work
mask_numbers()
{
	sed -E 's/[0-9.,]+( ([num]s|s)( |$))?/N /g; s/ +/ /g' | sort -u
}

# The first screen: the three commands, and what the last one prints
run_first()
{
	block first >"$tmp/commands"
	[ -s "$tmp/commands" ] || return 1
	(cd "$tmp" && unset TRACE2_RAW GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME && sh -eu commands) \
		>"$tmp/got" 2>"$tmp/errors" || { cat "$tmp/errors"; return 1; }
	block first-output | mask_numbers >"$tmp/expected"
	[ -s "$tmp/expected" ] && [ -s "$tmp/index.html" ] && mask_numbers <"$tmp/got" | diff "$tmp/expected" -
}

quiet "its pictures are there" bash -c 'cd "$1" && grep -oE "\(([a-z/]+\.png)\)" README.md | tr -d "()" | xargs ls' - "$top"
check "the first screen" run_first
check "the example, with the shared library" run_example shared
check "the example, with the static library" run_example static
for setting in $(sed -n 's/^| `TRACE2_\([A-Z0-9_]*\)[=`].*/\1/p' "$top/README.md"); do
	check "setting TRACE2_$setting" grep -q "\"$setting\"" -r "$top"/runtime
done
for target in $(grep -o '`make [a-z]*' "$top/README.md" | sort -u | sed 's/.* //'); do
	check "make $target" grep -q "^$target:" "$top/Makefile"
done
total
