#!/bin/bash
# SPDX-License-Identifier: MIT
# --diff finds one call more among a million (T2_CALLS: among so many; with ten million it takes ten seconds), says
# nothing of 50 runs of a real program, and measures times only with --threshold.  Ends with "N passed, N failed".
set -u
export LC_ALL=C
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need "example" [ -x "$out/examples/t2index" ]
need jq command -v jq
need "counted" [ -x "$out/tests/counted" ]
expand=$out/t2expand
calls=${T2_CALLS:-1000000}
cd "$tmp" || exit 1

# differs STATUS NAME ARGUMENTS...: what --diff says is in diff.out
differs()
{
	"$expand" --diff "${@:3}" >diff.out 2>diff.err
	local status=$?
	check "$2: exit status $1, not $status" [ $status -eq "$1" ]
}

# ---- one call more ----------------------------------------------------------------------------------
for n in $calls $((calls + 2)); do
	TRACE2_RAW_MEMORY=4g TRACE2_RAW_RING=4g "$out/tests/counted" drain "$n" "$tmp/$n.tlg"
done
differs 0 "a file and itself" $calls.tlg $calls.tlg
check "a file and itself: nothing to say" [ ! -s diff.out ]
differs 1 "one region more" $calls.tlg $((calls + 2)).tlg
check "one region more: found" grep -qE "^ +$((calls / 2)) +$((calls / 2 + 1)) +region +counted +drain$" diff.out
check "one region more: and nothing else" [ "$(wc -l <diff.out)" -eq 3 ]
differs 0 "an excluded label" --label='!drain' $calls.tlg $((calls + 2)).tlg

# ---- the end of each run ----------------------------------------------------------------------------
# count_regions FILE: as the summary counts them
count_regions()
{
	"$expand" --summary=json "$since" "$1" | grep -oE '"label":"drain","count":[0-9]+' | grep -oE '[0-9]+$'
}
# From the last third of the calls on, not of the time: writing the file, before the last event, may take most of that.
# The other file has less than a third.
"$expand" --format=csv $calls.tlg | cut -d, -f1 | sed -n "$((calls * 2 / 3))p; \$p" >times
since=--since=-$(($(tail -n 1 times) - $(head -n 1 times)))ns
more=$((calls / 4)).tlg
TRACE2_RAW_MEMORY=4g TRACE2_RAW_RING=4g "$out/tests/counted" drain $((calls / 4)) "$tmp/$more"
differs 0 "the end of a file and itself" "$since" $calls.tlg $calls.tlg
differs 1 "the ends of two files" "$since" $calls.tlg $more
check "the ends of two files: what the summary counts there" \
	grep -qE "^ +$(count_regions $calls.tlg) +$(count_regions $more) +region +counted +drain$" diff.out
# The writer waits for its file: cycles are as old as what is in them, and damage in an early one is not looked at
TRACE2_RAW_POLICY=block TRACE2_RAW_RING=256k "$out/tests/counted" drain 400000 "$tmp/hole.tlg"
"$expand" --format=csv hole.tlg | cut -d, -f1 | sed -n '300000p; $p' >times
since=--since=-$(($(tail -n 1 times) - $(head -n 1 times)))ns
# within a frame: its beginning leads to the next one
frame=$(grep -abo "$(printf '\004\042\115\030')" hole.tlg | cut -d: -f1 |
	awk -v third=$(($(wc -c <hole.tlg) / 3)) '$1 >= third { print; exit }')
dd if=/dev/zero of=hole.tlg bs=1 seek=$((frame + 20)) count=32 conv=notrunc 2>dd.err
differs 3 "a damaged file and itself" hole.tlg hole.tlg
differs 0 "the part behind the damage, which is all that is read" "$since" hole.tlg hole.tlg
check "the part behind the damage: nothing to say" [ ! -s diff.err ]
differs 2 "the end of a pipe" --since=-1s $calls.tlg <(cat $calls.tlg)
check "the end of a pipe: said once" [ "$(grep -c 'cannot count from the end of a pipe' diff.err) $(wc -l <diff.err)" = "1 1" ]

# ---- 50 runs of a real program ----------------------------------------------------------------------
for i in $(seq 50); do
	TRACE2_RAW=$tmp/run$i.tlg "$out/examples/t2index" -j 3 "$top/format" >index.out 2>index.err
done
for i in $(seq 2 50); do
	"$expand" --diff run1.tlg run$i.tlg >>silent.out 2>&1 || echo "run $i: exit status $?" >>silent.out
done
none "50 runs of t2index are alike" "$(cat silent.out)"
old=$(echo run{1..25}.tlg) new=$(echo run{26..50}.tlg)
# shellcheck disable=SC2086
differs 0 "25 runs and 25 more" $old -- $new
check "25 runs and 25 more: nothing to say" [ ! -s diff.out ]
# shellcheck disable=SC2086
differs 0 "times within 10000 per cent" --threshold=10000 $old -- $new
# Durations differ, but that is no change; each figure is what the summaries say
differs 0 "durations" --durations run1.tlg run2.tlg
for run in 1 2; do
	"$expand" --summary=json run$run.tlg | jq -r '.rows[] | select(.kind == "region" or .kind == "child") |
		(.kind + " " + .category + " " + .label) as $names | to_entries[] |
		select(.value != null and (.key | IN("total", "mean", "p50", "p90", "p99"))) |
		"\($names) \(.key) \(.value)"' | sort >figures.$run
done
join -j 1 <(sed 's/ /\t/4; s/ /_/g; s/\t/ /' figures.1) <(sed 's/ /\t/4; s/ /_/g; s/\t/ /' figures.2) |
	awk '$2 != $3 && $2 > 0 && $3 > 0' | sort >figures.differ
sed -n '3,$p' diff.out >diff.lines
awk '{ print $6 "_" $7 "_" $8 "_" $5, $1, $2 }' diff.lines | sort >figures.shown
check "durations: there are some" [ "$(wc -l <figures.shown)" -gt 5 ]
none "durations: those of which the summaries differ" "$(diff figures.shown figures.differ)"
"$expand" --diff --jobs=3 --durations run1.tlg run2.tlg >diff.jobs
check "durations: the same with --jobs" cmp -s diff.out diff.jobs
TRACE2_RAW=$tmp/other.tlg "$out/examples/t2index" -j 3 "$top/tests/data" >index.out 2>index.err
# shellcheck disable=SC2086
differs 1 "another input" $old -- other.tlg
check "another input: fewer files" grep -qE "region +reader +file$" diff.out
mkdir -p old new
cp run1.tlg run2.tlg old
cp run1.tlg run2.tlg other.tlg new
differs 0 "a directory is a run" old old
differs 1 "a process more in a directory" old new
differs 1 "into a file" -o diff.txt old new
check "into a file: the same" [ -s diff.txt ]

# ---- what is refused --------------------------------------------------------------------------------
differs 2 "one file" run1.tlg
differs 2 "three files" run1.tlg run2.tlg run3.tlg
differs 2 "no new ones" run1.tlg --
differs 2 "a file that is not there" run1.tlg nothing.tlg
differs 2 "an input as output" -o run2.tlg run1.tlg run2.tlg
differs 2 "no number" --threshold=much run1.tlg run2.tlg
"$expand" --threshold=5 run1.tlg >/dev/null 2>&1
check "--threshold needs --diff" [ $? -eq 2 ]
"$expand" --durations run1.tlg >/dev/null 2>&1
check "--durations needs --diff" [ $? -eq 2 ]
total
