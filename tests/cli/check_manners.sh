#!/bin/bash
# SPDX-License-Identifier: MIT
# How t2expand behaves towards people: colours where somebody sees them, and nowhere else; a pager on a
# terminal, which sees all and judges nothing; a line that shows the progress, while nothing else is there.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC TERM=xterm T2_PAGER=
unset NO_COLOR PAGER LESS GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

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
	perf | tree | summary) check "$format: there are colours" has_color always ;;
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

# ---- the pager ----------------------------------------------------------------------------------
{
	echo "start m.c 1 prog"
	for ((i = 0; i < 20000; i++)); do printf 'region_enter m.c 4 cat lab NULL\nregion_leave m.c 6 cat lab NULL\n'; done
	echo "exit m.c 40 0"
} >long.api
GIT_TRACE2_RAW=$tmp/long.tlg "$out/tests/replay" long.api || exit 1
head -c "$(($(stat -c %s long.tlg) - 24))" long.tlg >cut.tlg
"$expand" long.tlg >long.perf

# paged NAME STATUS PATTERN COMMAND...: a line that arrives at the terminal matches, the exit status is this one
paged()
{
	local name=$1 status=$2 pattern=$3 got

	shift 3
	terminal 12 "$@" >out
	got=$?
	check "$name: exit status $got, not $status" [ "$got" = "$status" ]
	check "$name: no line like $pattern" grep -qE -- "$pattern" out
}
# unpaged NAME STATUS COMMAND...: no pager ran
unpaged()
{
	local name=$1 status=$2 got

	shift 2
	terminal 12 env T2_PAGER="echo PAGED; cat" "$@" >out
	got=$?
	check "$name: exit status $got, not $status" [ "$got" = "$status" ]
	check "$name: there was a pager" sh -c '! grep -q PAGED out'
}
paged "T2_PAGER" 0 '^paged:.*region_enter' env T2_PAGER='sed s/^/paged:/' "$expand" run.tlg
paged "T2_PAGER before PAGER" 0 '^one:' env T2_PAGER='sed s/^/one:/' PAGER='sed s/^/two:/' "$expand" run.tlg
paged "PAGER" 0 '^two:' env -u T2_PAGER PAGER='sed s/^/two:/' "$expand" run.tlg
paged "less has its options" 0 '^options FRX$' env T2_PAGER='echo options $LESS; cat' "$expand" run.tlg
paged "or those of the user" 0 '^options S$' env LESS=S T2_PAGER='echo options $LESS; cat' "$expand" run.tlg
paged "every line arrives" 0 '^40004$' env T2_PAGER='wc -l' "$expand" long.tlg
paged "colours arrive" 0 "$esc\[36mexit" env T2_PAGER='tail -n 2' "$expand" run.tlg
paged "unsafe bytes do not" 0 'e.x1b.2J' env T2_PAGER='cat; :' "$expand" evil.tlg
unpaged "--no-pager" 0 "$expand" --no-pager run.tlg
unpaged "--raw-text" 0 "$expand" --raw-text run.tlg
unpaged "an output with a name" 0 "$expand" -o /dev/tty run.tlg
unpaged "binary output" 1 "$expand" --format=raw run.tlg
unpaged "no input" 1 "$expand" nothing.tlg
unpaged "a pipe" 0 sh -c "'$expand' run.tlg | cat"
unpaged "T2_PAGER is empty" 0 env T2_PAGER= PAGER='echo PAGED; cat' "$expand" run.tlg
unpaged "T2_PAGER is cat" 0 env T2_PAGER=cat "$expand" run.tlg
paged "whoever has seen enough is right" 0 version env T2_PAGER='head -n 1' "$expand" long.tlg
check "and nothing is said of it" [ "$(wc -l <out)" = 1 ]
paged "also where SIGPIPE is ignored" 0 version sh -c "trap '' PIPE; T2_PAGER='head -n 1' '$expand' long.tlg"
check "nor is anything said there" [ "$(wc -l <out)" = 1 ]
paged "what a pager says of itself is not an error" 0 '.' env T2_PAGER='cat; exit 3' "$expand" run.tlg
paged "a pager that is not there" 0 'no-such-pager' env T2_PAGER=no-such-pager "$expand" run.tlg
paged "a status of the input stays" 1 '^paged:.*exit' env T2_PAGER='sed s/^/paged:/' "$expand" run.tlg nothing.tlg
paged "messages wait for the pager" 3 'did not end' env T2_PAGER='sleep .3; tail -n 1; echo last' "$expand" cut.tlg
check "and come behind it" sh -c 'sed "1,/^last$/d" out | grep -q "did not end"'
paged "SIGINT ends it when the pager has ended" 130 '^last$' \
	env T2_PAGER='kill -INT $PPID; sleep .3; wc -l; echo last' "$expand" run.tlg
if command -v less >/dev/null; then
	terminal 012 env -u T2_PAGER -u NO_COLOR "$expand" --brief run.tlg >out
	check "less shows what fits, and ends" grep -q "$esc\[36mregion_enter$esc\[m" out
	KEYS=q terminal 012 env -u T2_PAGER "$expand" long.tlg >out
	check "less is left by q" [ $? = 0 ]
	check "less has shown one screen" sh -c '[ "$(grep -c region out)" -lt 60 ]'
fi

# ---- progress -----------------------------------------------------------------------------------
{ cat long.api; for ((i = 0; i < 48; i++)); do grep region long.api; done; } >longer.api
GIT_TRACE2_RAW=$tmp/longer.tlg "$out/tests/replay" longer.api || exit 1

# slowly FILE [BYTES]: so many bytes of it, and later, when any line of progress would have come, the rest
slowly()
{
	head -c "${2:-50001}" "$1"
	sleep 2.5
	tail -c "+$((${2:-50001} + 1))" "$1"
}
# until_progress FILE: some bytes of it, and when there is a line of progress in `out`, the rest
until_progress()
{
	head -c 50001 "$1"
	for ((i = 0; i < 1000; i++)); do
		! has_progress || break
		sleep 0.1
	done
	tail -c +50002 "$1"
}
# has_progress, no_progress: on the terminal
has_progress()
{
	grep -q 'MB/s' out
}
no_progress()
{
	! has_progress
}
: >out
until_progress long.tlg | python3 "$top/tests/cli/terminal.py" 2 "$expand" -o slow.perf - >out
check "a pipe that is slow: how much was read" grep -qE '0\.1 MB read, [0-9.]+ MB/s' out
check "nothing is left of it" [ "$(tr '\r' '\n' <out | tail -n 1)" = "$esc[K" ]
check "the text is complete" same slow.perf long.perf
slowly long.tlg | python3 "$top/tests/cli/terminal.py" 2 sh -c "'$expand' - | cat >slow.perf" >out
check "none beside a pipe" no_progress
slowly long.tlg | python3 "$top/tests/cli/terminal.py" 2 "$expand" --quiet -o slow.perf - >out
check "none with --quiet" no_progress
slowly long.tlg | TERM=dumb python3 "$top/tests/cli/terminal.py" 2 "$expand" -o slow.perf - >out
check "none on a dumb terminal" no_progress
: >out
until_progress long.tlg | python3 "$top/tests/cli/terminal.py" 12 "$expand" --format=tree - >out
check "before a tree there is one" has_progress
check "and the tree is alone at the end" [ "$(tr '\r' '\n' <out | tail -n 1 | cut -c 1-3)" = "$esc[K" ]
slowly longer.tlg 1000000 | python3 "$top/tests/cli/terminal.py" 12 "$expand" - >out
sed '1,/region_enter/d' out >behind
mv behind out
check "none once there are lines on the same terminal" no_progress
check "and there are lines" [ -s out ]
slowly cut.tlg | python3 "$top/tests/cli/terminal.py" 2 "$expand" -o slow.perf - >out
check "messages wait for its end" sh -c "tr '\r' '\n' <out | tail -n 1 | grep -q 'did not end'"
begun=$(date +%s%N)
terminal 2 "$expand" -o slow.perf long.tlg >out
took_ms=$((($(date +%s%N) - begun) / 1000000))
check "none if it takes less than a second, as $took_ms ms" [ $took_ms -ge 1000 -o ! -s out ]
if command -v valgrind >/dev/null; then
	terminal 2 valgrind -q "$expand" -o slow.perf longer.tlg >out
	check "a file that takes long: a bar" grep -qE '\[#+ *\] +[0-9]+ %, [0-9.]+ MB/s, [0-9]+:[0-9]{2} left' out
fi

# ---- a pipe that nobody reads -------------------------------------------------------------------
cat >unread.py <<'END'
"""Run a command whose standard output is a pipe without reader.  Print its exit status and what it says of it."""
import os
import signal
import subprocess
import sys

reader, writer = os.pipe()
os.close(reader)
signal.signal(signal.SIGPIPE, signal.SIG_IGN if sys.argv[1] == "ignored" else signal.SIG_DFL)
done = subprocess.run(sys.argv[2:], stdout=writer, stderr=subprocess.PIPE, restore_signals=False)
print(done.returncode if done.returncode >= 0 else 128 - done.returncode, done.stderr.decode())
END
for how in default ignored; do
	for args in --help --version --list-formats --list-options --show_format=md "long.tlg" "--format=event long.tlg" \
		"--format=xml long.tlg" "--format=tree long.tlg" "--jobs=3 long.tlg" "--color=always long.tlg"; do
		# shellcheck disable=SC2086
		check "$args: SIGPIPE $how, status 141 and nothing said" \
			[ "$(python3 unread.py "$how" "$expand" $args)" = "141 " ]
	done
done

# ---- the start ----------------------------------------------------------------------------------
# 3 ms: 700,000 instructions, a quarter of them the dynamic linker's
if command -v valgrind >/dev/null; then
	count=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$expand" run.tlg 2>&1 >/dev/null |
		sed -n 's/.*Collected : //p')
	check "t2expand starts within 2 million instructions, not ${count:-none}" [ "${count:-9999999}" -lt 2000000 ]
fi

total
