#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 import: what git writes to its event target comes back, each thread's lines byte by byte: of files, directories,
# sockets, of a git that runs now; broken lines are counted and take nothing with them.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need "t2 in $out" [ -x "$out/t2" ]
need "python3" command -v python3
unset GIT_TRACE2_EVENT GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
export PATH=$out:$PATH
cd "$tmp" || exit 1

# same_lines A B: each thread of each process has the same lines in both
cat >same_lines.py <<'END'
import re
import sys


def read(path):
    threads = {}
    for line in open(path, "rb"):
        who = re.search(rb'"sid":"([^"]*)","thread":"((?:[^"\\]|\\.)*)"', line)
        threads.setdefault(who.groups() if who else None, []).append(line)
    return threads


want, have = read(sys.argv[1]), read(sys.argv[2])
for who in want.keys() | have.keys():
    for left, right in zip(want.get(who, []) + [b"(end)\n"], have.get(who, []) + [b"(end)\n"]):
        if left != right:
            sys.exit(f"< {left.decode(errors='replace')}> {right.decode(errors='replace')}")
END

# comes_back FILE [OPTION...]: imported and printed again it is what it was
comes_back()
{
	t2 import -o in.tlg "$1" 2>errors && t2expand --format=event --nesting=0 "${@:2}" in.tlg >back 2>>errors &&
		python3 same_lines.py "$1" back >>errors || { cat errors; return 1; }
}

# ---- what git and this library have printed -------------------------------------------------------------

for file in "$top"/tests/conformance/*/*/event.txt; do
	name=${file%/event.txt}
	case $name in
	*-brief) brief=--brief ;;
	*) brief= ;;
	esac
	check "${name##*/} comes back" comes_back "$file" $brief
done

# ---- a git that runs now --------------------------------------------------------------------------------

run_git()
{
	local i
	git init -q repo
	for i in 1 2 3 4 5; do
		echo "$i \"quoted\" \\ $(printf 'caf\303\251 \377')" >repo/file$((i % 3))
		git -C repo add . && git -C repo -c user.name=a -c user.email=b commit -qm "message $i"
		git -C repo status >status && git -C repo log --oneline >log
	done
	git -C repo nosuch-command 2>/dev/null
	git -C repo gc -q
}
if command -v git >/dev/null; then
	export GIT_TRACE2_EVENT_NESTING=100
	mkdir target
	GIT_TRACE2_EVENT=$tmp/target run_git
	cat target/* >all.json
	check "a directory: several processes" [ "$(ls target | wc -l)" -gt 20 ]
	quiet "a directory: imported" t2 import -o all.tlg target
	check "a directory: printed" eval 't2expand --format=event --nesting=0 all.tlg >back'
	check "a directory: comes back" python3 same_lines.py all.json back
	check "one file of many processes comes back" comes_back all.json
	check "standard input comes back" eval 't2 import - <all.json >in.tlg && t2expand --format=event --nesting=0 in.tlg >back &&
		python3 same_lines.py all.json back'
	check "with --jobs the same" eval 't2expand --jobs=3 --format=event --nesting=0 all.tlg | python3 same_lines.py all.json /dev/stdin'
	check "importing again makes the same bytes" eval 't2 import -o again.tlg target && cmp again.tlg all.tlg'
	check "summary knows git's regions" eval 't2 summary all.tlg | grep -q do_write_index'
	check "tree has who started whom" eval 't2 tree all.tlg | grep -q "gc"'
	check "perf, normal" eval 't2 show all.tlg | grep -q "| cmd_name" && t2expand --format=normal all.tlg | grep -q "cmd_name commit"'
	check "html" eval 't2 export --format=html -o all.html all.tlg && [ -s all.html ]'

	for kind in stream: dgram: ""; do
		rm -rf repo
		t2 import -o socket.tlg "af_unix:$kind$tmp/socket" 2>errors &
		for i in $(seq 100); do [ -S socket ] && break; sleep 0.1; done
		mkdir -p "texts$kind"
		GIT_TRACE2_EVENT=af_unix:$kind$tmp/socket GIT_TRACE2_PERF=$tmp/texts$kind run_git
		kill -INT $!
		wait $!
		check "af_unix:$kind exit status" [ $? -eq 0 ]
		check "af_unix:$kind nothing to say" [ ! -s errors ]
		check "af_unix:$kind the socket is gone" [ ! -e socket ]
		t2expand --format=event --nesting=0 socket.tlg >back
		check "af_unix:$kind each line that git printed" \
			[ "$(wc -l <back)" -eq "$(cat "texts$kind"/* | wc -l)" ]
	done
	touch plain
	t2 import -o no.tlg "af_unix:$tmp/plain" 2>errors
	check "a file in the socket's place stays" [ $? -eq 1 -a -f plain ]
	check "which is said" grep -q "no socket" errors
	check "--seconds ends it" timeout 20 t2 import --seconds=1 -o no.tlg "af_unix:$tmp/socket"
fi

# ---- small processes share frames -----------------------------------------------------------------------

# 300 processes that overlap, and last from a millisecond to minutes; one in ten has no end
cat >overlap.py <<'END'
import datetime
import random

random.seed(7)
begin = datetime.datetime(2026, 11, 23, 10, 0, 0)
start = 0


def stamp(us, form="%Y-%m-%dT%H:%M:%S.%fZ"):
    return (begin + datetime.timedelta(microseconds=us)).strftime(form)


def line(us, event, rest):
    print('{"event":"%s","sid":"%s","thread":"main","time":"%s","file":"trace2/tr2_tgt_event.c","line":207,"t_abs":%.6f%s}' %
          (event, sid, stamp(start + us), us / 1e6, rest))


for i in range(300):
    start += int(random.choice([1000, 10000, 500000, 3000000, 20000000]) * random.random())
    length = int(random.choice([1000, 20000, 1e6, 5e6, 3e7, 3e8]) * random.random()) + 100
    sid = stamp(start, "%Y%m%dT%H%M%S.%fZ") + "-H0a7c9cdf-P%08x" % (i + 10)
    line(1, "start", ',"argv":["git","x%d"]' % i)
    for us in sorted(random.randrange(1, length) for _ in range(random.randrange(1, 30))):
        line(us, "data", ',"t_rel":%.6f,"nesting":1,"category":"c","key":"k","value":"%d"' % (us / 1e6, i))
    if random.random() < 0.9:
        line(length, "atexit", ',"code":0')
END
python3 overlap.py >overlap.json
check "300 processes come back" comes_back overlap.json
t2 import -o overlap.tlg overlap.json
t2expand --format=csv overlap.tlg 2>/dev/null | sed 1d >rows
check "they share frames" [ "$(grep -c -a -P '\x54\x2a\x4d\x18' overlap.tlg)" -lt 100 ]
check "their events are in the order of time" eval 'cut -d, -f1 rows | sort -c -n'
for at in 00:00 00:20 01:00 02:30 05:00 08:00 11:00 14:00 20:00; do
	t2expand --format=csv --since="2026-11-23T10:${at}Z" overlap.tlg 2>/dev/null | sed 1d | cut -d, -f1-3 >since
	awk -F, -v at="$(date -u -d "2026-11-23T10:${at}Z" +%s)000000000" '$1 >= at' rows | cut -d, -f1-3 >want
	check "from $at on nothing is missing" cmp since want
done
for jobs in 2 5; do
	check "--jobs=$jobs adds up the same" eval '[ "$(t2 summary --jobs=1 overlap.tlg 2>&1)" = "$(t2 summary --jobs=$jobs overlap.tlg 2>&1)" ]'
done
# Who may send is decided when the socket gets its name: without the calls that would change that later it is the same.
if strace -qq -o /dev/null true 2>/dev/null; then
	(umask 0 && exec timeout 20 strace -qq -o /dev/null -e trace=?chmod,fchmodat -e inject=?chmod,fchmodat:retval=0 \
		t2 import --seconds=2 -o no.tlg "af_unix:dgram:$tmp/socket") &
	for i in $(seq 100); do [ -S socket ] && break; sleep 0.1; done
	check "nobody else may send: $(stat -c %a socket)" [ "$(stat -c %a socket)" = 600 ]
	wait $!
fi

# ---- README.md ------------------------------------------------------------------------------------------

if command -v git >/dev/null; then
	sed -n '/^<!-- import -->$/,/^```$/p' "$top/README.md" | sed '/^<!--/d; /^```/d; s|build/||' >commands
	check "README.md has commands" [ "$(wc -l <commands)" -eq 5 ]
	rm -rf repo
	git init -q repo
	check "README.md: they run" eval '(cd repo && sh -eu ../commands) >shown 2>errors'
	check "README.md: the last one shows git" grep -q 'git status' shown
	# times differ from machine to machine: factors of 14 to 20 were seen
	check "README.md: a fourteenth to a twentieth of the bytes, $(stat -c %s all.tlg) of $(stat -c %s all.json)" \
		[ "$(stat -c %s all.tlg)" -lt "$(($(stat -c %s all.json) / 12))" ]
fi

# ---- detail ---------------------------------------------------------------------------------------------

whole=$top/tests/conformance/git/09-regions/event.txt
kinds()
{
	t2 import --detail="$1" -o d.tlg "$2" 2>errors && t2expand --format=event --nesting=0 d.tlg 2>>errors |
		sed 's/^{"event":"\([a-z_]*\)".*/\1/' | sort -u | tr '\n' ' '
}
check "verbose has regions" eval 'kinds verbose "$whole" | grep -q region_enter'
check "process has none" eval '! kinds process "$whole" | grep -qE "region|data"'
children=$top/tests/conformance/git/05-children/event.txt
check "process has children" eval 'kinds process "$children" | grep -q child_start'
check "summary has none, and the exit" eval '[ "$(kinds summary "$children")" = "atexit exit start version " ]'
check "drop writes nothing" eval 't2 import --detail=drop -o d.tlg "$whole" && [ ! -s d.tlg ]'

# ---- lines that are wrong -------------------------------------------------------------------------------

{
	sed -n 1,5p "$whole"
	echo 'no JSON'
	echo '{"event":"start","sid":"x"'
	echo '{"event":"data","thread":"main"}'
	echo '{"event":"\ud800\u12","sid":"x","thread":"main"}'
	echo '{"event":"teapot","sid":"x","thread":"main"}'
	echo '{"event":"exit","sid":"x","thread":"main","code":1e999,"t_abs":-5e300,"t_rel":99999999999999999999.1}'
	printf '{"event":"printf","sid":"x","thread":"main","msg":"\000\\u0000\\ud83d\\ude00","strange":[1,{"a":2}]}\n'
	head -c 300000 /dev/zero | tr '\0' '['
	echo
	sed -n '6,$p' "$whole"
	printf '{"event":"exit","sid":"cut'
} >broken.json
t2 import -o broken.tlg broken.json 2>errors
check "broken lines: exit status 3" [ $? -eq 3 ]
check "broken lines are counted" grep -q '5 of [0-9]* lines are no events of git' errors
check "unknown kinds are counted" grep -qE '[12] events of kinds' errors
check "unknown members are counted" grep -q '1 members' errors
check "the others are all there" eval 't2expand --format=event --nesting=0 broken.tlg 2>/dev/null | grep -v "\"sid\":\"x\"" >back; cmp back "$whole"'
check "nothing is damaged in the trace" eval 't2expand broken.tlg >shown 2>errors; [ $? -eq 0 ]'

{
	sed -n 1,5p "$whole"
	printf '{"event":"start","sid":"%0*d","thread":"main","t_abs":0.1,"argv":["x"]}\n' 16385 0 1000000 0
	printf '{"event":"start","sid":"%0*d","thread":"main","t_abs":0.1,"argv":["x"]}\n' 16384 0
} >long.json
t2 import -o long.tlg long.json 2>errors
check "session ids that no block can hold: exit status 3" [ $? -eq 3 ]
check "they are counted" grep -q '2 of 8 lines are no events of git' errors
check "the longest that it can is there" eval 't2expand --format=event --nesting=0 long.tlg | grep -qE "sid\":\"0{16384}\""'

# without the time of day the clock begins at 0
{
	echo '{"event":"start","sid":"s","thread":"main","t_abs":0.1,"argv":["x"]}'
	echo '{"event":"atexit","sid":"s","thread":"main","t_abs":0.2,"code":0}'
} >timeless.json
t2 import -o timeless.tlg timeless.json
python3 "$top/tests/cli/decode.py" timeless.tlg | grep '<MARK' >marks
check "a mark of lines without time" [ -s marks ]
check "is not behind what follows" eval '! grep -vE "when=\"[0-9]{1,7}\"" marks'

t2 import -o nowhere/x.tlg "$whole" 2>errors
check "no such directory: exit status 1" [ $? -eq 1 ]
check "no such directory: one line" [ "$(wc -l <errors)" -eq 1 ]
t2 import -o /dev/full "$whole" 2>errors
check "a full disk: exit status 1" [ $? -eq 1 ]
check "a full disk is said" grep -q 'No space' errors
cp "$whole" same.json
t2 import -o same.json same.json 2>errors
check "input and output at once: exit status 1" [ $? -eq 1 ]
check "and the input stays" cmp same.json "$whole"
t2 import -o same.json - <same.json 2>errors
check "the same by standard input: exit status 1" [ $? -eq 1 ]
check "and the input stays, too" cmp same.json "$whole"
mkdir both
cp "$whole" both/a
check "the output in the directory that is imported" eval 't2 import -o both/b both && t2 import -o both/b both'
mkfifo pipe
(trap '' PIPE; cat "$whole" >pipe 2>cat.errors; echo "cat: $?" >>cat.errors) &
sleep 0.3
check "a pipe whose writer was there first" timeout 10 t2 import -o pipe.tlg pipe
wait
check "loses nothing" [ "$(cat cat.errors)" = "cat: 0" ]
for wrong in "" "--detail=all $whole" "--seconds=0 $whole" "--nosuch $whole"; do
	t2 import $wrong >o 2>errors
	check "t2 import $wrong: exit status 2" [ $? -eq 2 ]
	check "t2 import $wrong: one line" [ "$(wc -l <errors)" -eq 1 ]
done
check "--help" eval 't2 import --help | grep -q "usage: t2 import"'
total
