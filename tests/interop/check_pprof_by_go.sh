#!/bin/bash
# SPDX-License-Identifier: MIT
# What `go tool pprof` says of --format=pprof: each stack with its regions and nanoseconds (-raw, -traces), each label's
# sum (-top), each thread's (-tags); and a profile less itself is empty.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need go command -v go
need python3 command -v python3
export HOME=$tmp PPROF_TMPDIR=$tmp XDG_RUNTIME_DIR=$tmp
expand=$out/t2expand
. "$top/tests/cli/exports.sh"
make_traces || exit 1

# pprof OPTIONS...: of the profile of this trace
pprof()
{
	go tool pprof -unit=ns -nodefraction=0 -edgefraction=0 -nodecount=100000 -symbolize=none "$@" profile.pb.gz 2>/dev/null
}

for trace in $traces; do
	"$expand" --format=pprof -o profile.pb.gz "$trace" 2>/dev/null
	"$expand" --format=folded -o folded "$trace" 2>/dev/null

	# "stack ns" of -traces, whose frames are lines, the innermost first with its time
	pprof -traces | awk 'function put() { if (stack) print stack, ns; stack = "" }
		/^-----/ { put(); next }
		$1 ~ /:$/ { next }
		$1 ~ /^[0-9.]+ns$/ { ns = $1 + 0; $1 = ""; stack = substr($0, 2); next }
		stack { sub(/^ +/, ""); stack = $0 ";" stack }
		END { put() }' |
		awk '{ sum[$1] += $2 } END { for (stack in sum) if (sum[stack]) printf "%s %.0f\n", stack, sum[stack] }' |
		sort >traces
	sort folded | cmp -s - traces
	check "$trace: -traces has the stacks of folded" [ $? -eq 0 ]

	pprof -top | awk '/^ +flat/ { on = 1; next } on && $1 + 0 { printf "%s %.0f\n", $6, $1 }' | sort >top
	awk '{ n = split($1, label, ";"); sum[label[n]] += $2 }
		END { for (l in sum) printf "%s %.0f\n", l, sum[l] }' folded | sort >labels
	check "$trace: -top has each label's own time" cmp -s labels top

	check "$trace: -raw counts the leaves" [ "$(pprof -raw |
		awk '/^Locations/ { exit } $2 ~ /:$/ { n += $1 } END { print n + 0 }')" -eq \
		"$("$expand" --format=perf "$trace" 2>/dev/null | grep -c '| region_leave ')" ]
	check "$trace: -tags adds up to all time" [ "$(pprof -tags | awk '/^ *thread: / { print $3 + 0 }')" = \
		"$(awk '{ sum += $NF } END { printf "%.0f", sum }' folded)" ]
	check "$trace: nothing is left of it less itself" \
		[ -z "$(pprof -diff_base profile.pb.gz -top | awk '/^ +flat/ { on = 1; next } on && $1 + 0')" ]
done
total
