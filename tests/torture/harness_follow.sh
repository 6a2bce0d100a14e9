#!/bin/bash
# SPDX-License-Identifier: MIT
# P17: t2 follow prints each event of running processes once, in the order of its thread, at most 200 ms late if it gets the
# processor; what it cannot have it reports.  Programs of follow.c do random things and count their calls.  They are followed
# by directory, by file, by process, or all.
set -u
. tests/torture/common.sh
export XDG_RUNTIME_DIR=$rings
unset LD_PRELOAD TRACE2_PROF GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
program=$PWD/$out/torture/follow
[ "${out#/}" = "$out" ] || program=$out/torture/follow
t2=${program%/torture/follow}/t2
RANDOM=$seed

# works: some things to do, the last of which may be a SIGKILL
works()
{
	local letters=ptfrsbe n=$((RANDOM % 6 + 1)) text=p
	for ((; n > 0; n--)); do text+=${letters:RANDOM % 7:1}; done
	((RANDOM % 3)) || text+=k
	echo "$text"
}

# follow_one NUMBER WHAT WORK N PAUSE
follow_one()
{
	local dir=$work/$1 what=$2 target status
	mkdir -p "$dir/traces"
	mkfifo "$dir/lines"
	"$program" judge "$dir/counts" <"$dir/lines" >"$dir/verdict" &
	judge=$!
	case $what in
	all | directory)
		target=$dir/traces
		[ "$what" = directory ] || target=all
		"$t2" follow "$target" --format=ndjson >"$dir/lines" 2>"$dir/errors" &
		follower=$!
		sleep 0.3
		TRACE2_RAW=$dir/traces/ "$program" run "$dir/counts" "$3" "$4" "$5" >/dev/null 2>&1
		sleep 1
		kill -INT $follower
		;;
	*)
		TRACE2_RAW=$dir/traces/one.tlg "$program" run "$dir/counts" "$3" "$4" "$5" >/dev/null 2>&1 &
		target=$!
		until [ -e "$dir/traces/one.tlg" ]; do sleep 0.01; done
		[ "$what" = process ] || target=$dir/traces/one.tlg
		timeout 60 "$t2" follow "$target" --format=ndjson >"$dir/lines" 2>"$dir/errors"
		;;
	esac
	wait $judge
	status=$?
	echo "$what $3 $4 $5: $(cat "$dir/verdict")"
	verdict "follow $what, $3 $4 $5" $status
	[ $status -eq 0 ] || head -n 5 "$dir/errors"
	lags+=$(sed -n 's/.*p50 \([0-9]*\) ms.*max \([0-9]*\) ms/\1 \2/p' "$dir/verdict")$'\n'
	rm -rf "$dir" "$rings"/*
}

lags=
kinds=(directory all file process)
for ((i = 0; i < (80 * scale + 99) / 100; i++)); do
	follow_one $i "${kinds[RANDOM % 4]}" "$(works)" $((RANDOM % 2000 + 300)) $((RANDOM % 400 + 100))
done 2>"$work/said"
grep -v Killed "$work/said" >&2
sort -n <<<"$lags" | awk 'NF { p[n++] = $1; if ($2 > m) m = $2 } END { printf "lag: median of the medians %d ms, longest %d ms\n", p[int(n / 2)], m }'
verdict "the median lag is at most 200 ms" "$(($(sort -n <<<"$lags" | awk 'NF { p[n++] = $1 } END { print p[int(n / 2)] + 0 }') > 200))"
total
