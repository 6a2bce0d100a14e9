#!/bin/bash
# SPDX-License-Identifier: MIT
# How t2expand behaves towards people: colours where somebody sees them, and nowhere else.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC TERM=xterm
unset NO_COLOR GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need python3 command -v python3
expand=$out/t2expand
esc=$'\e'
cd "$tmp" || exit 1

cat >calls.api <<'END'
start m.c 1 prog arg
region_enter m.c 4 cat lab NULL
data m.c 5 cat NULL key val
region_leave m.c 6 cat lab NULL
error m.c 8 %s oops
exit m.c 40 3
END
GIT_TRACE2_RAW=$tmp/run.tlg "$out/tests/replay" calls.api || exit 1

# terminal STREAMS COMMAND...: what arrives at the terminal that these streams are
terminal()
{
	python3 "$top/tests/cli/terminal.py" "$@" </dev/null
}
has_color()
{
	grep -q "$esc" "$1"
}
plain()
{
	! grep -q "$esc" "$1"
}
same()
{
	cmp -s "$1" "$2"
}

# ---- colours ------------------------------------------------------------------------------------
formats=$("$expand" --list-formats | awk '$3 !~ /binary/ { print $1 }')
for format in $formats; do
	"$expand" --format="$format" run.tlg >piped
	"$expand" --format="$format" --color=always run.tlg >always
	"$expand" --format="$format" --color=always -o named run.tlg
	"$expand" --format="$format" --color=never run.tlg >never
	terminal 1 "$expand" --format="$format" run.tlg >auto
	terminal 1 "$expand" --format="$format" --color=never run.tlg >off
	sed "s/$esc\[[0-9;]*m//g" always >stripped
	check "$format: no colours in a pipe" plain piped
	check "$format: none if never" same piped never
	check "$format: none on a terminal if never" plain off
	check "$format: colours change nothing else" same stripped piped
	check "$format: a file gets them, too, if always" same always named
	check "$format: on a terminal as always" same auto always
	case $format in
	perf | tree) check "$format: there are colours" has_color always ;;
	*) check "$format: has no colours" plain always ;;
	esac
done
for setting in NO_COLOR=1 TERM=dumb TERM=; do
	terminal 1 env "$setting" "$expand" run.tlg >out
	check "$setting: no colours on a terminal" plain out
	env "$setting" "$expand" --color=always run.tlg >out
	check "$setting: --color=always is obeyed all the same" has_color out
done
terminal 1 env NO_COLOR= "$expand" run.tlg >out
check "NO_COLOR that is empty means nothing" has_color out
expect "--color with a wrong word" 2 'one of auto, always, never, not: red' "$expand" --color=red run.tlg
"$expand" --color=always run.tlg >out
check "an error is red" grep -qF "$esc[1;31moops$esc[m" out
check "a code other than 0 is red" grep -qF "$esc[1;31mcode:3$esc[m" out
check "the event's name has a colour" grep -qF "| $esc[36mregion_enter$esc[m |" out
check "so has the category" grep -qF "| $esc[32mcat$esc[m " out

# What is in the trace cannot make colours of its own
cat >evil.api <<END
start e.c 1 e\x1b[2J \xe2
region_enter e.c 4 \xe2 \xff|\x20|\x20code:1 NULL
exit m.c 40 3
END
GIT_TRACE2_RAW=$tmp/evil.tlg "$out/tests/replay" evil.api || exit 1
terminal 1 "$expand" evil.tlg | sed "s/$esc\[[0-9;]*m//g" >colored
terminal 1 "$expand" --color=never evil.tlg >never
check "escaped text is the same with colours" same colored never
check "and harmless" plain colored

total
